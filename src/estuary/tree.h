/* Specifications as files, laid out as Estuary's flowctl lays them out itself, so that what it
 * pulls later comes back to the same places: a flow.yaml for each part of a name, each importing
 * those below it, and what is large in files of its own beside them. */
#ifndef SLUICE_ESTUARY_TREE_H
#define SLUICE_ESTUARY_TREE_H

#include <stddef.h>

#include "core/folder.h"
#include "core/node.h"

enum estuary_sort { ESTUARY_CAPTURE, ESTUARY_COLLECTION, ESTUARY_MATERIALIZATION };

struct estuary_spec {
    enum estuary_sort sort;
    const char *name; /* valid by estuary_name_check, each once */
    struct node *model;
};

/* Adds flow.yaml at the root and all files below it. Models are changed: what goes to a file of its
 * own is replaced by the file's name. Sorts the specs. */
void estuary_tree(struct estuary_spec *specs, size_t count, struct folder *out);
/* Path of the file that a task's config is written to: "acmeCo/shop/source-postgres.config.yaml";
 * xfree. */
char *estuary_config_path(const char *task);
#endif
