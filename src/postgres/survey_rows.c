/* Rows of the large queries into the table fact (survey_rows.h). */
#include "postgres/survey_rows.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "postgres/names.h"

const char *postgres_sql_quick(int version)
{
    return version >= 110000 ? "SET jit = off" : "SELECT 1";
}

/* SQLSTATE 22021: the server has bytes it may not send as UTF-8. Of what a survey asks for, only
 * names can be that. */
static void explain_bytes(struct problem *p)
{
    if (p->code == NULL || strcmp(p->code, "22021") != 0)
        return;
    problem_why(p, "A name in the database is not UTF-8. Only the encoding SQL_ASCII lets such a "
                   "name in, and with it nobody who reads UTF-8 can list the tables.");
    problem_fix(p, WHO_DBA,
                "rename it, or move the data into a database that was made with an encoding");
}

int postgres_first_failure(struct pg_item *items, size_t count, struct problem *err)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i].result == NULL) {
            explain_bytes(&items[i].problem);
            problem_move(err, &items[i].problem);
            return -1;
        }
    }
    return 0;
}

static const char *text(struct postgres_tables *t, const struct pg_result *r, int row,
                        const char *column)
{
    return postgres_tables_text(t, pg_cell(r, row, column));
}

static char letter(const struct pg_result *r, int row, const char *column)
{
    return pg_cell(r, row, column)[0];
}

/* Negative, NaN and absurd estimates are unknown, not totals. */
static double estimate(const char *s)
{
    double value = strtod(s, NULL);
    return value >= 0 && value < 1e18 && s[0] != '\0' ? value : -1;
}

/* What Estuary will take as key. A primary key over a stored generated column is none to it, since
 * it leaves such columns out; partitioned tables have no fallback. */
static void take_key(struct postgres_tables *t, struct postgres_table *row,
                     const struct pg_result *r, int i)
{
    row->usable = row->kind == 'r' ? text(t, r, i, "usable") : "";
    if (!pg_is_null(r, i, "pk_cols")) {
        if (pg_true(r, i, "pk_computed"))
            return;
        row->key = POSTGRES_KEY_PRIMARY;
        row->key_columns = text(t, r, i, "pk_cols");
    } else if (row->kind == 'r' && !pg_is_null(r, i, "spare")) {
        row->key = POSTGRES_KEY_INDEX;
        row->key_columns = text(t, r, i, "spare_cols");
        row->key_index = text(t, r, i, "spare");
    }
}

static void take_table(struct postgres_tables *t, struct postgres_table *row,
                       const struct pg_result *r, int i)
{
    row->schema = text(t, r, i, "nspname");
    row->name = text(t, r, i, "relname");
    AUTO(xfree) char *written = postgres_join_table(row->schema, row->name);
    row->written = postgres_tables_text(t, written);
    row->owner = text(t, r, i, "owner");
    row->kind = letter(r, i, "relkind");
    row->persistence = letter(r, i, "relpersistence");
    row->replica = letter(r, i, "relreplident");
    row->identified = pg_true(r, i, "identified");
    row->secured = pg_true(r, i, "relrowsecurity");
    row->partition = pg_true(r, i, "relispartition");
    row->partitions = (int)pg_number(r, i, "leaves", 0);
    row->rows = estimate(pg_cell(r, i, "tuples"));
    /* Before the first ANALYZE both are zero (14+: -1 rows): nothing is known, not nothing there.
     */
    double bytes = estimate(pg_cell(r, i, "bytes"));
    bool known = row->rows > 0 || bytes > 0;
    row->bytes = known ? (int64_t)bytes : -1;
    if (!known)
        row->rows = -1;
    row->found = true;
    take_key(t, row, r, i);
}

struct postgres_tables *postgres_take_catalogue(const struct pg_result *r)
{
    struct postgres_tables *t = postgres_tables_new();
    for (int i = 0; i < pg_rows(r); i++)
        take_table(t, postgres_tables_add(t), r, i);
    return t;
}

/* --- chosen ones ----------------------------------------------------------------------------- */

static void take_chosen(struct postgres_tables *t, struct postgres_table *row,
                        const struct pg_result *r, int i)
{
    if (!pg_true(r, i, "found")) {
        row->schema = text(t, r, i, "asked_schema");
        row->name = text(t, r, i, "asked_table");
        AUTO(xfree) char *written = postgres_join_table(row->schema, row->name);
        row->written = postgres_tables_text(t, written);
        return;
    }
    take_table(t, row, r, i);
    row->selects = pg_true(r, i, "selects");
    row->usage = pg_true(r, i, "usage");
    row->writes = pg_true(r, i, "writes");
    row->hidden_rows = pg_true(r, i, "hidden_rows");
    row->admin_owns = pg_true(r, i, "admin_owns");
    row->admin_grants = pg_true(r, i, "admin_grants");
    row->admin_grants_usage = pg_true(r, i, "admin_grants_usage");
    row->listed = pg_true(r, i, "listed");
    row->published = pg_true(r, i, "published");
    row->filtered = pg_true(r, i, "filtered");
    row->taken = pg_true(r, i, "taken");
}

/* Place of a column in a key given as numbers "1 3"; 0 = not in it. */
static int place_in(const char *numbers, long long number)
{
    int place = 1;
    for (const char *p = numbers; *p != '\0'; place++) {
        char *end = NULL;
        if (strtoll(p, &end, 10) == number)
            return place;
        if (end == p)
            break;
        p = end;
    }
    return 0;
}

/* [from, to) of the rows with n = table; rows are ordered by n. */
static int rows_of(const struct pg_result *r, int from, long long table)
{
    int to = from;
    while (to < pg_rows(r) && pg_number(r, to, "n", 0) == table)
        to++;
    return to;
}

static void take_columns(struct postgres_tables *t, struct postgres_table *row,
                         const struct pg_result *r, int from, int to, const char *key)
{
    struct postgres_column *columns =
        postgres_tables_memory(t, (size_t)(to - from) * sizeof *columns);
    for (int i = from; i < to; i++) {
        columns[i - from] = (struct postgres_column){
            .name = text(t, r, i, "attname"),
            .type = text(t, r, i, "type"),
            .key = place_in(key, pg_number(r, i, "attnum", 0)),
            .filled = pg_true(r, i, "attnotnull"),
            .generated = letter(r, i, "generated"),
            .wide = pg_true(r, i, "wide"),
        };
    }
    row->columns = columns;
    row->column_count = (size_t)(to - from);
}

static const char *const *take_names(struct postgres_tables *t, const struct pg_result *r, int from,
                                     int to)
{
    const char **names = postgres_tables_memory(t, (size_t)(to - from) * sizeof *names);
    for (int i = from; i < to; i++)
        names[i - from] = text(t, r, i, "name");
    return names;
}

struct postgres_tables *postgres_take_chosen(const struct postgres_chosen_results *r)
{
    struct postgres_tables *t = postgres_tables_new();
    int column = 0, index = 0, naked = 0;
    for (int i = 0; i < pg_rows(r->tables); i++) {
        long long n = pg_number(r->tables, i, "n", 0);
        struct postgres_table *row = postgres_tables_add(t);
        take_chosen(t, row, r->tables, i);
        const char *key = row->key == POSTGRES_KEY_PRIMARY ? pg_cell(r->tables, i, "pk_nums")
                          : row->key == POSTGRES_KEY_INDEX ? pg_cell(r->tables, i, "spare_nums")
                                                           : "";
        int end = rows_of(r->columns, column, n);
        take_columns(t, row, r->columns, column, end, key);
        column = end;
        end = rows_of(r->indexes, index, n);
        row->indexes = take_names(t, r->indexes, index, end);
        row->index_count = (size_t)(end - index);
        index = end;
        end = rows_of(r->naked, naked, n);
        row->naked = take_names(t, r->naked, naked, end);
        row->naked_count = (size_t)(end - naked);
        naked = end;
    }
    return t;
}
