/* Carrying out a change (live.h). */
#include "steps/postgres/live.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "postgres/transact.h"
#include "steps/postgres/inputs.h"
#include "steps/postgres/postgres.h"

void live_close(struct live *l)
{
    postgres_diff_release(&l->diff);
    postgres_found_release(&l->found);
    pg_close(l->pg);
    *l = (struct live){0};
}

/* Reads all anew on the connection given. */
static int live_look(struct run *run, struct pg *pg, struct live *l, struct problem *err)
{
    postgres_found_release(&l->found);
    postgres_diff_release(&l->diff);
    return postgres_survey_found(run, pg, &l->wanted, &l->found, err);
}

int live_open(struct run *run, const struct change *c, struct live *l, struct problem *err)
{
    *l = (struct live){.change = c};
    struct postgres_login login = postgres_admin_login(run);
    l->wanted = postgres_wanted_of_run(run);
    postgres_wanted_repairs(&l->wanted, run_value(run, "postgres.repairs"));
    l->server = run_fact(run, FACT_SERVER, &postgres_server_type);
    if (l->server == NULL)
        return problem_fail(err, PROBLEM_MISSING, "no survey",
                            "the server has not been looked at yet");
    l->pg = postgres_open(run, &login, POSTGRES_LOCK_WAIT_MS, err);
    if (l->pg == NULL)
        return -1;
    if (live_look(run, l->pg, l, err) == 0)
        return 0;
    live_close(l);
    return -1;
}

int live_find(struct run *run, const struct change *c, differ *diff, const char *name,
              struct found *out, struct problem *err)
{
    struct live l;
    if (live_open(run, c, &l, err) != 0)
        return -1;
    diff(&l, NULL);
    out->as_wanted = postgres_diff_none(&l.diff);
    /* A thing to be made is there unless its making is still to be done; an alteration only when
     * done. */
    out->present =
        out->as_wanted || (c->action == CHANGE_CREATE && postgres_announced(c, "create") &&
                           !postgres_diff_has(&l.diff, "create"));
    out->id = xstrdup(name);
    AUTO_TEXT saw = TEXT_INIT;
    for (size_t i = 0; i < l.diff.item_count && saw.len < 300; i++)
        text_addf(&saw, "%s%s", i == 0 ? "still to do: " : ", ", l.diff.items[i]);
    out->saw = xstrdup(saw.len > 0 ? saw.s : "as wanted");
    live_close(&l);
    return 0;
}

/* --- sending ---------------------------------------------------------------------------------- */

static int not_announced(const struct live *l, const char *item, struct problem *err)
{
    problem_fail(err, PROBLEM_CONFLICT, "changed", "%s needs more by now than was shown: %s",
                 l->change->title, item);
    problem_fix(err, WHO_YOU, "look at the plan again, then apply it");
    return -1;
}

static int compare_texts(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    return strcmp(*x, *y);
}

/* Sorted, since there may be as many as tables. */
static int only_announced(const struct live *l, struct problem *err)
{
    const struct node *items = node_get(l->change->args, "items");
    size_t count = items != NULL ? items->count : 0;
    const char **announced = xcalloc(count, sizeof *announced);
    for (size_t i = 0; i < count; i++)
        announced[i] = node_text(items->items[i]);
    qsort(announced, count, sizeof *announced, compare_texts);
    int rc = 0;
    for (size_t i = 0; i < l->diff.item_count && rc == 0; i++) {
        const char *item = l->diff.items[i];
        if (bsearch(&item, announced, count, sizeof *announced, compare_texts) == NULL)
            rc = not_announced(l, item, err);
    }
    xfree(announced);
    return rc;
}

/* In the transaction: nothing may be left to do. */
struct guarding {
    struct live *live;
    differ *diff;
    holding *more; /* NULL none */
};

static int guard(struct run *run, struct pg *pg, void *ctx, struct problem *err)
{
    struct guarding *g = ctx;
    if (live_look(run, pg, g->live, err) != 0)
        return -1;
    if (g->more != NULL && g->more(g->live, err) != 0)
        return -1;
    g->diff(g->live, NULL);
    if (postgres_diff_none(&g->live->diff))
        return 0;
    problem_fail(err, PROBLEM_DENIED, "01007", "the server accepted it, but did nothing: %s",
                 g->live->diff.items[0]);
    problem_why(
        err,
        "A GRANT by one who may not grant succeeds with a warning (no privileges were granted).");
    problem_fix(err, WHO_DBA,
                "run it as the owner, or make the admin a member of the owner: GRANT owner TO %s",
                g->live->server->admin);
    return -1;
}

/* Tables a lock may be waited for: the change's own, or all that are chosen. */
static const char *const *relations_of(const struct live *l, size_t *count)
{
    *count = l->wanted.table_count;
    return l->wanted.tables;
}

static const char *foreign_owner(const struct live *l)
{
    for (size_t i = 0; i < l->found.chosen->count; i++)
        if (l->found.chosen->rows[i].found && !l->found.chosen->rows[i].admin_owns)
            return l->found.chosen->rows[i].owner;
    return NULL;
}

static void explain(const struct live *l, struct problem *err)
{
    if (err == NULL || err->code == NULL)
        return;
    if (strcmp(err->code, "53200") == 0) {
        problem_why(err, "A table is locked while it is published, and the server has no room for "
                         "so many locks.");
        problem_fix(err, WHO_DBA,
                    "raise max_locks_per_transaction and restart, or choose fewer tables");
        return;
    }
    if (strcmp(err->code, "42501") != 0)
        return;
    const char *owner = foreign_owner(l);
    if (l->change->kind == &postgres_kind_role) {
        problem_fix(err, WHO_DBA,
                    "use a superuser as admin (from PostgreSQL 16 on also a role with CREATEROLE "
                    "and REPLICATION), or hand over the SQL");
    } else if (owner != NULL) {
        AUTO(xfree) char *name = pg_quote_ident(owner);
        AUTO(xfree) char *admin = pg_quote_ident(l->server->admin);
        problem_fix(err, WHO_DBA, "make the admin a member of the owner, or hand over the SQL");
        problem_copy_command(err, "GRANT %s TO %s;", name, admin);
    } else {
        problem_fix(err, WHO_DBA, "give the admin %s that right, or hand over the SQL",
                    l->server->admin);
    }
}

int live_send(struct run *run, struct live *l, differ *send, differ *diff, const char *verifier,
              holding *more, struct problem *err)
{
    send(l, verifier);
    if (postgres_diff_none(&l->diff))
        return 0; /* done by others meanwhile */
    if (only_announced(l, err) != 0)
        return -1;
    /* The guard looks anew, so the statements are taken out of what it replaces. */
    struct postgres_diff todo = l->diff;
    l->diff = (struct postgres_diff){0};
    struct guarding g = {.live = l, .diff = diff, .more = more};
    struct postgres_work work = {.statements = (const char *const *)todo.statements,
                                 .count = todo.statement_count,
                                 .guard = guard,
                                 .ctx = &g};
    work.relations = relations_of(l, &work.relation_count);
    int rc = postgres_transact(run, l->pg, &work, err);
    if (rc != 0)
        explain(l, err);
    for (size_t i = 0; i < todo.statement_count; i++)
        if (verifier != NULL)
            explicit_bzero(todo.statements[i], strlen(todo.statements[i]));
    postgres_diff_release(&todo);
    return rc;
}

int live_send_plain(struct run *run, const struct change *c, differ *send, differ *diff,
                    const char *name, holding *more, struct made *out, struct problem *err)
{
    struct live l;
    if (live_open(run, c, &l, err) != 0)
        return -1;
    int rc = more != NULL ? more(&l, err) : 0;
    if (rc == 0)
        rc = live_send(run, &l, send, diff, NULL, more, err);
    live_close(&l);
    if (rc == 0)
        out->id = xstrdup(name);
    return rc;
}
