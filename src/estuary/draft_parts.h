/* What the parts of draft*.c share: jobs, their logs, what their ends mean. */
#ifndef SLUICE_ESTUARY_DRAFT_PARTS_H
#define SLUICE_ESTUARY_DRAFT_PARTS_H

#include "estuary/draft.h"

/* --- answers (draft.c) --- */

#define DRAFT_RANGE 48
/* "from-to" of the Range header. PostgREST caps the rows of an answer at a number of its own, so a
 * list is at its end when a page is empty, not when it is short. */
void draft_range(char out[DRAFT_RANGE], size_t from, size_t count);
/* "name=eq.value" with the value encoded; xfree. */
char *draft_query(const char *select, const char *column, const char *value);
/* PROBLEM_PROTOCOL: the answer to `asked` has no `part`. */
int draft_lacks(const char *asked, const char *part, struct problem *err);

/* --- what an end means (draft_words.c) --- */

/* A job_status.type other than "queued" and "success". */
struct draft_status {
    const char *type;
    enum problem_kind kind;
    const char *what, *why, *fix;
    enum who who;
    bool again;  /* passes by itself: worth a few more tries */
    bool errors; /* rows of draft_errors say more */
};
/* Each ends with the row for a type that is not known (type NULL). */
extern const struct draft_status draft_discover_statuses[], draft_publication_statuses[];
const struct draft_status *draft_status_of(const struct draft_status *table, const char *type);

/* A text of the build or of a connector that we know. */
struct draft_meaning {
    const char *says, *also; /* both occur in it, any case; also may be NULL */
    const char *why, *fix;
    enum who who;
};
const struct draft_meaning *draft_meaning_of(const char *detail); /* NULL: not known */
/* Every row once, for tests; NULL behind the last. */
const struct draft_meaning *draft_meaning_at(size_t i);

/* --- logs (draft_log.c) --- */

#define DRAFT_LOG_TAIL 20  /* lines kept */
#define DRAFT_LOG_LINE 400 /* bytes of each */

struct draft_log {
    char *token; /* opens this job's log alone */
    size_t seen; /* lines that came: the next read begins behind them */
    int failures;
    size_t count, next; /* ring of the last lines, redacted and clean */
    char *tail[DRAFT_LOG_TAIL];
};
void draft_log_release(struct draft_log *log);
/* Reads what is new, a page of it, or all; each line is the run's progress. That there is none, or
 * none can be read, is no error: logs come late or never. */
void draft_log_follow(struct run *run, struct secret *token, struct draft_log *log, bool all);
const char *draft_log_at(const struct draft_log *log, size_t i); /* oldest first */
/* Without escape sequences (ECMA-48: CSI, OSC and their kin); redacted, clean, cut; xfree. */
char *draft_log_plain(const char *line, size_t n);

/* --- complaints (draft_errors.c) --- */

#define DRAFT_COMPLAINTS 200 /* kept of one draft */

/* sort, name, where of "flow://capture/acmeCo/shop/source-postgres#/bindings/0"; "" each when it is
 * not of that form. Percent-encoding is undone. */
void draft_scope_read(const char *scope, struct estuary_complaint *out);
/* Adds what Estuary says against the draft. */
int draft_errors_read(struct run *run, struct secret *token, const char *id,
                      struct estuary_complaints *out, struct problem *err);

/* All that is known of an end that is none of success. */
struct draft_end {
    const char *type;
    const struct draft_status *row;
    const cJSON *status; /* job_status */
    const struct estuary_complaints *found;
    const struct draft_log *log;
    const char *lost; /* why complaints could not be read; NULL */
};
/* The problem; -1. */
int draft_tell(const struct draft_end *end, struct problem *err);
/* "log:" and the tail; nothing when there is none. */
void draft_tell_log(const struct draft_log *log, struct text *out);
#endif
