/* Differences as SQL (diff.h). */
#include "postgres/diff.h"

#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "postgres/names.h"

/* --- the list itself ------------------------------------------------------------------------- */

void postgres_diff_release(struct postgres_diff *d)
{
    for (size_t i = 0; i < d->statement_count; i++)
        xfree(d->statements[i]);
    for (size_t i = 0; i < d->item_count; i++)
        xfree(d->items[i]);
    xfree(d->statements);
    xfree(d->items);
    *d = (struct postgres_diff){0};
}

bool postgres_diff_none(const struct postgres_diff *d)
{
    return d->statement_count == 0;
}

char *postgres_diff_sql(const struct postgres_diff *d)
{
    AUTO_TEXT sql = TEXT_INIT;
    for (size_t i = 0; i < d->statement_count; i++) {
        text_add(&sql, d->statements[i]);
        text_add(&sql, i + 1 < d->statement_count ? ";\n" : ";");
    }
    return text_take(&sql);
}

bool postgres_diff_has(const struct postgres_diff *d, const char *item)
{
    for (size_t i = 0; i < d->item_count; i++)
        if (strcmp(d->items[i], item) == 0)
            return true;
    return false;
}

/* Takes the string. */
static void add_statement(struct postgres_diff *d, char *sql)
{
    d->statements = xrealloc(d->statements, d->statement_count + 1, sizeof *d->statements);
    d->statements[d->statement_count++] = sql;
}

static void add_item(struct postgres_diff *d, char *item)
{
    d->items = xrealloc(d->items, d->item_count + 1, sizeof *d->items);
    d->items[d->item_count++] = item;
}

/* " a, b" for few names, one a line for more. */
static void add_names(struct text *sql, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (count > 3)
            text_add(sql, i == 0 ? "\n    " : ",\n    ");
        else
            text_add(sql, i == 0 ? " " : ", ");
        AUTO(xfree) char *name = postgres_sql_name(names[i]);
        text_add(sql, name);
    }
}

/* One name, quoted where it must be and fit to be shown. */
static char *sql_ident(const char *name)
{
    AUTO(xfree) char *quoted = pg_quote_ident(name);
    return postgres_sql_name(quoted);
}

/* --- role ------------------------------------------------------------------------------------ */

static bool may_replicate(const struct postgres_recipe *recipe, const struct postgres_role *r)
{
    return recipe->grants_replication ? r->rds_member : r->replication;
}

/* Words of CREATE or ALTER ROLE; a new one has nothing yet. */
static void add_attributes(const struct postgres_recipe *recipe, const struct postgres_role *r,
                           struct text *sql, struct postgres_diff *d)
{
    if (!r->exists || !r->login) {
        text_add(sql, " LOGIN");
        add_item(d, xstrdup("login"));
    }
    if (!recipe->grants_replication && (!r->exists || !r->replication)) {
        text_add(sql, " REPLICATION");
        add_item(d, xstrdup("replication"));
    }
    if (r->exists && r->expired) {
        text_add(sql, " VALID UNTIL 'infinity'");
        add_item(d, xstrdup("valid until"));
    }
}

void postgres_diff_role(const struct postgres_server *s, const struct postgres_role *r,
                        const char *verifier, struct postgres_diff *d)
{
    const struct postgres_recipe *recipe = postgres_recipe(s->platform);
    AUTO(xfree) char *user = pg_quote_ident(r->name);
    AUTO_TEXT words = TEXT_INIT;
    /* Azure: only a role that has the attribute may give it, and its admin may give it to itself.
     */
    bool admin_first = s->platform == POSTGRES_AZURE && !s->admin_super && !s->admin_replication &&
                       !may_replicate(recipe, r);
    if (admin_first) {
        AUTO(xfree) char *admin = pg_quote_ident(s->admin);
        add_statement(d, xasprintf("ALTER ROLE %s WITH REPLICATION", admin));
        add_item(d, xstrdup("replication of the admin"));
    }
    add_attributes(recipe, r, &words, d);
    if (!r->exists) {
        add_item(d, xstrdup("create"));
        add_statement(d, xasprintf("CREATE ROLE %s WITH%s PASSWORD '%s'", user, words.s,
                                   verifier != NULL ? verifier : POSTGRES_MASKED_VERIFIER));
    } else if (words.len > 0) {
        add_statement(d, xasprintf("ALTER ROLE %s WITH%s", user, words.s));
    }
    if (recipe->grants_replication && !r->rds_member) {
        add_statement(d, xasprintf("GRANT rds_replication TO %s", user));
        add_item(d, xstrdup("rds_replication"));
    }
}

void postgres_diff_password(const struct postgres_role *r, const char *verifier,
                            struct postgres_diff *d)
{
    AUTO(xfree) char *user = pg_quote_ident(r->name);
    add_statement(d, xasprintf("ALTER ROLE %s WITH PASSWORD '%s'", user,
                               verifier != NULL ? verifier : POSTGRES_MASKED_VERIFIER));
    add_item(d, xstrdup("password"));
}

/* --- grants ---------------------------------------------------------------------------------- */

bool postgres_capturable(const struct postgres_table *t, const char *watermarks)
{
    return t->found && (t->kind == 'r' || t->kind == 'p') && t->persistence == 'p' &&
           !t->partition && !t->taken && strcmp(t->written, watermarks) != 0;
}

bool postgres_needs_select(const struct postgres_found *f, const struct postgres_table *t)
{
    return postgres_capturable(t, f->watermarks->name) && !(f->role->exists && t->selects);
}

static void add_schema(const char ***schemas, size_t *count, const char *name)
{
    for (size_t i = *count; i-- > 0;) /* tables of a schema mostly stand together */
        if (strcmp((*schemas)[i], name) == 0)
            return;
    *schemas = xrealloc(*schemas, *count + 1, sizeof **schemas);
    (*schemas)[(*count)++] = name;
}

/* Schemas that the user cannot enter, each once; names borrowed from `f` and *of_marks. */
static const char **schemas_lacking(const struct postgres_found *f, const char *of_marks,
                                    size_t *count)
{
    const char **schemas = NULL;
    const struct postgres_watermarks *w = f->watermarks;
    bool fresh = !f->role->exists;
    *count = 0;
    if (w->schema_exists && (fresh || !w->usage))
        add_schema(&schemas, count, of_marks);
    for (size_t i = 0; i < f->chosen->count; i++) {
        const struct postgres_table *t = &f->chosen->rows[i];
        if (postgres_capturable(t, w->name) && (fresh || !t->usage))
            add_schema(&schemas, count, t->schema);
    }
    return schemas;
}

static void add_usage(const struct postgres_found *f, const char *user, struct postgres_diff *d)
{
    AUTO(xfree) char *marks = NULL;
    AUTO(xfree) char *ignored = NULL;
    if (postgres_split_table(f->watermarks->name, &marks, &ignored, NULL) != 0)
        return;
    size_t count;
    const char **schemas = schemas_lacking(f, marks, &count);
    AUTO_TEXT sql = TEXT_INIT;
    for (size_t i = 0; i < count; i++) {
        AUTO(xfree) char *name = sql_ident(schemas[i]);
        text_addf(&sql, "%s%s", i > 0 ? ", " : "", name);
        add_item(d, xasprintf("usage %s", name));
    }
    xfree(schemas);
    if (count > 0)
        add_statement(d, xasprintf("GRANT USAGE ON SCHEMA %s TO %s", sql.s, user));
}

static void add_selects(const struct postgres_found *f, const char *user, struct postgres_diff *d)
{
    const char **names = xcalloc(f->chosen->count, sizeof *names);
    size_t count = 0;
    for (size_t i = 0; i < f->chosen->count; i++) {
        const struct postgres_table *t = &f->chosen->rows[i];
        if (!postgres_needs_select(f, t))
            continue;
        names[count++] = t->written;
        add_item(d, xasprintf("select %s", t->written));
    }
    if (count > 0) {
        AUTO_TEXT sql = TEXT_INIT;
        text_add(&sql, "GRANT SELECT ON");
        add_names(&sql, names, count);
        text_addf(&sql, "%sTO %s", count > 3 ? "\n    " : " ", user);
        add_statement(d, text_take(&sql));
    }
    xfree(names);
}

void postgres_diff_grants(const struct postgres_server *s, const struct postgres_found *f,
                          struct postgres_diff *d)
{
    AUTO(xfree) char *user = pg_quote_ident(f->role->name);
    if (!f->role->exists || !f->role->connects) {
        AUTO(xfree) char *database = sql_ident(s->database);
        add_statement(d, xasprintf("GRANT CONNECT ON DATABASE %s TO %s", database, user));
        add_item(d, xstrdup("connect"));
    }
    add_usage(f, user, d);
    add_selects(f, user, d);
}

/* --- watermarks ------------------------------------------------------------------------------ */

void postgres_diff_watermarks(const struct postgres_found *f, struct postgres_diff *d)
{
    const struct postgres_watermarks *w = f->watermarks;
    if (!w->schema_exists || (w->exists && (w->kind != 'r' || !w->columns || !w->unique)))
        return;
    AUTO(xfree) char *user = pg_quote_ident(f->role->name);
    if (!w->exists) {
        add_statement(
            d,
            xasprintf("CREATE TABLE IF NOT EXISTS %s\n    (slot TEXT PRIMARY KEY, watermark TEXT)",
                      w->name));
        add_item(d, xstrdup("create"));
    }
    static const char *const rights[] = {"SELECT", "INSERT", "UPDATE"};
    const bool has[] = {w->selects, w->inserts, w->updates};
    AUTO_TEXT list = TEXT_INIT;
    for (size_t i = 0; i < ARRAY_LEN(rights); i++) {
        if (w->exists && f->role->exists && has[i])
            continue;
        text_sep(&list, ", ");
        text_add(&list, rights[i]);
        add_item(d, xstrdup(rights[i]));
    }
    if (list.len > 0)
        add_statement(d, xasprintf("GRANT %s ON %s TO %s", list.s, w->name, user));
}

/* --- repairs --------------------------------------------------------------------------------- */

const char *postgres_repair_for(const struct postgres_wanted *w, const char *written)
{
    for (size_t i = 0; i < w->repair_count; i++)
        if (strcmp(w->repair_tables[i], written) == 0)
            return w->repairs[i];
    return NULL;
}

/* The index named by a repair when this table has it; NULL. */
static const char *index_of(const struct postgres_table *t, const char *repair)
{
    for (size_t i = 0; strncmp(repair, "index:", 6) == 0 && i < t->index_count; i++)
        if (strcmp(t->indexes[i], repair + 6) == 0)
            return t->indexes[i];
    return NULL;
}

enum postgres_identity postgres_identity_of(const struct postgres_table *t, const char *repair)
{
    bool full = repair != NULL && strcmp(repair, "full") == 0;
    if (repair != NULL && !full && index_of(t, repair) == NULL)
        return POSTGRES_BAD_REPAIR;
    if (!postgres_table_breaks(t))
        return POSTGRES_IDENTIFIED;
    return repair != NULL ? POSTGRES_REPAIRED : POSTGRES_NAKED;
}

void postgres_diff_repair(const struct postgres_table *t, const char *repair,
                          struct postgres_diff *d)
{
    const char *index = index_of(t, repair);
    AUTO(xfree) char *table = postgres_sql_name(t->written);
    if (index != NULL && (t->replica != 'i' || !t->identified)) {
        AUTO(xfree) char *name = sql_ident(index);
        add_statement(d, xasprintf("ALTER TABLE %s REPLICA IDENTITY USING INDEX %s", table, name));
        add_item(d, xasprintf("index %s", index));
    }
    if (strcmp(repair, "full") != 0)
        return;
    if (t->replica != 'f') {
        /* ONLY: of a partitioned table it is set on the table alone anyway, and its partitions
         * follow. */
        add_statement(d, xasprintf("ALTER TABLE %s REPLICA IDENTITY FULL", table));
        add_item(d, xstrdup("full"));
    }
    for (size_t i = 0; i < t->naked_count; i++) {
        AUTO(xfree) char *partition = postgres_sql_name(t->naked[i]);
        add_statement(d, xasprintf("ALTER TABLE %s REPLICA IDENTITY FULL", partition));
        add_item(d, xasprintf("full %s", t->naked[i]));
    }
}

/* --- publication ----------------------------------------------------------------------------- */

bool postgres_may_publish(const struct postgres_found *f, const struct postgres_wanted *w,
                          const struct postgres_table *t)
{
    if (!postgres_capturable(t, f->watermarks->name))
        return false;
    const struct postgres_publication *p = f->publication;
    if (p->exists && !p->updates && !p->deletes)
        return true;
    enum postgres_identity i = postgres_identity_of(t, postgres_repair_for(w, t->written));
    return i == POSTGRES_IDENTIFIED || i == POSTGRES_REPAIRED ||
           (i == POSTGRES_BAD_REPAIR && !postgres_table_breaks(t));
}

bool postgres_needs_adding(const struct postgres_found *f, const struct postgres_wanted *w,
                           const struct postgres_table *t)
{
    bool all = f->publication->exists && f->publication->all_tables;
    return !all && postgres_may_publish(f, w, t) && !t->listed && !t->published;
}

/* Tables that are wanted in it, may be, and are not. */
static const char **members_lacking(const struct postgres_found *f, const struct postgres_wanted *w,
                                    size_t *count)
{
    const struct postgres_publication *p = f->publication;
    const char **names = xcalloc(f->chosen->count + 1, sizeof *names);
    *count = 0;
    /* The watermarks table has a primary key: it is safe, and is made before. */
    bool sound = !f->watermarks->exists || f->watermarks->kind == 'r';
    if (sound && f->watermarks->schema_exists && !p->watermarks && !p->watermarks_listed)
        names[(*count)++] = f->watermarks->name;
    for (size_t i = 0; i < f->chosen->count; i++) {
        const struct postgres_table *t = &f->chosen->rows[i];
        if (postgres_needs_adding(f, w, t))
            names[(*count)++] = t->written;
    }
    return names;
}

static bool wants_partitioned(const struct postgres_found *f, const struct postgres_wanted *w)
{
    for (size_t i = 0; i < f->chosen->count; i++)
        if (f->chosen->rows[i].kind == 'p' && postgres_may_publish(f, w, &f->chosen->rows[i]))
            return true;
    return false;
}

void postgres_diff_publication(const struct postgres_server *s, const struct postgres_found *f,
                               const struct postgres_wanted *w, struct postgres_diff *d)
{
    const struct postgres_publication *p = f->publication;
    AUTO(xfree) char *name = pg_quote_ident(p->name);
    bool roots = s->version >= 130000; /* publish_via_partition_root */
    size_t count;
    const char **members = members_lacking(f, w, &count);
    AUTO_TEXT sql = TEXT_INIT;
    if (!p->exists) {
        text_addf(&sql, "CREATE PUBLICATION %s", name);
        text_add(&sql, count > 0 ? " FOR TABLE" : "");
        add_names(&sql, members, count);
        if (roots)
            text_addf(&sql, "%sWITH (publish_via_partition_root = true)",
                      count > 3 ? "\n    " : " ");
        add_item(d, xstrdup("create"));
        add_statement(d, text_take(&sql));
    } else {
        /* Others may read an adopted publication: changed only where a partitioned table needs it.
         */
        if (roots && !p->via_root && wants_partitioned(f, w)) {
            add_statement(
                d, xasprintf("ALTER PUBLICATION %s SET (publish_via_partition_root = true)", name));
            add_item(d, xstrdup("via root"));
        }
        if (count > 0 && !p->all_tables) {
            text_addf(&sql, "ALTER PUBLICATION %s ADD TABLE", name);
            add_names(&sql, members, count);
            add_statement(d, text_take(&sql));
        }
    }
    for (size_t i = 0; i < count && !(p->exists && p->all_tables); i++)
        add_item(d, xasprintf("add %s", members[i]));
    xfree(members);
}
