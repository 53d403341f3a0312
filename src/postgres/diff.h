/* What must be done so that a source is as wanted: the difference between what a survey found and
 * the answers, as exact SQL. Pure; nothing that is right already is touched, nothing is ever
 * dropped.
 *
 * A table without replica identity is never put into a publication that hands out UPDATE or DELETE:
 * from that moment the server refuses them to the application (SQLSTATE 55000). */
#ifndef SLUICE_POSTGRES_DIFF_H
#define SLUICE_POSTGRES_DIFF_H

#include "postgres/survey.h"

struct postgres_diff {
    size_t statement_count;
    char **statements; /* one each, without the semicolon */
    size_t item_count;
    char *
        *items; /* what they do, a line each ("select public.orders"): to see what was announced */
};
void postgres_diff_release(struct postgres_diff *d);
bool postgres_diff_none(const struct postgres_diff *d);
/* The statements as text, a semicolon and a line end behind each; xfree. */
char *postgres_diff_sql(const struct postgres_diff *d);
bool postgres_diff_has(const struct postgres_diff *d, const char *item);

/* Shown instead of a verifier. */
#define POSTGRES_MASKED_VERIFIER "SCRAM-SHA-256$…"

/* The capture user and its right to replicate. A new one gets `verifier` as password; NULL shows
 * the mask. */
void postgres_diff_role(const struct postgres_server *s, const struct postgres_role *r,
                        const char *verifier, struct postgres_diff *d);
void postgres_diff_password(const struct postgres_role *r, const char *verifier,
                            struct postgres_diff *d);
/* CONNECT, USAGE, SELECT: what it lacks, and all of it for a user that is still to be made. */
void postgres_diff_grants(const struct postgres_server *s, const struct postgres_found *f,
                          struct postgres_diff *d);
/* The watermarks table and the three rights on it. Nothing when one of another form is there. */
void postgres_diff_watermarks(const struct postgres_found *f, struct postgres_diff *d);
/* REPLICA IDENTITY of one table and its partitions, as chosen ("full", "index:NAME"). */
void postgres_diff_repair(const struct postgres_table *t, const char *repair,
                          struct postgres_diff *d);
/* The publication with all chosen tables that may be in it, and the watermarks table. */
void postgres_diff_publication(const struct postgres_server *s, const struct postgres_found *f,
                               const struct postgres_wanted *w, struct postgres_diff *d);

/* What those two list for one table, without making the list. */
bool postgres_needs_select(const struct postgres_found *f, const struct postgres_table *t);
bool postgres_needs_adding(const struct postgres_found *f, const struct postgres_wanted *w,
                           const struct postgres_table *t);

/* The repair chosen for a table, or NULL. */
const char *postgres_repair_for(const struct postgres_wanted *w, const char *written);
/* It can be captured at all: an ordinary or partitioned, logged table that is no partition and none
 * of Estuary's. */
bool postgres_capturable(const struct postgres_table *t, const char *watermarks);
/* Identity of a table once its repair is made. */
enum postgres_identity {
    POSTGRES_IDENTIFIED, /* as it is */
    POSTGRES_REPAIRED,   /* by the repair chosen */
    POSTGRES_BAD_REPAIR, /* the repair chosen is none for this table */
    POSTGRES_NAKED       /* none, and none chosen */
};
enum postgres_identity postgres_identity_of(const struct postgres_table *t, const char *repair);
/* A chosen table may be put into the publication now, if its repair is made before. */
bool postgres_may_publish(const struct postgres_found *f, const struct postgres_wanted *w,
                          const struct postgres_table *t);
#endif
