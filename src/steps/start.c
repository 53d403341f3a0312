/* Step Start: how the pipeline is called, where its secrets are kept, and whether clock and network
 * of this machine are fit for what follows. Its checks only inform: they never stand in the way of
 * a set-up. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "net/http.h"
#include "net/tcp.h"
#include "steps/answer.h"
#include "steps/steps.h"

#define NAME_MAX_LENGTH 31
#define CLOCK_BAD_S                                                                                \
    120 /* AWS refuses signatures that are 5 minutes off; well before that we warn */
#define DOOR_WAIT_MS 1500 /* for one TCP connection: both checks must be over within their 5 s */
#define DEADLINE_MS 5000

/* --- fields
 * ----------------------------------------------------------------------------------------- */

static int name_valid(const char *text, struct problem *err)
{
    size_t n = strlen(text);
    bool good = n >= 1 && n <= NAME_MAX_LENGTH && text[0] >= 'a' && text[0] <= 'z';
    for (size_t i = 0; good && i < n; i++)
        good = (text[i] >= 'a' && text[i] <= 'z') || (text[i] >= '0' && text[i] <= '9') ||
               text[i] == '-';
    if (good)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form",
                 "a name has small letters, digits and hyphens, begins with a letter, 31 at most");
    problem_why(err,
                "SQL objects (flow_shop) and AWS resources (sluice-shop) are named after it, and "
                "these are the characters both allow.");
    problem_fix(err, WHO_YOU, "Choose a short name such as shop or shop-eu.");
    return -1;
}

/* Estuary's catalog names: letters, digits, "-", "_", "." and "/" between the parts, "/" at the
 * end. */
static int prefix_valid(const char *text, struct problem *err)
{
    size_t n = strlen(text), part = 0;
    bool good = n >= 2 && text[n - 1] == '/';
    for (size_t i = 0; good && i < n; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '/') {
            good = part > 0;
            part = 0;
        } else {
            good = c >= 0x80 || isalnum(c) || c == '-' || c == '_' || c == '.';
            part++;
        }
    }
    if (good)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "a prefix looks like acmeCo/ or acmeCo/shop/");
    problem_fix(
        err, WHO_YOU,
        "Take it from Estuary's dashboard under Admin, Account Access; letters, digits, - _ . "
        "are allowed, it ends with a slash.");
    return -1;
}

static char *prefix_normalise(const char *typed)
{
    char *s = answer_trim(typed);
    size_t n = strlen(s);
    if (n == 0 || s[n - 1] == '/')
        return s;
    char *with = xasprintf("%s/", s);
    xfree(s);
    return with;
}

static const struct field field_name = {
    .id = "start.name",
    .kind = FIELD_TEXT,
    .label = "Name",
    .help = "Names everything that is made: SQL user flow_<name>, AWS role sluice-<name>-emr and "
            "so on. It cannot "
            "be changed once something was made under it.",
    .example = "shop",
    .required = true,
    .normalise = answer_trim,
    .valid = name_valid,
};

static const struct field field_token = {
    .id = "start.token",
    .kind = FIELD_SECRET,
    .label = "Estuary token",
    .help = "A refresh token from Estuary's dashboard (Admin, CLI-API, Generate token). Optional "
            "until the "
            "capture is made; with it prefixes and data planes can be listed.",
    .normalise = answer_trim,
    .valid = answer_word,
};

static const struct field field_prefix = {
    .id = "start.prefix",
    .kind = FIELD_TEXT,
    .label = "Estuary prefix",
    .help = "The part of Estuary's catalog you may write to. Names of capture, collections and "
            "materialization "
            "begin with it.",
    .example = "acmeCo/",
    .normalise = prefix_normalise,
    .valid = prefix_valid,
};

static const struct field field_data_plane = {
    .id = "start.data_plane",
    .kind = FIELD_TEXT,
    .label = "Data plane",
    .help = "Where Estuary runs the connectors. Its addresses must be let in at the database. The "
            "region nearest to "
            "Bauplan (us-east-1) is advised.",
    .example = "ops/dp/public/aws-us-east-1-c2",
    .normalise = answer_trim,
    .valid = answer_word,
};

static const struct field_choice keep_choices[] = {
    {"file", "in the secrets file, under a passphrase"},
    {"memory", "only while sluice runs"},
    {"none", "nowhere: as env: and file: references"},
    {NULL, NULL},
};

static const struct field field_keep_secrets = {
    .id = "start.keep_secrets",
    .kind = FIELD_CHOICE,
    .label = "Keep secrets",
    .help = "Where typed and made secrets are kept. Passwords of administrators are never kept. "
            "Any single secret "
            "may be a reference (env:NAME, file:/path) in each case.",
    .required = true,
    .initial = "file",
    .choices = keep_choices,
};

static const struct field *const fields[] = {
    &field_name, &field_token, &field_prefix, &field_data_plane, &field_keep_secrets, NULL,
};

/* --- checks
 * ----------------------------------------------------------------------------------------- */

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

/* One door of the list; counts and names the closed ones. */
static void door(struct outcome *out, struct text *closed, const char *name, const char *where,
                 int failed, const struct problem *err)
{
    outcome_item(out, failed ? STATUS_WARNED : STATUS_PASSED, name, failed ? err->what : where,
                 failed ? err->fix : NULL);
    if (failed) {
        text_sep(closed, ", ");
        text_add(closed, name);
    }
}

static void check_network(struct run *run, struct outcome *out)
{
    AUTO_TEXT closed = TEXT_INIT;
    const char *host = run_text(run, "postgres.host");
    if (*host != '\0') {
        AUTO_PROBLEM err = PROBLEM_INIT;
        const char *port = run_text(run, "postgres.port");
        int failed = tcp_reach(run, host, *port != '\0' ? port : "5432", DOOR_WAIT_MS, &err);
        door(out, &closed, "PostgreSQL", host, failed, &err);
    }
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_HTTP_RESPONSE answer = {0};
    const char *url = run_text(run, "oauth.url");
    int failed = knock(run, url, &answer, &err);
    if (failed && run_cancelled(run)) {
        outcome_problem(out, &err);
        return;
    }
    door(out, &closed, "catalog", url, failed, &err);
    AUTO(xfree) char *proxy = proxy_shown();
    AUTO(xfree)
    char *through =
        *proxy != '\0' ? xasprintf("https goes through proxy %s", proxy) : xstrdup("no proxy");
    outcome_tried(out, "one connection to each service that is known so far");
    if (closed.len == 0) {
        outcome_pass(out, "%s; %s",
                     *host != '\0' ? "catalog and PostgreSQL reachable" : "catalog reachable",
                     through);
        return;
    }
    outcome_warn(out, "not reachable from here: %s; %s", closed.s, through);
    outcome_why(out,
                "The steps that prove these services will say so again. From behind a firewall the "
                "connections must be allowed first.");
    outcome_fix(out, WHO_NETWORK, "Allow connections from this machine to the hosts named above.");
}

static const struct check clock_check = {
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

static const struct check network_check = {
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

static const struct check *const checks[] = {&clock_check, &network_check, NULL};

const struct step step_start = {
    .id = "start",
    .number = "",
    .name = "Start",
    .title = "A new pipeline",
    .intro = "PostgreSQL changes, carried by Estuary into Iceberg tables of Bauplan. Each step "
             "proves itself against "
             "the real service; everything can be left and resumed.",
    .link = "https://docs.bauplanlabs.com/integrations/data-int-and-etl/estuary",
    .fields = fields,
    .checks = checks,
};
