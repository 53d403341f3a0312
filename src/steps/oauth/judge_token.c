/* The verdicts on tokens. */
#include <string.h>

#include "core/text.h"
#include "steps/oauth/judge.h"

#define LIFE_SHORT_S 3600

char *judge_life_words(long long seconds)
{
    long long hours = seconds / 3600, minutes = seconds % 3600 / 60;
    if (hours > 0 && minutes > 0)
        return xasprintf("%lld h %lld min", hours, minutes);
    if (hours > 0)
        return xasprintf("%lld h", hours);
    return minutes > 0 ? xasprintf("%lld min", minutes) : xasprintf("%lld s", seconds);
}

static void add_items(const struct logins *l, struct outcome *out)
{
    for (size_t i = 0; i < l->count; i++) {
        const struct login_try *t = &l->tries[i];
        AUTO(xfree) char *name = xasprintf("%s (%s)", t->url, token_form_name(t->form));
        AUTO(xfree)
        char *line = t->status != 0
                         ? xasprintf("HTTP %d, %s", t->status, token_result_name(t->result))
                         : xstrdup(token_result_name(t->result));
        outcome_item(out, t->result == TOKEN_OK ? STATUS_PASSED : STATUS_FAILED, name, line, NULL);
    }
}

/* True when a URL is the older guide's one of its catalog. */
static bool old_uri(const char *url)
{
    static const char tail[] = "/" CATALOG_TOKEN_URI_OLD;
    size_t n = strlen(url), m = sizeof tail - 1;
    return n > m && strcmp(url + n - m, tail) == 0;
}

static void found_other(const struct login_try *typed, const struct login_try *other,
                        struct outcome *out)
{
    AUTO(xfree) char *code = xasprintf("http %d", typed->status);
    outcome_fail(out, code, "%s gives no tokens (HTTP %d). This one works: %s", typed->uri,
                 typed->status, other->uri);
    if (strcmp(other->uri, other->url) == 0)
        outcome_why(out, "Only the address without the branch gives tokens. Estuary takes it when "
                         "it is entered in full; "
                         "check the name of the branch as well.");
    else if (old_uri(typed->url))
        outcome_why(out,
                    "That is the older guide's value. It leads nowhere on a branch; Bauplan's page "
                    "says %s now.",
                    CATALOG_TOKEN_URI);
    else
        outcome_why(out, "%s",
                    typed->problem.why != NULL ? typed->problem.why
                                               : "No token endpoint is there.");
    outcome_fix(out, WHO_YOU, "Use %s as Token URI (%s).", other->uri, other->url);
    outcome_suggest(out, "oauth.token_uri", other->uri);
    if (typed->problem.evidence != NULL)
        outcome_evidence(out, "%s", typed->problem.evidence);
}

void judge_token_uri(const struct logins *l, struct outcome *out)
{
    const struct login_try *typed = logins_typed(l, TOKEN_FORM);
    const struct login_try *other = logins_other(l);
    if (typed == NULL) {
        outcome_skip(out, "no login was tried");
        return;
    }
    outcome_tried(out, "POST %s", typed->url);
    add_items(l, out);
    if (typed->result == TOKEN_NOT_THERE && other != NULL) {
        found_other(typed, other, out);
    } else if (typed->result == TOKEN_NOT_THERE) {
        outcome_problem(out, &typed->problem);
        outcome_fail(out, typed->problem.code,
                     "neither %s nor the other known addresses give tokens", typed->uri);
        outcome_fix(out, WHO_YOU, "Check Catalog URL and Branch; Token URI is %s at Bauplan.",
                    CATALOG_TOKEN_URI);
    } else if (typed->result == TOKEN_OK && other != NULL && old_uri(typed->url)) {
        outcome_warn(out, "works here, but it is the older guide's value; %s works too",
                     other->uri);
        outcome_why(
            out, "It is known to work on main alone and may go away. Bauplan's page says %s now.",
            CATALOG_TOKEN_URI);
        outcome_fix(out, WHO_YOU, "Use %s as Token URI.", other->uri);
        outcome_suggest(out, "oauth.token_uri", other->uri);
    } else {
        outcome_pass(out, "%s", typed->url);
    }
}

void judge_token_form(const struct logins *l, struct outcome *out)
{
    const struct login_try *t = logins_typed(l, TOKEN_FORM);
    if (t == NULL) {
        outcome_skip(out, "not tried");
        return;
    }
    outcome_tried(out, "POST %s, id and secret in the body", t->url);
    if (t->result == TOKEN_OK)
        outcome_pass(out, "id and secret in the body are accepted");
    else
        outcome_problem(out, &t->problem);
}

void judge_token_basic(const struct logins *l, struct outcome *out)
{
    const struct login_try *t = logins_typed(l, TOKEN_BASIC);
    if (t == NULL) {
        outcome_skip(out, "not tried");
        return;
    }
    outcome_tried(out, "POST %s, id and secret in a Basic header", t->url);
    if (t->result == TOKEN_OK) {
        outcome_pass(out, "a Basic header is accepted");
        return;
    }
    const struct login_try *form = logins_typed(l, TOKEN_FORM);
    if (form == NULL || form->result != TOKEN_OK) {
        outcome_skip(out, "refused as well; the form matters more");
        return;
    }
    outcome_problem(out, &t->problem);
    outcome_warn(out, "a Basic header is refused (HTTP %d); Estuary then sends the form",
                 t->status);
    outcome_why(out, "Estuary tries Basic first, so each of its logins fails once before it works. "
                     "A server that counts "
                     "failures could lock the client.");
    outcome_fix(out, WHO_BAUPLAN, "Nothing must be done as long as the form works.");
}

void judge_token_spark(const struct logins *l, struct outcome *out)
{
    const struct login_try *t = logins_typed(l, TOKEN_SPARK);
    if (t == NULL) {
        outcome_skip(out, "not tried");
        return;
    }
    outcome_tried(out, "POST %s, id and secret in the body, scope=catalog", t->url);
    if (t->result == TOKEN_OK) {
        outcome_pass(out, "scope=catalog is accepted");
        return;
    }
    outcome_problem(out, &t->problem);
    outcome_fail(out, t->problem.code, "Spark could not log in: %s",
                 t->problem.what != NULL ? t->problem.what : "no token");
    outcome_why(out,
                "With an empty Scope the Spark jobs send scope=catalog. Estuary's own test would "
                "pass, and each job "
                "would fail afterwards.%s%s",
                t->problem.why != NULL ? "\n" : "", t->problem.why != NULL ? t->problem.why : "");
}

void judge_token_life(const struct logins *l, struct outcome *out)
{
    const struct login_try *t = logins_typed(l, TOKEN_FORM);
    if (t == NULL || t->result != TOKEN_OK) {
        outcome_skip(out, "no token");
        return;
    }
    if (t->life_s >= LIFE_SHORT_S) {
        AUTO(xfree) char *words = judge_life_words(t->life_s);
        outcome_pass(out, "%s%s", words, t->life_huge ? " or more" : "");
        return;
    }
    if (t->life_s < 0) {
        outcome_warn(out, "the server does not say how long a token lives");
    } else {
        AUTO(xfree) char *words = judge_life_words(t->life_s);
        outcome_warn(out, "a token lives %s, less than an hour", words);
    }
    outcome_why(out, "A Spark job that outlives its token renews it by a token exchange, which "
                     "many servers do not "
                     "offer; a long merge or backfill would fail half way.");
    outcome_fix(out, WHO_YOU, "Give the OAuth app a token lifetime of some hours.");
    outcome_link(out, "https://app.bauplanlabs.com/oauth-apps");
}
