/* Rules of materialize-bauplan:v1 (materialize-iceberg under another name). Its own are those of
 * its config validation; ours are what its Validate does not look at and its first job stumbles
 * over. */
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "estuary/rules_row.h"

#define SMALL "abcdefghijklmnopqrstuvwxyz"
#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool starts(const char *s, const char *with)
{
    return strncmp(s, with, strlen(with)) == 0;
}

static bool ends(const char *s, const char *with)
{
    size_t n = strlen(s), m = strlen(with);
    return n >= m && strcmp(s + n - m, with) == 0;
}

/* --- catalog ---------------------------------------------------------------------------------- */

static bool not_https(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' && !starts(value, "https://");
}

static bool has_version(const struct node *config, const char *value)
{
    (void)config;
    return ends(value, "/v1") || ends(value, "/v1/");
}

static bool has_query(const struct node *config, const char *value)
{
    (void)config;
    return value[strcspn(value, "?#")] != '\0';
}

static bool dotted(const struct node *config, const char *value)
{
    (void)config;
    return strchr(value, '.') != NULL;
}

static bool renamed(const struct node *config, const char *value)
{
    (void)config;
    return strchr(value, '.') == NULL && !estuary_only(value, SMALL DIGITS "_");
}

static bool no_base(const struct node *config, const char *value)
{
    (void)config;
    const char *bucket = starts(value, "s3://") ? value + 5 : "";
    return bucket[0] == '\0' || bucket[0] == '/' || strstr(value, "..") != NULL;
}

/* Files staged among the tables, or tables among the staged files. */
static bool base_is_staging(const struct node *config, const char *value)
{
    AUTO(xfree)
    char *staging = xasprintf("s3://%s/%s/", estuary_at(config, "compute.bucket"),
                              estuary_at(config, "compute.bucket_path"));
    size_t n = strlen(value);
    while (n > 0 && value[n - 1] == '/')
        n--;
    AUTO(xfree) char *base = xasprintf("%.*s/", (int)n, value);
    return n > 0 && (starts(staging, base) || starts(base, staging));
}

static bool hard_is_no_switch(const struct node *config, const char *value)
{
    (void)value;
    return node_find(config, "hard_delete") != NULL && !estuary_is_switch(config, "hard_delete");
}

/* --- login to the catalog --------------------------------------------------------------------- */

static bool no_credentials(const struct node *config, const char *value)
{
    (void)value;
    return !estuary_is_map(config, "credentials");
}

static bool no_auth(const struct node *config, const char *value)
{
    return estuary_is_map(config, "credentials") &&
           strcmp(value, "OAuth 2.0 Client Credentials") != 0 && strcmp(value, "AWS SigV4") != 0 &&
           strcmp(value, "AWS IAM") != 0;
}

static bool by_oauth(const struct node *config)
{
    return estuary_is(config, "credentials.auth_type", "OAuth 2.0 Client Credentials");
}

static bool not_oauth(const struct node *config, const char *value)
{
    return !no_auth(config, value) && estuary_is_map(config, "credentials") && !by_oauth(config);
}

static bool missing_for_oauth(const struct node *config, const char *value)
{
    return by_oauth(config) && value[0] == '\0';
}

/* Absolute needs http(s) and a host; what has no scheme is a path, also "login.example.com/token".
 */
static bool no_token_uri(const struct node *config, const char *value)
{
    (void)config;
    const char *scheme = strstr(value, "://");
    if (scheme == NULL)
        return false;
    return (!starts(value, "http://") && !starts(value, "https://")) || scheme[3] == '\0' ||
           scheme[3] == '/';
}

static bool old_token_uri(const struct node *config, const char *value)
{
    (void)config;
    return strcmp(value, "api/v1/oauth/tokens") == 0;
}

static bool no_pair(const struct node *config, const char *value)
{
    const char *colon = strchr(value, ':');
    return by_oauth(config) && value[0] != '\0' &&
           (colon == NULL || colon == value || colon[1] == '\0' ||
            value[strcspn(value, " \t\r\n")] != '\0');
}

/* --- compute ---------------------------------------------------------------------------------- */

static bool no_compute(const struct node *config, const char *value)
{
    (void)config;
    return strcmp(value, "AWS EMR Serverless") != 0;
}

static bool no_application(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' && (strlen(value) > 64 || !estuary_only(value, SMALL DIGITS));
}

static bool no_role(const struct node *config, const char *value)
{
    (void)config;
    const char *account = strstr(value, ":iam::");
    const char *name = account != NULL ? strstr(account, ":role/") : NULL;
    return value[0] != '\0' &&
           (!starts(value, "arn:") || account == NULL || name == NULL || name != account + 18 ||
            name[6] == '\0' || strspn(account + 6, DIGITS) != 12);
}

static bool no_bucket_name(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' && !estuary_only(value, SMALL DIGITS "-");
}

static bool no_path(const struct node *config, const char *value)
{
    (void)config;
    return value[0] == '\0';
}

static bool leading_slash(const struct node *config, const char *value)
{
    (void)config;
    return value[0] == '/';
}

static bool has_scheme(const struct node *config, const char *value)
{
    (void)config;
    return strstr(value, "://") != NULL;
}

static bool no_slashes(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' && (!starts(value, "/") || !ends(value, "/"));
}

static bool only_slash(const struct node *config, const char *value)
{
    (void)config;
    return strcmp(value, "/") == 0;
}

static bool reserved(const struct node *config, const char *value)
{
    (void)config;
    static const char *const words[] = {"aws", "ssm"};
    for (size_t i = 0; value[0] == '/' && i < ARRAY_LEN(words); i++)
        if (strncasecmp(value + 1, words[i], 3) == 0)
            return true;
    return false;
}

static bool odd_parameter(const struct node *config, const char *value)
{
    (void)config;
    size_t levels = 0;
    for (const char *p = value; *p != '\0'; p++)
        levels += *p == '/';
    return !estuary_only(value, SMALL CAPITALS DIGITS "_.-/") || strstr(value, "//") != NULL ||
           levels > 15;
}

static bool no_key_sort(const struct node *config, const char *value)
{
    (void)config;
    return !estuary_among(value, "AWSAccessKey UseCatalogAuth");
}

static bool borrowed_login(const struct node *config, const char *value)
{
    return strcmp(value, "UseCatalogAuth") == 0 && by_oauth(config);
}

static bool missing_for_key(const struct node *config, const char *value)
{
    return estuary_is(config, "compute.credentials.auth_type", "AWSAccessKey") && value[0] == '\0';
}

static bool session_key(const struct node *config, const char *value)
{
    (void)config;
    return starts(value, "ASIA");
}

/* --- the rest --------------------------------------------------------------------------------- */

static bool no_frequency(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' && !estuary_among(value, "0s 30s 5m 15m 30m 1h 2h 4h");
}

static bool half_schedule(const struct node *config, const char *value)
{
    (void)value;
    static const char *const parts[] = {"syncSchedule.timezone", "syncSchedule.syncFrequency",
                                        "syncSchedule.fastSyncStartTime",
                                        "syncSchedule.fastSyncStopTime"};
    size_t given = 0;
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        given += estuary_at(config, parts[i])[0] != '\0';
    bool times = estuary_at(config, parts[2])[0] != '\0' ||
                 estuary_at(config, parts[3])[0] != '\0' ||
                 estuary_at(config, "syncSchedule.fastSyncEnabledDays")[0] != '\0';
    return times && given < ARRAY_LEN(parts);
}

static bool no_case(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' && !estuary_among(value, "lowercase uppercase preserve");
}

static bool glue(const struct node *config, const char *value)
{
    (void)value;
    static const char *const switches[] = {"glue_optimizers.enable_compaction",
                                           "glue_optimizers.enable_retention",
                                           "glue_optimizers.enable_orphan_file_deletion"};
    for (size_t i = 0; i < ARRAY_LEN(switches); i++)
        if (by_oauth(config) && estuary_is(config, switches[i], "true"))
            return true;
    return false;
}

static bool half_trigger(const struct node *config, const char *value)
{
    return estuary_is_map(config, "dbt_job_trigger") && value[0] == '\0';
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct estuary_rule rules[] = {
    {"url", estuary_missing, "missing 'url'", "Estuary does not know the catalog.",
     "Answer the catalog's URL.", false},
    {"url", not_https, "url \"{}\" is not https", "The catalog's credential would travel in clear.",
     "Write it with https://.", true},
    {"url", has_version, "url \"{}\" ends in /v1",
     "The connector adds it itself: every address would be wrong.", "Leave /v1 out.", true},
    {"url", has_query, "url \"{}\" has a query or a fragment",
     "The connector puts paths behind it, which would become part of that.", "Leave it out.", true},
    {"warehouse", estuary_missing, "missing 'warehouse'", "The catalog has several by name.",
     "At Bauplan it is default.", false},
    {"namespace", estuary_missing, "missing 'namespace'", "Tables lie in a namespace.",
     "Answer the namespace.", false},
    {"namespace", dotted, "namespace \"{}\" must not contain dots",
     "The connector knows namespaces of one level.", "Choose one of a-z, 0-9 and _.", false},
    {"namespace", renamed, "namespace \"{}\" becomes another name",
     "The connector makes it lower case and every other character an underscore, so that tables "
     "arrive in another namespace than the one that is named.",
     "Choose one of a-z, 0-9 and _.", true},
    {"base_location", no_base, "base_location \"{}\" is not s3://bucket/folder",
     "The tables' files go there; without it the catalog chooses a place the policies may not "
     "allow.",
     "Write it as s3://bucket/iceberg.", true},
    {"base_location", base_is_staging, "base_location \"{}\" and the staging place overlap",
     "What cleans the one would remove the other.", "Take folders of which none lies in the other.",
     true},
    {"hard_delete", hard_is_no_switch, "hard_delete is not true or false",
     "The connector cannot read it.", "Write hard_delete: true or hard_delete: false.", true},
    {"credentials", no_credentials, "missing 'credentials'",
     "Estuary cannot log in to the catalog.", "Give the OAuth client.", false},
    {"credentials.auth_type", no_auth, "unexpected auth_type: {}",
     "The published schema takes a config without it; the connector does not.",
     "Write auth_type: OAuth 2.0 Client Credentials, with its blanks and its dot.", false},
    {"credentials.auth_type", not_oauth, "auth_type \"{}\" is not Bauplan's",
     "Bauplan's catalog takes OAuth clients.", "Write auth_type: OAuth 2.0 Client Credentials.",
     true},
    {"credentials.oauth2_server_uri", missing_for_oauth, "missing 'oauth2_server_uri'",
     "Tokens come from there.", "At Bauplan it is v1/oauth/tokens.", false},
    {"credentials.oauth2_server_uri", no_token_uri,
     "oauth2_server_uri \"{}\" must be an http(s) URL or a path relative to the catalog URL",
     "Tokens come from there.", "At Bauplan it is v1/oauth/tokens.", false},
    {"credentials.oauth2_server_uri", old_token_uri,
     "oauth2_server_uri \"{}\" is of an older guide", "On a branch it leads nowhere.",
     "Write v1/oauth/tokens.", true},
    {"credentials.credential", missing_for_oauth, "missing 'credential'",
     "Estuary cannot log in to the catalog.", "Write <client id>:<client secret>.", false},
    {"credentials.credential", no_pair, "credential is not <client id>:<client secret>",
     "Without a colon the connector takes it for a token and logs in with it as it is; blanks are "
     "not trimmed.",
     "Write <client id>:<client secret> without blanks.", true},
    {"compute.compute_type", no_compute, "invalid compute type \"{}\"",
     "The published schema takes a config without it; the connector does not.",
     "Write compute_type: AWS EMR Serverless.", false},
    {"compute.region", estuary_missing, "missing 'region'", "Jobs run in a region.",
     "Answer the region.", false},
    {"compute.application_id", estuary_missing, "missing 'application_id'",
     "Jobs run in an EMR Serverless application.", "Have it made, or choose one.", false},
    {"compute.application_id", no_application, "application_id \"{}\" is no application's id",
     "It is neither its name nor its ARN.", "Take the id from EMR's console.", true},
    {"compute.execution_role_arn", estuary_missing, "missing 'execution_role_arn'",
     "Jobs run as a role.", "Have it made, or choose one.", false},
    {"compute.execution_role_arn", no_role, "execution_role_arn \"{}\" is no role's ARN",
     "The first job would fail.", "Write it as arn:aws:iam::<account>:role/<name>.", true},
    {"compute.bucket", estuary_missing, "missing 'bucket'", "Files are staged in a bucket.",
     "Answer the staging bucket.", false},
    {"compute.bucket", no_bucket_name, "bucket \"{}\" is no bucket's bare name",
     "The connector asks https://<bucket>.s3.amazonaws.com: a URL leads nowhere, and with a dot in "
     "the name the certificate does not fit.",
     "Write the name alone.", true},
    {"compute.bucket_path", no_path, "bucket_path is missing",
     "The connector would write to the root of the bucket, where the policies let it do nothing: "
     "unable to write to \"s3://<bucket>\": unauthorized.",
     "Write the staging folder, estuary-staging.", true},
    {"compute.bucket_path", leading_slash, "bucket_path \"{}\" cannot start with /",
     "It is a folder within the bucket.", "Leave the slash out.", false},
    {"compute.bucket_path", has_scheme,
     "bucket_path \"{}\" must be a bare key prefix within the bucket, not a full URI like "
     "\"s3://bucket/prefix\"; the bucket is configured separately",
     "It is a folder within the bucket.", "Write the folder alone.", false},
    {"compute.systems_manager_prefix", missing_for_oauth,
     "must specify Systems Manager Prefix for AWS EMR Serverless compute with Client Credentials "
     "catalog authentication",
     "Jobs read the catalog's credential from a parameter; the published schema and the docs' "
     "default say otherwise.",
     "Write it as /estuary/shop/.", false},
    {"compute.systems_manager_prefix", no_slashes,
     "systems manager prefix \"{}\" must start and end with /",
     "The parameter's name is put behind it.", "Write it as /estuary/shop/.", false},
    {"compute.systems_manager_prefix", only_slash, "systems manager prefix \"{}\" is the root",
     "The connector takes it, Estuary's schema does not; and the policies would allow every "
     "parameter.",
     "Write it as /estuary/shop/.", true},
    {"compute.systems_manager_prefix", reserved, "systems manager prefix \"{}\" is reserved",
     "AWS keeps names that begin with aws or ssm to itself.", "Write it as /estuary/shop/.", true},
    {"compute.systems_manager_prefix", odd_parameter,
     "systems manager prefix \"{}\" cannot begin a parameter's name",
     "Names have letters, digits and _ . - between slashes, 15 levels at most.",
     "Write it as /estuary/shop/.", true},
    {"compute.credentials.auth_type", no_key_sort, "unexpected EMR auth type \"{}\"",
     "The published schema takes a config without it; the connector does not.",
     "Write auth_type: AWSAccessKey, without blanks.", false},
    {"compute.credentials.auth_type", borrowed_login,
     "must use AWS EMR Serverless with SigV4 or IAM catalog credentials",
     "An OAuth client of the catalog is nobody in AWS.", "Write auth_type: AWSAccessKey.", false},
    {"compute.credentials.aws_access_key_id", missing_for_key, "missing 'aws_access_key_id'",
     "Estuary submits jobs as an IAM user.", "Have the key made, or give one.", false},
    {"compute.credentials.aws_access_key_id", session_key, "the access key is of a session",
     "There is no place for a session's token, and it ends within hours.",
     "Take an access key of the user, which begins with AKIA.", true},
    {"compute.credentials.aws_secret_access_key", missing_for_key,
     "missing 'aws_secret_access_key'", "Estuary submits jobs as an IAM user.",
     "Have the key made, or give one.", false},
    {"syncSchedule.syncFrequency", no_frequency, "invalid syncFrequency \"{}\"",
     "It is one of 0s, 30s, 5m, 15m, 30m, 1h, 2h, 4h.", "Choose one of them.", false},
    {"syncSchedule", half_schedule,
     "must provide 'timezone', 'syncFrequency', 'fastSyncStartTime', and 'fastSyncStopTime' when "
     "configuring sync frequency active times",
     "Active times are given whole.", "Give all four, or the frequency alone.", false},
    {"advanced.table_identifier_case", no_case,
     "invalid table_identifier_case \"{}\": must be one of lowercase, uppercase, preserve",
     "It decides how tables are named.", "Leave it out: lowercase.", false},
    {"advanced.field_name_case", no_case,
     "invalid field_name_case \"{}\": must be one of lowercase, uppercase, preserve",
     "It decides how columns are named.", "Leave it out: preserve.", false},
    {"glue_optimizers", glue,
     "Glue table optimizers are only supported when using AWS Glue as the catalog",
     "The catalog is Bauplan's.", "Leave them out.", false},
    {"dbt_job_trigger.job_id", half_trigger, "dbt job trigger missing 'job_id'",
     "The trigger is given whole.", "Give it, or leave the trigger out.", false},
    {"dbt_job_trigger.account_id", half_trigger, "dbt job trigger missing 'account_id'",
     "The trigger is given whole.", "Give it, or leave the trigger out.", false},
    {"dbt_job_trigger.api_key", half_trigger, "dbt job trigger missing 'api_key'",
     "The trigger is given whole.", "Give it, or leave the trigger out.", false},
};

static const struct estuary_keys keys[] = {
    {"",
     "url warehouse namespace base_location hard_delete credentials compute syncSchedule "
     "dbt_job_trigger advanced glue_optimizers",
     false},
    {"credentials",
     "auth_type oauth2_server_uri credential scope aws_access_key_id aws_secret_access_key "
     "aws_region aws_role_arn",
     true},
    {"compute",
     "compute_type region application_id execution_role_arn bucket bucket_path "
     "systems_manager_prefix credentials",
     false},
    {"compute.credentials", "auth_type aws_access_key_id aws_secret_access_key", false},
    {"syncSchedule",
     "syncFrequency timezone fastSyncStartTime fastSyncStopTime fastSyncEnabledDays", false},
    {"dbt_job_trigger", "job_id account_id access_url api_key cause mode interval", false},
    {"advanced", "table_identifier_case field_name_case feature_flags lowercase_column_names",
     false},
    {"glue_optimizers",
     "execution_role_arn enable_compaction enable_retention snapshot_retention_days "
     "number_of_snapshots_to_retain enable_orphan_file_deletion orphan_file_retention_days",
     false},
};

void estuary_target_faults(const struct node *config, struct estuary_faults *out)
{
    static const struct estuary_rules all = {rules, ARRAY_LEN(rules), keys, ARRAY_LEN(keys),
                                             "json: unknown field \"{}\""};
    estuary_judge(&all, config, out);
}
