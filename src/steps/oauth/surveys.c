/* The checks that ask the catalog. */
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/run.h"
#include "steps/oauth/facts.h"
#include "steps/oauth/judge.h"
#include "steps/oauth/oauth.h"
#include "steps/oauth/target.h"

#define PROBE_RANDOM 8

static const char *branch_shown(const struct oauth_target *t)
{
    return *t->address.branch != '\0' ? t->address.branch : "main";
}

void survey_reach(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_ADDRESS a = {0};
    AUTO_HTTP_RESPONSE answer = {0};
    const char *warehouse = run_text(run, "oauth.warehouse");
    if (catalog_address(run_text(run, "oauth.url"), run_text(run, "oauth.branch"), &a, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    if (catalog_knock(run, a.url, warehouse, &answer, &err) != 0)
        outcome_problem(out, &err);
    else
        judge_reach(&answer, a.url, warehouse, out);
    outcome_tried(out, "GET %s/v1/config without a login", a.url);
    if (answer.peer != NULL && out->evidence == NULL)
        outcome_evidence(out, "HTTP %d from %s", answer.status, answer.peer);
}

/* "form and Basic accepted, scope=catalog refused" */
static void login_line(const struct logins *l, struct outcome *out)
{
    AUTO_TEXT good = TEXT_INIT, bad = TEXT_INIT;
    static const enum token_form forms[] = {TOKEN_FORM, TOKEN_BASIC, TOKEN_SPARK};
    static const char *const names[] = {"form", "Basic", "scope=catalog"};
    for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
        const struct login_try *t = logins_typed(l, forms[i]);
        if (t == NULL)
            continue;
        struct text *list = t->result == TOKEN_OK ? &good : &bad;
        text_sep(list, ", ");
        text_add(list, names[i]);
    }
    const struct login_try *first = logins_typed(l, TOKEN_FORM);
    const struct login_try *other = logins_other(l);
    if (first != NULL && first->result == TOKEN_NOT_THERE)
        outcome_pass(out, "%zu addresses asked: %s", l->count,
                     other != NULL ? "another than the one entered gives tokens"
                                   : "none gives tokens");
    else if (bad.len == 0)
        outcome_pass(out, "%s accepted", good.s);
    else if (good.len == 0)
        outcome_pass(out, "answered; %s refused", bad.s);
    else
        outcome_pass(out, "%s accepted; %s refused", good.s, bad.s);
}

void survey_login(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_OAUTH_TARGET t = {0};
    struct logins found = {0};
    if (oauth_target(run, &t, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "POST %s as client %s", t.token_url, t.catalog.client_id);
    if (catalog_login(run, &t.address, run_text(run, "oauth.token_uri"), t.catalog.client_id,
                      t.catalog.client_secret, &found, &err) != 0) {
        outcome_problem(out, &err);
        if (err.kind == PROBLEM_REFUSED)
            outcome_link(out, "https://app.bauplanlabs.com/oauth-apps");
        return;
    }
    login_line(&found, out);
    outcome_give(out, "oauth.logins", oauth_logins_fact(&found));
}

void survey_config(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_OAUTH_TARGET t = {0};
    AUTO_CATALOG_CONFIG config = {0};
    if (oauth_target(run, &t, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_tried(out, "GET %s/v1/config?warehouse=%s", t.address.url, t.catalog.warehouse);
    if (catalog_get_config(run, &t.catalog, &config, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    outcome_pass(out, "warehouse %s, prefix %s", t.catalog.warehouse,
                 *config.prefix != '\0' ? config.prefix : "none");
    outcome_give(out, "oauth.config", oauth_config_fact(&config));
}

/* "shop, bauplan, … 12 more"; xfree. */
static char *names_line(const struct catalog_names *n)
{
    struct text t = TEXT_INIT;
    size_t shown = n->count < 3 ? n->count : 3;
    for (size_t i = 0; i < shown; i++) {
        text_sep(&t, ", ");
        text_add(&t, n->names[i]);
    }
    if (n->count > shown)
        text_addf(&t, " and %zu more", n->count - shown);
    return text_take(&t);
}

void survey_branch(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_OAUTH_TARGET t = {0};
    AUTO_CATALOG_NAMES names = {0};
    if (oauth_target(run, &t, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    AUTO(xfree)
    char *base =
        catalog_base(run_fact(run, "oauth.config", &oauth_config_type), t.address.url, &err);
    outcome_tried(out, "GET %s/namespaces", base != NULL ? base : t.address.url);
    if (base == NULL || catalog_list_namespaces(run, &t.catalog, base, &names, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    AUTO(xfree) char *line = names_line(&names);
    outcome_pass(out, "%s: %s%s", branch_shown(&t), names.count == 0 ? "no namespace yet" : line,
                 names.more ? ", not all read" : "");
    outcome_give(out, "oauth.namespaces", oauth_namespaces_fact(&names));
}

/* sluice_probe_ and random small letters. */
static void probe_name(char *out, size_t size)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    unsigned char random[PROBE_RANDOM] = {0};
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        memset(random, 7, sizeof random); /* a name that is taken is answered with 409 */
    size_t n = (size_t)snprintf(out, size, "sluice_probe_");
    for (size_t i = 0; i < sizeof random && n + 1 < size; i++)
        out[n++] = letters[random[i] % 26];
    out[n] = '\0';
}

/* Takes the probe away on a run of its own: a cancel or the deadline must not leave it behind. */
static int probe_remove(struct run *run, const struct oauth_target *t, const char *base,
                        const char *name, struct problem *err)
{
    struct run *own = run_new_cleanup(run);
    int result = catalog_remove_namespace(own, &t->catalog, base, name, err);
    run_free(own);
    return result;
}

static void left_behind(const struct oauth_target *t, const char *name, const struct problem *err,
                        struct outcome *out)
{
    outcome_problem(out, err);
    outcome_fail(out, err->code, "namespace %s could not be removed from %s again", name,
                 branch_shown(t));
    outcome_why(out, "It was made to prove that the branch can be written to, and is empty. %s",
                err->what);
    outcome_fix(out, WHO_YOU, "Remove it by hand.");
    outcome_copy_command(out, "bauplan namespace rm %s --branch %s", name, branch_shown(t));
}

void probe_writable(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT, removal = PROBLEM_INIT;
    AUTO_OAUTH_TARGET t = {0};
    if (oauth_target(run, &t, &err) != 0) {
        outcome_problem(out, &err);
        return;
    }
    AUTO(xfree)
    char *base =
        catalog_base(run_fact(run, "oauth.config", &oauth_config_type), t.address.url, &err);
    if (base == NULL) {
        outcome_problem(out, &err);
        return;
    }
    char name[32];
    probe_name(name, sizeof name);
    outcome_tried(out, "POST %s/namespaces (%s), then DELETE", base, name);
    bool there = false;
    int made = catalog_create_namespace(run, &t.catalog, base, name, &err);
    /* No answer does not mean that nothing was made. */
    bool maybe = made == 0 || err.kind == PROBLEM_UNREACHABLE || err.kind == PROBLEM_CANCELLED;
    int looked = made == 0 ? catalog_has_namespace(run, &t.catalog, base, name, &there, &err) : -1;
    if (maybe && probe_remove(run, &t, base, name, &removal) != 0 && made == 0) {
        left_behind(&t, name, &removal, out);
        return;
    }
    if (made != 0 || looked != 0) {
        outcome_problem(out, &err);
    } else if (!there) {
        outcome_fail(out, "not written", "the catalog took a namespace, but it is not on %s",
                     branch_shown(&t));
        outcome_why(out, "It answered with success and does not list what it made.");
        outcome_fix(out, WHO_BAUPLAN, "Show this to support@bauplanlabs.com.");
    } else {
        outcome_pass(out, "a namespace was made on %s and removed again", branch_shown(&t));
    }
}
