/* Steps that stand in the step line with a page that says what will be done there. They have no
 * fields and no checks, so that headless commands need no answers for them. */
#include "steps/steps.h"

static const char *const capture_later[] = {
    "Here sluice will write the Estuary capture of the chosen tables and try it as a draft:",
    "Estuary connects to your database itself, lists its tables, and the chosen ones must be among "
    "them.",
    "Names, replication slot and publication are judged by the connector's own rules.",
    "Nothing is published before you say so.",
    NULL,
};

const struct step step_capture = {
    .id = "capture",
    .number = "4",
    .name = "Capture",
    .title = "Estuary capture",
    .intro = "Estuary reads the changes of the chosen tables from PostgreSQL.",
    .needs = "Estuary: an account, a prefix you may write to and a refresh token",
    .link = "https://docs.estuary.dev/reference/Connectors/capture-connectors/PostgreSQL/",
    .later = capture_later,
};

static const char *const materialization_later[] = {
    "Here sluice will write the Estuary materialization into Bauplan from what the steps before "
    "proved:",
    "catalog, token URI, branch, namespace, application, role, key and buckets.",
    "Table names and locations are worked out beforehand, so that two tables that would collide "
    "are seen.",
    "A publication is rehearsed first; after the real one sluice waits until rows arrive in "
    "Bauplan.",
    NULL,
};

const struct step step_materialization = {
    .id = "materialization",
    .number = "5",
    .name = "Iceberg",
    .title = "Estuary materialization",
    .intro = "Estuary writes the changes into Iceberg tables of Bauplan.",
    .needs = NULL,
    .link =
        "https://docs.estuary.dev/reference/Connectors/materialization-connectors/apache-iceberg/",
    .later = materialization_later,
};

static const char *const review_later[] = {
    "Here will stand what is proved, and when; what you accepted, and why; what is not proved, and "
    "who",
    "must still act.",
    "An export writes the finished Estuary specification with sealed secrets, the SQL, the "
    "policies, a",
    "runbook and a report into one folder that a colleague can review and publish.",
    NULL,
};

const struct step step_review = {
    .id = "review",
    .number = "",
    .name = "Review",
    .title = "Review and export",
    .intro = "All of it on one page, to hand over or to publish.",
    .later = review_later,
};
