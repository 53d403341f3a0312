/* Opening a connection: every parameter said explicitly, so that neither environment nor files in
 * the home directory change what is tested; each address tried by itself, so that one that swallows
 * packets does not use up the time of the others (libpq knows no time limit here). */
#include <arpa/inet.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/secret.h"
#include "net/pg_impl.h"
#include "net/resolver.h"

#define ADDRESS_MS 5000 /* for the TCP handshake when another address is left to try */
#define LOGIN_MS 20000  /* for the whole login: after that Estuary's connector gives up, too */
#define NO_FILE                                                                                    \
    "/dev/null/none" /* cannot exist: /dev/null is no directory. libpq takes "" for "the default"  \
                      */
#define NOTICES_MAX ((size_t)64 << 10)

struct parameters {
    const char *keys[32];
    const char *values[32];
    int count;
};

static void set(struct parameters *p, const char *key, const char *value)
{
    if (value == NULL || value[0] == '\0')
        return;
    p->keys[p->count] = key;
    p->values[p->count++] = value;
}

/* sslmode=require with a root certificate file would verify it (libpq manual, "SSL Client Usage"),
 * so the bundle is given only where it was asked for. */
static const char *root_certificates(const struct run *run, const struct pg_options *o)
{
    if (o->ca_file != NULL && o->ca_file[0] != '\0')
        return o->ca_file;
    return strncmp(o->sslmode, "verify", 6) == 0 ? net_ca_bundle(run_net(run)) : NO_FILE;
}

static void fixed_parameters(struct parameters *p)
{
    static const char *const pairs[][2] = {
        {"passfile", NO_FILE},
        {"sslcert", NO_FILE},
        {"sslkey", NO_FILE},
        {"sslcrl", NO_FILE},
        {"sslcompression", "0"},
        {"sslsni", "1"},
        {"channel_binding", "prefer"},
        {"ssl_min_protocol_version", "TLSv1.2"},
        {"ssl_max_protocol_version", "TLSv1.3"},
        {"gssencmode", "disable"},
        {"krbsrvname", "postgres"},
        {"target_session_attrs", "any"},
        {"client_encoding", "UTF8"},
        {"connect_timeout", "0"},
        {"keepalives", "1"},
    };
    for (size_t i = 0; i < ARRAY_LEN(pairs); i++)
        set(p, pairs[i][0], pairs[i][1]);
}

/* The server gives up by itself even when this process is killed. */
static char *server_options(const struct pg_options *o)
{
    struct text t = TEXT_INIT;
    if (o->lock_timeout_ms > 0)
        text_addf(&t, "-c lock_timeout=%d", o->lock_timeout_ms);
    text_sep(&t, o->statement_timeout_ms > 0 ? " " : "");
    if (o->statement_timeout_ms > 0)
        text_addf(&t, "-c statement_timeout=%d", o->statement_timeout_ms);
    return text_take(&t);
}

static void on_notice(void *arg, const PGresult *r)
{
    struct pg *pg = arg;
    const char *severity = PQresultErrorField(r, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *message = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL);
    text_addf(&pg->notices, "%s %s: %s%s%s\n", severity != NULL ? severity : "NOTICE",
              state != NULL ? state : "-", message != NULL ? message : "",
              detail != NULL ? " – " : "", detail != NULL ? detail : "");
}

static PGconn *start(const struct run *run, const struct pg_options *o, const char *address)
{
    AUTO(xfree) char *options = server_options(o);
    struct parameters p = {.count = 0};
    set(&p, "host", o->host);
    set(&p, "hostaddr", address);
    set(&p, "port", o->port != NULL && o->port[0] != '\0' ? o->port : "5432");
    set(&p, "dbname", o->database);
    set(&p, "user", o->user);
    set(&p, "password", o->password != NULL ? secret_bytes(o->password) : NULL);
    set(&p, "sslmode", o->sslmode);
    set(&p, "sslrootcert", root_certificates(run, o));
    set(&p, "application_name", o->application_name != NULL ? o->application_name : "sluice");
    set(&p, "options", options);
    set(&p, "replication", o->replication ? "database" : "false");
    fixed_parameters(&p);
    p.keys[p.count] = NULL;
    p.values[p.count] = NULL;
    PGconn *conn = PQconnectStartParams(p.keys, p.values, 0);
    if (conn == NULL)
        mem_exhausted();
    PQsetErrorVerbosity(conn,
                        PQERRORS_VERBOSE); /* the only way to the SQLSTATE of a refused login */
    return conn;
}

static const char *phase_of(ConnStatusType status)
{
    switch (status) {
    case CONNECTION_STARTED:
        return "connecting";
    case CONNECTION_SSL_STARTUP:
        return "starting TLS";
    case CONNECTION_MADE:
    case CONNECTION_AWAITING_RESPONSE:
        return "waiting for the server's first answer";
    case CONNECTION_AUTH_OK:
        return "logging in";
    default:
        return "setting up the session";
    }
}

enum attempted { ATTEMPT_DONE, ATTEMPT_FAILED, ATTEMPT_TIME, ATTEMPT_CANCELLED };

/* PQconnectPoll is called only when the socket is ready for what it last asked for, else it blocks;
 * the socket may be another one each time. */
static enum attempted poll_connect(const struct run *run, PGconn *conn, bool more,
                                   struct pg_attempt *a)
{
    int64_t began = clock_ms();
    PostgresPollingStatusType next = PGRES_POLLING_WRITING;
    if (PQstatus(conn) == CONNECTION_BAD)
        return ATTEMPT_FAILED;
    for (;;) {
        ConnStatusType status = PQstatus(conn);
        a->phase = phase_of(status);
        a->connected = a->connected || (status != CONNECTION_STARTED && status != CONNECTION_BAD &&
                                        status != CONNECTION_NEEDED);
        int64_t left = began + (more && !a->connected ? ADDRESS_MS : LOGIN_MS) - clock_ms();
        int most = left > 0 ? (int)left : 0;
        switch (
            net_wait(run, PQsocket(conn), next == PGRES_POLLING_READING ? POLLIN : POLLOUT, most)) {
        case NET_CANCELLED:
            return ATTEMPT_CANCELLED;
        case NET_TIME_UP:
            return ATTEMPT_TIME;
        case NET_READY:
            break;
        }
        next = PQconnectPoll(conn);
        if (next == PGRES_POLLING_OK)
            return ATTEMPT_DONE;
        if (next == PGRES_POLLING_FAILED)
            return ATTEMPT_FAILED;
    }
}

static struct pg *made(PGconn *conn, const struct pg_options *o)
{
    struct pg *pg = xcalloc(1, sizeof *pg);
    pg->conn = conn;
    pg->replication = o->replication;
    pg->notices = TEXT_LIMITED(NOTICES_MAX);
    pg->version = PQserverVersion(conn);
    pg->tls = PQsslInUse(conn) ? xstrdup(PQsslAttribute(conn, "protocol")) : NULL;
    PQsetErrorVerbosity(conn, PQERRORS_DEFAULT);
    PQsetnonblocking(conn, 1);
    PQsetNoticeReceiver(conn, on_notice, pg);
    return pg;
}

/* One address; `more` when another one is left. NULL and err; *next when that one is worth trying,
 * *far when something answered there. */
static struct pg *try_address(struct run *run, const struct pg_options *o, const char *address,
                              bool more, bool *next, bool *far, struct problem *err)
{
    struct pg_attempt a = {.host = o->host,
                           .port = o->port != NULL && o->port[0] != '\0' ? o->port : "5432",
                           .database = o->database,
                           .user = o->user,
                           .sslmode = o->sslmode,
                           .address = address,
                           .phase = "connecting",
                           .notes = tls_notes_new(),
                           .replication = o->replication};
    int64_t began = clock_ms();
    PGconn *conn = start(run, o, address);
    enum attempted done = poll_connect(run, conn, more, &a);
    struct pg *pg = NULL;
    *next = false;
    *far = false;
    switch (done) {
    case ATTEMPT_DONE:
        pg = made(conn, o);
        conn = NULL;
        break;
    case ATTEMPT_CANCELLED:
        problem_fail(err, PROBLEM_CANCELLED, "cancelled",
                     "cancelled while waiting for PostgreSQL at %s:%s (%s)", a.host, a.port,
                     a.phase);
        break;
    case ATTEMPT_TIME:
        pg_error_connect_time(&a, clock_ms() - began, err);
        *next = more && run_left_ms(run) > 0;
        break;
    case ATTEMPT_FAILED:
        a.message = PQerrorMessage(conn);
        *far = a.connected || pg_error_is_certificate(&a);
        if (address != NULL && pg_error_is_certificate(&a))
            pg_peek(run, &a, root_certificates(run, o));
        pg_error_connect(&a, err);
        *next = more && !a.connected && run_left_ms(run) > 0;
        break;
    }
    PQfinish(conn);
    tls_notes_unref(a.notes);
    return pg;
}

static int check_options(const struct pg_options *o, struct problem *err)
{
    if (o->host == NULL || o->host[0] == '\0' || o->database == NULL || o->database[0] == '\0' ||
        o->user == NULL || o->user[0] == '\0' || o->sslmode == NULL || o->sslmode[0] == '\0')
        return problem_fail(err, PROBLEM_INPUT, "pg options",
                            "host, database, user and TLS mode are needed to connect");
    /* libpq would take a comma as a list and "=" or a URI as a whole connection string. */
    if (strpbrk(o->host, ",=@ \t\n") != NULL)
        return problem_fail(err, PROBLEM_INPUT, "pg options", "\"%s\" is not one host name",
                            o->host);
    if (o->password != NULL && strlen(secret_bytes(o->password)) != secret_len(o->password))
        return problem_fail(err, PROBLEM_INPUT, "pg options", "the password holds a NUL character");
    return 0;
}

struct pg *pg_open(struct run *run, const struct pg_options *o, struct problem *err)
{
    if (check_options(o, err) != 0 || run_over(run, "connecting", err) != 0)
        return NULL;
    bool next;
    bool far;
    if (o->host[0] == '/') /* a folder with the server's socket */
        return try_address(run, o, NULL, false, &next, &far, err);
    struct addresses found;
    if (resolve(run, o->host, &found, err) != 0)
        return NULL;
    struct pg *pg = NULL;
    AUTO_PROBLEM first = PROBLEM_INIT;
    next = true;
    for (size_t i = 0; i < found.count && pg == NULL && next; i++) {
        AUTO_PROBLEM mine = PROBLEM_INIT;
        pg = try_address(run, o, found.text[i], i + 1 < found.count, &next, &far, &mine);
        /* The first failure tells most, save when a later address got further: ::1 may refuse where
         * 127.0.0.1 shows a certificate. */
        if (pg == NULL && (first.kind == PROBLEM_NONE || mine.kind != PROBLEM_UNREACHABLE || far))
            problem_move(&first, &mine);
    }
    if (pg == NULL)
        problem_move(err, &first);
    return pg;
}

void pg_close(struct pg *pg)
{
    if (pg == NULL)
        return;
    PQfinish(pg->conn);
    text_release(&pg->notices);
    xfree(pg->tls);
    xfree(pg);
}

bool pg_alive(struct pg *pg)
{
    if (pg->conn == NULL || PQstatus(pg->conn) != CONNECTION_OK)
        return false;
    if (PQtransactionStatus(pg->conn) != PQTRANS_IDLE)
        return false;
    /* A farewell comes before the end of the stream: read on while there is something. */
    struct pollfd fd = {.fd = PQsocket(pg->conn), .events = POLLIN};
    for (int i = 0; i < 8 && poll(&fd, 1, 0) > 0; i++) {
        if (PQconsumeInput(pg->conn) == 0)
            return false;
    }
    return PQstatus(pg->conn) == CONNECTION_OK;
}

PGconn *pg_raw(struct pg *pg)
{
    return pg->conn;
}

int pg_server_version(struct pg *pg)
{
    return pg->version;
}

const char *pg_tls(struct pg *pg)
{
    return pg->tls;
}

void pg_take_notices(struct pg *pg, struct text *out)
{
    text_add(out, pg->notices.s);
    text_release(&pg->notices);
}
