/* Surveys: all that must be known of a source, read in one round trip each (net/pg.h, pg_pipeline).
 * They look only at catalogues and statistics, take no lock on a table, and so never wait for the
 * application. */
#ifndef SLUICE_POSTGRES_SURVEY_H
#define SLUICE_POSTGRES_SURVEY_H

#include "net/pg.h"
#include "postgres/facts.h"
#include "postgres/tables.h"

/* The server as the admin sees it. Members are NULL when the server is older than 10 (all but
 * `server`). */
struct postgres_overview {
    struct postgres_server *server;
    struct postgres_slots *slots;
    struct postgres_sessions *sessions;
    struct postgres_tables *catalogue;
};
void postgres_overview_release(struct postgres_overview *o);
/* host is only copied into the fact. 0, or -1 and err. */
int postgres_survey_server(struct run *run, struct pg *pg, const char *host,
                           struct postgres_overview *out, struct problem *err);

/* What the answers name. Texts borrowed. */
struct postgres_wanted {
    const char *user;
    const char *publication;
    const char *slot;
    const char *watermarks; /* schema.table */
    size_t table_count;
    const char *const *tables; /* as quote_ident writes them */
    size_t repair_count;
    const char *const *repair_tables;
    const char *const *repairs; /* "full", "index:NAME" */
};

/* What is there of it. */
struct postgres_found {
    struct postgres_role *role;
    struct postgres_tables *chosen; /* in the order of the answer, one each */
    struct postgres_publication *publication;
    struct postgres_watermarks *watermarks;
};
void postgres_found_release(struct postgres_found *f);
int postgres_survey_found(struct run *run, struct pg *pg, const struct postgres_wanted *w,
                          struct postgres_found *out, struct problem *err);

/* Text of the queries that depend on the server's version (server_version_num); xfree. */
char *postgres_sql_catalogue(int version);
char *postgres_sql_chosen(int version);
/* A text[] literal of n strings: {"a","b\"c"}; xfree. */
char *postgres_array_literal(const char *const *items, size_t n);
#endif
