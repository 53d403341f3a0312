/* XML answers as a tree, by expat. No DTD, no entities but the five, depth 64, 200,000 nodes, 16
 * MiB. Namespaces are cut off. */
#ifndef SLUICE_AWS_XML_H
#define SLUICE_AWS_XML_H

#include <stddef.h>

#include "core/problem.h"

struct xml_node {
    char *name;
    char *text; /* character data, "" none */
    size_t count;
    struct xml_node **children;
};

struct xml_node *xml_parse(const char *bytes, size_t n, const char *name,
                           struct problem *err); /* PROBLEM_PROTOCOL */
void xml_free(struct xml_node *n);
/* By path "GetRoleResult/Role/Arn" below n; NULL when it is not there. Borrowed. */
const struct xml_node *xml_find(const struct xml_node *n, const char *path);
const char *xml_text(const struct xml_node *n, const char *path); /* NULL when not there */
#endif
