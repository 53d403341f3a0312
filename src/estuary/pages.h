/* Connections of GraphQL read to their end: pages by cursor, capped. */
#ifndef SLUICE_ESTUARY_PAGES_H
#define SLUICE_ESTUARY_PAGES_H

#include "estuary/api.h"

struct estuary_pages {
    const char *query;      /* takes $first: Int, $after: String; asks for edges{node}, pageInfo */
    const char *field;      /* the connection in its data */
    struct node *variables; /* besides those; owned by the caller, changed; never NULL */
    size_t max;             /* nodes */
    /* One node; false when there is no more room for it. */
    bool (*take)(void *context, const cJSON *node);
    void *context;
};
/* *cut: there was more than max (only ever set). PROBLEM_PROTOCOL for a connection that is none. */
int estuary_pages(struct run *run, struct secret *token, const struct estuary_pages *p, bool *cut,
                  struct problem *err);

/* A member as one clean line; NULL when it is no text, empty or too long for a name. xfree */
char *estuary_member(const cJSON *object, const char *key);
/* The texts of a list, at most `max`; xfree each and the list. */
char **estuary_texts(const cJSON *list, size_t max, size_t *count);
#endif
