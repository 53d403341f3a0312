/* Verdict: may the admin make what is planned? Ownership is what fails most: GRANT by a non-owner
 * succeeds and grants nothing, ALTER PUBLICATION … ADD TABLE needs the ownership of each table. No
 * I/O. */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "net/pg.h"
#include "postgres/diff.h"
#include "steps/postgres/inputs.h"
#include "steps/postgres/postgres.h"

struct judging {
    struct outcome *out;
    const struct postgres_server *server;
    struct postgres_found found; /* borrowed facts */
    struct postgres_wanted wanted;
    size_t lacks;
    const char *owner; /* of the first table that belongs to another */
};

static void lack(struct judging *j, const char *name, const char *line, const char *fix)
{
    outcome_item(j->out, STATUS_FAILED, name, line, fix);
    j->lacks++;
}

/* Managed servers give their admin ways of their own; only on an own one the rules are
 * PostgreSQL's. */
static void judge_role(struct judging *j)
{
    const struct postgres_server *s = j->server;
    struct postgres_diff d = {0};
    postgres_diff_role(s, j->found.role, NULL, &d);
    if (postgres_diff_has(&d, "create") && !s->admin_super && !s->admin_roles)
        lack(j, "user", "the admin may not make roles", "use one with CREATEROLE, or a superuser");
    else if (postgres_diff_has(&d, "replication") && s->platform == POSTGRES_PLAIN &&
             !s->admin_super && !(s->version >= 160000 && s->admin_replication))
        lack(j, "user",
             s->version >= 160000 ? "the admin has no REPLICATION and so may not give it"
                                  : "only a superuser may give REPLICATION",
             "use a superuser");
    postgres_diff_release(&d);
}

static void judge_tables(struct judging *j)
{
    for (size_t i = 0; i < j->found.chosen->count; i++) {
        const struct postgres_table *t = &j->found.chosen->rows[i];
        const char *repair = postgres_repair_for(&j->wanted, t->written);
        struct postgres_diff repairs = {0};
        if (repair != NULL && postgres_capturable(t, j->wanted.watermarks))
            postgres_diff_repair(t, repair, &repairs);
        bool grant = postgres_needs_select(&j->found, t) && !t->admin_grants;
        bool enter = postgres_capturable(t, j->wanted.watermarks) && !t->admin_grants_usage &&
                     !(j->found.role->exists && t->usage);
        bool publish = postgres_needs_adding(&j->found, &j->wanted, t) && !t->admin_owns;
        bool mend = !postgres_diff_none(&repairs) && !t->admin_owns;
        postgres_diff_release(&repairs);
        if (enter)
            lack(j, t->written, "the admin may not grant USAGE on its schema", NULL);
        if (!grant && !publish && !mend)
            continue;
        AUTO(xfree)
        char *line = xasprintf("belongs to %s: the admin may not %s%s%s", t->owner,
                               grant ? "grant on it" : "", grant && (publish || mend) ? " or " : "",
                               publish || mend ? "publish or alter it" : "");
        lack(j, t->written, line, NULL);
        if (j->owner == NULL)
            j->owner = t->owner;
    }
}

static void judge_objects(struct judging *j, const struct postgres_diff *publication)
{
    const struct postgres_publication *p = j->found.publication;
    const struct postgres_watermarks *w = j->found.watermarks;
    struct postgres_diff marks = {0};
    postgres_diff_watermarks(&j->found, &marks);
    if (postgres_diff_has(&marks, "create") && !w->admin_makes)
        lack(j, w->name, "the admin may not make tables in its schema",
             "GRANT CREATE ON SCHEMA … TO the admin");
    else if (!postgres_diff_none(&marks) && w->exists && !w->admin_owns)
        lack(j, w->name, "the admin does not own it and so may not grant on it", NULL);
    if (postgres_diff_has(publication, "create") && !j->server->admin_creates)
        lack(j, p->name, "the admin may not make publications",
             "GRANT CREATE ON DATABASE … TO the admin");
    else if (p->exists && !postgres_diff_none(publication) && !p->admin_owns)
        lack(j, p->name, "the publication belongs to another role",
             "have its owner alter it, or choose another name");
    postgres_diff_release(&marks);
}

static void run_admin_rights(struct run *run, struct outcome *out)
{
    struct judging j = {
        .out = out,
        .server = run_fact(run, FACT_SERVER, &postgres_server_type),
        .wanted = postgres_wanted_of_run(run),
        .found = postgres_found_of_run(run),
    };
    postgres_wanted_repairs(&j.wanted, run_value(run, "postgres.repairs"));
    struct postgres_diff publication = {0};
    postgres_diff_publication(j.server, &j.found, &j.wanted, &publication);
    judge_role(&j);
    judge_tables(&j);
    judge_objects(&j, &publication);
    postgres_diff_release(&publication);
    if (j.lacks == 0) {
        outcome_pass(out, "%s%s", j.server->admin, j.server->admin_super ? ", superuser" : "");
        return;
    }
    outcome_fail(out, "42501", "%s lacks rights for %zu of the things to be made", j.server->admin,
                 j.lacks);
    if (j.owner == NULL) {
        outcome_why(out, "PostgreSQL lets only some roles give such rights; see each line.");
        outcome_fix(out, WHO_DBA, "use another admin, or run the plan's SQL as a superuser");
        return;
    }
    AUTO(xfree) char *owner = pg_quote_ident(j.owner);
    AUTO(xfree) char *admin = pg_quote_ident(j.server->admin);
    outcome_why(
        out,
        "Only owners may publish a table; GRANT by another reports success and grants nothing.");
    outcome_fix(out, WHO_DBA,
                "make the admin a member of the owner, use the owner as admin, or run the plan's "
                "SQL as the owner");
    outcome_copy_command(out, "GRANT %s TO %s;", owner, admin);
}

const struct check postgres_check_admin_rights = {
    .id = "postgres.admin_rights",
    .title = "the admin may make what is planned",
    .reads = (const char *const[]){"postgres.tables", "?postgres.repairs", "postgres.user",
                                   "postgres.publication", "postgres.watermarks", FACT_SERVER,
                                   FACT_ROLE, FACT_CHOSEN, FACT_PUBLISHED, FACT_WATERMARKS, NULL},
    .severity = SEV_BLOCKS,
    .cause = "The admin is no superuser and does not own the tables, the publication or the "
             "watermarks table, or may not make roles or publications.",
    .fix = "GRANT owner TO admin; or use the owner as admin; or hand the plan's SQL to the DBA.",
    .run = run_admin_rights,
};
