/* Step 1, the Bauplan OAuth client: the questions, and the row of the step. Its checks are in
 * checks.c. */
#include <string.h>

#include "catalog/url.h"
#include "core/mem.h"
#include "core/snapshot.h"
#include "steps/answer.h"
#include "steps/oauth/oauth.h"
#include "steps/steps.h"

static const struct field field_url = {
    .id = "oauth.url",
    .kind = FIELD_TEXT,
    .label = "Catalog URL",
    .help = "The Iceberg REST endpoint, without a branch and without /v1. There is one for all "
            "Bauplan accounts "
            "unless Bauplan told you otherwise.",
    .example = CATALOG_URL_DEFAULT,
    .required = true,
    .initial = CATALOG_URL_DEFAULT,
    .normalise = catalog_url_normalise,
    .valid = catalog_url_valid,
};

/* A URL that was pasted with its branch fills the field: it is shown, and not lost when the URL is
 * corrected. */
static char *branch_default(const struct snapshot *s)
{
    char *branch = catalog_url_branch(snap_text(s, "oauth.url"));
    if (branch != NULL && catalog_branch_valid(branch, NULL) == 0)
        return branch;
    xfree(branch);
    return NULL;
}

static const struct field field_branch = {
    .id = "oauth.branch",
    .kind = FIELD_TEXT,
    .label = "Branch",
    .help =
        "The branch Estuary writes to; empty means main. Bauplan protects main by default: most "
        "write to a branch "
        "of their own, named <username>.<name>, and merge it. A later change means a new backfill.",
    .example = "alice.ingest",
    .default_from = branch_default,
    .normalise = answer_trim,
    .valid = catalog_branch_valid,
};

static int warehouse_valid(const char *text, struct problem *err)
{
    if (answer_word(text, err) != 0)
        return -1;
    if (strchr(text, '/') == NULL && strchr(text, ':') == NULL)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "a warehouse is a name, not a location");
    problem_fix(err, WHO_YOU, "At Bauplan it is default; the location in S3 is asked for later.");
    return -1;
}

static const struct field field_warehouse = {
    .id = "oauth.warehouse",
    .kind = FIELD_TEXT,
    .label = "Warehouse",
    .help = "A name, not a location in S3. At Bauplan it is default.",
    .example = "default",
    .required = true,
    .initial = "default",
    .normalise = answer_trim,
    .valid = warehouse_valid,
};

static const struct field field_client_id = {
    .id = "oauth.client_id",
    .kind = FIELD_TEXT,
    .label = "Client id",
    .help = "Made on Bauplan's page of OAuth apps; one app for each pipeline is advised. Not an "
            "API key: Estuary would "
            "use that without logging in. Give the app a token lifetime of some hours.",
    .required = true,
    .normalise = answer_trim,
    .valid = catalog_client_id_valid,
};

static const struct field field_client_secret = {
    .id = "oauth.client_secret",
    .kind = FIELD_SECRET,
    .label = "Client secret",
    .help = "Shown once, when the OAuth app is made. If it is lost, make a new app or a new "
            "secret. It is only sent "
            "to the host of the catalog URL.",
    .required = true,
    .host_of = "oauth.url",
    .normalise = answer_trim,
    .valid = answer_word,
};

static const struct field field_token_uri = {
    .id = "oauth.token_uri",
    .kind = FIELD_TEXT,
    .label = "Token URI",
    .help = "Where the client gets its tokens: relative to the catalog URL with its branch, or "
            "absolute. Older texts say "
            "api/v1/oauth/tokens, which leads nowhere on a branch.",
    .example = CATALOG_TOKEN_URI,
    .required = true,
    .initial = CATALOG_TOKEN_URI,
    .normalise = catalog_token_uri_normalise,
    .valid = catalog_token_uri_valid,
};

static const struct field *const fields[] = {
    &field_url,       &field_branch, &field_warehouse, &field_client_id, &field_client_secret,
    &field_token_uri, NULL,
};

const struct step step_oauth = {
    .id = "oauth",
    .number = "1",
    .name = "OAuth",
    .title = "Bauplan OAuth client",
    .intro = "Estuary and its Spark jobs log in to Bauplan's catalog as an OAuth client. Make one "
             "on Bauplan's page, "
             "then enter it here: it is tried in each form they use.",
    .needs = "Bauplan: an OAuth client, id and secret (beta, on request)",
    .link = "https://app.bauplanlabs.com/oauth-apps",
    .fields = fields,
    .checks = oauth_checks,
};
