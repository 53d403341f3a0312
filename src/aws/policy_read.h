/* A policy document as statements, with everything that has two spellings in one. */
#ifndef SLUICE_AWS_POLICY_READ_H
#define SLUICE_AWS_POLICY_READ_H

#include "aws/ask.h"

struct policy_statement {
    char *sid; /* or "statement 2" */
    bool deny;
    struct aws_names actions;   /* as written */
    struct aws_names resources; /* or principals as "Kind:value"; "*" when anybody */
    bool not_actions, not_resources;
    char *condition; /* one spelling for one meaning, readable; NULL none */
};
struct policy_document {
    size_t count;
    struct policy_statement *list;
};
/* PROBLEM_PROTOCOL when it is no policy. At most 200 statements. */
int policy_read(const char *json, struct policy_document *out, struct problem *err);
void policy_document_release(struct policy_document *d);
#define AUTO_POLICY_DOCUMENT                                                                       \
    __attribute__((cleanup(policy_document_release))) struct policy_document

/* Does pattern (with * and ?) match all that `what` matches? Wildcards of `what` are only matched
 * by a '*'. Sound, not complete: a pattern put together of several is not seen. */
bool policy_covers(const char *pattern, const char *what, bool any_case);
/* Does the statement speak of all of this action on this resource (or principal)? */
bool policy_speaks_of(const struct policy_statement *s, const char *action, const char *resource);
/* Or of a part of it? For Deny. */
bool policy_touches(const struct policy_statement *s, const char *action, const char *resource);
#endif
