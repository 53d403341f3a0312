/* Names of a PostgreSQL source: how tables are written in answers, and what the connector can
 * digest.
 *
 * Tables are written as quote_ident would: public.orders, public."Order Items". The connector
 * pastes some names into SQL or START_REPLICATION without quoting, so those must be plain
 * lower-case identifiers. */
#ifndef SLUICE_POSTGRES_NAMES_H
#define SLUICE_POSTGRES_NAMES_H

#include <stdbool.h>

#include "core/problem.h"

#define POSTGRES_NAME_MAX 63 /* bytes of an identifier; the server cuts longer ones off */

/* Splits schema.table into unquoted parts (xfree both). PROBLEM_INPUT: not two parts, an open
 * quote, an empty part, or not as quote_ident writes it (then the fix names the right spelling). */
int postgres_split_table(const char *text, char **schema, char **table, struct problem *err);
/* schema.table with each part quoted where it must be; xfree. */
char *postgres_join_table(const char *schema, const char *table);
/* The same name as it stands in SQL that is shown, handed over and sent: a part with characters
 * that must not reach a terminal (control characters, bidi overrides) in the U&"\0009" form, so
 * that what is shown is what runs; xfree. */
char *postgres_sql_name(const char *written);
/* [a-z_][a-z0-9_]{0,62}: what the connector takes for slots and, because pgoutput folds case,
 * publications. */
bool postgres_plain_name(const char *name);

/* Judges of fields; 0 or -1 with PROBLEM_INPUT. */
int postgres_valid_table(const char *text, struct problem *err);
/* Host name or address literal alone: no URL, port, path, space or @. Brackets around IPv6 are
 * refused: they belong to the connector's address, not to libpq's host. */
int postgres_valid_host(const char *text, struct problem *err);
int postgres_valid_port(const char *text, struct problem *err);
/* Capture user: up to 63 bytes, no quote or backslash (pasted into SQL unescaped), no reserved pg_
 * prefix. */
int postgres_valid_user(const char *text, struct problem *err);
/* Publication: pgoutput folds the name to lower case, so "FlowPub" passes the connector's checks
 * and never delivers a change. */
int postgres_valid_publication(const char *text, struct problem *err);
/* Slot: ^[a-z_][a-z0-9_]{0,62}$, the connector's own pattern. */
int postgres_valid_slot(const char *text, struct problem *err);
/* Watermarks table: two plain lower-case names, no reserved words, exactly one dot: the connector
 * writes it unquoted, compares it lower-cased and quotes what stands between dots. */
int postgres_valid_watermarks(const char *text, struct problem *err);
/* Replica identity chosen for a table: "full" or "index:NAME". */
int postgres_valid_repair(const char *text, struct problem *err);

/* Last two parts of a collection name as the connector recommends it: lower(schema)/lower(table),
 * every character outside [A-Za-z0-9-_.] an underscore; xfree. Names that are equal here collide
 * downstream. */
char *postgres_collection_tail(const char *schema, const char *table);
/* How a name ends up as an Iceberg table: lower case, everything but [a-z0-9_] an underscore;
 * xfree. */
char *postgres_iceberg_name(const char *schema, const char *table);
#endif
