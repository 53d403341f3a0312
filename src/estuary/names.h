/* Names that Estuary and its Iceberg connector will give to things: collections, tables, their
 * locations, the parameter that holds the catalog's credential. Worked out beforehand, so that two
 * things that would get one name are seen while nothing is published yet.
 *
 * Pure. Sources: the naming rules of source-postgres and materialize-iceberg, and of Estuary's
 * control plane. */
#ifndef SLUICE_ESTUARY_NAMES_H
#define SLUICE_ESTUARY_NAMES_H

#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"

#define ESTUARY_NAME_MAX 255     /* bytes; our own bound, Estuary names none */
#define ESTUARY_BINDINGS_MAX 300 /* above it a task is slow to build and to look at: we warn */
#define ESTUARY_XXH64_HEX 17     /* with the NUL */

/* --- names in the catalog --- */

/* Letters, digits and - _ . of ASCII (what the dashboard allows, a part of what Estuary does), two
 * parts at least, none of them empty, "." or "..". PROBLEM_INPUT with the part that is wrong. */
int estuary_name_check(const char *name, struct problem *err);

enum estuary_clash {
    ESTUARY_APART,
    ESTUARY_SAME,
    ESTUARY_SAME_BUT_CASE, /* Estuary is said to take them for one */
    ESTUARY_WITHIN         /* one is a folder of the other: "prohibited prefix" */
};
enum estuary_clash estuary_names_clash(const char *a, const char *b);

/* "acmeCo/shop/" of "acmeCo/shop/source-postgres": where its collections go; xfree. */
char *estuary_folder(const char *name);
const char *estuary_last_part(const char *name); /* borrowed */
/* Collection of a capture's table: the capture's folder and the connector's own two parts
 * ("public/orders"); xfree. */
char *estuary_collection(const char *capture, const char *tail);

/* Slots and publications: ^[a-z_][a-z0-9_]{0,62}$. The server folds a publication's name when it is
 * subscribed to, and the slot's name is the connector's own pattern. */
bool estuary_plain_name(const char *name);

/* --- names in Iceberg --- */

/* A namespace or table as the connector makes it: every character outside [A-Za-z0-9_] becomes _,
 * then all is lower case; xfree. */
char *estuary_iceberg_name(const char *name);
/* XXH64, seed 0, of the whole string: 16 upper-case digits. */
void estuary_xxh64(const char *s, char out[ESTUARY_XXH64_HEX]);
/* Cleaned of other characters (case kept), cut to 64, "_" and the hash of what it was; xfree. */
char *estuary_hashed_name(const char *s);
/* Directory of a table: base without one slash at its end, then the hashed name of
 * "<namespace>_<table>". Both as estuary_iceberg_name gives them; xfree. */
char *estuary_table_location(const char *base, const char *ns, const char *table);
/* Name of the parameter in AWS Systems Manager that holds the catalog's credential; prefix with its
 * slashes; xfree. */
char *estuary_parameter(const char *ssm_prefix, const char *materialization);

/* --- collisions --- */

struct estuary_pair {
    size_t first, second; /* indexes; first < second */
};
/* Each name that equals an earlier one, but for case: with that earlier one, in the order of
 * second. NULL entries are passed over. The count; *out is xfree'd by the caller and NULL when
 * there is none. */
size_t estuary_collisions(const char *const *names, size_t count, struct estuary_pair **out);
#endif
