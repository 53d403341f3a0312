/* Rules of source-postgres:v3. Its own are those of its config validation, in its order; ours are
 * what it learns too late: in a query, at the first change, or never. */
#include <string.h>

#include "core/mem.h"
#include "estuary/names.h"
#include "estuary/rules_row.h"

#define DIGITS "0123456789"

static size_t count_of(const char *s, char c)
{
    size_t n = 0;
    for (; *s != '\0'; s++)
        n += *s == c;
    return n;
}

static bool ends_with(const char *s, const char *end)
{
    size_t n = strlen(s), m = strlen(end);
    return n >= m && strcmp(s + n - m, end) == 0;
}

/* --- address ---------------------------------------------------------------------------------- */

/* Its session mode, :5432, is a pooler as well, and slips through the connector's own check. */
static bool supabase_pooler(const struct node *config, const char *value)
{
    (void)config;
    return ends_with(value, ".pooler.supabase.com") ||
           ends_with(value, ".pooler.supabase.com:6543");
}

static bool session_pooler(const struct node *config, const char *value)
{
    return strstr(value, ".pooler.supabase.com") != NULL && !supabase_pooler(config, value);
}

static bool no_address(const struct node *config, const char *value)
{
    (void)config;
    return value[strcspn(value, "/ @\t\r\n")] != '\0';
}

static bool bare_v6(const struct node *config, const char *value)
{
    (void)config;
    return count_of(value, ':') > 1 && value[0] != '[';
}

/* --- login ------------------------------------------------------------------------------------ */

static bool breaks_sql(const struct node *config, const char *value)
{
    (void)config;
    return value[strcspn(value, "'\"\\")] != '\0';
}

static bool no_switch(const struct node *config, const char *value)
{
    (void)value;
    return !estuary_is_switch(config, "historyMode");
}

static bool no_auth(const struct node *config, const char *value)
{
    (void)config;
    return !estuary_among(value, "UserPassword AWSIAM GCPIAM AzureIAM");
}

/* A field of one sort of login is missing. */
static bool lacks(const struct node *config, const char *value, const char *auth)
{
    return estuary_is(config, "credentials.auth_type", auth) && value[0] == '\0';
}

static bool lacks_password(const struct node *config, const char *value)
{
    return lacks(config, value, "UserPassword");
}

static bool lacks_aws(const struct node *config, const char *value)
{
    return lacks(config, value, "AWSIAM");
}

static bool root_password(const struct node *config, const char *value)
{
    return value[0] != '\0' && !estuary_is(config, "credentials.password", value);
}

/* --- objects ---------------------------------------------------------------------------------- */

static bool given_and_not_plain(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' && !estuary_plain_name(value);
}

static bool unqualified(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' && strchr(value, '.') == NULL;
}

static bool not_two_plain_names(const struct node *config, const char *value)
{
    (void)config;
    const char *dot = strchr(value, '.');
    if (dot == NULL)
        return false; /* another rule's */
    AUTO(xfree) char *schema = xstrndup(value, (size_t)(dot - value));
    return !estuary_plain_name(schema) || !estuary_plain_name(dot + 1);
}

static bool unqualified_item(const struct node *config, const char *value)
{
    (void)config;
    for (const char *at = value; *at != '\0';) {
        size_t n = strcspn(at, ",");
        if (memchr(at, '.', n) == NULL)
            return true;
        at += n + (at[n] == ',');
    }
    return false;
}

static bool blank_in_list(const struct node *config, const char *value)
{
    (void)config;
    return strchr(value, ' ') != NULL;
}

/* --- advanced --------------------------------------------------------------------------------- */

static bool no_sslmode(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' &&
           !estuary_among(value, "disable allow prefer require verify-ca verify-full");
}

static bool tunnelled(const struct node *config)
{
    return estuary_is_map(config, "networkTunnel.sshForwarding");
}

static bool name_behind_tunnel(const struct node *config, const char *value)
{
    return tunnelled(config) && strcmp(value, "verify-full") == 0;
}

static bool no_timeout(const struct node *config, const char *value)
{
    (void)config;
    return value[0] != '\0' && !estuary_among(value, "0 30s 1m 2m 5m 30m");
}

static bool no_interval(const struct node *config, const char *value)
{
    (void)config;
    size_t digits = strspn(value, DIGITS);
    return value[0] != '\0' && (digits == 0 || !estuary_among(value + digits, "ms s m h"));
}

static bool blank_schema(const struct node *config, const char *value)
{
    (void)value;
    const struct node *list = node_find(config, "advanced.discover_schemas");
    for (size_t i = 0; list != NULL && list->kind == NODE_LIST && i < list->count; i++) {
        const char *text = node_text(list->items[i]);
        if (text == NULL || estuary_only(text, " "))
            return true;
    }
    return false;
}

/* --- tunnel ----------------------------------------------------------------------------------- */

static bool no_endpoint(const struct node *config, const char *value)
{
    const char *at = strncmp(value, "ssh://", 6) == 0 ? strchr(value + 6, '@') : NULL;
    return tunnelled(config) && (at == NULL || at == value + 6 || at[1] == '\0');
}

static bool no_key(const struct node *config, const char *value)
{
    return tunnelled(config) && value[0] == '\0';
}

static bool locked_key(const struct node *config, const char *value)
{
    return tunnelled(config) && strstr(value, "ENCRYPTED") != NULL;
}

/* --- rows ------------------------------------------------------------------------------------- */

static const struct estuary_rule rules[] = {
    {"address", estuary_missing, "missing 'address'",
     "Estuary does not know which server to capture from.", "Answer the host.", false},
    {"address", supabase_pooler,
     "address must be a direct connection: address \"{}\" is using the Supabase connection pooler, "
     "consult go.estuary.dev/supabase-direct-address for details",
     "Replication does not pass through a pooler.",
     "Use the direct host, db.<project>.supabase.co.", false},
    {"address", session_pooler, "address \"{}\" is Supabase's session pooler",
     "Replication does not pass through a pooler, and the connector only knows the other one.",
     "Use the direct host, db.<project>.supabase.co.", true},
    {"address", no_address, "address \"{}\" is no host and port",
     "The connector takes it as it is: a URL, a path or a blank in it lead nowhere.",
     "Give the host alone, or host:port.", true},
    {"address", bare_v6, "address \"{}\" is an IPv6 literal without brackets",
     "What stands behind its last colon would be taken for the port.",
     "Write it as [2001:db8::1]:5432.", true},
    {"user", estuary_missing, "missing 'user'", "Estuary logs in as a user of its own.",
     "Answer the capture user.", false},
    {"user", breaks_sql, "user \"{}\" has a quote or a backslash in it",
     "The connector puts the name into its SQL as it is, which would break.",
     "Use letters, digits and underscores.", true},
    {"database", estuary_missing, "missing 'database'",
     "Without one the connector takes the database that is named as the user.",
     "Answer the database.", true},
    {"historyMode", no_switch, "historyMode is not true or false",
     "Estuary's control plane refuses the capture: Config failed schema validation.",
     "Write historyMode: false, or true to keep every change.", true},
    {"credentials.auth_type", no_auth, "auth_type \"{}\" is unknown",
     "The connector does not check it; the login then fails with 28P01, as for a wrong password.",
     "Write auth_type: UserPassword.", true},
    {"credentials.password", lacks_password, "missing 'password'",
     "Estuary cannot log in without one.", "Answer the capture user's password, or have it made.",
     false},
    {"credentials.aws_region", lacks_aws, "missing 'aws_region'", "Logging in by IAM needs it.",
     "Name the region of the database.", false},
    {"credentials.aws_role_arn", lacks_aws, "missing 'aws_role_arn'", "Logging in by IAM needs it.",
     "Name the role that Estuary assumes.", false},
    {"password", root_password, "the password stands at the root, not in credentials",
     "This was its place in old versions; the control plane's schema no longer knows it.",
     "Move it to credentials.password.", true},
    {"advanced.publicationName", given_and_not_plain, "publicationName \"{}\" is not plain",
     "The server folds the name to lower case when Estuary subscribes: the checks pass, and no "
     "change ever arrives.",
     "Use a-z, 0-9 and _, no digit first.", true},
    {"advanced.slotName", given_and_not_plain, "slotName \"{}\" is not plain",
     "The server refuses to make the slot when the capture starts (42601).",
     "Use a-z, 0-9 and _, no digit first, 63 at most.", true},
    {"advanced.watermarksTable", unqualified,
     "invalid 'watermarksTable' configuration: table name \"{}\" must be fully-qualified as "
     "\"<schema>.<table>\"",
     "The connector looks for it in no search path.", "Write it as public.flow_watermarks.", false},
    {"advanced.watermarksTable", not_two_plain_names,
     "watermarksTable \"{}\" is not two plain names",
     "It is written without quotes and compared in lower case: it would not be found again.",
     "Write it as public.flow_watermarks.", true},
    {"advanced.skip_backfills", unqualified_item,
     "invalid 'skipBackfills' configuration: table name \"{}\" must be fully-qualified as "
     "\"<schema>.<table>\"",
     "Each table of the list is named with its schema.", "Write schema.table,schema.table.", false},
    {"advanced.skip_backfills", blank_in_list, "skip_backfills \"{}\" has blanks in it",
     "They become part of the names, which then match no table: it is backfilled.",
     "Write schema.table,schema.table without blanks.", true},
    {"advanced.sslmode", no_sslmode, "invalid 'sslmode' configuration: unknown setting \"{}\"",
     "It is one of disable, allow, prefer, require, verify-ca, verify-full.", "Choose one of them.",
     false},
    {"advanced.sslmode", name_behind_tunnel, "sslmode \"{}\" cannot work through a tunnel",
     "There the connector connects to localhost, which no certificate names.",
     "Choose verify-ca or require.", true},
    {"advanced.statement_timeout", no_timeout, "invalid statement timeout",
     "It is one of 0, 30s, 1m, 2m, 5m, 30m.", "Choose one of them, or leave it out.", false},
    {"advanced.rediscovery_interval", no_interval,
     "invalid 'rediscovery_interval' configuration \"{}\"", "It is a number with ms, s, m or h.",
     "Write it as 15m, from 1m to 8760h.", false},
    {"advanced.discover_schemas", blank_schema, "discover_schemas has a blank entry",
     "Each entry names a schema.", "Take it out.", false},
    {"networkTunnel.sshForwarding.sshEndpoint", no_endpoint,
     "sshEndpoint \"{}\" is not of the form ssh://user@host[:port]",
     "The bastion needs a user besides its host and port.", "Write it as ssh://user@bastion:22.",
     true},
    {"networkTunnel.sshForwarding.privateKey", no_key, "the tunnel has no private key",
     "Estuary logs in to the bastion by key alone.", "Give the private key.", true},
    {"networkTunnel.sshForwarding.privateKey", locked_key, "the private key has a passphrase",
     "Nobody is there to type it.", "Take it off: ssh-keygen -p -N \"\" -m pem -f KEYFILE.", true},
};

static const struct estuary_keys keys[] = {
    {"",
     "address user database historyMode credentials discoveryFilters advanced networkTunnel "
     "password",
     false},
    {"credentials",
     "auth_type password aws_region aws_role_arn gcp_service_account_to_impersonate "
     "gcp_workload_identity_pool_audience azure_client_id azure_tenant_id",
     false},
    {"discoveryFilters",
     "include_schemas exclude_schemas table_patterns discover_unpublished_tables", false},
    {"advanced",
     "publicationName slotName watermarksTable skip_backfills backfill_chunk_size sslmode "
     "discover_schemas min_backfill_xid read_only_capture capture_as_partitions "
     "discover_unpublished_tables source_tag rediscovery_interval feature_flags statement_timeout "
     "discover_only_published",
     false},
    {"networkTunnel", "sshForwarding", false},
    {"networkTunnel.sshForwarding", "sshEndpoint privateKey", false},
};

void estuary_source_faults(const struct node *config, struct estuary_faults *out)
{
    static const struct estuary_rules all = {
        rules, ARRAY_LEN(rules), keys, ARRAY_LEN(keys),
        "error parsing config json: json: unknown field \"{}\""};
    estuary_judge(&all, config, out);
}
