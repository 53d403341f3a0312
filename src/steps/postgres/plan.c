/* What is to be made in PostgreSQL: facts compared with answers, only what differs, each with its
 * exact SQL. Pure. */
#include <string.h>

#include "core/mem.h"
#include "core/snapshot_make.h"
#include "core/text.h"
#include "net/pg.h"
#include "steps/postgres/changes.h"
#include "steps/postgres/inputs.h"
#include "steps/postgres/postgres.h"

#define STEP "postgres"

struct planning {
    const struct snapshot *snapshot;
    const struct postgres_server *server;
    struct postgres_found found; /* borrowed facts */
    struct postgres_wanted wanted;
    struct plan *plan;
    bool role, marks; /* planned */
    size_t repair_count;
    char **repairs; /* ids of planned ones */
};

static struct change *add(struct planning *p, const struct change_kind *kind, const char *id,
                          enum change_action action, const struct postgres_diff *d)
{
    struct node *args = postgres_change_args(&p->wanted, d);
    AUTO(xfree)
    char *place = postgres_place(snap_text(p->snapshot, "postgres.host"),
                                 snap_text(p->snapshot, "postgres.port"),
                                 snap_text(p->snapshot, "postgres.database"));
    node_set_text(args, "place", place);
    struct change *c = plan_add(p->plan, kind, STEP, id, action, args);
    AUTO(xfree) char *sql = postgres_diff_sql(d);
    change_text(&c->preview, "%s", sql);
    return c;
}

static size_t count_items(const struct postgres_diff *d, const char *start)
{
    size_t n = 0;
    for (size_t i = 0; i < d->item_count; i++)
        n += strncmp(d->items[i], start, strlen(start)) == 0;
    return n;
}

/* --- user ------------------------------------------------------------------------------------- */

static bool password_given(const struct snapshot *s)
{
    return snap_value(s, "postgres.password") != NULL;
}

static bool password_made(const struct snapshot *s)
{
    int field = rows_field(snapshot_rows(s), "postgres.password");
    return field >= 0 && snapshot_origin(s, field) == ORIGIN_MADE;
}

static void describe_role(struct change *c, const struct planning *p, const struct postgres_diff *d,
                          bool create)
{
    AUTO_TEXT detail = TEXT_INIT;
    for (size_t i = 0; i < d->item_count; i++) {
        const char *item = d->items[i];
        if (strcmp(item, "create") == 0)
            continue;
        text_sep(&detail, ", ");
        text_add(&detail, strcmp(item, "replication") == 0 ? "REPLICATION" : item);
    }
    if (create)
        text_addf(&detail, "; password %s",
                  password_given(p->snapshot) ? "as answered" : "made here");
    change_text(&c->title, "user %s", p->wanted.user);
    change_text(&c->detail, "%s", detail.s);
    change_text(&c->reason, "%s",
                create ? "Estuary logs in as a user of its own, with no more rights than it needs."
                       : "The user exists and lacks what Estuary needs to replicate.");
    if (postgres_diff_has(d, "replication of the admin"))
        change_text(
            &c->caution,
            "gives REPLICATION to the admin %s as well: only who has it may give it on Azure",
            p->server->admin);
}

static void plan_password(struct planning *p)
{
    const struct postgres_role *r = p->found.role;
    const struct postgres_login_state *login =
        snap_fact(p->snapshot, FACT_LOGIN, &postgres_login_type);
    bool refused = login != NULL && login->refused && password_made(p->snapshot);
    if (!r->exists || (password_given(p->snapshot) && !refused))
        return;
    if (r->is_admin) {
        plan_missing(p->plan,
                     STEP ": %s is the admin itself: give its password as the capture user's",
                     r->name);
        return;
    }
    struct postgres_diff d = {0};
    postgres_diff_password(r, NULL, &d);
    struct change *c = add(p, &postgres_kind_password, "postgres.password", CHANGE_ALTER, &d);
    postgres_diff_release(&d);
    change_text(&c->title, "password of user %s", r->name);
    change_text(&c->detail, "made here");
    change_text(&c->reason, "The user exists, and its password is not known here.");
    change_text(&c->caution, "whoever else logs in as %s needs the new one", r->name);
    c->uses = "postgres.password";
    if (p->role)
        change_after(c, "postgres.role");
}

static void plan_role(struct planning *p)
{
    const struct postgres_role *r = p->found.role;
    struct postgres_diff d = {0};
    postgres_diff_role(p->server, r, NULL, &d);
    bool create = postgres_diff_has(&d, "create");
    if (!postgres_diff_none(&d)) {
        struct change *c =
            add(p, &postgres_kind_role, "postgres.role", create ? CHANGE_CREATE : CHANGE_ALTER, &d);
        describe_role(c, p, &d, create);
        if (create)
            c->uses = "postgres.password";
        p->role = true;
    } else {
        plan_right(p->plan, "user %s: login, %s", r->name,
                   r->replication ? "REPLICATION" : "member of rds_replication");
    }
    postgres_diff_release(&d);
    plan_password(p);
}

/* --- grants ----------------------------------------------------------------------------------- */

static void plan_grants(struct planning *p)
{
    struct postgres_diff d = {0};
    postgres_diff_grants(p->server, &p->found, &d);
    if (postgres_diff_none(&d)) {
        plan_right(p->plan, "grants: CONNECT, USAGE and SELECT on the chosen tables");
    } else {
        struct change *c = add(p, &postgres_kind_grants, "postgres.grants", CHANGE_CREATE, &d);
        if (!p->found.role->exists)
            node_set_text(c->args, "fresh", "yes");
        size_t schemas = count_items(&d, "usage "), tables = count_items(&d, "select ");
        AUTO_TEXT detail = TEXT_INIT;
        text_add(&detail, postgres_diff_has(&d, "connect") ? "CONNECT" : "");
        if (schemas > 0) {
            text_sep(&detail, ", ");
            text_addf(&detail, "USAGE on %zu schema%s", schemas, schemas == 1 ? "" : "s");
        }
        if (tables > 0) {
            text_sep(&detail, ", ");
            text_addf(&detail, "SELECT on %zu table%s", tables, tables == 1 ? "" : "s");
        }
        change_text(&c->title, "grants to %s", p->wanted.user);
        change_text(&c->detail, "%s", detail.s);
        change_text(
            &c->reason,
            "Estuary reads each table once from start to end before it follows its changes.");
        if (p->role)
            change_after(c, "postgres.role");
    }
    postgres_diff_release(&d);
}

/* --- watermarks ------------------------------------------------------------------------------- */

static void plan_watermarks(struct planning *p)
{
    const struct postgres_watermarks *w = p->found.watermarks;
    struct postgres_diff d = {0};
    postgres_diff_watermarks(&p->found, &d);
    if (!postgres_diff_none(&d)) {
        struct change *c = add(p, &postgres_kind_watermarks, "postgres.watermarks",
                               w->exists ? CHANGE_ALTER : CHANGE_CREATE, &d);
        change_text(&c->title, "table %s", w->name);
        change_text(&c->detail, "%s",
                    w->exists ? "rights on it for the capture user"
                              : "slot, watermark; SELECT, INSERT, UPDATE for the capture user");
        change_text(&c->reason, "Estuary marks its progress here during a backfill.");
        if (p->role)
            change_after(c, "postgres.role");
        p->marks = true;
    } else if (!w->schema_exists) {
        plan_missing(p->plan, STEP ": the schema of %s does not exist", w->name);
    } else if (w->kind != 'r' || !w->columns || !w->unique) {
        plan_missing(p->plan, STEP ": %s is there, but of another form", w->name);
    } else {
        plan_right(p->plan, "table %s", w->name);
    }
    postgres_diff_release(&d);
}

/* --- repairs ---------------------------------------------------------------------------------- */

static const char *identity_word(char replica)
{
    return replica == 'f'   ? "FULL"
           : replica == 'n' ? "NOTHING"
           : replica == 'i' ? "USING INDEX"
                            : "DEFAULT";
}

static void plan_repair(struct planning *p, const struct postgres_table *t, const char *repair)
{
    struct postgres_diff d = {0};
    if (postgres_identity_of(t, repair) != POSTGRES_BAD_REPAIR)
        postgres_diff_repair(t, repair, &d);
    if (!postgres_diff_none(&d)) {
        AUTO(xfree) char *id = xasprintf("postgres.repair.%s", t->written);
        struct change *c = add(p, &postgres_kind_repair, id, CHANGE_ALTER, &d);
        const char before[] = {t->replica, '\0'};
        node_set_text(c->args, "table", t->written);
        node_set_text(c->args, "repair", repair);
        node_set_text(c->args, "before", before);
        bool full = strcmp(repair, "full") == 0;
        change_text(&c->title, "table %s", t->written);
        change_text(&c->detail, "REPLICA IDENTITY %s → %s%s", identity_word(t->replica),
                    full ? "FULL" : "USING INDEX ", full ? "" : repair + 6);
        change_text(
            &c->reason,
            "Without it every UPDATE and DELETE on the table would fail once it is published.");
        change_text(
            &c->caution,
            full ? "locks the table briefly; whole old rows are written to the log from then on"
                 : "locks the table briefly");
        p->repairs = xrealloc(p->repairs, p->repair_count + 1, sizeof *p->repairs);
        p->repairs[p->repair_count++] = xstrdup(id);
    }
    postgres_diff_release(&d);
}

static void plan_repairs(struct planning *p)
{
    for (size_t i = 0; i < p->found.chosen->count; i++) {
        const struct postgres_table *t = &p->found.chosen->rows[i];
        const char *repair = postgres_repair_for(&p->wanted, t->written);
        if (repair != NULL && postgres_capturable(t, p->wanted.watermarks))
            plan_repair(p, t, repair);
    }
}

/* --- publication ------------------------------------------------------------------------------ */

static void describe_publication(struct change *c, const struct planning *p,
                                 const struct postgres_diff *d)
{
    const struct postgres_publication *pub = p->found.publication;
    AUTO(xfree) char *marks = xasprintf("add %s", p->wanted.watermarks);
    bool watermarks = postgres_diff_has(d, marks);
    size_t tables = count_items(d, "add ") - watermarks;
    bool roots = pub->exists ? postgres_diff_has(d, "via root") : p->server->version >= 130000;
    AUTO_TEXT detail = TEXT_INIT;
    if (tables > 0)
        text_addf(&detail, "%zu%s table%s", tables, pub->exists ? " more" : "",
                  tables == 1 ? "" : "s");
    if (watermarks)
        text_addf(&detail, "%swatermarks", detail.len > 0 ? " + " : "");
    if (roots)
        text_addf(&detail, "%svia partition root", detail.len > 0 ? ", " : "");
    change_text(&c->title, "publication %s", pub->name);
    change_text(&c->detail, "%s", detail.s);
    change_text(
        &c->reason, "%s",
        pub->exists
            ? "Estuary follows only what the publication hands out."
            : "Estuary follows only what a publication hands out, and does not make it itself.");
    if (pub->exists && roots)
        change_text(&c->caution,
                    "other readers of it get changes of partitions under their table's name");
}

static void name_left_out(struct planning *p)
{
    for (size_t i = 0; i < p->found.chosen->count; i++) {
        const struct postgres_table *t = &p->found.chosen->rows[i];
        if (postgres_capturable(t, p->wanted.watermarks) &&
            !postgres_may_publish(&p->found, &p->wanted, t))
            plan_missing(p->plan,
                         STEP ": %s stays out of the publication: it has no replica identity",
                         t->written);
    }
}

static void plan_publication(struct planning *p)
{
    const struct postgres_publication *pub = p->found.publication;
    struct postgres_diff d = {0};
    postgres_diff_publication(p->server, &p->found, &p->wanted, &d);
    if (postgres_diff_none(&d)) {
        plan_right(p->plan, "publication %s", pub->name);
    } else {
        struct change *c = add(p, &postgres_kind_publication, "postgres.publication",
                               pub->exists ? CHANGE_ALTER : CHANGE_CREATE, &d);
        describe_publication(c, p, &d);
        if (p->marks)
            change_after(c, "postgres.watermarks");
        for (size_t i = 0; i < p->repair_count; i++)
            change_after(c, p->repairs[i]);
    }
    postgres_diff_release(&d);
    name_left_out(p);
}

/* --- all of it -------------------------------------------------------------------------------- */

static bool looked_at(const struct planning *p)
{
    const struct postgres_found *f = &p->found;
    if (p->server == NULL)
        plan_missing(p->plan, STEP ": connects as admin has not passed");
    else if (f->role == NULL || f->chosen == NULL || f->publication == NULL ||
             f->watermarks == NULL)
        plan_missing(p->plan, STEP ": what is there already has not been read");
    else
        return true;
    return false;
}

static void server_is_right(const struct postgres_server *s, struct plan *out)
{
    if (strcmp(s->wal_level, "logical") == 0 && s->used_slots < s->max_slots)
        plan_right(out, "wal_level, %d free slot%s%s%s", s->max_slots - s->used_slots,
                   s->max_slots - s->used_slots == 1 ? "" : "s", s->tls != NULL ? ", " : "",
                   s->tls != NULL ? s->tls : "");
}

void postgres_plan(const struct snapshot *s, struct plan *out)
{
    struct planning p = {
        .snapshot = s,
        .server = snap_fact(s, FACT_SERVER, &postgres_server_type),
        .found = postgres_found_of(s),
        .wanted = postgres_wanted_of(s),
        .plan = out,
    };
    if (!looked_at(&p))
        return;
    plan_role(&p);
    if (p.found.chosen->count > 0)
        plan_grants(&p);
    plan_watermarks(&p);
    plan_repairs(&p);
    if (p.found.chosen->count > 0)
        plan_publication(&p);
    else
        plan_missing(out, STEP ": no table is chosen");
    server_is_right(p.server, out);
    for (size_t i = 0; i < p.repair_count; i++)
        xfree(p.repairs[i]);
    xfree(p.repairs);
}
