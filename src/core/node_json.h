/* struct node from and to JSON, for documents that must come back as they came: the order of
 * members and the letters of numbers are kept (a checksum may cover them). */
#ifndef SLUICE_CORE_NODE_JSON_H
#define SLUICE_CORE_NODE_JSON_H

#include "core/node.h"

/* Behind the guard of core/json.h. A scalar is plain for numbers, true, false, null, quoted for
 * strings; the root may be of any kind. NULL and PROBLEM_PROTOCOL; name says what was read. */
struct node *node_parse_json(const char *bytes, size_t n, const char *name, struct problem *err);
/* Compact. A plain scalar is written as it stands when it is a JSON number, true, false or null,
 * else as a string. */
void node_write_json(const struct node *n, struct text *out);
#endif
