/* Recipes of the platforms (vendors' documentation of logical replication, read for this table),
 * and hosts that are known to be poolers or readers by their names. */
#include "postgres/platform.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"

static const struct postgres_recipe recipes[POSTGRES_PLATFORMS] = {
    [POSTGRES_PLAIN] =
        {
            .name = "",
            .who = WHO_DBA,
            .switch_on = "set wal_level = logical, then restart the server",
            .copy = "ALTER SYSTEM SET wal_level = 'logical';",
            .link = "https://www.postgresql.org/docs/current/runtime-config-wal.html#GUC-WAL-LEVEL",
            .retention =
                "ALTER SYSTEM SET max_slot_wal_keep_size = '50GB'; SELECT pg_reload_conf();",
        },
    [POSTGRES_RDS] =
        {
            .name = "RDS",
            .role = "rds_superuser",
            .setting = "rds.logical_replication",
            .who = WHO_AWS_ADMIN,
            .switch_on = "in the instance's own DB parameter group set rds.logical_replication = "
                         "1, then reboot the instance (a default group cannot be edited: make one, "
                         "attach it, reboot)",
            .link = "https://docs.aws.amazon.com/AmazonRDS/latest/UserGuide/"
                    "PostgreSQL.Concepts.General.FeatureSupport.LogicalReplication.html",
            .retention = "set max_slot_wal_keep_size = 51200 (MB) in the parameter group",
            .grants_replication = true,
        },
    [POSTGRES_AURORA] =
        {
            .name = "Aurora",
            .role = "rds_superuser",
            .setting = "rds.logical_replication",
            .who = WHO_AWS_ADMIN,
            .switch_on = "in the DB cluster parameter group set rds.logical_replication = 1, then "
                         "reboot the writer",
            .link = "https://docs.aws.amazon.com/AmazonRDS/latest/AuroraUserGuide/"
                    "AuroraPostgreSQL.Replication.Logical.Configure.html",
            .retention = "set max_slot_wal_keep_size in the cluster parameter group, where the "
                         "version has it",
            .grants_replication = true,
        },
    [POSTGRES_CLOUD_SQL] =
        {
            .name = "Cloud SQL",
            .role = "cloudsqlsuperuser",
            .setting = "cloudsql.logical_decoding",
            .who = WHO_DBA,
            .switch_on =
                "set the instance's flag cloudsql.logical_decoding = on; the instance restarts "
                "(gcloud replaces all flags by those it is given: name the others too)",
            .link = "https://cloud.google.com/sql/docs/postgres/replication/"
                    "configure-logical-replication",
            .retention = "set the flag max_slot_wal_keep_size = 51200 (MB)",
        },
    [POSTGRES_ALLOYDB] =
        {
            .name = "AlloyDB",
            .role = "alloydbsuperuser",
            .setting = "alloydb.logical_decoding",
            .who = WHO_DBA,
            .switch_on =
                "set the instance's flag alloydb.logical_decoding = on; the instance restarts",
            .link = "https://cloud.google.com/alloydb/docs/configure-logical-replication",
            .retention = "set the flag max_slot_wal_keep_size",
        },
    [POSTGRES_AZURE] =
        {
            .name = "Azure",
            .role = "azure_pg_admin",
            .who = WHO_DBA,
            .switch_on = "set the server parameter wal_level = logical (and max_worker_processes "
                         "to 16 or more), then restart the server",
            .link = "https://learn.microsoft.com/azure/postgresql/flexible-server/concepts-logical",
            .retention = "it is fixed at -1 there: watch the storage instead",
        },
    [POSTGRES_SUPABASE] =
        {
            .name = "Supabase",
            .role = "supabase_admin",
            .who = WHO_DBA,
            .switch_on = "ask Supabase's support: it is on by default there",
            .link = "https://supabase.com/docs/guides/database/postgres/setup-replication-external",
            .retention = "supabase postgres-config update --config max_slot_wal_keep_size=50GB",
        },
    [POSTGRES_NEON] =
        {
            .name = "Neon",
            .role = "neon_superuser",
            .who = WHO_DBA,
            .switch_on = "in the project's settings enable logical replication; it cannot be taken "
                         "back, and restarts the computes",
            .link = "https://neon.tech/docs/guides/logical-replication-neon",
            .retention = "Neon removes slots that nobody read for about 40 hours",
        },
};

const struct postgres_recipe *postgres_recipe(enum postgres_platform p)
{
    return &recipes[p < POSTGRES_PLATFORMS ? p : POSTGRES_PLAIN];
}

static bool has_line(const char *lines, const char *word)
{
    AUTO(xfree) char *line = xasprintf("\n%s\n", word);
    return strstr(lines, line) != NULL;
}

static bool ends(const char *s, const char *tail)
{
    size_t n = strlen(s), t = strlen(tail);
    return n >= t && strcmp(s + n - t, tail) == 0;
}

enum postgres_platform postgres_platform_of(const char *roles, bool aurora_function,
                                            const char *host)
{
    if (aurora_function)
        return POSTGRES_AURORA;
    if (has_line(roles, "alloydbsuperuser"))
        return POSTGRES_ALLOYDB;
    for (enum postgres_platform p = POSTGRES_RDS; p < POSTGRES_PLATFORMS; p++)
        if (p != POSTGRES_AURORA && has_line(roles, recipes[p].role))
            return p;
    if (ends(host, ".rds.amazonaws.com") && has_line(roles, "rds_replication"))
        return POSTGRES_RDS;
    return POSTGRES_PLAIN;
}

/* First label of the host when it is a name as the vendors give them; "" otherwise: it goes into a
 * command. */
static char *instance_of(const char *host)
{
    size_t n = strspn(host, "abcdefghijklmnopqrstuvwxyz0123456789-");
    return host[n] == '.' ? xstrndup(host, n) : xstrdup("");
}

char *postgres_wal_command(enum postgres_platform p, const char *host)
{
    if (p == POSTGRES_PLAIN)
        return xstrdup(recipes[p].copy);
    AUTO(xfree) char *instance = instance_of(host);
    if (instance[0] == '\0')
        return NULL;
    if (p == POSTGRES_RDS)
        return xasprintf("aws rds modify-db-parameter-group --db-parameter-group-name \"$(aws rds "
                         "describe-db-instances --db-instance-identifier %s --query "
                         "'DBInstances[0].DBParameterGroups[0].DBParameterGroupName' --output "
                         "text)\" --parameters "
                         "ParameterName=rds.logical_replication,ParameterValue=1,ApplyMethod="
                         "pending-reboot && aws rds reboot-db-instance --db-instance-identifier %s",
                         instance, instance);
    if (p == POSTGRES_AURORA)
        return xasprintf(
            "aws rds modify-db-cluster-parameter-group --db-cluster-parameter-group-name \"$(aws "
            "rds describe-db-clusters --db-cluster-identifier %s --query "
            "'DBClusters[0].DBClusterParameterGroup' --output text)\" --parameters "
            "ParameterName=rds.logical_replication,ParameterValue=1,ApplyMethod=pending-reboot",
            instance);
    return NULL;
}

static char *without(const char *host, const char *part, const char *instead)
{
    const char *at = strstr(host, part);
    return xasprintf("%.*s%s%s", (int)(at - host), host, instead, at + strlen(part));
}

void postgres_judge_host(const char *host, const char *port, struct postgres_host_note *out)
{
    *out = (struct postgres_host_note){0};
    static const char pooler[] =
        "A pooler does not pass replication on, and Estuary's capture is one.";
    if (ends(host, ".pooler.supabase.com") ||
        (strcmp(port, "6543") == 0 && ends(host, ".supabase.co"))) {
        out->what = "this is Supabase's connection pooler";
        out->why = pooler;
        out->fix = "use the direct host, db.<project>.supabase.co, port 5432";
    } else if (ends(host, ".neon.tech") && strstr(host, "-pooler.") != NULL) {
        out->what = "this is Neon's connection pooler";
        out->why = pooler;
        out->instead = without(host, "-pooler.", ".");
        out->fix = "use the host without -pooler";
    } else if (ends(host, ".rds.amazonaws.com") && strstr(host, ".proxy-") != NULL) {
        out->what = "this is an RDS Proxy";
        out->why = pooler;
        out->fix = "use the endpoint of the instance, or the cluster's writer endpoint";
    } else if (ends(host, ".rds.amazonaws.com") && strstr(host, ".cluster-ro-") != NULL) {
        out->what = "this is the reader endpoint of an Aurora cluster";
        out->why = "Changes can only be captured from the writer.";
        out->instead = without(host, ".cluster-ro-", ".cluster-");
        out->fix = "use the writer endpoint";
    }
}
