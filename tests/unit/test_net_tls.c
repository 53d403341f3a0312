/* TLS as it goes wrong in companies: private authorities, other names, ended certificates, old
 * versions, ports that speak no TLS or nothing at all; and the bundle that is merged for it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "core/clock.h"
#include "core/text.h"
#include "net/http.h"
#include "net/net.h"
#include "net_server.h"

static char folder[] = "/tmp/sluice-tls-XXXXXX";

static char *in_folder(const char *name, const char *end)
{
    return xasprintf("%s/%s%s", folder, name, end);
}

/* A self-signed certificate `name`.pem with its key. */
static void make_certificate(const char *name, const char *subject, const char *names)
{
    AUTO(xfree) char *cert = in_folder(name, ".pem");
    AUTO(xfree) char *key = in_folder(name, ".key");
    AUTO(xfree) char *san = xasprintf("subjectAltName=%s", names);
    const char *const argv[] = {
        "openssl", "req",   "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
        "-nodes",  "-subj", subject, "-addext", san,  "-days",    "30",
        "-keyout", key,     "-out",  cert,      NULL};
    assert_int_equal(server_command(argv), 0);
}

/* One whose time is over; only `openssl ca` of OpenSSL 3.0 takes dates. */
static void make_ended_certificate(void)
{
    AUTO(xfree) char *cert = in_folder("ended", ".pem");
    AUTO(xfree) char *key = in_folder("ended", ".key");
    AUTO(xfree) char *request = in_folder("ended", ".csr");
    AUTO(xfree) char *config = in_folder("ended", ".cnf");
    AUTO(xfree) char *index = in_folder("index", ".txt");
    FILE *f = fopen(config, "w");
    assert_non_null(f);
    fprintf(f,
            "[ca]\ndefault_ca=c\n[c]\ndatabase=%s\nnew_certs_dir=%s\nrand_serial=yes\npolicy=p\n"
            "default_md=sha256\ncopy_extensions=copy\n[p]\ncommonName=supplied\n",
            index, folder);
    fclose(f);
    fclose(fopen(index, "w"));
    const char *const ask[] = {"openssl",
                               "req",
                               "-new",
                               "-newkey",
                               "ec",
                               "-pkeyopt",
                               "ec_paramgen_curve:P-256",
                               "-nodes",
                               "-subj",
                               "/CN=localhost",
                               "-addext",
                               "subjectAltName=DNS:localhost",
                               "-keyout",
                               key,
                               "-out",
                               request,
                               NULL};
    assert_int_equal(server_command(ask), 0);
    const char *const sign[] = {"openssl",    "ca",
                                "-batch",     "-selfsign",
                                "-config",    config,
                                "-keyfile",   key,
                                "-startdate", "20200101000000Z",
                                "-enddate",   "20200201000000Z",
                                "-in",        request,
                                "-out",       cert,
                                NULL};
    assert_int_equal(server_command(sign), 0);
}

/* openssl s_server -www with this certificate; its port. */
static int start_tls(const char *name, const char *version, pid_t *pid)
{
    AUTO(xfree) char *cert = in_folder(name, ".pem");
    AUTO(xfree) char *key = in_folder(name, ".key");
    AUTO(xfree) char *log = in_folder(name, ".log");
    *pid = fork();
    if (*pid == 0) {
        int out = open(log, O_RDWR | O_CREAT | O_TRUNC, 0600);
        dup2(out, 1);
        dup2(out, 2);
        if (version != NULL)
            execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", cert,
                   "-key", key, "-www", version, "-cipher", "ALL:@SECLEVEL=0", (char *)NULL);
        else
            execlp("openssl", "openssl", "s_server", "-accept", "127.0.0.1:0", "-cert", cert,
                   "-key", key, "-www", (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 200; i++) {
        usleep(20000);
        char line[4096] = "";
        int fd = open(log, O_RDONLY);
        if (fd < 0)
            continue;
        ssize_t n = read(fd, line, sizeof line - 1);
        close(fd);
        line[n > 0 ? n : 0] = '\0';
        const char *port = strstr(line, "ACCEPT 127.0.0.1:");
        if (port != NULL)
            return atoi(port + 17);
    }
    fail_msg("openssl s_server did not start");
    return 0;
}

static void stop_tls(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static int get(const char *ca, const char *host, int port, int ms, struct http_response *out,
               struct problem *err)
{
    struct net *net = net_new(&(struct net_options){.ca_file = ca}, err);
    if (net == NULL)
        return -1;
    AUTO(xfree) char *url = xasprintf("https://%s:%d/", host, port);
    struct run *run = run_new_detached(NULL, net, ms);
    AUTO_HTTP_REQUEST q;
    http_request_init(&q, "GET", url);
    int rc = http_send(run, &q, out, err);
    run_free(run);
    net_free(net);
    return rc;
}

static int set_up(void **state)
{
    (void)state;
    unsetenv("https_proxy");
    unsetenv("HTTPS_PROXY");
    if (mkdtemp(folder) == NULL)
        return -1;
    make_certificate("good", "/CN=localhost/O=Test Authority GmbH", "DNS:localhost");
    make_certificate("other", "/CN=other.test", "DNS:other.test,DNS:second.test,IP:192.0.2.7");
    make_ended_certificate();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    const char *const argv[] = {"rm", "-rf", folder, NULL};
    return server_command(argv);
}

static void trusted_with_a_ca_file(void **state)
{
    (void)state;
    pid_t pid;
    int port = start_tls("good", NULL, &pid);
    AUTO(xfree) char *ca = in_folder("good", ".pem");
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(ca, "localhost", port, 5000, &r, &err), 0);
    assert_int_equal(r.status, 200);
    assert_string_equal(r.tls, "TLSv1.3");
    assert_in_range(r.cert_until - clock_wall(), 29 * 86400, 30 * 86400);
    stop_tls(pid);
}

static void an_unknown_authority_is_named(void **state)
{
    (void)state;
    pid_t pid;
    int port = start_tls("good", NULL, &pid);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(NULL, "localhost", port, 5000, &r, &err), -1);
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    assert_string_equal(err.code, "curl 60");
    assert_non_null(strstr(err.why, "Test Authority GmbH"));
    assert_non_null(strstr(err.fix, "--ca-file"));
    assert_non_null(strstr(err.fix, "SLUICE_CA_FILE"));
    assert_non_null(strstr(err.evidence, "names: localhost"));
    stop_tls(pid);
}

static void another_name_is_said(void **state)
{
    (void)state;
    pid_t pid;
    int port = start_tls("other", NULL, &pid);
    AUTO(xfree) char *ca = in_folder("other", ".pem");
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(ca, "localhost", port, 5000, &r, &err), -1);
    assert_string_equal(err.code, "curl 60");
    assert_non_null(strstr(err.what, "not for localhost"));
    assert_string_equal(err.why, "It is for: other.test, second.test, 192.0.2.7.");
    stop_tls(pid);
}

static void an_ended_certificate_shows_the_clock(void **state)
{
    (void)state;
    pid_t pid;
    int port = start_tls("ended", NULL, &pid);
    AUTO(xfree) char *ca = in_folder("ended", ".pem");
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(ca, "localhost", port, 5000, &r, &err), -1);
    assert_string_equal(err.code, "curl 60");
    assert_non_null(strstr(err.what, "ended on 2020-02-01"));
    AUTO(xfree) char *now = clock_iso(clock_wall());
    now[10] = '\0';
    assert_non_null(strstr(err.why, now));
    stop_tls(pid);
}

static void old_versions_are_refused(void **state)
{
    (void)state;
    pid_t pid;
    int port = start_tls("good", "-tls1_1", &pid);
    AUTO(xfree) char *ca = in_folder("good", ".pem");
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(ca, "localhost", port, 5000, &r, &err), -1);
    assert_string_equal(err.code, "curl 35");
    assert_non_null(strstr(err.what, "no usable TLS version"));
    stop_tls(pid);
}

static void a_port_without_tls(void **state)
{
    (void)state;
    struct server s;
    server_start(&s);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    int64_t began = clock_ms();
    assert_int_equal(get(NULL, "127.0.0.1", s.port, 500, &r, &err), -1);
    assert_in_range(clock_ms() - began, 450, 800);
    assert_string_equal(err.code, "curl 28");
    assert_non_null(strstr(err.what, "the TLS handshake"));
    server_stop(&s);
}

/* "Trust nothing but this" must not be possible by accident: the file adds to the system's bundle.
 */
static void the_bundle_is_merged(void **state)
{
    (void)state;
    AUTO(xfree) char *ca = in_folder("good", ".pem");
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct net *without = net_new(&(struct net_options){0}, &err);
    struct net *with = net_new(&(struct net_options){.ca_file = ca}, &err);
    assert_non_null(without);
    assert_non_null(with);
    long sizes[2];
    const struct net *nets[] = {without, with};
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(net_ca_bundle(nets[i]), "r");
        assert_non_null(f);
        fseek(f, 0, SEEK_END);
        sizes[i] = ftell(f);
        fclose(f);
    }
    assert_true(sizes[0] > 0);
    assert_in_range(sizes[1] - sizes[0], 400, 2000);
    net_free(without);
    net_free(with);
}

static void bad_ca_files_are_refused(void **state)
{
    (void)state;
    AUTO(xfree) char *key = in_folder("good", ".key");
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(net_new(&(struct net_options){.ca_file = "/nonexistent/ca.pem"}, &err));
    assert_string_equal(err.code, "errno 2");
    assert_null(net_new(&(struct net_options){.ca_file = key}, &err));
    assert_string_equal(err.code, "ca file");
    setenv("SSL_CERT_FILE", "/nonexistent/bundle.pem", 1);
    assert_null(net_new(&(struct net_options){0}, &err));
    assert_non_null(strstr(err.why, "SSL_CERT_FILE"));
    unsetenv("SSL_CERT_FILE");
}

/* SSL_CERT_FILE stands in place of the system's bundle, as for OpenSSL's own programs. */
static void the_environment_names_the_bundle(void **state)
{
    (void)state;
    pid_t pid;
    int port = start_tls("good", NULL, &pid);
    AUTO(xfree) char *ca = in_folder("good", ".pem");
    setenv("SSL_CERT_FILE", ca, 1);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(NULL, "localhost", port, 5000, &r, &err), 0);
    unsetenv("SSL_CERT_FILE");
    stop_tls(pid);
}

/* The handshake with the proxy is not taken for the one with the host: s_server takes CONNECT and
 * says nothing. */
static void a_proxy_that_speaks_tls_is_still_connecting(void **state)
{
    (void)state;
    pid_t pid;
    AUTO(xfree) char *proxy = xasprintf("https://localhost:%d", start_tls("good", NULL, &pid));
    AUTO(xfree) char *ca = in_folder("good", ".pem");
    setenv("HTTPS_PROXY", proxy, 1);
    AUTO_HTTP_RESPONSE r = {0};
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(get(ca, "silent.test", 443, 700, &r, &err), -1);
    unsetenv("HTTPS_PROXY");
    assert_string_equal(err.code, "curl 28");
    assert_non_null(strstr(err.what, "(connecting through the proxy localhost:"));
    stop_tls(pid);
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trusted_with_a_ca_file),
        cmocka_unit_test(an_unknown_authority_is_named),
        cmocka_unit_test(another_name_is_said),
        cmocka_unit_test(an_ended_certificate_shows_the_clock),
        cmocka_unit_test(old_versions_are_refused),
        cmocka_unit_test(a_port_without_tls),
        cmocka_unit_test(the_bundle_is_merged),
        cmocka_unit_test(bad_ca_files_are_refused),
        cmocka_unit_test(the_environment_names_the_bundle),
        cmocka_unit_test(a_proxy_that_speaks_tls_is_still_connecting),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
