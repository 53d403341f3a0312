/* Words for a request that got no answer: what libcurl's code means here, and who can do what about
 * it. */
#include <errno.h>
#include <string.h>
#include <strings.h>

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

/* A table's words with the one %s in them, if there is one, replaced. */
static void fill(struct text *out, const char *words, const char *name)
{
    const char *hole = strstr(words, "%s");
    text_addn(out, words, hole != NULL ? (size_t)(hole - words) : strlen(words));
    if (hole != NULL)
        text_addf(out, "%s%s", name, hole + 2);
}

/* `library`: libcurl's own words, "" while the network thread may still write them. */
static void add_evidence(const struct http_job *job, const char *library, struct problem *err)
{
    const struct http_route *r = &job->route;
    problem_evidence(
        err, "%s %s:%s%s%s%s%s%s%s", job->request.method, r->host, r->port,
        r->addresses != NULL ? ", tried " : "", r->addresses != NULL ? r->addresses : "",
        r->proxy != NULL ? ", through the proxy " : "", r->proxy != NULL ? r->proxy_shown : "",
        library[0] != '\0' ? "\n" : "", library);
}

/* Where a request hangs. From the tunnel's end on a proxy only passes on what it cannot read, so
 * that it is no longer suspected. */
static const struct phase_words {
    const char *name;
    const char *why, *fix;
    const char *proxy_why, *proxy_fix; /* when a proxy may be the reason; %s: host:port */
} phases[] = {
    [PHASE_QUEUED] = {"preparing the request", NULL, "Check firewall, VPN and proxy for this host.",
                      NULL, NULL},
    [PHASE_CONNECTING] =
        {"connecting",
         "The packets get lost: a firewall, a security group, or a machine that is down.",
         "Check firewall, VPN and proxy for this host.",
         "The proxy does not answer, or it gets no answer from the host.",
         "Check HTTPS_PROXY, and have whoever runs the proxy see whether it reaches %s; or exempt "
         "the host by NO_PROXY."},
    [PHASE_TLS] =
        {"the TLS handshake",
         "The port is open, but TLS does not go ahead: something in between holds it up.",
         "Check firewall, VPN and proxy for this host.",
         "The proxy has connected, but TLS does not go ahead: it or what is behind it holds it up.",
         "Have whoever runs the proxy see why TLS to %s does not pass, or exempt the host by "
         "NO_PROXY."},
    [PHASE_WAITING] = {"waiting for the answer",
                       "The request arrived, but the service does not answer.",
                       "Try again later; if it stays, ask who runs the service.", NULL, NULL},
    [PHASE_READING] = {"reading the answer", "The answer began, but comes too slowly or stopped.",
                       "Try again later; if it stays, ask who runs the service.", NULL, NULL},
};

static bool proxy_suspected(const struct http_job *job, const struct phase_words *phase)
{
    return job->route.proxy != NULL && phase->proxy_fix != NULL;
}

/* "connecting through the proxy proxy.example.com:3128" */
static const struct phase_words *phase_now(const struct http_job *job, struct text *shown)
{
    const struct phase_words *phase = &phases[atomic_load(&job->phase)];
    text_add(shown, phase->name);
    if (proxy_suspected(job, phase))
        text_addf(shown, " through the proxy %s", job->route.proxy_shown);
    return phase;
}

static int fail_time(const struct http_job *job, int64_t took_ms, const char *library,
                     struct problem *err)
{
    const struct http_route *r = &job->route;
    AUTO_TEXT phase = TEXT_INIT;
    const struct phase_words *words = phase_now(job, &phase);
    bool proxy = proxy_suspected(job, words);
    problem_fail(err, PROBLEM_UNREACHABLE, "curl 28", "no answer from %s within %lld s (%s)",
                 r->host, (long long)((took_ms + 500) / 1000), phase.s);
    if (words->why != NULL)
        problem_why(err, "%s", proxy ? words->proxy_why : words->why);
    AUTO_TEXT fix = TEXT_INIT;
    AUTO(xfree) char *place = xasprintf("%s:%s", r->host, r->port);
    fill(&fix, proxy ? words->proxy_fix : words->fix, place);
    problem_fix(err, WHO_NETWORK, "%s", fix.s);
    add_evidence(job, library, err);
    return -1;
}

int http_error_time(const struct http_job *job, int64_t took_ms, struct problem *err)
{
    return fail_time(job, took_ms, "", err);
}

int http_error_cancelled(const struct http_job *job, struct problem *err)
{
    AUTO_TEXT phase = TEXT_INIT;
    phase_now(job, &phase);
    problem_fail(err, PROBLEM_CANCELLED, "cancelled", "cancelled while waiting for %s (%s)",
                 job->route.host, phase.s);
    add_evidence(job, "", err);
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
    fill(&what, row != NULL ? row->what : "cannot connect to %s", place);
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

/* What a proxy says to CONNECT instead of opening a tunnel (RFC 9110 §9.3.6, §15.6); the first row
 * that fits. %s in `fix`: host:port. */
static const struct proxy_row {
    long from, to;
    const char *verb; /* the proxy … the host */
    const char *why;
    enum who who;
    const char *fix;
} proxy_rows[] = {
    {407, 407, "does not let %s through", "It wants a login.", WHO_YOU,
     "Put user and password into HTTPS_PROXY (http://USER:PASSWORD@HOST:PORT), then start sluice "
     "again."},
    {502, 504, "cannot reach %s",
     "It would let the request through, but gets no connection to the host or no answer from it, "
     "perhaps only for the moment.",
     WHO_NETWORK,
     "Try again; if it stays, have whoever runs the proxy see why it does not reach %s, or exempt "
     "the host by NO_PROXY."},
    {405, 405, "makes no tunnel to %s",
     "It does not know CONNECT: HTTPS_PROXY names a web server, or a proxy that carries no https.",
     WHO_YOU, "Correct HTTPS_PROXY, or exempt the host by NO_PROXY."},
    {501, 501, "makes no tunnel to %s",
     "It does not know CONNECT: HTTPS_PROXY names a web server, or a proxy that carries no https.",
     WHO_YOU, "Correct HTTPS_PROXY, or exempt the host by NO_PROXY."},
    {500, 599, "does not let %s through", "It has a fault of its own.", WHO_NETWORK,
     "Try again; if it stays, have whoever runs the proxy look why it refuses %s, or exempt the "
     "host by NO_PROXY."},
    {0, 999, "does not let %s through", "Its rules do not allow this host.", WHO_NETWORK,
     "Have the proxy allow %s, or exempt the host by NO_PROXY."},
};

static void say_login(struct problem *err)
{
    problem_why(err, "It refuses the login in HTTPS_PROXY.");
    problem_fix(err, WHO_YOU, "%s",
                "Correct user and password in HTTPS_PROXY (in them @ : / % are written %40 %3A %2F "
                "%25), then start sluice again.");
}

bool http_login_refused(const struct http_job *job)
{
    return job->proxy_status == 407 || job->proxy_error == CURLPX_USER_REJECTED;
}

int http_error_login(const struct http_job *job, struct problem *err)
{
    const struct http_route *r = &job->route;
    bool socks = strncasecmp(r->proxy, "socks", 5) == 0;
    problem_fail(err, PROBLEM_UNREACHABLE, socks ? "curl 97" : "proxy 407",
                 "the proxy %s does not let %s through: it refused the login", r->proxy_shown,
                 r->host);
    say_login(err);
    problem_evidence(err, "%s %s:%s was not sent: the same login again could lock the account",
                     job->request.method, r->host, r->port);
    return -1;
}

int http_error_turn(const struct run *run, const struct http_job *job, struct problem *err)
{
    AUTO(xfree)
    char *phase = xasprintf("waiting for %s (the first answer of the proxy %s)", job->route.host,
                            job->route.proxy_shown);
    if (run_over(run, phase, err) == 0)
        problem_fail(err, PROBLEM_LOCAL, "proxy turn", "%s failed", phase);
    add_evidence(job, "", err);
    return -1;
}

static int fail_proxy(const struct http_job *job, struct problem *err)
{
    const struct http_route *r = &job->route;
    const struct proxy_row *row = proxy_rows;
    while (job->proxy_status < row->from || job->proxy_status > row->to)
        row++;
    char code[32];
    snprintf(code, sizeof code, "proxy %ld", job->proxy_status);
    AUTO_TEXT what = TEXT_INIT;
    AUTO_TEXT fix = TEXT_INIT;
    AUTO(xfree) char *place = xasprintf("%s:%s", r->host, r->port);
    fill(&what, row->verb, r->host);
    fill(&fix, row->fix, place);
    problem_fail(err, PROBLEM_UNREACHABLE, code, "the proxy %s %s (%ld)", r->proxy_shown, what.s,
                 job->proxy_status);
    problem_why(err, "%s", row->why);
    problem_fix(err, row->who, "%s", fix.s);
    if (r->proxy_login && http_login_refused(job))
        say_login(err);
    return -1;
}

/* The connection ended before the proxy had said anything to CONNECT. */
static int fail_tunnel(const struct http_job *job, struct problem *err)
{
    const struct http_route *r = &job->route;
    char code[24];
    code_text(code, (int)job->code);
    problem_fail(err, PROBLEM_UNREACHABLE, code, "the proxy %s hung up instead of connecting to %s",
                 r->proxy_shown, r->host);
    problem_fix(
        err, WHO_NETWORK,
        "Check HTTPS_PROXY and that the proxy allows %s:%s, or exempt the host by NO_PROXY.",
        r->host, r->port);
    return -1;
}

static bool is_cut(CURLcode code)
{
    return code == CURLE_RECV_ERROR || code == CURLE_SEND_ERROR || code == CURLE_GOT_NOTHING;
}

/* A SOCKS proxy did not do what it was asked; libcurl's words in the evidence say why. */
static int fail_socks(const struct http_job *job, struct problem *err)
{
    const struct http_route *r = &job->route;
    problem_fail(err, PROBLEM_UNREACHABLE, "curl 97", "the proxy %s did not connect to %s",
                 r->proxy_shown, r->host);
    problem_fix(
        err, WHO_NETWORK,
        "Check HTTPS_PROXY and that the proxy allows %s:%s, or exempt the host by NO_PROXY.",
        r->host, r->port);
    if (http_login_refused(job))
        say_login(err);
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
        fill(&what, row->what, job->route.host);
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
    else if (job->code == CURLE_PROXY)
        fail_socks(job, err);
    else if (job->route.proxy != NULL && atomic_load(&job->phase) == PHASE_CONNECTING &&
             is_cut(job->code))
        fail_tunnel(job, err);
    else if (job->code == CURLE_OPERATION_TIMEDOUT)
        return fail_time(job, http_connect_ms(&job->request), job->errbuf, err);
    else
        fail_by_table(job, (int)job->code, err);
    add_evidence(job, job->errbuf, err);
    return -1;
}

/* A connection that hung has had the whole time that is given to one: what is lost on the way was
 * sent again by TCP meanwhile, and each address of the name was tried. */
bool http_is_final(const struct problem *p)
{
    static const char *const codes[] = {
        "curl 1",    /* another protocol */
        "curl 28",   /* hung, see above */
        "curl 60",   /* a certificate */
        "curl 97",   /* refused by a SOCKS proxy, perhaps the login */
        "http body", /* too large */
        "http headers",
    };
    if (p->kind != PROBLEM_UNREACHABLE && p->kind != PROBLEM_PROTOCOL)
        return true;
    if (p->code == NULL)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(codes); i++) {
        if (strcmp(p->code, codes[i]) == 0)
            return true;
    }
    if (strncmp(p->code, "dns ", 4) == 0)
        return strcmp(p->code, "dns EAI_AGAIN") != 0;
    return strncmp(p->code, "proxy ", 6) == 0;
}
