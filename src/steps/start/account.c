/* What the Estuary login may use: a survey, and verdicts on prefix and data plane. Without a token
 * all three are passed over: the set-up goes on, and its export is a draft. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/spec/account.h"
#include "steps/spec/sealed.h"
#include "steps/start/start.h"

#define LOGIN_MS 20000
#define TOKEN_PAGE "https://dashboard.estuary.dev/admin/api"
#define NO_TOKEN "no Estuary token: taken as typed"

/* --- login
 * --------------------------------------------------------------------------------------- */

static size_t count_of(const struct estuary_account *a, const char *capability)
{
    size_t count = 0;
    for (size_t i = 0; i < a->prefix_count; i++)
        count += strcmp(a->prefixes[i].capability, capability) == 0;
    return count;
}

static void judge_token(const struct estuary_account *a, struct outcome *out)
{
    const char *email = a->who.email != NULL ? a->who.email : "logged in";
    long long left = (long long)(a->who.until - clock_wall()) / 60;
    if (a->who.access) {
        if (a->who.until > 0)
            outcome_warn(out, "%s, by an access token that ends in %lld min", email, left);
        else /* it does not say */
            outcome_warn(out, "%s, by an access token", email);
        outcome_why(out,
                    "Estuary's access tokens live for an hour. What is left to do then fails.");
        outcome_fix(out, WHO_YOU,
                    "Take a refresh token: in Estuary's dashboard under Admin, "
                    "CLI-API, Generate token.");
        outcome_link(out, TOKEN_PAGE);
    } else if (a->who.single_use) {
        outcome_warn(out, "%s, by a token that could be used once and is used up", email);
        outcome_why(out, "Estuary exchanged it for another, which lives as long as this program "
                         "runs.");
        outcome_fix(out, WHO_YOU,
                    "For the next time make one for many uses, in the dashboard under "
                    "Admin, CLI-API.");
        outcome_link(out, TOKEN_PAGE);
    } else {
        size_t admin = count_of(a, "admin");
        outcome_pass(out, "%s, admin of %zu prefix%s, %zu data planes", email, admin,
                     admin == 1 ? "" : "es", a->plane_count);
    }
}

static void run_login(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_ESTUARY_ACCOUNT a = {0};
    struct secret *token = run_secret(run, "start.token");
    if (token == NULL) {
        outcome_skip(out, "no Estuary token: the export will be a draft");
        return;
    }
    outcome_tried(out, "the token exchanged, then prefixes, data planes and storage mappings");
    if (estuary_account_read(run, token, &a, &err) != 0) {
        outcome_problem(out, &err);
        outcome_link(out, TOKEN_PAGE);
        return;
    }
    judge_token(&a, out);
    for (size_t i = 0; i < a.prefix_count; i++)
        outcome_item(out, STATUS_PASSED, a.prefixes[i].prefix, a.prefixes[i].capability, NULL);
    outcome_give(out, SPEC_FACT_ACCOUNT, spec_account_fact(&a));
}

const struct check start_check_login = {
    .id = "start.login",
    .title = "Estuary takes the token",
    .reads = (const char *const[]){"?start.token", NULL},
    .gives = (const char *const[]){SPEC_FACT_ACCOUNT, NULL},
    .kept = &spec_account_type,
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SPEC_SERVICE,
    .deadline_ms = LOGIN_MS,
    .cause =
        "The token was cut while copying, was revoked, has expired, or is an access token that "
        "is older than an hour.",
    .fix = "Make a refresh token in Estuary's dashboard under Admin, CLI-API.",
    .run = run_login,
};

/* --- prefix
 * -------------------------------------------------------------------------------------- */

/* One that may be administered, and that the answer could have meant. */
static const char *other_prefix(const struct estuary_account *a)
{
    for (size_t i = 0; i < a->prefix_count; i++)
        if (strcmp(a->prefixes[i].capability, "admin") == 0)
            return a->prefixes[i].prefix;
    return NULL;
}

static void no_right(const struct estuary_account *a, const char *prefix, const char *capability,
                     struct outcome *out)
{
    const char *other = other_prefix(a);
    if (capability == NULL && a->cut) {
        outcome_warn(out, "%s is not among the first %zu prefixes of yours", prefix,
                     a->prefix_count);
        outcome_why(out, "There are more than are looked at; the trial publication will tell.");
        return;
    }
    if (capability == NULL || strcmp(capability, "none") == 0)
        outcome_fail(out, "prefix", "%s is none of yours", prefix);
    else
        outcome_fail(out, "capability", "you may only %s %s", capability, prefix);
    outcome_why(out, "Estuary lets you publish specifications below prefixes that you administer, "
                     "nowhere else.");
    outcome_fix(out, other != NULL ? WHO_YOU : WHO_ESTUARY,
                other != NULL ? "Take %s, or have an admin of the other one grant you admin."
                              : "Have an admin of the tenant grant you admin of it%s.",
                other != NULL ? other : "");
    if (other != NULL)
        outcome_suggest(out, "start.prefix", other);
}

static void run_prefix(struct run *run, struct outcome *out)
{
    const struct estuary_account *a = run_fact(run, SPEC_FACT_ACCOUNT, &spec_account_type);
    const char *prefix = run_text(run, "start.prefix");
    if (prefix[0] == '\0' || a == NULL) {
        outcome_skip(out, prefix[0] == '\0' ? "not answered yet" : NO_TOKEN);
        return;
    }
    const char *capability = estuary_capability(a, prefix);
    const struct estuary_mapping *m = estuary_mapping_of(a, prefix);
    if (capability == NULL || strcmp(capability, "admin") != 0) {
        no_right(a, prefix, capability, out);
    } else if (m == NULL || m->plane_count == 0) {
        outcome_fail(out, "storage mapping", "%s has no storage mapping with a data plane", prefix);
        outcome_why(out, "It says where collections are stored and which data planes may run the "
                         "tasks; without it a publication fails late.");
        outcome_fix(out, WHO_ESTUARY, "Add one in the dashboard under Admin, Settings.");
    } else {
        outcome_pass(out, "%s is yours to administer, stored by the mapping of %s", prefix,
                     m->prefix);
    }
}

const struct check start_check_prefix = {
    .id = "start.prefix",
    .title = "prefix is yours",
    .reads = (const char *const[]){"?start.prefix", "?" SPEC_FACT_ACCOUNT, NULL},
    .after = (const char *const[]){"start.login", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The login administers other prefixes, or the tenant has no storage mapping.",
    .fix = "Take a prefix of yours, or have the right granted.",
    .run = run_prefix,
};

/* --- data plane
 * ---------------------------------------------------------------------------------- */

const char *start_plane_of(const struct estuary_account *a, const struct estuary_mapping *m)
{
    for (size_t i = 0; m != NULL && i < m->plane_count; i++) {
        const struct estuary_plane *p = estuary_plane_of(a, m->planes[i]);
        if (p != NULL && !p->closed)
            return m->planes[i];
    }
    return NULL;
}

static void other_plane(const struct estuary_account *a, const char *prefix, struct outcome *out)
{
    const struct estuary_mapping *m = estuary_mapping_of(a, prefix);
    const char *other = start_plane_of(a, m);
    if (other != NULL) {
        outcome_fix(out, WHO_YOU, "Take %s, the first open one that your prefix stores with.",
                    other);
        outcome_suggest(out, "start.data_plane", other);
    } else if (prefix[0] == '\0') {
        outcome_fix(out, WHO_YOU,
                    "Answer the Estuary prefix first: its storage mapping names the planes.");
    } else {
        outcome_fix(out, WHO_ESTUARY,
                    "Have an open data plane added to the storage mapping of %s, in the dashboard "
                    "under Admin, Settings.",
                    prefix);
    }
}

/* Its addresses, one an item and all of them to copy. */
static void list_addresses(const struct estuary_plane *p, struct outcome *out)
{
    AUTO_TEXT all = TEXT_INIT;
    for (size_t i = 0; i < p->cidr_count; i++) {
        outcome_item(out, STATUS_PASSED, p->cidrs[i], "connects from here", NULL);
        text_sep(&all, " ");
        text_add(&all, p->cidrs[i]);
    }
    if (all.len > 0)
        outcome_copy_command(out, "%s", all.s);
}

static void run_plane(struct run *run, struct outcome *out)
{
    const struct estuary_account *a = run_fact(run, SPEC_FACT_ACCOUNT, &spec_account_type);
    const char *name = run_text(run, "start.data_plane");
    const char *prefix = run_text(run, "start.prefix");
    if (name[0] == '\0' || a == NULL) {
        outcome_skip(out, name[0] == '\0' ? "not answered: Estuary takes its default" : NO_TOKEN);
        return;
    }
    const struct estuary_plane *p = estuary_plane_of(a, name);
    const struct estuary_mapping *m = estuary_mapping_of(a, prefix);
    if (p == NULL) {
        outcome_fail(out, "plane", "there is no data plane %s, or none you may use", name);
        outcome_why(out, "Estuary lists the public planes and the private ones of your tenant; on "
                         "another nothing of yours can run.");
    } else if (prefix[0] != '\0' && !estuary_stores_with(m, name)) {
        outcome_fail(out, "mapping", "%s stores with %s", prefix,
                     m != NULL && m->plane_count > 0 ? "other data planes" : "no data plane");
        outcome_why(out, "A task runs on a plane that the storage mapping of its prefix names; "
                         "Estuary refuses the publication otherwise.");
    } else if (p->closed) {
        outcome_fail(out, "closed", "%s takes nothing new", name);
        outcome_why(out, "Estuary has closed it: what runs there goes on, new tasks are refused.");
    } else {
        outcome_pass(out, "%s %s, %zu addresses to let in at the database", p->cloud, p->region,
                     p->cidr_count);
        list_addresses(p, out);
        return;
    }
    other_plane(a, prefix, out);
}

const struct check start_check_plane = {
    .id = "start.plane",
    .title = "data plane runs new tasks",
    .reads =
        (const char *const[]){"?start.data_plane", "?start.prefix", "?" SPEC_FACT_ACCOUNT, NULL},
    .after = (const char *const[]){"start.login", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The plane is closed for new tasks, or the prefix's storage mapping names others.",
    .fix = "Take a plane that the prefix stores with.",
    .run = run_plane,
};
