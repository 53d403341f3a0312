/* Connections to a source (link.h). */
#include "postgres/link.h"

#include "core/secret.h"
#include "net/conn.h"

#define LOCK_TIMEOUT_MS 5000       /* surveys take no locks; what does waits no longer than this */
#define STATEMENT_TIMEOUT_MS 60000 /* 100,000 tables are listed in a few seconds */

static void *open_leased(struct run *run, void *context, struct problem *err)
{
    return postgres_open(run, context, LOCK_TIMEOUT_MS, err);
}

static void close_leased(void *conn)
{
    pg_close(conn);
}

static bool leased_alive(void *conn)
{
    return pg_alive(conn);
}

static const struct conn_class class = {
    .name = "postgres", .open = open_leased, .close = close_leased, .alive = leased_alive};

static struct digest key_of(const struct postgres_login *l)
{
    struct hasher *h = hasher_new();
    hasher_text(h, l->host);
    hasher_text(h, l->port);
    hasher_text(h, l->database);
    hasher_text(h, l->user);
    hasher_text(h, l->sslmode);
    hasher_text(h, l->ca_file);
    hasher_number(h, l->password != NULL ? (int64_t)secret_revision(l->password) : 0);
    return hasher_end(h);
}

int postgres_lease(struct run *run, const struct postgres_login *login, struct postgres_lease *out,
                   struct problem *err)
{
    struct postgres_login l = *login;
    out->key = key_of(login);
    out->pg = conn_lease(run, &class, &out->key, &l, err);
    return out->pg != NULL ? 0 : -1;
}

void postgres_return(struct run *run, struct postgres_lease *lease)
{
    if (lease->pg != NULL)
        conn_return(run, &class, &lease->key, lease->pg, !pg_alive(lease->pg));
    lease->pg = NULL;
}

static struct pg *open_as(struct run *run, const struct postgres_login *l, bool replication,
                          int lock_timeout_ms, struct problem *err)
{
    struct pg_options o = {
        .host = l->host,
        .port = l->port,
        .database = l->database,
        .user = l->user,
        .password = l->password,
        .sslmode = l->sslmode,
        .ca_file = l->ca_file != NULL && l->ca_file[0] != '\0' ? l->ca_file : NULL,
        .replication = replication,
        .lock_timeout_ms = lock_timeout_ms,
        /* statement_timeout would end a running START_REPLICATION */
        .statement_timeout_ms = replication ? 0 : STATEMENT_TIMEOUT_MS,
    };
    return pg_open(run, &o, err);
}

struct pg *postgres_open(struct run *run, const struct postgres_login *login, int lock_timeout_ms,
                         struct problem *err)
{
    return open_as(run, login, false, lock_timeout_ms, err);
}

struct pg *postgres_open_replication(struct run *run, const struct postgres_login *login,
                                     int lock_timeout_ms, struct problem *err)
{
    return open_as(run, login, true, lock_timeout_ms, err);
}
