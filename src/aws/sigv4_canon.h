/* The canonical forms of SigV4: path, query, headers. For sigv4.c and its tests. */
#ifndef SLUICE_AWS_SIGV4_CANON_H
#define SLUICE_AWS_SIGV4_CANON_H

#include "aws/sigv4.h"

struct sigv4_headers { /* name lower case, value trimmed; in the order received */
    struct sigv4_pair {
        char *name;
        char *value;
    } * pairs;
    size_t count;
};

void sigv4_headers_init(struct sigv4_headers *h);
void sigv4_headers_release(struct sigv4_headers *h);
/* Takes the request's headers that are to be signed: all but those that change on the way. */
int sigv4_headers_take(struct sigv4_headers *h, const struct sigv4_header *headers, size_t count,
                       struct problem *err);
void sigv4_headers_add(struct sigv4_headers *h, const char *name, const char *value);
/* Sorted by name; values of one name joined by commas in the order received. */
void sigv4_canon_headers(struct sigv4_headers *h, struct text *lines, struct text *names);
void sigv4_canon_path(struct text *out, const char *path, bool keep, bool normalise);
/* The query's pairs and `extra` (not encoded yet), encoded and sorted. */
void sigv4_canon_query(struct text *out, const char *query, const struct sigv4_header *extra,
                       size_t extra_count);
#endif
