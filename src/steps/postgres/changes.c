/* The sorts of changes: what each looks for, and what it sends (live.h carries it out). */
#include "steps/postgres/changes.h"

#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "postgres/transact.h"
#include "steps/postgres/inputs.h"
#include "steps/postgres/live.h"
#include "steps/postgres/postgres.h"

#define DEADLINE_MS 40000

struct node *postgres_change_args(const struct postgres_wanted *w, const struct postgres_diff *d)
{
    struct node *args = node_map();
    struct node *items = node_list();
    for (size_t i = 0; i < d->item_count; i++)
        node_add(items, node_scalar(d->items[i]));
    node_set(args, "items", items);
    node_set_text(args, "user", w->user);
    node_set_text(args, "publication", w->publication);
    node_set_text(args, "watermarks", w->watermarks);
    return args;
}

char *postgres_place(const char *host, const char *port, const char *database)
{
    return xasprintf("%s:%s/%s", host, port, database);
}

bool postgres_announced(const struct change *c, const char *item)
{
    const struct node *items = node_get(c->args, "items");
    for (size_t i = 0; items != NULL && i < items->count; i++) {
        const char *text = node_text(items->items[i]);
        if (text != NULL && strcmp(text, item) == 0)
            return true;
    }
    return false;
}

/* --- sorts ------------------------------------------------------------------------------------ */

static void diff_role(struct live *l, const char *verifier)
{
    postgres_diff_role(l->server, l->found.role, verifier, &l->diff);
}

static void diff_grants(struct live *l, const char *verifier)
{
    (void)verifier;
    postgres_diff_grants(l->server, &l->found, &l->diff);
}

/* For a user that was still to be made all grants were shown, also those PUBLIC has at the moment:
 * they are what keeps the capture going when those are revoked one day. */
static void diff_all_grants(struct live *l, const char *verifier)
{
    bool exists = l->found.role->exists;
    const char *fresh = node_get_text(l->change->args, "fresh");
    l->found.role->exists = exists && fresh == NULL;
    diff_grants(l, verifier);
    l->found.role->exists = exists;
}

static void diff_watermarks(struct live *l, const char *verifier)
{
    (void)verifier;
    postgres_diff_watermarks(&l->found, &l->diff);
}

static void diff_publication(struct live *l, const char *verifier)
{
    (void)verifier;
    postgres_diff_publication(l->server, &l->found, &l->wanted, &l->diff);
}

static void diff_repair(struct live *l, const char *verifier)
{
    (void)verifier;
    const char *table = node_get_text(l->change->args, "table");
    const struct postgres_table *t = postgres_tables_written(l->found.chosen, table);
    if (t != NULL && t->found)
        postgres_diff_repair(t, node_get_text(l->change->args, "repair"), &l->diff);
}

/* --- finding ---------------------------------------------------------------------------------- */

/* Does the password at hand open the door? Settles whether a role that is there is the one we made.
 */
static bool logs_in(struct run *run)
{
    struct postgres_login login = postgres_capture_login(run);
    if (login.password == NULL)
        return false;
    struct pg *pg = postgres_open(run, &login, POSTGRES_LOCK_WAIT_MS, NULL);
    pg_close(pg);
    return pg != NULL;
}

static int find_role(struct run *run, const struct change *c, struct found *out,
                     struct problem *err)
{
    const char *user = run_text(run, "postgres.user");
    if (live_find(run, c, diff_role, user, out, err) != 0)
        return -1;
    if (!postgres_announced(c, "create") || !out->present || logs_in(run))
        return 0;
    out->as_wanted = false;
    xreplace(&out->saw, "a role of that name, which does not take our password");
    return 0;
}

static int find_password(struct run *run, const struct change *c, struct found *out,
                         struct problem *err)
{
    (void)c;
    (void)err;
    out->as_wanted = out->present = logs_in(run);
    out->id = xstrdup(run_text(run, "postgres.user"));
    out->saw = xstrdup(out->as_wanted ? "the password opens the door" : "another password");
    return 0;
}

static int find_grants(struct run *run, const struct change *c, struct found *out,
                       struct problem *err)
{
    return live_find(run, c, diff_grants, run_text(run, "postgres.user"), out, err);
}

static int find_watermarks(struct run *run, const struct change *c, struct found *out,
                           struct problem *err)
{
    return live_find(run, c, diff_watermarks, run_text(run, "postgres.watermarks"), out, err);
}

static int find_repair(struct run *run, const struct change *c, struct found *out,
                       struct problem *err)
{
    return live_find(run, c, diff_repair, node_get_text(c->args, "table"), out, err);
}

static int find_publication(struct run *run, const struct change *c, struct found *out,
                            struct problem *err)
{
    return live_find(run, c, diff_publication, run_text(run, "postgres.publication"), out, err);
}

/* --- sending ---------------------------------------------------------------------------------- */

static int no_password(struct problem *err)
{
    problem_fail(err, PROBLEM_INPUT, "password", "the password of the capture user is not at hand");
    problem_fix(err, WHO_YOU, "type it, unlock the secrets file, or clear it so that one is made");
    return -1;
}

static int taken_by_another(const struct live *l, struct problem *err)
{
    problem_fail(err, PROBLEM_CONFLICT, "42710", "a role %s appeared meanwhile, which is not ours",
                 l->found.role->name);
    problem_fix(err, WHO_YOU,
                "choose another name for the capture user, or look at the plan again to adopt it");
    return -1;
}

static int send_role(struct run *run, const struct change *c, struct made *out, struct problem *err)
{
    struct live l;
    struct secret *password = run_secret(run, "postgres.password");
    bool create = postgres_announced(c, "create");
    if (create && password == NULL)
        return no_password(err);
    if (live_open(run, c, &l, err) != 0)
        return -1;
    AUTO(postgres_verifier_free) char *verifier = NULL;
    int rc = 0;
    if (create && l.found.role->exists && !logs_in(run))
        rc = taken_by_another(&l, err);
    if (rc == 0 && create) {
        verifier = postgres_verifier(l.pg, password, l.wanted.user, err);
        rc = verifier != NULL ? 0 : -1;
    }
    if (rc == 0)
        rc = live_send(run, &l, diff_role, diff_role, verifier, NULL, err);
    live_close(&l);
    if (rc == 0)
        out->id = xstrdup(run_text(run, "postgres.user"));
    return rc;
}

static int send_password(struct run *run, const struct change *c, struct made *out,
                         struct problem *err)
{
    struct live l;
    struct secret *password = run_secret(run, "postgres.password");
    if (password == NULL)
        return no_password(err);
    if (live_open(run, c, &l, err) != 0)
        return -1;
    AUTO(postgres_verifier_free)
    char *verifier = postgres_verifier(l.pg, password, l.wanted.user, err);
    int rc = verifier != NULL ? 0 : -1;
    if (rc == 0) {
        struct postgres_diff d = {0};
        postgres_diff_password(l.found.role, verifier, &d);
        struct postgres_work work = {.statements = (const char *const *)d.statements,
                                     .count = d.statement_count};
        rc = postgres_transact(run, l.pg, &work, err);
        explicit_bzero(d.statements[0], strlen(d.statements[0]));
        postgres_diff_release(&d);
    }
    live_close(&l);
    if (rc == 0)
        out->id = xstrdup(run_text(run, "postgres.user"));
    return rc;
}

static int send_grants(struct run *run, const struct change *c, struct made *out,
                       struct problem *err)
{
    return live_send_plain(run, c, diff_all_grants, diff_grants, run_text(run, "postgres.user"),
                           NULL, out, err);
}

static int send_watermarks(struct run *run, const struct change *c, struct made *out,
                           struct problem *err)
{
    return live_send_plain(run, c, diff_watermarks, diff_watermarks,
                           run_text(run, "postgres.watermarks"), NULL, out, err);
}

static int send_repair(struct run *run, const struct change *c, struct made *out,
                       struct problem *err)
{
    return live_send_plain(run, c, diff_repair, diff_repair, node_get_text(c->args, "table"), NULL,
                           out, err);
}

/* The guard of the source, run right before ALTER PUBLICATION and once more in its transaction,
 * under its locks: a table that was announced and has no identity (any more) stops it. */
static int all_identified(struct live *l, struct problem *err)
{
    const struct postgres_publication *p = l->found.publication;
    if (p->exists && !p->updates && !p->deletes)
        return 0;
    for (size_t i = 0; i < l->found.chosen->count; i++) {
        const struct postgres_table *t = &l->found.chosen->rows[i];
        AUTO(xfree) char *item = xasprintf("add %s", t->written);
        if (!t->found || !postgres_table_breaks(t) || !postgres_announced(l->change, item))
            continue;
        problem_fail(err, PROBLEM_CONFLICT, "55000",
                     "%s has no replica identity: nothing was published", t->written);
        problem_why(err, "Its primary key or identity is gone since the plan was shown. Published "
                         "like this, UPDATE and DELETE on it would fail in the application.");
        problem_fix(err, WHO_YOU, "run the checks again, then repair it or leave it out");
        return -1;
    }
    return 0;
}

static int send_publication(struct run *run, const struct change *c, struct made *out,
                            struct problem *err)
{
    return live_send_plain(run, c, diff_publication, diff_publication,
                           run_text(run, "postgres.publication"), all_identified, out, err);
}

const struct change_kind postgres_kind_role = {
    .id = "postgres.role",
    .label = "capture user",
    .deadline_ms = DEADLINE_MS,
    .find = find_role,
    .send = send_role,
    .undo = postgres_undo_role,
};

const struct change_kind postgres_kind_password = {
    .id = "postgres.password",
    .label = "password of the capture user",
    .deadline_ms = DEADLINE_MS,
    .find = find_password,
    .send = send_password,
};

const struct change_kind postgres_kind_grants = {
    .id = "postgres.grants",
    .label = "grants",
    .deadline_ms = DEADLINE_MS,
    .find = find_grants,
    .send = send_grants,
    .undo = postgres_undo_grants,
};

const struct change_kind postgres_kind_watermarks = {
    .id = "postgres.watermarks",
    .label = "watermarks table",
    .deadline_ms = DEADLINE_MS,
    .find = find_watermarks,
    .send = send_watermarks,
    .undo = postgres_undo_watermarks,
};

const struct change_kind postgres_kind_repair = {
    .id = "postgres.repair",
    .label = "replica identity",
    .deadline_ms = DEADLINE_MS,
    .find = find_repair,
    .send = send_repair,
    .undo = postgres_undo_repair,
};

const struct change_kind postgres_kind_publication = {
    .id = "postgres.publication",
    .label = "publication",
    .deadline_ms = DEADLINE_MS,
    .find = find_publication,
    .send = send_publication,
    .undo = postgres_undo_publication,
};
