/* The two surveys: the server as its admin sees it, and what there is of what the answers name. */
#include "core/mem.h"
#include "postgres/survey.h"
#include "steps/postgres/inputs.h"
#include "steps/postgres/postgres.h"

static void tried(struct outcome *out, const struct postgres_login *l)
{
    outcome_tried(out, "log in as %s on %s:%s/%s, TLS mode %s", l->user, l->host, l->port,
                  l->database, l->sslmode);
}

static void give(struct outcome *out, const char *id, const struct fact_type *type, void *data)
{
    if (data != NULL)
        outcome_give(out, id, fact_new(type, data));
}

static void run_connect_admin(struct run *run, struct outcome *out)
{
    struct postgres_login login = postgres_admin_login(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct postgres_lease lease;
    struct postgres_overview o = {0};
    tried(out, &login);
    if (postgres_lease(run, &login, &lease, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    run_progress(run, 0, 0, "reads settings and the list of tables");
    int rc = postgres_survey_server(run, lease.pg, login.host, &o, &err);
    postgres_return(run, &lease);
    if (rc != 0) {
        outcome_problem(out, &err);
        return;
    }
    const struct postgres_server *s = o.server;
    const char *on = postgres_recipe(s->platform)->name;
    outcome_pass(out, "PostgreSQL %s%s%s as %s, %s", s->release, on[0] != '\0' ? " on " : "", on,
                 s->admin, s->tls != NULL ? s->tls : "in clear");
    if (o.catalogue != NULL)
        outcome_evidence(out, "%zu tables and views, %zu replication slots, %zu long transactions",
                         o.catalogue->count, o.slots->count, o.sessions->count);
    give(out, FACT_SERVER, &postgres_server_type, o.server);
    give(out, FACT_SLOTS, &postgres_slots_type, o.slots);
    give(out, FACT_SESSIONS, &postgres_sessions_type, o.sessions);
    give(out, FACT_CATALOGUE, &postgres_catalogue_type, o.catalogue);
}

const struct check postgres_check_connect_admin = {
    .id = "postgres.connect_admin",
    .title = "connects as admin",
    .reads = (const char *const[]){READS_ADMIN, NULL},
    .gives = (const char *const[]){FACT_SERVER, FACT_SLOTS, FACT_SESSIONS, FACT_CATALOGUE, NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = "postgres",
    .deadline_ms = 40000,
    .cause =
        "The host, port or database is wrong, the server does not accept this login from here, or "
        "a firewall drops the connection. It is tested from this machine, not from Estuary.",
    .fix = "Correct the answer named in the message, or have the firewall, pg_hba.conf or password "
           "set right.",
    .run = run_connect_admin,
};

static void run_found(struct run *run, struct outcome *out)
{
    struct postgres_login login = postgres_admin_login(run);
    struct postgres_wanted wanted = postgres_wanted_of_run(run);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct postgres_lease lease;
    struct postgres_found f = {0};
    tried(out, &login);
    if (postgres_lease(run, &login, &lease, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    int rc = postgres_survey_found(run, lease.pg, &wanted, &f, &err);
    postgres_return(run, &lease);
    if (rc != 0) {
        outcome_problem(out, &err);
        return;
    }
    size_t there = 0;
    for (size_t i = 0; i < f.chosen->count; i++)
        there += f.chosen->rows[i].found;
    outcome_pass(out, "user %s, publication %s, watermarks table %s, %zu of %zu tables",
                 f.role->exists ? "exists" : "not yet",
                 f.publication->exists ? "exists" : "not yet",
                 f.watermarks->exists ? "exists" : "not yet", there, f.chosen->count);
    give(out, FACT_ROLE, &postgres_role_type, f.role);
    give(out, FACT_CHOSEN, &postgres_chosen_type, f.chosen);
    give(out, FACT_PUBLISHED, &postgres_publication_type, f.publication);
    give(out, FACT_WATERMARKS, &postgres_watermarks_type, f.watermarks);
}

const struct check postgres_check_found = {
    .id = "postgres.found",
    .title = "what is there already",
    .reads = (const char *const[]){READS_ADMIN, "postgres.user", "?postgres.tables",
                                   "postgres.publication", "postgres.watermarks", NULL},
    .gives = (const char *const[]){FACT_ROLE, FACT_CHOSEN, FACT_PUBLISHED, FACT_WATERMARKS, NULL},
    .after = (const char *const[]){"postgres.connect_admin", "postgres.version", NULL},
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = "postgres",
    .deadline_ms = 30000,
    .cause = "The catalogues could not be read.",
    .fix = "See the message of the server.",
    .run = run_found,
};
