/* The verdicts on address and catalog; those on tokens are in judge_token.c. */
#include "steps/oauth/judge.h"

#include <string.h>
#include <strings.h>

#include "catalog/classify.h"
#include "core/clock.h"
#include "core/text.h"

/* --- oauth.url -------------------------------------------------------------------------------- */

/* Findings gather; the first gives the line. */
struct findings {
    struct text lines, whys, fixes;
};

static void find(struct findings *f, const char *line, const char *why, const char *fix)
{
    text_sep(&f->lines, "; ");
    text_add(&f->lines, line);
    text_sep(&f->whys, "\n");
    text_add(&f->whys, why);
    text_sep(&f->fixes, " ");
    text_add(&f->fixes, fix);
}

static void find_host(struct findings *f, const struct catalog_address *a)
{
    if (a->bauplan || a->loopback)
        return;
    AUTO(xfree) char *line = xasprintf("%s is not a host of Bauplan", a->host);
    find(f, line,
         "Bauplan's public API is api.use1.aprod.bauplanlabs.com. Id and secret would be sent to "
         "this host.",
         "Go on if Bauplan gave you this host, else correct Catalog URL.");
}

static void find_path(struct findings *f, const struct catalog_address *a)
{
    if (!a->iceberg)
        find(f, "the path does not end in /iceberg",
             "Bauplan's catalog lies there, other paths belong to other APIs.",
             "Let Catalog URL end in /iceberg.");
}

static void find_branch(struct findings *f, const struct catalog_address *a)
{
    if (*a->branch == '\0')
        find(f, "writes go to main",
             "Bauplan protects main by default: only some roles may write to it, and what Estuary "
             "writes is seen by all at "
             "once.",
             "Enter a branch of your own, <username>.<name>, unless main is meant.");
    else if (!catalog_branch_usual(a->branch))
        find(f, "the branch is not named <username>.<name>",
             "Bauplan lets users write to branches that begin with their own username and a dot.",
             "Check the name of the branch.");
}

void judge_address(const char *url, const char *branch, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_ADDRESS a = {0};
    if (catalog_address(url, branch, &a, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "Estuary gets %s", a.url);
    struct findings f = {TEXT_INIT, TEXT_INIT, TEXT_INIT};
    find_host(&f, &a);
    find_path(&f, &a);
    find_branch(&f, &a);
    if (f.lines.len > 0) {
        outcome_warn(out, "%s", f.lines.s);
        outcome_why(out, "%s", f.whys.s);
        outcome_fix(out, WHO_YOU, "%s", f.fixes.s);
    } else if (a.carried) {
        outcome_pass(out, "%s (the URL named the branch already, it is taken once)", a.url);
        outcome_suggest(out, "oauth.url", a.base);
    } else {
        outcome_pass(out, "%s", a.url);
    }
    text_release(&f.lines);
    text_release(&f.whys);
    text_release(&f.fixes);
}

/* --- oauth.reach ------------------------------------------------------------------------------ */

/* "TLS 1.3, certificate until 2027-02-11" */
static char *tls_words(const struct http_response *r)
{
    if (r->tls == NULL)
        return xstrdup("without TLS, on this machine");
    struct text t = TEXT_INIT;
    text_addf(&t, "TLS %s", strncmp(r->tls, "TLSv", 4) == 0 ? r->tls + 4 : r->tls);
    if (r->cert_until > 0) {
        AUTO(xfree) char *until = clock_iso(r->cert_until);
        text_addf(&t, ", certificate until %.10s", until);
    }
    return text_take(&t);
}

void judge_reach(const struct http_response *r, const char *url, const char *warehouse,
                 struct outcome *out)
{
    AUTO(xfree) char *tls = tls_words(r);
    AUTO_ANSWER a;
    answer_read(r, &a);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct url_parts u = {0};
    bool split = url_split(url, &u, NULL) == 0;
    AUTO(xfree) char *asked = catalog_join(url, "v1/config");
    struct catalog_context context = {
        .call = CALL_ANONYMOUS,
        .method = "GET",
        .url = asked,
        .host = split ? u.host : url,
        .branch = "",
        .warehouse = warehouse,
        .name = "",
    };
    catalog_explain(&a, &context, &err);
    if (split)
        url_release(&u);
    bool page = a.shape == SHAPE_HTML;
    if (a.status == 401 || (a.status == 403 && !page)) {
        outcome_pass(out, "%s", tls);
    } else if (a.status >= 200 && a.status < 300 && !page) {
        outcome_pass(out, "%s; its config is open to all", tls);
    } else if ((a.status >= 300 && a.status < 400) || (page && a.status < 300) || a.status == 407 ||
               a.status == 429 || a.status >= 500) {
        outcome_problem(out, &err);
    } else {
        /* Reached, though not as expected: whether it matters is shown by the login. */
        outcome_problem(out, &err);
        outcome_warn(out, "HTTP %d before the login: %s", a.status, err.what);
    }
}

/* --- oauth.base ------------------------------------------------------------------------------- */

/* The branch stands in the address as one segment, or before an encoded "|", in whatever way it is
 * encoded. */
static bool names_branch(const char *base, const char *branch)
{
    AUTO(xfree) char *encoded = url_encode(branch);
    const char *const forms[] = {branch, encoded};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        size_t n = strlen(forms[i]);
        for (const char *p = strstr(base, forms[i]); p != NULL; p = strstr(p + 1, forms[i])) {
            const char *end = p + n;
            bool ends = *end == '\0' || *end == '/' || strncasecmp(end, "%7C", 3) == 0 ||
                        strncasecmp(end, "%40", 3) == 0;
            if (p > base && p[-1] == '/' && ends)
                return true;
        }
    }
    return false;
}

void judge_base(const struct catalog_config *c, const char *url, const char *branch,
                struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO(xfree) char *base = catalog_base(c, url, &err);
    outcome_tried(out, "prefix and uri of %s/v1/config", url);
    if (base == NULL) {
        outcome_problem(out, &err);
        return;
    }
    outcome_evidence(out, "prefix: %s\noverrides.uri: %s\ndefaults.uri: %s",
                     *c->prefix != '\0' ? c->prefix : "(none)", *c->uri != '\0' ? c->uri : "(none)",
                     *c->defaults_uri != '\0' ? c->defaults_uri : "(none)");
    if (*branch != '\0' && !names_branch(base, branch)) {
        outcome_warn(out, "the branch is not in the address: %s", base);
        outcome_why(
            out,
            "Clients are sent to an address that does not name %s; they might read and write main.",
            branch);
        outcome_fix(out, WHO_BAUPLAN,
                    "Ask support@bauplanlabs.com whether this address leads to the branch.");
    } else if (*c->uri == '\0' && *c->defaults_uri != '\0' &&
               !(url_same_host(c->defaults_uri, url) &&
                 strncmp(c->defaults_uri, url, strlen(url)) == 0)) {
        outcome_warn(out, "Estuary and Spark are led to different addresses");
        outcome_why(out, "The catalog names uri among its defaults: Estuary follows it, Spark's "
                         "Iceberg library does "
                         "not.");
        outcome_fix(out, WHO_BAUPLAN, "Ask support@bauplanlabs.com to send uri as an override.");
    } else {
        outcome_pass(out, "%s", base);
    }
}
