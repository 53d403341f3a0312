/* The throw-away PostgreSQL with its roles and databases, and short ways to open and ask it. */
#ifndef SLUICE_TESTS_NET_PG_FIXTURE_H
#define SLUICE_TESTS_NET_PG_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/secret.h"
#include "net/net.h"
#include "net/pg.h"
#include "net_postgres.h"

static struct postgres server;
static struct net *net;
static struct secret *password;

#define AUTO_PG __attribute__((cleanup(pg_close_auto))) struct pg
#define AUTO_RESULT __attribute__((cleanup(pg_result_free_auto))) struct pg_result

static inline struct run *new_run(int ms)
{
    return run_new_detached(NULL, net, ms);
}

static inline struct pg_options options(void)
{
    return (struct pg_options){.host = "localhost",
                               .port = server.port,
                               .database = "shop",
                               .user = "postgres",
                               .password = password,
                               .sslmode = "verify-full",
                               .ca_file = server.ca};
}

static inline struct pg *open_with(struct run *run, const struct pg_options *o)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct pg *pg = pg_open(run, o, &err);
    if (pg == NULL)
        fail_msg("%s: %s\n%s", err.code, err.what, err.evidence != NULL ? err.evidence : "");
    return pg;
}

static inline struct pg *open_plain(struct run *run)
{
    struct pg_options o = options();
    return open_with(run, &o);
}

static inline void execute(struct run *run, struct pg *pg, const char *sql)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_RESULT *r = pg_query(run, pg, sql, NULL, 0, &err);
    if (r == NULL)
        fail_msg("%s: %s", sql, err.what);
}

static inline int set_up(void **state)
{
    (void)state;
    const char *missing = postgres_start(&server);
    if (missing != NULL) {
        fprintf(stderr, "%s\n", missing);
        return -1;
    }
    /* What must not be used, in the environment as an operator may have it. */
    setenv("PGPASSWORD", POSTGRES_PASSWORD, 1);
    setenv("PGSERVICE", "nowhere", 1);
    setenv("PGOPTIONS", "-c geqo=off", 1);
    setenv("PGSSLMODE", "disable", 1);
    setenv("PGSSLROOTCERT", "/nonexistent", 1);
    setenv("PGUSER", "nobody", 1);
    setenv("PGTZ", "Nowhere", 1);
    setenv("PGAPPNAME", "other", 1);
    AUTO_PROBLEM err = PROBLEM_INIT;
    net = net_new(&(struct net_options){0}, &err);
    password = secret_new(POSTGRES_PASSWORD, strlen(POSTGRES_PASSWORD));
    struct run *run = new_run(10000);
    struct pg_options o = options();
    o.database = "postgres";
    AUTO_PG *pg = open_with(run, &o);
    static const char *const sql[] = {
        "CREATE DATABASE shop",
        "CREATE DATABASE closed",
        "REVOKE CONNECT ON DATABASE closed FROM PUBLIC",
        "CREATE DATABASE rejected",
        "CREATE DATABASE tlsonly",
        "CREATE ROLE plain LOGIN PASSWORD 'plain-password'",
        "CREATE ROLE nologin PASSWORD 'plain-password'",
        "CREATE ROLE limited LOGIN CONNECTION LIMIT 0 PASSWORD 'plain-password'",
        "CREATE ROLE stranger LOGIN PASSWORD 'plain-password'",
    };
    for (size_t i = 0; i < ARRAY_LEN(sql); i++)
        execute(run, pg, sql[i]);
    run_free(run);
    return 0;
}

static inline int tear_down(void **state)
{
    (void)state;
    secret_unref(password);
    net_free(net);
    postgres_stop(&server);
    return 0;
}

static inline void *cancel_soon(void *arg)
{
    usleep(200000);
    run_cancel_detached(arg);
    return NULL;
}
#endif
