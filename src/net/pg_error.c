/* Words for what PostgreSQL and libpq say. A refused login has no error fields in libpq; the
 * connection is opened with PQERRORS_VERBOSE, so that its text carries the SQLSTATE: the server may
 * speak any language. Failures before the server's first word have libpq's text alone, which is
 * English here (net_new). */
#include <ctype.h>
#include <string.h>

#include "core/clean.h"
#include "core/clock.h"
#include "core/mem.h"
#include "net/pg_impl.h"

#define STATE_LEN 5

/* In `what`, `why` and `fix`: %H host, %P port, %D database, %U user, %S sslmode, %A address. */
struct connect_row {
    const char *state; /* SQLSTATE, or NULL: a text of libpq's */
    const char *match; /* part of the message, NULL any; for_replication: on such a connection */
    enum problem_kind kind;
    const char *code; /* NULL: the SQLSTATE */
    const char *what, *why;
    enum who who;
    const char *fix;
};

static const char *const pooler_fix =
    "Enter the database server's own address; Estuary's capture cannot work through a pooler.";

static const char for_replication[] = "replication";

/* The first row that fits counts. */
static const struct connect_row server_rows[] = {
    {"28P01", NULL, PROBLEM_REFUSED, NULL, "PostgreSQL refuses the password of %U",
     "The password is wrong, has expired (VALID UNTIL), or the user does not exist: the server "
     "does not say which.",
     WHO_YOU, "Enter the password again, or have it set: ALTER ROLE … PASSWORD."},
    {"28000", "no encryption", PROBLEM_REFUSED, NULL,
     "PostgreSQL does not let %U in without encryption",
     "pg_hba.conf has no line for an unencrypted connection from here; RDS and others force TLS.",
     WHO_YOU, "Set the TLS mode to require or stronger."},
    {"28000", "pg_hba.conf", PROBLEM_REFUSED, NULL,
     "PostgreSQL does not let %U into %D from this address",
     "pg_hba.conf has no line for this user, database and client address, or one that rejects it.",
     WHO_DBA,
     "Add a line to pg_hba.conf for this user, database and address, then SELECT "
     "pg_reload_conf()."},
    {"28000", "not permitted to log in", PROBLEM_REFUSED, NULL, "the role %U may not log in", NULL,
     WHO_DBA, "ALTER ROLE … LOGIN."},
    {"28000", "does not exist", PROBLEM_REFUSED, NULL, "the role %U does not exist", NULL, WHO_YOU,
     "Check the user name; case counts."},
    {"28000", NULL, PROBLEM_REFUSED, NULL, "PostgreSQL refuses the login of %U", NULL, WHO_DBA,
     "Check pg_hba.conf and the role."},
    {"3D000", NULL, PROBLEM_MISSING, NULL, "there is no database %D on %H",
     "The server answered, and knows no database of that name.", WHO_YOU,
     "Check the database name; case counts."},
    {"42501", for_replication, PROBLEM_DENIED, NULL, "%U may not open a replication connection",
     "The role has no REPLICATION attribute.", WHO_DBA,
     "ALTER ROLE … REPLICATION; on RDS: GRANT rds_replication TO …."},
    {"42501", NULL, PROBLEM_DENIED, NULL, "%U has no right to connect to %D", NULL, WHO_DBA,
     "GRANT CONNECT ON DATABASE … TO …."},
    {"53300", NULL, PROBLEM_REFUSED, NULL, "PostgreSQL has no free connection for %U",
     "max_connections, a limit of the role or of the database, or max_wal_senders is used up.",
     WHO_DBA, "Close connections that are idle, or raise the limit."},
    {"57P03", NULL, PROBLEM_UNREACHABLE, NULL, "PostgreSQL on %H does not take connections now",
     "It is starting, shutting down or recovering.", WHO_YOU, "Try again in a moment."},
    {"57P01", NULL, PROBLEM_UNREACHABLE, NULL, "PostgreSQL on %H is being shut down", NULL, WHO_DBA,
     "Try again once it runs."},
    {"08P01", "unsupported startup parameter", PROBLEM_PROTOCOL, NULL,
     "a connection pooler answers at %H:%P, not PostgreSQL itself",
     "It does not know a parameter that PostgreSQL takes; PgBouncer answers like that.", WHO_YOU,
     NULL},
    {"08P01", NULL, PROBLEM_PROTOCOL, NULL, "the server at %H:%P did not understand the login",
     NULL, WHO_YOU, "Check host and port; a pooler or another program may answer there."},
    {"0A000", NULL, PROBLEM_PROTOCOL, NULL, "the server at %H:%P does not support the connection",
     NULL, WHO_DBA, NULL},
    {"XX000", NULL, PROBLEM_REFUSED, NULL, "the server at %H:%P refuses the connection",
     "A pooler or hosted service may not know this user or project.", WHO_YOU,
     "Check host, port and user."},
};

static const struct connect_row text_rows[] = {
    {NULL, "Connection refused", PROBLEM_UNREACHABLE, "pg connect", "nothing listens at %H:%P",
     "The machine is there, but refuses the port: PostgreSQL does not run, or listens on another "
     "address "
     "(listen_addresses) or port.",
     WHO_DBA, "Check host and port, and that the server runs."},
    {NULL, "Network is unreachable", PROBLEM_UNREACHABLE, "pg connect",
     "there is no way to %H (%A)",
     "This machine has no route to that network; an IPv6 address needs IPv6 here.", WHO_NETWORK,
     "Check VPN and routes."},
    {NULL, "No route to host", PROBLEM_UNREACHABLE, "pg connect", "there is no way to %H (%A)",
     "A router says that the machine cannot be reached.", WHO_NETWORK,
     "Check VPN, routes and firewall."},
    {NULL, "Connection timed out", PROBLEM_UNREACHABLE, "pg connect", "%H:%P does not answer",
     "The packets get lost: a firewall or security group, or a machine that is down.", WHO_NETWORK,
     "Allow this machine's address in the firewall or security group of the database."},
    {NULL, "No such file or directory", PROBLEM_UNREACHABLE, "pg connect",
     "no PostgreSQL listens in %H", NULL, WHO_YOU, "Check the folder of the server's socket."},
    {NULL, "does not support SSL", PROBLEM_UNREACHABLE, "pg tls",
     "the server at %H does not offer TLS",
     "TLS mode %S asks for it, but the server has ssl = off.", WHO_DBA,
     "Switch ssl on in the server (certificate and key), or choose another TLS mode."},
    {NULL, "does not match host name", PROBLEM_UNREACHABLE, "pg tls name",
     "the certificate shown is not for %H",
     "TLS mode verify-full wants the host name to be in the server's certificate.", WHO_YOU,
     "Enter the host name the certificate is for (see below), or use verify-ca."},
    {NULL, "certificate verify failed", PROBLEM_UNREACHABLE, "pg tls ca",
     "the certificate of %H cannot be verified",
     "It is not signed by an authority that is known here, or it has ended.", WHO_YOU,
     "Download the provider's CA bundle and enter its path as CA file (or --ca-file FILE)."},
    {NULL, "root certificate file", PROBLEM_INPUT, "pg tls ca file", "the CA file cannot be read",
     NULL, WHO_YOU, "Check the path of the CA file."},
    {NULL, "invalid sslmode", PROBLEM_INPUT, "pg options", "%S is not a TLS mode", NULL, WHO_YOU,
     "Use disable, allow, prefer, require, verify-ca or verify-full."},
    {NULL, "invalid port number", PROBLEM_INPUT, "pg options", "%P is not a port", NULL, WHO_YOU,
     "A port is a number from 1 to 65535."},
    {NULL, "protocol version", PROBLEM_UNREACHABLE, "pg tls",
     "the server at %H offers no usable TLS version", "TLS 1.2 is the least that is used.", WHO_DBA,
     "Have the server offer TLS 1.2 (ssl_min_protocol_version)."},
    {NULL, "unsupported protocol", PROBLEM_UNREACHABLE, "pg tls",
     "the server at %H offers no usable TLS version", "TLS 1.2 is the least that is used.", WHO_DBA,
     "Have the server offer TLS 1.2 (ssl_max_protocol_version)."},
    {NULL, "received invalid response to SSL negotiation", PROBLEM_PROTOCOL, "pg protocol",
     "what answers at %H:%P is not PostgreSQL", NULL, WHO_YOU, "Check host and port."},
    {NULL, "expected authentication request", PROBLEM_PROTOCOL, "pg protocol",
     "what answers at %H:%P is not PostgreSQL", NULL, WHO_YOU, "Check host and port."},
    {NULL, "no password supplied", PROBLEM_INPUT, "pg password",
     "PostgreSQL asks for the password of %U", NULL, WHO_YOU, "Enter the password."},
    {NULL, "SSL error", PROBLEM_UNREACHABLE, "pg tls", "the TLS handshake with %H failed", NULL,
     WHO_NETWORK, "Check what stands between here and the server, and the server's TLS settings."},
    {NULL, "server closed the connection", PROBLEM_UNREACHABLE, "pg closed",
     "the server at %H:%P closed the connection at once",
     "A proxy, pooler or firewall in between, or a server that is just restarting.", WHO_NETWORK,
     "Try again; if it stays, check that host and port are the database's own."},
    {NULL, "Connection reset", PROBLEM_UNREACHABLE, "pg closed", "the connection to %H:%P was cut",
     NULL, WHO_NETWORK, "Try again; if it stays, check firewall and proxy in between."},
};

static const struct connect_row no_row = {NULL,
                                          NULL,
                                          PROBLEM_UNREACHABLE,
                                          "pg connect",
                                          "cannot connect to PostgreSQL at %H:%P",
                                          NULL,
                                          WHO_YOU,
                                          "Check host, port, and what is said below."};

static const char *insert(const struct pg_attempt *a, char letter)
{
    switch (letter) {
    case 'H':
        return a->host;
    case 'P':
        return a->port;
    case 'D':
        return a->database;
    case 'U':
        return a->user;
    case 'S':
        return a->sslmode;
    default:
        return a->address != NULL ? a->address : "";
    }
}

static char *render(const char *format, const struct pg_attempt *a)
{
    struct text t = TEXT_INIT;
    for (const char *p = format; *p != '\0'; p++) {
        if (p[0] == '%' && p[1] != '\0')
            text_add(&t, insert(a, *++p));
        else
            text_addc(&t, *p);
    }
    return text_take(&t);
}

/* The SQLSTATE at p ("28P01: "), or false. */
static bool state_at(const char *p)
{
    for (int i = 0; i < STATE_LEN; i++) {
        if (!(p[i] >= '0' && p[i] <= '9') && !(p[i] >= 'A' && p[i] <= 'Z'))
            return false;
    }
    return p[STATE_LEN] == ':' && p[STATE_LEN + 1] == ' ';
}

/* "FATAL:  28P01: …": of several (TLS mode prefer tries twice) a refused password tells most. */
static bool find_state(const char *message, char out[STATE_LEN + 1])
{
    bool found = false;
    for (const char *p = strstr(message, ":  "); p != NULL; p = strstr(p + 3, ":  ")) {
        if (!state_at(p + 3) || (found && strncmp(p + 3, "28P01", STATE_LEN) != 0))
            continue;
        memcpy(out, p + 3, STATE_LEN);
        out[STATE_LEN] = '\0';
        found = true;
    }
    return found;
}

/* libpq's text without the SQLSTATE and the LOCATION lines that PQERRORS_VERBOSE adds. */
static void evidence_text(const char *message, struct text *out)
{
    const char *p = message;
    while (*p != '\0') {
        size_t n = strcspn(p, "\n");
        if (strncmp(p, "LOCATION:", 9) != 0) {
            text_sep(out, "\n");
            text_addn(out, p, n);
        }
        p += n + (p[n] == '\n');
    }
}

static bool row_matches(const struct connect_row *row, const struct pg_attempt *a,
                        const char *state)
{
    if (state != NULL && strcmp(row->state, state) != 0)
        return false;
    if (row->match == for_replication)
        return a->replication;
    return row->match == NULL || strstr(a->message, row->match) != NULL;
}

static const struct connect_row *find_row(const struct pg_attempt *a, const char *state)
{
    const struct connect_row *rows = state != NULL ? server_rows : text_rows;
    size_t count = state != NULL ? ARRAY_LEN(server_rows) : ARRAY_LEN(text_rows);
    for (size_t i = 0; i < count; i++) {
        if (row_matches(&rows[i], a, state))
            return &rows[i];
    }
    return &no_row;
}

static bool is_pooler(const struct connect_row *row)
{
    return row->state != NULL && row->fix == NULL && strcmp(row->state, "08P01") == 0;
}

static int certificate_error(const struct pg_attempt *a, struct problem *err)
{
    const struct tls_words words = {
        .who = a->host,
        .code = "pg tls ca",
        .code_name = "pg tls name",
        .fix_ca = "RDS, Cloud SQL and Supabase sign with authorities of their own: download the "
                  "provider's CA "
                  "bundle and enter its path as CA file (or --ca-file FILE).",
        .fix_name =
            "Enter one of these names as host if it is the same server, or use TLS mode verify-ca.",
        .library = a->message,
    };
    return tls_error(a->notes, &words, err);
}

static bool is_certificate(const struct connect_row *row)
{
    return row->code != NULL &&
           (strcmp(row->code, "pg tls ca") == 0 || strcmp(row->code, "pg tls name") == 0);
}

bool pg_error_is_certificate(const struct pg_attempt *a)
{
    return is_certificate(find_row(a, NULL));
}

int pg_error_connect(const struct pg_attempt *a, struct problem *err)
{
    char state[STATE_LEN + 1];
    bool has_state = find_state(a->message, state);
    const struct connect_row *row = find_row(a, has_state ? state : NULL);
    if (is_certificate(row) && a->notes->subject != NULL)
        return certificate_error(a, err);
    AUTO(xfree) char *what = render(row->what, a);
    problem_fail(err, row->kind, has_state ? state : row->code, "%s", what);
    if (row->why != NULL) {
        AUTO(xfree) char *why = render(row->why, a);
        problem_why(err, "%s", why);
    }
    const char *fix = is_pooler(row) ? pooler_fix : row->fix;
    if (fix != NULL)
        problem_fix(err, row->who, "%s", fix);
    AUTO_TEXT evidence = TEXT_INIT;
    evidence_text(a->message, &evidence);
    problem_evidence(err, "%s", evidence.s);
    return -1;
}

int pg_error_connect_time(const struct pg_attempt *a, int64_t took_ms, struct problem *err)
{
    problem_fail(err, PROBLEM_UNREACHABLE, "pg timeout",
                 "no answer from PostgreSQL at %s:%s within %lld s (%s)", a->host, a->port,
                 (long long)((took_ms + 500) / 1000), a->phase);
    if (!a->connected) {
        problem_why(
            err, "The packets get lost: a firewall or security group, or a machine that is down.");
        problem_fix(
            err, WHO_NETWORK,
            "Allow this machine's address in the firewall or security group of the database.");
    } else {
        problem_why(
            err,
            "The port is open, but what is behind it does not go ahead: a pooler without a free "
            "connection, an overloaded server, or another program.");
        problem_fix(err, WHO_DBA,
                    "Check that host and port are the database's own and that it answers others.");
    }
    problem_evidence(err, "address %s", a->address != NULL ? a->address : a->host);
    return -1;
}

/* The kinds of SQLSTATE that differ in what is done next; all else is a refusal. */
static const struct state_row {
    const char *prefix;
    enum problem_kind kind;
    enum who who;
} state_rows[] = {
    {"42501", PROBLEM_DENIED, WHO_DBA},       {"0LP", PROBLEM_DENIED, WHO_DBA},
    {"0P000", PROBLEM_DENIED, WHO_DBA},       {"42P01", PROBLEM_MISSING, WHO_YOU},
    {"42704", PROBLEM_MISSING, WHO_YOU},      {"42703", PROBLEM_MISSING, WHO_YOU},
    {"42883", PROBLEM_MISSING, WHO_YOU},      {"3D000", PROBLEM_MISSING, WHO_YOU},
    {"3F000", PROBLEM_MISSING, WHO_YOU},      {"42710", PROBLEM_CONFLICT, WHO_YOU},
    {"42P07", PROBLEM_CONFLICT, WHO_YOU},     {"42P06", PROBLEM_CONFLICT, WHO_YOU},
    {"42P04", PROBLEM_CONFLICT, WHO_YOU},     {"23", PROBLEM_CONFLICT, WHO_YOU},
    {"2BP01", PROBLEM_CONFLICT, WHO_DBA},     {"55006", PROBLEM_CONFLICT, WHO_DBA},
    {"55P03", PROBLEM_CONFLICT, WHO_DBA},     {"40", PROBLEM_CONFLICT, WHO_YOU},
    {"57014", PROBLEM_UNREACHABLE, WHO_DBA},  {"57P", PROBLEM_UNREACHABLE, WHO_DBA},
    {"08", PROBLEM_UNREACHABLE, WHO_NETWORK},
};

int pg_error_result(const PGresult *r, const char *name, struct problem *err)
{
    const char *state = PQresultErrorField(r, PG_DIAG_SQLSTATE);
    const char *primary = PQresultErrorField(r, PG_DIAG_MESSAGE_PRIMARY);
    const char *detail = PQresultErrorField(r, PG_DIAG_MESSAGE_DETAIL);
    const char *hint = PQresultErrorField(r, PG_DIAG_MESSAGE_HINT);
    const char *context = PQresultErrorField(r, PG_DIAG_CONTEXT);
    enum problem_kind kind = PROBLEM_REFUSED;
    for (size_t i = 0; state != NULL && i < ARRAY_LEN(state_rows); i++) {
        if (strncmp(state, state_rows[i].prefix, strlen(state_rows[i].prefix)) == 0) {
            kind = state_rows[i].kind;
            break;
        }
    }
    if (primary == NULL)
        primary = PQresultErrorMessage(r);
    problem_fail(err, kind, state != NULL ? state : "pg error", "%s%s%s", name != NULL ? name : "",
                 name != NULL ? ": " : "", primary);
    if (detail != NULL)
        problem_why(err, "%s", detail);
    problem_evidence(err, "SQLSTATE %s: %s%s%s%s%s%s%s", state != NULL ? state : "-", primary,
                     detail != NULL ? "\nDETAIL: " : "", detail != NULL ? detail : "",
                     hint != NULL ? "\nHINT: " : "", hint != NULL ? hint : "",
                     context != NULL ? "\nCONTEXT: " : "", context != NULL ? context : "");
    return -1;
}

int pg_error_lost(struct pg *pg, struct problem *err)
{
    const char *message = pg->conn != NULL ? PQerrorMessage(pg->conn) : "";
    problem_fail(err, PROBLEM_UNREACHABLE, "pg lost", "the connection to PostgreSQL was lost");
    problem_why(err, "The server ended it (restart, crash, an administrator) or the network did.");
    problem_fix(err, WHO_YOU, "Try again.");
    problem_evidence(err, "%s", message);
    return -1;
}
