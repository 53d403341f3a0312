/* Connecting to PostgreSQL: a real server that refuses, and one that says what a real one would not
 * say on demand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "net_pg_fixture.h"

static void connects_verified(void **state)
{
    (void)state;
    struct run *run = new_run(5000);
    AUTO_PG *pg = open_plain(run);
    assert_string_equal(pg_tls(pg), "TLSv1.3");
    assert_in_range(pg_server_version(pg), 130000, 199999);
    assert_true(pg_alive(pg));
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_RESULT *r =
        pg_query(run, pg,
                 "SELECT current_user AS who, current_setting('application_name') AS app,"
                 " current_setting('client_encoding') AS encoding, current_setting('geqo') AS geqo,"
                 " current_setting('lock_timeout') AS locks",
                 NULL, 0, &err);
    assert_non_null(r);
    assert_string_equal(pg_cell(r, 0, "who"), "postgres");
    assert_string_equal(pg_cell(r, 0, "app"), "sluice");
    assert_string_equal(pg_cell(r, 0, "encoding"), "UTF8");
    assert_string_equal(pg_cell(r, 0, "geqo"), "on");
    assert_string_equal(pg_cell(r, 0, "locks"), "0");
    run_free(run);
}

static void refused_logins_are_told_apart(void **state)
{
    (void)state;
    struct secret *wrong = secret_new("not-the-password", 16),
                  *plain = secret_new("plain-password", 14);
    const struct {
        const char *user, *database, *sslmode, *ca, *host;
        struct secret *password;
        bool replication;
        const char *code;
        enum problem_kind kind;
        const char *word;
    } rows[] = {
        {"postgres", "shop", "verify-full", server.ca, "localhost", wrong, false, "28P01",
         PROBLEM_REFUSED, "password of postgres"},
        {"absent", "shop", "require", NULL, "localhost", wrong, false, "28P01", PROBLEM_REFUSED,
         "absent"},
        {"postgres", "shop", "prefer", NULL, "localhost", wrong, false, "28P01", PROBLEM_REFUSED,
         "password"},
        {"postgres", "shop", "require", NULL, "localhost", NULL, false, "pg password",
         PROBLEM_INPUT, "asks for the password"},
        {"postgres", "absent", "require", NULL, "localhost", password, false, "3D000",
         PROBLEM_MISSING, "no database absent"},
        {"plain", "closed", "require", NULL, "localhost", plain, false, "42501", PROBLEM_DENIED,
         "no right to connect to closed"},
        {"postgres", "rejected", "require", NULL, "localhost", password, false, "28000",
         PROBLEM_REFUSED, "does not let postgres into rejected"},
        {"stranger", "shop", "require", NULL, "localhost", plain, false, "28000", PROBLEM_REFUSED,
         "does not let stranger"},
        {"postgres", "tlsonly", "disable", NULL, "localhost", password, false, "28000",
         PROBLEM_REFUSED, "without encryption"},
        {"nologin", "shop", "require", NULL, "localhost", plain, false, "28000", PROBLEM_REFUSED,
         "may not log in"},
        {"limited", "shop", "require", NULL, "localhost", plain, false, "53300", PROBLEM_REFUSED,
         "no free connection"},
        {"plain", "shop", "require", NULL, "localhost", plain, true, "42501", PROBLEM_DENIED,
         "replication"},
        {"postgres", "shop", "verify-full", NULL, "localhost", password, false, "pg tls ca",
         PROBLEM_UNREACHABLE, "not signed by an authority"},
        {"postgres", "shop", "verify-full", server.ca, "127.0.0.1", password, false, "pg tls name",
         PROBLEM_UNREACHABLE, "not for 127.0.0.1"},
        {"postgres", "shop", "verify-full", "/nonexistent.pem", "localhost", password, false,
         "pg tls ca file", PROBLEM_INPUT, "CA file"},
        {"postgres", "shop", "always", NULL, "localhost", password, false, "pg options",
         PROBLEM_INPUT, "always"},
        {"postgres", "shop", "require", NULL, "a,b", password, false, "pg options", PROBLEM_INPUT,
         "host name"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct run *run = new_run(5000);
        struct pg_options o = {.host = rows[i].host,
                               .port = server.port,
                               .database = rows[i].database,
                               .user = rows[i].user,
                               .password = rows[i].password,
                               .sslmode = rows[i].sslmode,
                               .ca_file = rows[i].ca,
                               .replication = rows[i].replication};
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct pg *pg = pg_open(run, &o, &err);
        assert_null(pg);
        if (strcmp(err.code, rows[i].code) != 0 || err.kind != rows[i].kind ||
            strstr(err.what, rows[i].word) == NULL)
            fail_msg("row %zu: %s, %s\n%s", i, err.code, err.what,
                     err.evidence != NULL ? err.evidence : "-");
        assert_true(err.evidence == NULL || strstr(err.evidence, "LOCATION") == NULL);
        run_free(run);
    }
    secret_unref(wrong);
    secret_unref(plain);
}

static void a_refused_certificate_is_described(void **state)
{
    (void)state;
    struct run *run = new_run(5000);
    struct pg_options o = options();
    o.ca_file = NULL;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(pg_open(run, &o, &err));
    assert_non_null(strstr(err.what, "not signed by an authority this machine knows"));
    assert_non_null(strstr(err.why, "Test Database CA"));
    assert_non_null(strstr(err.fix, "CA file"));
    o = options();
    o.host = "127.0.0.1";
    assert_null(pg_open(run, &o, &err));
    assert_string_equal(err.why, "It is for: localhost.");
    run_free(run);
}

static void weaker_modes_connect_as_they_say(void **state)
{
    (void)state;
    static const struct {
        const char *mode;
        bool tls;
    } rows[] = {{"disable", false},
                {"allow", false},
                {"prefer", true},
                {"require", true},
                {"verify-ca", true}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct run *run = new_run(5000);
        struct pg_options o = options();
        o.sslmode = rows[i].mode;
        o.ca_file = strcmp(rows[i].mode, "verify-ca") == 0 ? server.ca : NULL;
        AUTO_PG *pg = open_with(run, &o);
        assert_int_equal(pg_tls(pg) != NULL, rows[i].tls);
        run_free(run);
    }
}
/* A server that answers the first message with these bytes; `hang`: with nothing. */
struct fake {
    struct server s;
    const char *answer;
    size_t n;
};

static void *fake_body(void *arg)
{
    struct fake *f = arg;
    while (!atomic_load(&f->s.stop)) {
        struct pollfd p = {.fd = f->s.fd, .events = POLLIN};
        if (poll(&p, 1, 20) <= 0)
            continue;
        int fd = accept(f->s.fd, NULL, NULL);
        char buffer[4096];
        if (recv(fd, buffer, sizeof buffer, 0) > 0) {
            if (f->answer != NULL)
                send(fd, f->answer, f->n, MSG_NOSIGNAL);
            struct served c = {.server = &f->s, .fd = fd};
            if (f->answer == NULL)
                server_hang(&c);
        }
        close(fd);
    }
    return NULL;
}

static void fake_start(struct fake *f)
{
    memset(&f->s, 0, sizeof f->s);
    f->s.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    assert_int_equal(bind(f->s.fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(f->s.fd, 8), 0);
    assert_int_equal(getsockname(f->s.fd, (struct sockaddr *)&a, &n), 0);
    f->s.port = ntohs(a.sin_port);
    assert_int_equal(pthread_create(&f->s.thread, NULL, fake_body, f), 0);
}

/* An ErrorResponse (PostgreSQL manual, "Message Formats"). */
static size_t error_response(char *out, const char *severity, const char *state,
                             const char *message)
{
    char *p = out + 5;
    p += snprintf(p, 64, "S%s", severity) + 1;
    p += snprintf(p, 64, "VFATAL") + 1;
    p += snprintf(p, 64, "C%s", state) + 1;
    p += snprintf(p, 256, "M%s", message) + 1;
    *p++ = '\0';
    uint32_t n = htonl((uint32_t)(p - out - 1));
    out[0] = 'E';
    memcpy(out + 1, &n, 4);
    return (size_t)(p - out);
}

static void what_servers_say_is_understood(void **state)
{
    (void)state;
    static const struct {
        const char *severity, *state, *message, *sslmode, *raw, *code, *word;
    } rows[] = {
        {"FATAL", "57P03", "the database system is starting up", "disable", NULL, "57P03",
         "does not take connections"},
        {"FATAL", "08P01", "unsupported startup parameter: options", "disable", NULL, "08P01",
         "pooler"},
        {"FATAL", "08P01", "unsupported startup parameter: replication", "disable", NULL, "08P01",
         "pooler"},
        {"FATAL", "28P01", "Passwort-Authentifizierung für Benutzer fehlgeschlagen", "disable",
         NULL, "28P01", "refuses the password"},
        {"FATAL", "XX000", "Tenant or user not found", "disable", NULL, "XX000",
         "refuses the connection"},
        {"FATAL", "99999", "something new", "disable", NULL, "99999",
         "cannot connect to PostgreSQL"},
        {NULL, NULL, NULL, "require", "N", "pg tls", "does not offer TLS"},
        {NULL, NULL, NULL, "disable", "HTTP/1.1 400 Bad Request\r\n\r\n", "pg protocol",
         "is not PostgreSQL"},
        {NULL, NULL, NULL, "require", "HTTP/1.1 400 Bad Request\r\n\r\n", "pg protocol",
         "is not PostgreSQL"},
        {NULL, NULL, NULL, "require", "", "pg closed", "closed the connection at once"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char bytes[512];
        struct fake f = {.answer = rows[i].raw != NULL ? rows[i].raw : bytes};
        f.n = rows[i].raw != NULL
                  ? strlen(rows[i].raw)
                  : error_response(bytes, rows[i].severity, rows[i].state, rows[i].message);
        fake_start(&f);
        char port[8];
        snprintf(port, sizeof port, "%d", f.s.port);
        struct run *run = new_run(5000);
        struct pg_options o = options();
        o.host = "127.0.0.1";
        o.port = port;
        o.sslmode = rows[i].sslmode;
        o.ca_file = NULL;
        AUTO_PROBLEM err = PROBLEM_INIT;
        assert_null(pg_open(run, &o, &err));
        if (strcmp(err.code, rows[i].code) != 0 || strstr(err.what, rows[i].word) == NULL)
            fail_msg("row %zu: %s, %s\n%s", i, err.code, err.what, err.evidence);
        run_free(run);
        server_stop(&f.s);
    }
}

static void a_silent_port_ends_with_the_deadline_or_cancel(void **state)
{
    (void)state;
    struct fake f = {.answer = NULL};
    fake_start(&f);
    char port[8];
    snprintf(port, sizeof port, "%d", f.s.port);
    struct pg_options o = options();
    o.host = "127.0.0.1";
    o.port = port;
    struct run *run = new_run(400);
    AUTO_PROBLEM err = PROBLEM_INIT;
    int64_t began = clock_ms();
    assert_null(pg_open(run, &o, &err));
    assert_in_range(clock_ms() - began, 380, 600);
    assert_string_equal(err.code, "pg timeout");
    assert_non_null(strstr(err.what, "starting TLS"));
    run_free(run);
    run = new_run(30000);
    pthread_t id;
    began = clock_ms();
    pthread_create(&id, NULL, cancel_soon, run);
    assert_null(pg_open(run, &o, &err));
    assert_in_range(clock_ms() - began, 190, 300);
    assert_int_equal(err.kind, PROBLEM_CANCELLED);
    AUTO(xfree) char *place = xasprintf("PostgreSQL at %s:%s (", o.host, o.port);
    assert_non_null(strstr(err.what, place));
    pthread_join(id, NULL);
    run_free(run);
    server_stop(&f.s);
}

static void a_refused_port(void **state)
{
    (void)state;
    char port[8];
    snprintf(port, sizeof port, "%d", server_dead_port());
    struct pg_options o = options();
    o.port = port;
    struct run *run = new_run(2000);
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(pg_open(run, &o, &err));
    assert_string_equal(err.code, "pg connect");
    assert_non_null(strstr(err.what, "nothing listens at localhost:"));
    run_free(run);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connects_verified),
        cmocka_unit_test(refused_logins_are_told_apart),
        cmocka_unit_test(a_refused_certificate_is_described),
        cmocka_unit_test(weaker_modes_connect_as_they_say),
        cmocka_unit_test(what_servers_say_is_understood),
        cmocka_unit_test(a_silent_port_ends_with_the_deadline_or_cancel),
        cmocka_unit_test(a_refused_port),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
