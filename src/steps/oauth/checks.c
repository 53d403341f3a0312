/* The checks of the step OAuth as rows. Surveys ask the catalog (surveys.c), verdicts judge
 * (judge.c, judge_token.c). */
#include <stddef.h>

#include "catalog/url.h"
#include "core/run.h"
#include "steps/oauth/facts.h"
#include "steps/oauth/judge.h"
#include "steps/oauth/oauth.h"
#include "steps/oauth/target.h"

#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

#define SERVICE "catalog"
#define ASKING_MS 30000 /* connect 10 s, answer, two retries */

/* --- verdicts --------------------------------------------------------------------------------- */

static void check_url(struct run *run, struct outcome *out)
{
    judge_address(run_text(run, "oauth.url"), run_text(run, "oauth.branch"), out);
}

#define JUDGE_LOGINS(name, judge)                                                                  \
    static void name(struct run *run, struct outcome *out)                                         \
    {                                                                                              \
        judge(run_fact(run, "oauth.logins", &oauth_logins_type), out);                             \
    }

JUDGE_LOGINS(check_token_uri, judge_token_uri)
JUDGE_LOGINS(check_token_form, judge_token_form)
JUDGE_LOGINS(check_token_basic, judge_token_basic)
JUDGE_LOGINS(check_token_spark, judge_token_spark)
JUDGE_LOGINS(check_token_life, judge_token_life)

static void check_base(struct run *run, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_ADDRESS a = {0};
    if (catalog_address(run_text(run, "oauth.url"), run_text(run, "oauth.branch"), &a, &err) != 0)
        outcome_problem(out, &err);
    else
        judge_base(run_fact(run, "oauth.config", &oauth_config_type), a.url, a.branch, out);
}

/* --- rows
 * -----------------------------------------------------------------------------------------------
 */

static const struct check url_check = {
    .id = "oauth.url",
    .title = "address",
    .reads = LIST("oauth.url", "?oauth.branch"),
    .severity = SEV_WARNS,
    .cause = "The URL was copied with too much or too little of its path, or the branch is main or "
             "not the user's.",
    .fix = "Let the URL end in /iceberg and name a branch of your own, <username>.<name>.",
    .run = check_url,
};

static const struct check reach_check = {
    .id = "oauth.reach",
    .title = "reaches the catalog",
    .reads = LIST("oauth.url", "?oauth.branch", "oauth.warehouse"),
    .after = LIST("oauth.url"),
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .cause = "A misspelt host, a firewall, a proxy that must be named, a certificate that is not "
             "trusted here.",
    .fix = "Correct the URL, allow https to the host, or add the company's CA with --ca-file.",
    .run = survey_reach,
};

static const struct check login_check = {
    .id = "oauth.login",
    .title = "logs in",
    .reads = LIST(OAUTH_READS_TARGET),
    .gives = LIST("oauth.logins"),
    .after = LIST("oauth.reach"),
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .deadline_ms = ASKING_MS,
    .cause = "Client id or secret is wrong, or OAuth clients are not switched on for the account.",
    .fix = "Copy both once more, or make a new app on Bauplan's page of OAuth apps. A refused "
           "client is not tried "
           "again until an answer changes.",
    .run = survey_login,
};

static const struct check token_uri_check = {
    .id = "oauth.token_uri",
    .title = "token URI",
    .reads = LIST("oauth.logins"),
    .severity = SEV_BLOCKS,
    .cause = "The older guide's api/v1/oauth/tokens leads nowhere on a branch; or URL or branch is "
             "misspelt.",
    .fix = "Use v1/oauth/tokens, or the address that was found to work.",
    .run = check_token_uri,
};

static const struct check token_form_check = {
    .id = "oauth.token_form",
    .title = "token, Estuary's form",
    .reads = LIST("oauth.logins"),
    .after = LIST("oauth.token_uri"),
    .severity = SEV_BLOCKS,
    .cause =
        "The token endpoint refuses a client that sends id and secret in the body without a scope.",
    .fix = "Ask Bauplan; Estuary cannot log in otherwise.",
    .run = check_token_form,
};

static const struct check token_basic_check = {
    .id = "oauth.token_basic",
    .title = "token, Basic header",
    .reads = LIST("oauth.logins"),
    .after = LIST("oauth.token_uri"),
    .severity = SEV_WARNS,
    .cause = "The server takes id and secret in the body alone. Estuary tries Basic first and the "
             "body then.",
    .fix = "Nothing must be done as long as the form works.",
    .run = check_token_basic,
};

static const struct check token_spark_check = {
    .id = "oauth.token_spark",
    .title = "token, Spark's form",
    .reads = LIST("oauth.logins"),
    .after = LIST("oauth.token_uri"),
    .severity = SEV_BLOCKS,
    .cause = "The server refuses scope=catalog, which Spark's Iceberg library sends when Estuary's "
             "Scope is empty.",
    .fix = "Ask Bauplan to accept the scope, or for one to enter as Scope in Estuary.",
    .run = check_token_spark,
};

static const struct check token_life_check = {
    .id = "oauth.token_life",
    .title = "token life",
    .reads = LIST("oauth.logins"),
    .after = LIST("oauth.token_form"),
    .severity = SEV_WARNS,
    .cause = "The OAuth app has a short token lifetime; Spark jobs that run longer may fail.",
    .fix = "Give the app a token lifetime of some hours.",
    .run = check_token_life,
};

static const struct check config_check = {
    .id = "oauth.config",
    .title = "catalog config",
    .reads = LIST(OAUTH_READS_TARGET),
    .gives = LIST("oauth.config"),
    .after = LIST("oauth.token_form"),
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .deadline_ms = ASKING_MS,
    .cause = "The warehouse is not default, the path is not that of the catalog, or the token is "
             "for another one.",
    .fix = "Correct Warehouse or Catalog URL.",
    .run = survey_config,
};

static const struct check base_check = {
    .id = "oauth.base",
    .title = "effective address",
    .reads = LIST("oauth.config", "oauth.url", "?oauth.branch"),
    .severity = SEV_BLOCKS,
    .cause = "The catalog leads its clients to another host, or to an address without the branch.",
    .fix = "Ask Bauplan whether the address is right. A token is not sent to another host.",
    .run = check_base,
};

static const struct check branch_check = {
    .id = "oauth.branch",
    .title = "branch",
    .reads = LIST("oauth.config", OAUTH_READS_TARGET),
    .gives = LIST("oauth.namespaces"),
    .after = LIST("oauth.base"),
    .severity = SEV_BLOCKS,
    .effect = EFFECT_READS,
    .service = SERVICE,
    .deadline_ms = ASKING_MS,
    .cause = "The branch does not exist, is misspelt, or the client may not read it.",
    .fix = "bauplan branch create <username>.<name> --from-ref main",
    .run = survey_branch,
};

static const struct check writable_check = {
    .id = "oauth.writable",
    .title = "branch is writable",
    .reads = LIST("oauth.config", OAUTH_READS_TARGET),
    .after = LIST("oauth.branch"),
    .severity = SEV_BLOCKS,
    .effect = EFFECT_PROBES,
    .service = SERVICE,
    .touches = "makes the empty namespace sluice_probe_… on the branch and removes it again",
    .deadline_ms = ASKING_MS,
    .cause = "main is protected, or the branch belongs to another user.",
    .fix = "Use a branch that begins with the username of the OAuth app's owner.",
    .run = probe_writable,
};

const struct check *const oauth_checks[] = {
    &url_check,
    &reach_check,
    &login_check,
    &token_uri_check,
    &token_form_check,
    &token_basic_check,
    &token_spark_check,
    &token_life_check,
    &config_check,
    &base_check,
    &branch_check,
    &writable_check,
    NULL,
};
