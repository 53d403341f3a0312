/* struct outcome: what a check found. A check fills it; the engine seals it; from then on it is
 * immutable and shared. Texts are cleaned and redacted as they enter. */
#ifndef SLUICE_CORE_OUTCOME_H
#define SLUICE_CORE_OUTCOME_H

#include <stdbool.h>
#include <stdint.h>

#include "core/digest.h"
#include "core/fact.h"
#include "core/problem.h"

enum status {
    STATUS_NONE, /* never run */
    STATUS_PASSED,
    STATUS_WARNED, /* a finding of severity warns or informs */
    STATUS_FAILED,
    STATUS_SKIPPED, /* does not apply here; the line says why */
    STATUS_WAITING, /* for an answer, a fact, another check, a planned change */
    STATUS_CANCELLED,
    STATUS_UNREACHABLE, /* no answer from the service */
    STATUS_ACCEPTED,    /* an exception the operator recorded with a reason */
    STATUS_COUNT
};
const char *status_name(enum status s);     /* "passed", … as in state, JSON */
enum status status_parse(const char *name); /* STATUS_NONE when unknown */

struct item { /* one a table, permission, key */
    enum status status;
    char *name;
    char *line;
    char *fix;
};

struct given {
    char *id;
    struct fact *fact;
};

struct outcome {
    int refs; /* engine's; main thread only once sealed */
    enum status status;
    enum problem_kind
        kind; /* of a failure: REFUSED is not repeated by itself until an input changes */
    enum who who;
    char *line;  /* what was found, one line: "PostgreSQL 16.3 on RDS" */
    char *tried; /* "SHOW wal_level as postgres on db:5432/shop" */
    char *why;
    char *fix; /* without the actor; `who` says it */
    char *evidence;
    char *copy; /* a command to copy */
    char *link;
    char *code;          /* machine code: SQLSTATE, curl code, HTTP status */
    char *suggest_field; /* an answer that would repair it; taken over on the operator's word */
    char *suggest_value;
    size_t item_count;
    struct item *items;
    size_t given_count;
    struct given *given;
    struct digest digest; /* of what the check read; set by the engine */
    struct digest plain;  /* the same without secrets; set by the wizard */
    int64_t at;           /* wall seconds when it ended */
    int64_t took_ms;
};

struct outcome *outcome_new(void);
struct outcome *outcome_ref(struct outcome *o);
void outcome_unref(struct outcome *o);

/* The result, one of (the last call wins); the line is one line. */
void outcome_pass(struct outcome *o, const char *line, ...) __attribute__((format(printf, 2, 3)));
void outcome_warn(struct outcome *o, const char *line, ...) __attribute__((format(printf, 2, 3)));
void outcome_fail(struct outcome *o, const char *code, const char *line, ...)
    __attribute__((format(printf, 3, 4)));
void outcome_skip(struct outcome *o, const char *line, ...) __attribute__((format(printf, 2, 3)));
/* From a problem: unreachable, cancelled or failed by its kind; takes over every text of it. */
void outcome_problem(struct outcome *o, const struct problem *p);
/* Details, any number, any order. */
void outcome_tried(struct outcome *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void outcome_why(struct outcome *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void outcome_fix(struct outcome *o, enum who who, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void outcome_evidence(struct outcome *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void outcome_copy_command(struct outcome *o, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void outcome_link(struct outcome *o, const char *url);
void outcome_suggest(struct outcome *o, const char *field, const char *value);
void outcome_item(struct outcome *o, enum status status, const char *name, const char *line,
                  const char *fix); /* line and fix may be NULL */
void outcome_give(struct outcome *o, const char *fact_id,
                  struct fact *fact); /* takes the reference */
#endif
