/* What the typed calls share: a call of a query protocol in one line, lists in pages, tags. */
#ifndef SLUICE_AWS_ASK_H
#define SLUICE_AWS_ASK_H

#include "aws/call.h"

/* Our mark on what we make: a second witness beside the journal of who made it. */
#define AWS_TAG_RUN "sluice:run"
#define AWS_TAG_STEP "sluice:step"
struct aws_tags { /* borrowed */
    const char *run, *step;
};

/* The list with room for one more element after count, which is zeroed: twice as much room at each
 * power of two, so that a list of any length is cheap. */
void *aws_grow(void *list, size_t count, size_t size);

struct aws_names {
    size_t count;
    char **list;
};
void aws_names_add(struct aws_names *n, const char *name); /* NULL adds nothing */
bool aws_names_have(const struct aws_names *n, const char *name);
void aws_names_release(struct aws_names *n);
#define AUTO_AWS_NAMES __attribute__((cleanup(aws_names_release))) struct aws_names

struct aws_pair {
    const char *name, *value; /* value NULL = the pair is left out */
};
/* A call of STS, IAM or EC2; `pairs` (NULL = none) ends with a name NULL. `reads`: it changes
 * nothing, or changes it to the same again, and may be repeated when its answer is lost. */
int aws_ask(struct run *run, const struct aws_client *client, const struct aws_service *service,
            const char *action, bool reads, const struct aws_pair *pairs, struct aws_answer *out,
            struct problem *err);

/* A list in pages. What it may hold is bounded: an account is not the place to read endless lists
 * from, and a token that comes again would read the same page for ever. A page may be empty and
 * still have a token. */
struct aws_pages {
    char *token; /* of the next page; NULL for the first and after the last */
    int count;
};
#define AWS_PAGES_MAX 200
void aws_pages_release(struct aws_pages *p);
#define AUTO_AWS_PAGES __attribute__((cleanup(aws_pages_release))) struct aws_pages
/* Takes over the token of an answer (NULL or "" = it was the last page). 1 = ask for the next page,
 * 0 = done, -1 and PROBLEM_PROTOCOL when the token repeats or there are too many pages. */
int aws_pages_more(struct aws_pages *p, const char *token, const char *action, struct problem *err);

/* PROBLEM_PROTOCOL: AWS's answer lacks what it must have; returns -1. */
int aws_lacks(const char *action, const char *what, struct problem *err);
/* Wall seconds of "2026-11-30T10:00:00Z", also with fractions or +00:00; 0 when it is none or NULL.
 */
int64_t aws_time(const char *iso);
/* Number in an XML answer; `otherwise` when it is not there or none. */
long long aws_number(const struct xml_node *n, const char *path, long long otherwise);
#endif
