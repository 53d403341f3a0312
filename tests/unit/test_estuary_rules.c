/* The connectors' rules, one spoilt value a row: the connector's own words, and that each helps. */
#include "estuary_samples.h"

#include <stdio.h>

#include "estuary/rules.h"

/* Puts text at a path of maps; "(none)" removes it, "{}" puts an empty map, a plain word is written
 * with a ! before it. */
static void spoil(struct node *config, const char *path, const char *text)
{
    struct node *at = config;
    const char *key = path;
    for (const char *dot; (dot = strchr(key, '.')) != NULL; key = dot + 1) {
        AUTO(xfree) char *part = xstrndup(key, (size_t)(dot - key));
        at = node_child_map(at, part);
    }
    if (strcmp(text, "(none)") == 0) {
        node_remove(at, key);
    } else if (strcmp(text, "{}") == 0) {
        node_set(at, key, node_map());
    } else if (strcmp(text, "[ ]") == 0) {
        struct node *list = node_list();
        node_add(list, node_scalar(" "));
        node_set(at, key, list);
    } else if (text[0] == '!') {
        node_set(at, key, node_bool(strcmp(text, "!true") == 0));
    } else {
        node_set_text(at, key, text);
    }
}

struct row {
    const char *path, *value;
    const char *at;   /* NULL = path */
    const char *says; /* NULL = nothing is wrong with it */
    bool ours;
};

static void try_rows(struct node *(*make)(void),
                     void (*judge)(const struct node *, struct estuary_faults *),
                     const struct row *rows, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        AUTO_NODE *config = make();
        AUTO_ESTUARY_FAULTS faults = {0};
        const char *at = rows[i].at != NULL ? rows[i].at : rows[i].path;
        bool found = false;
        spoil(config, rows[i].path, rows[i].value);
        judge(config, &faults);
        for (size_t k = 0; k < faults.count; k++) {
            const struct estuary_fault *f = &faults.list[k];
            assert_non_null(f->why);
            assert_non_null(f->fix);
            found |= rows[i].says != NULL && strcmp(f->path, at) == 0 &&
                     strcmp(f->says, rows[i].says) == 0 && f->ours == rows[i].ours;
        }
        if (found != (rows[i].says != NULL) || (rows[i].says == NULL && faults.count > 0))
            fail_msg("%s = %s: %zu faults, the first: %s", rows[i].path, rows[i].value,
                     faults.count, faults.count > 0 ? faults.list[0].says : "");
    }
}

static struct node *good_source(void)
{
    struct estuary_source s = sample_source();
    return estuary_source_config(&s);
}

static struct node *good_target(void)
{
    struct estuary_target t = sample_target();
    return estuary_target_config(&t);
}

static void what_we_write_is_right(void **state)
{
    (void)state;
    AUTO_NODE *source = good_source();
    AUTO_NODE *target = good_target();
    AUTO_ESTUARY_FAULTS faults = {0};
    estuary_source_faults(source, &faults);
    estuary_target_faults(target, &faults);
    if (faults.count > 0)
        fail_msg("%s: %s", faults.list[0].path, faults.list[0].says);
}

static void sources(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"address", "(none)", NULL, "missing 'address'", false},
        {"address", "x.pooler.supabase.com:6543", NULL,
         "address must be a direct connection: address \"x.pooler.supabase.com:6543\" is using the "
         "Supabase connection pooler, consult go.estuary.dev/supabase-direct-address for details",
         false},
        {"address", "x.pooler.supabase.com:5432", NULL,
         "address \"x.pooler.supabase.com:5432\" is Supabase's session pooler", true},
        {"address", "postgres://db:5432", NULL,
         "address \"postgres://db:5432\" is no host and port", true},
        {"address", "db ", NULL, "address \"db \" is no host and port", true},
        {"address", "2001:db8::1", NULL,
         "address \"2001:db8::1\" is an IPv6 literal without brackets", true},
        {"address", "[2001:db8::1]:5432", NULL, NULL, false},
        {"address", "db", NULL, NULL, false},
        {"user", "(none)", NULL, "missing 'user'", false},
        {"user", "o'hara", NULL, "user \"o'hara\" has a quote or a backslash in it", true},
        {"database", "(none)", NULL, "missing 'database'", true},
        {"historyMode", "(none)", NULL, "historyMode is not true or false", true},
        {"historyMode", "false", NULL, "historyMode is not true or false", true}, /* a text */
        {"historyMode", "!true", NULL, NULL, false},
        {"credentials.auth_type", "(none)", NULL, "auth_type \"\" is unknown", true},
        {"credentials.auth_type", "Password", NULL, "auth_type \"Password\" is unknown", true},
        {"credentials.auth_type", "AWSIAM", "credentials.aws_region", "missing 'aws_region'",
         false},
        {"credentials.auth_type", "AWSIAM", "credentials.aws_role_arn", "missing 'aws_role_arn'",
         false},
        {"credentials.password", "(none)", NULL, "missing 'password'", false},
        {"password", "some-password", NULL, "the password stands at the root, not in credentials",
         true},
        {"advanced.publicationName", "FlowPub", NULL, "publicationName \"FlowPub\" is not plain",
         true},
        {"advanced.publicationName", "(none)", NULL, NULL, false},
        {"advanced.slotName", "flow-slot", NULL, "slotName \"flow-slot\" is not plain", true},
        {"advanced.watermarksTable", "flow_watermarks", NULL,
         "invalid 'watermarksTable' configuration: table name \"flow_watermarks\" must be "
         "fully-qualified as \"<schema>.<table>\"",
         false},
        {"advanced.watermarksTable", "public.a.b", NULL,
         "watermarksTable \"public.a.b\" is not two plain names", true},
        {"advanced.watermarksTable", "Public.marks", NULL,
         "watermarksTable \"Public.marks\" is not two plain names", true},
        {"advanced.sslmode", "full", NULL,
         "invalid 'sslmode' configuration: unknown setting \"full\"", false},
        {"advanced.sslmode", "verify", NULL,
         "invalid 'sslmode' configuration: unknown setting \"verify\"", false},
        {"advanced.skip_backfills", "a.b,c", NULL,
         "invalid 'skipBackfills' configuration: table name \"a.b,c\" must be fully-qualified as "
         "\"<schema>.<table>\"",
         false},
        {"advanced.skip_backfills", "a.b, c.d", NULL,
         "skip_backfills \"a.b, c.d\" has blanks in it", true},
        {"advanced.statement_timeout", "3m", NULL, "invalid statement timeout", false},
        {"advanced.statement_timeout", "5m", NULL, NULL, false},
        {"advanced.rediscovery_interval", "15", NULL,
         "invalid 'rediscovery_interval' configuration \"15\"", false},
        {"advanced.rediscovery_interval", "15m", NULL, NULL, false},
        {"advanced.discover_schemas", "[ ]", NULL, "discover_schemas has a blank entry", false},
        {"advanced.publication_name", "x", NULL,
         "error parsing config json: json: unknown field \"publication_name\"", false},
        {"Address", "x", NULL, "error parsing config json: json: unknown field \"Address\"", false},
        {"networkTunnel.sshForwarding", "{}", "networkTunnel.sshForwarding.sshEndpoint",
         "sshEndpoint \"\" is not of the form ssh://user@host[:port]", true},
        {"networkTunnel.sshForwarding.sshEndpoint", "ssh://bastion", NULL,
         "sshEndpoint \"ssh://bastion\" is not of the form ssh://user@host[:port]", true},
        {"networkTunnel.sshForwarding.privateKey", "Proc-Type: 4,ENCRYPTED", NULL,
         "the private key has a passphrase", true},
    };
    try_rows(good_source, estuary_source_faults, rows, ARRAY_LEN(rows));
}

static void targets(void **state)
{
    (void)state;
    static const struct row rows[] = {
        {"url", "(none)", NULL, "missing 'url'", false},
        {"url", "http://x/iceberg", NULL, "url \"http://x/iceberg\" is not https", true},
        {"url", "https://x/iceberg/v1", NULL, "url \"https://x/iceberg/v1\" ends in /v1", true},
        {"url", "https://x/i?a", NULL, "url \"https://x/i?a\" has a query or a fragment", true},
        {"warehouse", "(none)", NULL, "missing 'warehouse'", false},
        {"namespace", "(none)", NULL, "missing 'namespace'", false},
        {"namespace", "a.b", NULL, "namespace \"a.b\" must not contain dots", false},
        {"namespace", "MyNs", NULL, "namespace \"MyNs\" becomes another name", true},
        {"base_location", "(none)", NULL, "base_location \"\" is not s3://bucket/folder", true},
        {"base_location", "lake/iceberg", NULL,
         "base_location \"lake/iceberg\" is not s3://bucket/folder", true},
        {"base_location", "s3://lake-acme/", NULL,
         "base_location \"s3://lake-acme/\" and the staging place overlap", true},
        {"base_location", "s3://lake-acme/estuary-staging/a", NULL,
         "base_location \"s3://lake-acme/estuary-staging/a\" and the staging place overlap", true},
        {"base_location", "s3://lake-acme/estuary", NULL, NULL, false},
        {"hard_delete", "yes", NULL, "hard_delete is not true or false", true},
        {"hard_delete", "(none)", NULL, NULL, false},
        {"credentials", "(none)", NULL, "missing 'credentials'", false},
        {"credentials.auth_type", "(none)", NULL, "unexpected auth_type: ", false},
        {"credentials.auth_type", "OAuth2", NULL, "unexpected auth_type: OAuth2", false},
        {"credentials.auth_type", "AWS IAM", NULL, "auth_type \"AWS IAM\" is not Bauplan's", true},
        {"credentials.oauth2_server_uri", "(none)", NULL, "missing 'oauth2_server_uri'", false},
        {"credentials.oauth2_server_uri", "ftp://x/t", NULL,
         "oauth2_server_uri \"ftp://x/t\" must be an http(s) URL or a path relative to the catalog "
         "URL",
         false},
        {"credentials.oauth2_server_uri", "api/v1/oauth/tokens", NULL,
         "oauth2_server_uri \"api/v1/oauth/tokens\" is of an older guide", true},
        {"credentials.oauth2_server_uri", "https://x/t", NULL, NULL, false},
        {"credentials.credential", "(none)", NULL, "missing 'credential'", false},
        {"credentials.credential", "token", NULL, "credential is not <client id>:<client secret>",
         true},
        {"credentials.credential", "id:secret ", NULL,
         "credential is not <client id>:<client secret>", true},
        {"credentials.credential", "id:se:cret", NULL, NULL, false},
        {"credentials.secret", "x", NULL, "\"secret\" is no option here, and is passed over", true},
        {"compute.compute_type", "(none)", NULL, "invalid compute type \"\"", false},
        {"compute.region", "(none)", NULL, "missing 'region'", false},
        {"compute.application_id", "(none)", NULL, "missing 'application_id'", false},
        {"compute.application_id", "analytics-etl", NULL,
         "application_id \"analytics-etl\" is no application's id", true},
        {"compute.execution_role_arn", "(none)", NULL, "missing 'execution_role_arn'", false},
        {"compute.execution_role_arn", "sluice-emr", NULL,
         "execution_role_arn \"sluice-emr\" is no role's ARN", true},
        {"compute.execution_role_arn", "arn:aws:iam::123456789012:user/x", NULL,
         "execution_role_arn \"arn:aws:iam::123456789012:user/x\" is no role's ARN", true},
        {"compute.execution_role_arn", "arn:aws-cn:iam::123456789012:role/a/b/c", NULL, NULL,
         false},
        {"compute.bucket", "(none)", NULL, "missing 'bucket'", false},
        {"compute.bucket", "s3://lake", NULL, "bucket \"s3://lake\" is no bucket's bare name",
         true},
        {"compute.bucket", "lake.acme", NULL, "bucket \"lake.acme\" is no bucket's bare name",
         true},
        {"compute.bucket_path", "(none)", NULL, "bucket_path is missing", true},
        {"compute.bucket_path", "/a", NULL, "bucket_path \"/a\" cannot start with /", false},
        {"compute.bucket_path", "s3://a/b", NULL,
         "bucket_path \"s3://a/b\" must be a bare key prefix within the bucket, not a full URI "
         "like "
         "\"s3://bucket/prefix\"; the bucket is configured separately",
         false},
        {"compute.bucketpath", "a", NULL, "json: unknown field \"bucketpath\"", false},
        {"compute.systems_manager_prefix", "(none)", NULL,
         "must specify Systems Manager Prefix for AWS EMR Serverless compute with Client "
         "Credentials catalog authentication",
         false},
        {"compute.systems_manager_prefix", "estuary/", NULL,
         "systems manager prefix \"estuary/\" must start and end with /", false},
        {"compute.systems_manager_prefix", "/", NULL, "systems manager prefix \"/\" is the root",
         true},
        {"compute.systems_manager_prefix", "/AWSthings/", NULL,
         "systems manager prefix \"/AWSthings/\" is reserved", true},
        {"compute.systems_manager_prefix", "/a b/", NULL,
         "systems manager prefix \"/a b/\" cannot begin a parameter's name", true},
        {"compute.systems_manager_prefix", "/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/", NULL,
         "systems manager prefix \"/1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/\" cannot begin a "
         "parameter's name",
         true},
        {"compute.credentials.auth_type", "(none)", NULL, "unexpected EMR auth type \"\"", false},
        {"compute.credentials.auth_type", "AWS Access Key", NULL,
         "unexpected EMR auth type \"AWS Access Key\"", false},
        {"compute.credentials.auth_type", "UseCatalogAuth", NULL,
         "must use AWS EMR Serverless with SigV4 or IAM catalog credentials", false},
        {"compute.credentials.aws_access_key_id", "(none)", NULL, "missing 'aws_access_key_id'",
         false},
        {"compute.credentials.aws_access_key_id", "ASIAIOSFODNN7EXAMPLE", NULL,
         "the access key is of a session", true},
        {"compute.credentials.aws_secret_access_key", "(none)", NULL,
         "missing 'aws_secret_access_key'", false},
        {"syncSchedule.syncFrequency", "10m", NULL, "invalid syncFrequency \"10m\"", false},
        {"syncSchedule.syncFrequency", "0s", NULL, NULL, false},
        {"syncSchedule.fastSyncStartTime", "08:00", "syncSchedule",
         "must provide 'timezone', 'syncFrequency', 'fastSyncStartTime', and 'fastSyncStopTime' "
         "when configuring sync frequency active times",
         false},
        {"advanced.table_identifier_case", "lower", NULL,
         "invalid table_identifier_case \"lower\": must be one of lowercase, uppercase, preserve",
         false},
        {"glue_optimizers.enable_compaction", "!true", "glue_optimizers",
         "Glue table optimizers are only supported when using AWS Glue as the catalog", false},
        {"dbt_job_trigger", "{}", "dbt_job_trigger.job_id", "dbt job trigger missing 'job_id'",
         false},
    };
    try_rows(good_target, estuary_target_faults, rows, ARRAY_LEN(rows));
}

/* Nothing that is secret stands in a fault, whatever is wrong with it. */
static void secrets_are_not_told(void **state)
{
    (void)state;
    AUTO_NODE *target = good_target();
    AUTO_NODE *source = good_source();
    AUTO_ESTUARY_FAULTS faults = {0};
    spoil(target, "credentials.credential", "the secret itself");
    spoil(target, "compute.credentials.aws_access_key_id", "ASIA-secret");
    spoil(source, "password", "the secret itself");
    spoil(source, "networkTunnel.sshForwarding.privateKey", "the secret ENCRYPTED");
    estuary_target_faults(target, &faults);
    estuary_source_faults(source, &faults);
    assert_true(faults.count >= 4);
    for (size_t i = 0; i < faults.count; i++)
        assert_null(strstr(faults.list[i].says, "secret "));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_we_write_is_right),
        cmocka_unit_test(sources),
        cmocka_unit_test(targets),
        cmocka_unit_test(secrets_are_not_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
