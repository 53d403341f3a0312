/* Whether clock and network of this machine are fit for what follows. These checks only inform:
 * they never stand in the way of a set-up. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "estuary/endpoints.h"
#include "net/http.h"
#include "net/tcp.h"
#include "steps/start/start.h"

#define CLOCK_BAD_S                                                                                \
    120 /* AWS refuses signatures that are 5 minutes off; well before that we warn */
#define DOOR_WAIT_MS 1500 /* for one connection: both checks must be over within their time */
#define DEADLINE_MS 6000

/* "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7); -1 for other forms. strptime would read the
 * month by the locale. */
static int64_t http_date(const char *s)
{
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    struct tm tm = {0};
    char month[4];
    const char *comma = strchr(s, ',');
    if (comma == NULL || sscanf(comma + 1, " %2d %3s %4d %2d:%2d:%2d GMT", &tm.tm_mday, month,
                                &tm.tm_year, &tm.tm_hour, &tm.tm_min, &tm.tm_sec) != 6)
        return -1;
    const char *at = strstr(months, month);
    if (at == NULL || strlen(month) != 3 || (at - months) % 3 != 0)
        return -1;
    tm.tm_mon = (int)((at - months) / 3);
    tm.tm_year -= 1900;
    return (int64_t)timegm(&tm);
}

/* HEAD to the root of a URL's host: any answer will do. */
static int knock(struct run *run, const char *url, struct http_response *answer,
                 struct problem *err)
{
    struct url_parts u = {0};
    if (url_split(url, &u, err) != 0)
        return -1;
    bool v6 = strchr(u.host, ':') != NULL;
    char *root =
        xasprintf("%s://%s%s%s:%s/", u.scheme, v6 ? "[" : "", u.host, v6 ? "]" : "", u.port);
    AUTO_HTTP_REQUEST request;
    http_request_init(&request, "HEAD", root);
    request.connect_ms = DOOR_WAIT_MS;
    int result = http_send(run, &request, answer, err);
    xfree(root);
    url_release(&u);
    return result;
}

static void check_clock(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_HTTP_RESPONSE answer = {0};
    const char *url = run_text(run, "oauth.url");
    outcome_tried(out, "HEAD to the host of %s, its Date against this machine's clock", url);
    int failed = knock(run, url, &answer, &err);
    if (failed && run_cancelled(run)) {
        outcome_problem(out, &err);
        return;
    }
    const char *date = failed ? NULL : http_response_header(&answer, "Date");
    int64_t theirs = date != NULL ? http_date(date) : -1;
    if (theirs < 0) {
        outcome_skip(out, "not compared: %s",
                     failed ? err.what : "the catalog's host sends no date");
        return;
    }
    int64_t off = clock_wall() - theirs;
    int64_t size = off < 0 ? -off : off;
    if (size <= 2) {
        outcome_pass(out, "within 2 s of the catalog's");
    } else if (size < CLOCK_BAD_S) {
        outcome_pass(out, "%lld s %s the catalog's", (long long)size,
                     off < 0 ? "behind" : "ahead of");
    } else {
        outcome_warn(out, "%lld min %lld s %s the catalog's", (long long)(size / 60),
                     (long long)(size % 60), off < 0 ? "behind" : "ahead of");
        outcome_why(out, "AWS refuses requests whose time is more than 5 minutes off, and tokens "
                         "and certificates "
                         "are judged by the clock as well.");
        outcome_fix(out, WHO_YOU, "Set this machine's clock, or switch on time synchronisation.");
        outcome_copy_command(out, "timedatectl set-ntp true");
    }
}

/* Scheme and host of the proxy curl would use for https, without a login; "" when none is set.
 * xfree. */
static char *proxy_shown(void)
{
    static const char *const names[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *v = getenv(names[i]);
        if (v == NULL || *v == '\0')
            continue;
        const char *host = strstr(v, "://");
        host = host != NULL ? host + 3 : v;
        const char *at = strrchr(host, '@');
        return xstrdup(at != NULL ? at + 1 : host);
    }
    return xstrdup("");
}

struct closed {
    struct text names;
    struct problem first; /* whose remedy is told */
};

static void closed_release(struct closed *c)
{
    text_release(&c->names);
    problem_release(&c->first);
}

/* One door of the list; names the closed ones and takes the first one's problem. */
static void door(struct outcome *out, struct closed *closed, const char *name, const char *where,
                 int failed, struct problem *err)
{
    outcome_item(out, failed ? STATUS_WARNED : STATUS_PASSED, name, failed ? err->what : where,
                 failed ? err->fix : NULL);
    if (failed) {
        text_sep(&closed->names, ", ");
        text_add(&closed->names, name);
        if (closed->first.kind == PROBLEM_NONE)
            problem_move(&closed->first, err);
    }
}

/* False when it was cancelled: then the outcome says so. */
static bool url_door(struct run *run, struct outcome *out, struct closed *closed, const char *name,
                     const char *url)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_HTTP_RESPONSE answer = {0};
    int failed = knock(run, url, &answer, &err);
    if (failed && run_cancelled(run)) {
        outcome_problem(out, &err);
        return false;
    }
    door(out, closed, name, url, failed, &err);
    return true;
}

static void check_network(struct run *run, struct outcome *out)
{
    __attribute__((cleanup(closed_release))) struct closed closed = {TEXT_INIT, PROBLEM_INIT};
    const char *host = run_text(run, "postgres.host");
    if (*host != '\0') {
        AUTO_PROBLEM err = PROBLEM_INIT;
        const char *port = run_text(run, "postgres.port");
        int failed = tcp_reach(run, host, *port != '\0' ? port : "5432", DOOR_WAIT_MS, &err);
        door(out, &closed, "PostgreSQL", host, failed, &err);
    }
    AUTO_ENDPOINTS estuary = {0};
    estuary_endpoints(&estuary);
    if (!url_door(run, out, &closed, "catalog", run_text(run, "oauth.url")) ||
        !url_door(run, out, &closed, "Estuary", estuary.api))
        return;
    AUTO(xfree) char *proxy = proxy_shown();
    AUTO(xfree)
    char *through =
        *proxy != '\0' ? xasprintf("https goes through proxy %s", proxy) : xstrdup("no proxy");
    outcome_tried(out, "one connection to each service that is known so far");
    if (closed.names.len == 0) {
        outcome_pass(out, "%s; %s",
                     *host != '\0' ? "catalog, Estuary and PostgreSQL reachable"
                                   : "catalog and Estuary reachable",
                     through);
        return;
    }
    outcome_warn(out, "not reachable from here: %s; %s", closed.names.s, through);
    outcome_why(out, "%s%sThe steps that prove these services will say so again.",
                closed.first.why != NULL ? closed.first.why : "",
                closed.first.why != NULL ? " " : "");
    if (closed.first.fix != NULL)
        outcome_fix(out, closed.first.who, "%s", closed.first.fix);
    else
        outcome_fix(out, WHO_NETWORK,
                    "Allow connections from this machine to the hosts named above.");
}

const struct check start_check_clock = {
    .id = "start.clock",
    .title = "clock",
    .reads = (const char *const[]){"oauth.url", NULL},
    .severity = SEV_INFORMS,
    .effect = EFFECT_READS,
    .service = "catalog",
    .deadline_ms = DEADLINE_MS,
    .cause = "The clock of this machine is wrong.",
    .fix = "Set the clock, or switch on time synchronisation.",
    .run = check_clock,
};

const struct check start_check_network = {
    .id = "start.network",
    .title = "network",
    .reads = (const char *const[]){"oauth.url", "?postgres.host", "?postgres.port", NULL},
    .severity = SEV_INFORMS,
    .effect = EFFECT_READS,
    .service = "network",
    .deadline_ms = DEADLINE_MS,
    .cause = "A firewall, a VPN that is off, a proxy that is needed or not, a misspelt host.",
    .fix = "Allow the connections, or set HTTPS_PROXY and NO_PROXY.",
    .run = check_network,
};
