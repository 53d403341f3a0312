/* Words for a request that got no answer: what libcurl's code means here, and who can do what about
 * it. */
#include <errno.h>
#include <string.h>

#include "core/mem.h"
#include "net/http_impl.h"

/* %s in `what` is the host. `match` is a part of libcurl's own text, for codes that mean several
 * things. */
static const struct curl_row {
    int code;
    const char *match;
    enum problem_kind kind;
    const char *what;
    const char *why;
    enum who who;
    const char *fix;
} curl_rows[] = {
    {CURLE_COULDNT_RESOLVE_PROXY, NULL, PROBLEM_UNREACHABLE, "the proxy for %s cannot be resolved",
     "HTTPS_PROXY names a host that no name service knows.", WHO_YOU,
     "Correct HTTPS_PROXY, or exempt the host by NO_PROXY."},
    {CURLE_COULDNT_RESOLVE_HOST, NULL, PROBLEM_UNREACHABLE, "the name %s cannot be resolved", NULL,
     WHO_YOU, "Check the spelling; if the name is private, connect to that network first."},
    {CURLE_SSL_CONNECT_ERROR, "wrong version number", PROBLEM_UNREACHABLE,
     "%s does not speak TLS on this port",
     "The port answers in clear: it is meant for http, or for another protocol.", WHO_YOU,
     "Check the port in the URL."},
    {CURLE_SSL_CONNECT_ERROR, "protocol version", PROBLEM_UNREACHABLE,
     "%s offers no usable TLS version",
     "TLS 1.2 is the least that is used; older versions are broken.", WHO_NETWORK,
     "Enable TLS 1.2 or 1.3 on the server or on the proxy in between."},
    {CURLE_SSL_CONNECT_ERROR, "unsupported protocol", PROBLEM_UNREACHABLE,
     "%s offers no usable TLS version",
     "TLS 1.2 is the least that is used; older versions are broken.", WHO_NETWORK,
     "Enable TLS 1.2 or 1.3 on the server or on the proxy in between."},
    {CURLE_SSL_CONNECT_ERROR, NULL, PROBLEM_UNREACHABLE, "the TLS handshake with %s failed",
     "The other side ended it: something in between cuts TLS, or the port does not speak it.",
     WHO_NETWORK, "Check firewall and proxy for this host."},
    {CURLE_GOT_NOTHING, NULL, PROBLEM_UNREACHABLE, "%s closed the connection without an answer",
     "A load balancer or firewall in between, or a server that is just starting.", WHO_NETWORK,
     "Try again; if it stays, check firewall and proxy for this host."},
    {CURLE_SEND_ERROR, NULL, PROBLEM_UNREACHABLE, "the connection to %s was cut while sending",
     NULL, WHO_NETWORK, "Try again; if it stays, check firewall and proxy for this host."},
    {CURLE_RECV_ERROR, NULL, PROBLEM_UNREACHABLE,
     "the connection to %s was cut while reading the answer", NULL, WHO_NETWORK,
     "Try again; if it stays, check firewall and proxy for this host."},
    {CURLE_PARTIAL_FILE, NULL, PROBLEM_PROTOCOL, "the answer of %s is not complete",
     "The connection was closed before the announced length had come.", WHO_NETWORK, "Try again."},
    {CURLE_WEIRD_SERVER_REPLY, NULL, PROBLEM_PROTOCOL, "%s does not answer in HTTP",
     "The port belongs to another protocol.", WHO_YOU, "Check host and port in the URL."},
    {CURLE_UNSUPPORTED_PROTOCOL, "HTTP/0.9", PROBLEM_PROTOCOL, "%s does not answer in HTTP",
     "The port belongs to another protocol.", WHO_YOU, "Check host and port in the URL."},
    {CURLE_PROXY, NULL, PROBLEM_UNREACHABLE, "the proxy did not connect to %s", NULL, WHO_NETWORK,
     "Check the proxy that HTTPS_PROXY names, or exempt the host by NO_PROXY."},
    {CURLE_OUT_OF_MEMORY, NULL, PROBLEM_LOCAL, "no memory for the request to %s", NULL, WHO_YOU,
     NULL},
};

static const struct errno_words {
    int errnum;
    const char *what; /* %s: host:port */
    const char *why;
} connect_rows[] = {
    {ECONNREFUSED, "nothing listens at %s", "The machine is there, but refuses the port."},
    {ENETUNREACH, "there is no way to %s", "This machine has no route to that network."},
    {EHOSTUNREACH, "there is no way to %s", "A router says that the machine cannot be reached."},
    {ETIMEDOUT, "%s does not answer", "A firewall drops the packets, or the machine is down."},
    {ECONNRESET, "%s cut the connection at once", "A firewall or proxy in between refuses it."},
    {EACCES, "this machine forbids connecting to %s", "A local firewall or sandbox."},
};

static void code_text(char out[24], int code)
{
    snprintf(out, 24, "curl %d", code);
}

static void add_evidence(const struct http_job *job, struct problem *err)
{
    const struct http_route *r = &job->route;
    problem_evidence(
        err, "%s %s:%s%s%s%s%s%s%s", job->request.method, r->host, r->port,
        r->addresses != NULL ? ", tried " : "", r->addresses != NULL ? r->addresses : "",
        r->proxy != NULL ? ", through the proxy " : "", r->proxy != NULL ? r->proxy_shown : "",
        job->errbuf[0] != '\0' ? "\n" : "", job->errbuf);
}

static const char *const phase_words[] = {
    [PHASE_QUEUED] = "preparing the request", [PHASE_CONNECTING] = "connecting",
    [PHASE_TLS] = "the TLS handshake",        [PHASE_WAITING] = "waiting for the answer",
    [PHASE_READING] = "reading the answer",
};

static const char *const phase_why[] = {
    [PHASE_QUEUED] = NULL,
    [PHASE_CONNECTING] =
        "The packets get lost: a firewall, a security group, or a machine that is down.",
    [PHASE_TLS] = "The port is open, but TLS does not go ahead: something in between holds it up.",
    [PHASE_WAITING] = "The request arrived, but the service does not answer.",
    [PHASE_READING] = "The answer began, but comes too slowly or stopped.",
};

int http_error_time(const struct http_job *job, int64_t took_ms, struct problem *err)
{
    int phase = atomic_load(&job->phase);
    const struct http_route *r = &job->route;
    problem_fail(err, PROBLEM_UNREACHABLE, "curl 28", "no answer from %s within %lld s (%s%s%s)",
                 r->host, (long long)((took_ms + 500) / 1000), phase_words[phase],
                 r->proxy != NULL && phase == PHASE_CONNECTING ? " to the proxy " : "",
                 r->proxy != NULL && phase == PHASE_CONNECTING ? r->proxy_shown : "");
    if (phase_why[phase] != NULL)
        problem_why(err, "%s", phase_why[phase]);
    problem_fix(err, WHO_NETWORK, "%s",
                phase >= PHASE_WAITING ? "Try again later; if it stays, ask who runs the service."
                                       : "Check firewall, VPN and proxy for this host.");
    problem_evidence(err, "%s %s:%s, tried %s", job->request.method, r->host, r->port,
                     r->addresses != NULL ? r->addresses : "nothing yet");
    return -1;
}

static int fail_connect(const struct http_job *job, struct problem *err)
{
    const struct http_route *r = &job->route;
    AUTO(xfree)
    char *place = r->proxy != NULL ? xasprintf("the proxy %s", r->proxy_shown)
                                   : xasprintf("%s:%s", r->host, r->port);
    const struct errno_words *row = NULL;
    for (size_t i = 0; i < ARRAY_LEN(connect_rows) && row == NULL; i++) {
        if (connect_rows[i].errnum == job->os_errno)
            row = &connect_rows[i];
    }
    AUTO_TEXT what = TEXT_INIT;
    const char *format = row != NULL ? row->what : "cannot connect to %s";
    const char *hole = strstr(format, "%s");
    text_addn(&what, format, (size_t)(hole - format));
    text_add(&what, place);
    text_add(&what, hole + 2);
    problem_fail(err, PROBLEM_UNREACHABLE, "curl 7", "%s", what.s);
    if (row != NULL)
        problem_why(err, "%s", row->why);
    problem_fix(
        err, WHO_NETWORK, "%s",
        r->proxy != NULL
            ? "Check HTTPS_PROXY and whether the proxy runs, or exempt the host by NO_PROXY."
            : "Check host and port, and firewall and VPN between here and there.");
    return -1;
}

static int fail_certificate(const struct http_job *job, struct problem *err)
{
    AUTO(xfree)
    char *who = job->proxy_verify != 0 ? xasprintf("the proxy %s", job->route.proxy_shown)
                                       : xstrdup(job->route.host);
    const struct tls_words words = {
        .who = who,
        .code = "curl 60",
        .code_name = "curl 60",
        .fix_ca =
            "If that authority is yours (a company proxy, a private CA), add its certificate with "
            "--ca-file FILE or SLUICE_CA_FILE=FILE.",
        .fix_name = "Use one of these names in the URL if it is the same service; else something "
                    "in between "
                    "answers in its place.",
        .library = job->errbuf,
    };
    return tls_error(&job->cert, &words, err);
}

static int fail_size(const struct http_job *job, struct problem *err)
{
    problem_fail(err, PROBLEM_PROTOCOL, job->fault == FAULT_HEADERS ? "http headers" : "http body",
                 "the answer of %s is too large", job->route.host);
    if (job->fault == FAULT_HEADERS)
        problem_why(err, "Its headers go beyond what any of the services sends.");
    else
        problem_why(err, "It is longer than %zu bytes.", job->body_max);
    problem_fix(err, WHO_YOU, "Check that the URL names the service and not a download.");
    return -1;
}

/* CONNECT was refused by the proxy, RFC 9110 §9.3.6. */
static int fail_proxy(const struct http_job *job, struct problem *err)
{
    char code[32];
    snprintf(code, sizeof code, "proxy %ld", job->proxy_status);
    problem_fail(err, PROBLEM_UNREACHABLE, code, "the proxy %s does not let %s through (%ld)",
                 job->route.proxy_shown, job->route.host, job->proxy_status);
    if (job->proxy_status == 407) {
        problem_why(err, "It wants a login, or refuses the one in HTTPS_PROXY.");
        problem_fix(err, WHO_YOU,
                    "Put user and password into HTTPS_PROXY (http://USER:PASSWORD@HOST:PORT).");
    } else {
        problem_why(err, "Its rules do not allow this host.");
        problem_fix(err, WHO_NETWORK, "Have the proxy allow %s:%s, or exempt the host by NO_PROXY.",
                    job->route.host, job->route.port);
    }
    return -1;
}

static int fail_by_table(const struct http_job *job, int number, struct problem *err)
{
    char code[24];
    code_text(code, number);
    for (size_t i = 0; i < ARRAY_LEN(curl_rows); i++) {
        const struct curl_row *row = &curl_rows[i];
        if (row->code != number || (row->match != NULL && strstr(job->errbuf, row->match) == NULL))
            continue;
        AUTO_TEXT what = TEXT_INIT;
        const char *hole = strstr(row->what, "%s");
        text_addn(&what, row->what, (size_t)(hole - row->what));
        text_add(&what, job->route.host);
        text_add(&what, hole + 2);
        problem_fail(err, row->kind, code, "%s", what.s);
        if (row->why != NULL)
            problem_why(err, "%s", row->why);
        if (row->fix != NULL)
            problem_fix(err, row->who, "%s", row->fix);
        return -1;
    }
    problem_fail(err, PROBLEM_UNREACHABLE, code, "the request to %s failed", job->route.host);
    problem_why(err, "%s.", curl_easy_strerror(job->code));
    problem_fix(err, WHO_NETWORK,
                "Try again; if it stays, check firewall and proxy for this host.");
    return -1;
}

int http_error(const struct http_job *job, struct problem *err)
{
    if (job->fault == FAULT_SHUTDOWN)
        return problem_fail(err, PROBLEM_CANCELLED, "cancelled", "cancelled: sluice is ending");
    if (job->code == CURLE_PEER_FAILED_VERIFICATION)
        return fail_certificate(job, err);
    if (job->fault == FAULT_RESEND)
        fail_by_table(job, CURLE_GOT_NOTHING, err);
    else if (job->fault != FAULT_NONE || job->code == CURLE_FILESIZE_EXCEEDED)
        fail_size(job, err);
    else if (job->proxy_status >= 300)
        fail_proxy(job, err);
    else if (job->code == CURLE_COULDNT_CONNECT)
        fail_connect(job, err);
    else if (job->code == CURLE_OPERATION_TIMEDOUT)
        return http_error_time(job, job->request.connect_ms > 0 ? job->request.connect_ms : 10000,
                               err);
    else
        fail_by_table(job, (int)job->code, err);
    add_evidence(job, err);
    return -1;
}
