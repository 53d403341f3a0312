/* Tables of a source as a fact: 100,000 rows in one arena, sorted, found by name; and the chosen
 * ones with columns and rights.
 *
 * The key is the one Estuary will use: the primary key, else the first unique index by name whose
 * columns are all NOT NULL, else none. Identity is what the server needs to publish UPDATE and
 * DELETE; they differ. */
#ifndef SLUICE_POSTGRES_TABLES_H
#define SLUICE_POSTGRES_TABLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/fact.h"

enum postgres_key { POSTGRES_KEY_NONE, POSTGRES_KEY_PRIMARY, POSTGRES_KEY_INDEX };

struct postgres_column {
    const char *name;
    const char *type; /* as format_type writes it */
    int key;          /* place in the key Estuary uses, from 1; 0 = none */
    bool filled;      /* NOT NULL */
    char generated;   /* 's' stored, 'v' virtual, 0 */
    bool wide;        /* of a type that may be stored aside (TOAST) */
};

/* All texts are in the arena of the fact. */
struct postgres_table {
    const char *schema, *name;
    const char *written; /* as quote_ident does: what an answer holds */
    const char *owner;
    char kind;        /* relkind: r p v m f */
    char persistence; /* p u t */
    char replica;     /* relreplident: d n f i */
    bool identified; /* UPDATE and DELETE can be published, for a partitioned one of every partition
                      */
    bool secured;    /* row-level security is enabled */
    bool partition;  /* of another table */
    int partitions;  /* that hold rows */
    double rows;     /* estimate; < 0 unknown */
    int64_t bytes;   /* estimate; < 0 unknown */
    enum postgres_key key;
    const char *key_columns; /* "order_id, line"; "" none */
    const char *key_index;   /* of POSTGRES_KEY_INDEX */
    const char *usable;      /* first index that could be its replica identity; "" none */
    /* Of chosen tables only: */
    bool found;        /* it exists */
    bool selects;      /* the capture user may SELECT from the whole table */
    bool usage;        /* and has USAGE on its schema */
    bool hidden_rows;  /* row-level security hides rows from the capture user */
    bool writes;       /* the capture user may change its rows */
    bool admin_owns;   /* may alter and publish it */
    bool admin_grants; /* may grant SELECT on it */
    bool admin_grants_usage;
    bool listed;    /* named in the publication */
    bool published; /* handed out by it, as the table itself */
    bool filtered;  /* with a row filter or a list of columns */
    bool taken;     /* has a column flow_published_at: taken for a table of Estuary itself */
    size_t column_count;
    const struct postgres_column *columns;
    size_t index_count; /* all that could be its replica identity */
    const char *const *indexes;
    size_t naked_count; /* partitions without identity (of a partitioned table), as quote_ident
                           writes them */
    const char *const *naked;
};

struct postgres_tables {
    size_t count;
    size_t room;
    struct postgres_table
        *rows; /* by schema and name, bytewise; chosen ones in the order of the answer */
    struct arena *arena;
};

extern const struct fact_type postgres_catalogue_type; /* all of them; never kept */
extern const struct fact_type postgres_chosen_type;    /* kept: names, columns, keys */

struct postgres_tables *postgres_tables_new(void);
void postgres_tables_free(void *data); /* NULL is fine */
/* A row, zeroed; its address holds until the next is added. Texts must come from
 * postgres_tables_text. */
struct postgres_table *postgres_tables_add(struct postgres_tables *t);
const char *postgres_tables_text(struct postgres_tables *t, const char *s);
void *postgres_tables_memory(struct postgres_tables *t, size_t size); /* zeroed */
/* Of a sorted list: by binary search; NULL none. */
const struct postgres_table *postgres_tables_find(const struct postgres_tables *t,
                                                  const char *schema, const char *name);
/* Of any list: by the name as written; linear. */
const struct postgres_table *postgres_tables_written(const struct postgres_tables *t,
                                                     const char *written);
/* Why it can never be captured ("view", "unlogged"), or NULL. */
const char *postgres_table_refusal(const struct postgres_table *t);
/* UPDATE and DELETE on it would fail once it is published. */
bool postgres_table_breaks(const struct postgres_table *t);
#endif
