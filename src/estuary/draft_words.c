/* What the ends of jobs and the texts of Estuary's build mean for people: two tables of states, one
 * of texts.
 *
 * Sources: job_status of discovers and publications as Estuary's dashboard and flowctl read them,
 * the errors of its build, those of source-postgres. Several states leave no row in draft_errors,
 * so that their words here are all there is. */
#include <string.h>

#include "core/mem.h"
#include "estuary/draft_parts.h"

/* --- states ----------------------------------------------------------------------------------- */

const struct draft_status draft_discover_statuses[] = {
    {"discoverFailed", PROBLEM_INPUT, "the connector could not look for tables",
     "Estuary started the connector with this config in its data plane, and the connector failed.",
     "See what the connector says, correct it, then look again.", WHO_YOU, false, true},
    {"noDataPlane", PROBLEM_MISSING, "Estuary has no data plane for this capture",
     "The storage mapping of the prefix names no data plane, or the one that is asked for is not "
     "known or not open to the prefix.",
     "Choose one of the data planes of the prefix, or have one added to its storage mapping.",
     WHO_YOU, false, false},
    {"notAuthorized", PROBLEM_DENIED, "this login may not make captures below this prefix",
     "It takes the capability admin on the prefix; write does not do.",
     "Have an admin of the prefix grant you admin (dashboard, Admin, Account Access), or choose "
     "another prefix.",
     WHO_YOU, false, false},
    {"tagFailed", PROBLEM_MISSING, "Estuary could not prepare this connector",
     "The image's tag is listed, but Estuary did not get it to tell what it takes.",
     "Ask Estuary's support about this connector, or use another tag of it.", WHO_ESTUARY, false,
     false},
    {"wrongProtocol", PROBLEM_INPUT, "the connector is not one for captures",
     "The image writes to a destination; it has no tables to look for.",
     "Use a capture connector (ghcr.io/estuary/source-postgres).", WHO_YOU, false, false},
    {"imageForbidden", PROBLEM_DENIED, "Estuary does not run this connector image",
     "Only images that Estuary lists may run in its data planes.",
     "Use ghcr.io/estuary/source-postgres with a tag that Estuary lists.", WHO_YOU, false, false},
    {"mergeFailed", PROBLEM_CONFLICT, "what was discovered does not fit the draft",
     "The found tables could not be merged into the capture that was staged before.",
     "Try again with a new draft.", WHO_YOU, false, true},
    {"pullFailed", PROBLEM_PROTOCOL, "Estuary could not get the connector's image",
     "Its data plane did not get the image from the registry.",
     "Try again in a few minutes; if it stays, ask Estuary's support.", WHO_ESTUARY, false, true},
    {"deprecatedBackground", PROBLEM_PROTOCOL, "Estuary put the discovery aside",
     "It took it for one of an old sort, which it no longer runs.", "Try again.", WHO_ESTUARY,
     false, false},
    {NULL, PROBLEM_PROTOCOL, "the discovery ended in a way that sluice does not know",
     "The service is newer than this sluice.", "See what the log says; look for a newer sluice.",
     WHO_YOU, false, true},
};

const struct draft_status draft_publication_statuses[] = {
    {"buildFailed", PROBLEM_INPUT, "Estuary's build refuses the draft",
     "It checks names and references first, then each connector tries what is to be done at the "
     "real services.",
     "See what it says, correct it, then try again.", WHO_YOU, false, true},
    {"testFailed", PROBLEM_INPUT, "tests in Estuary's catalog fail with the draft",
     "The draft is built, but tests that were published before depend on it and no longer hold.",
     "See which test fails, and change either it or the draft.", WHO_YOU, false, true},
    {"publishFailed", PROBLEM_PROTOCOL, "Estuary could not finish the publication",
     "The build was good; writing its result failed, several times.",
     "Try again in a few minutes; if it stays, ask Estuary's support.", WHO_ESTUARY, true, true},
    {"emptyDraft", PROBLEM_INPUT, "Estuary found nothing in the draft to build",
     "Collections that no task in the draft uses do not count, nor does what equals the live "
     "specification.",
     "Choose at least one table, so that the capture has a binding, then try again.", WHO_YOU,
     false, false},
    {"expectPubIdMismatch", PROBLEM_CONFLICT, "the catalog was changed meanwhile",
     "A name of the draft is there already, or was published again since the draft was made. "
     "Nothing live is written over.",
     "Choose another name, or delete the live specification first if it is yours to delete.",
     WHO_YOU, false, true},
    {"buildIdLockFailure", PROBLEM_CONFLICT, "other publications are in the way, again and again",
     "Specifications that the draft depends on were published by somebody else at the same time.",
     "Try again in a minute.", WHO_YOU, true, false},
    {"deprecatedBackground", PROBLEM_PROTOCOL, "Estuary put the publication aside",
     "It took it for one of an old sort, which it no longer runs.", "Try again.", WHO_ESTUARY,
     false, false},
    {NULL, PROBLEM_PROTOCOL, "the publication ended in a way that sluice does not know",
     "The service is newer than this sluice.", "See what the log says; look for a newer sluice.",
     WHO_YOU, false, true},
};

const struct draft_status *draft_status_of(const struct draft_status *table, const char *type)
{
    while (table->type != NULL && strcmp(table->type, type) != 0)
        table++;
    return table;
}

/* --- texts ------------------------------------------------------------------------------------ */

/* The first that fits counts: what is special stands before what is general. */
static const struct draft_meaning meanings[] = {
    {"referenced by storage mapping", "not found",
     "The prefix's storage mapping names a data plane that the prefix has no role grant on: "
     "Estuary says \"not found\" of what one may not see. What it then offers instead is a guess "
     "by spelling.",
     "Ask Estuary's support to grant the prefix read on that data plane.", WHO_ESTUARY},
    {"data plane", "not found",
     "The data plane is misspelt, or the prefix has no role grant on it: Estuary says \"not "
     "found\" of what one may not see.",
     "Choose one of the data planes that are listed for the prefix.", WHO_YOU},
    {"no default data-plane", NULL,
     "The storage mapping of the prefix names no data plane, and none was asked for.",
     "Choose a data plane, or have one added to the storage mapping of the prefix.", WHO_YOU},
    {"into a storage mapping", NULL,
     "No storage mapping covers the name: Estuary would not know where to keep its data.",
     "Add a storage mapping for the prefix (dashboard, Admin, Settings), or choose a prefix that "
     "has one.",
     WHO_YOU},
    {"data plane", "storage mapping",
     "The storage mapping of the prefix does not allow this data plane.",
     "Choose a data plane of the storage mapping, or have this one added to it.", WHO_YOU},
    {"prohibited prefix", NULL,
     "One name is a folder of the other, and Estuary keeps each name's data in a folder of its "
     "own.",
     "Give the task a last part of its own (…/source-postgres, …/materialize-bauplan).", WHO_YOU},
    {"collides with", NULL, "Two names differ by case only, and Estuary takes them for one.",
     "Rename one of the two.", WHO_YOU},
    {"cannot be used as name", NULL,
     "The name has characters that Estuary's catalog does not take.",
     "Use letters, digits and - _ . between slashes.", WHO_YOU},
    {"has the fallback key", NULL,
     "The table has neither a primary key nor another key that the connector could use, and its "
     "mode of backfill needs one.",
     "Add a primary key to the table, or set the binding's mode to Without Primary Key.", WHO_DBA},
    {"collection", "is not defined",
     "A task uses a collection that is neither in the draft nor live. A capture can be published "
     "only together with its collections.",
     "Look for tables again, so that the collections are written into the draft; leave out tables "
     "that are no longer there.",
     WHO_YOU},
    {"is not defined", NULL, "The draft refers to something that is neither in it nor live.",
     "Publish what it refers to first, or correct the reference.", WHO_YOU},
    {"not authorized to create or change", NULL,
     "It takes the capability admin on the prefix; write does not do.",
     "Have an admin of the prefix grant you admin (dashboard, Admin, Account Access), or choose "
     "another prefix.",
     WHO_YOU},
    {"not authorized to read this catalog name", NULL,
     "The draft refers to a name below a prefix that this login may not read.",
     "Have an admin of that prefix grant you read, or correct the reference.", WHO_YOU},
    {"-authorized to", NULL,
     "Besides people, prefixes need grants on each other: the task's prefix has none on that of "
     "the other specification.",
     "Have an admin grant it (dashboard, Admin, Account Access, Data Sharing), or keep both below "
     "one prefix.",
     WHO_YOU},
    {"mac mismatch", NULL,
     "The sealed config was changed after it was sealed: its checksum covers every value and "
     "their order.",
     "Seal the config anew.", WHO_YOU},
    {"forbidden connector", NULL, "Only images that Estuary lists may run in its data planes.",
     "Use one of Estuary's own images.", WHO_YOU},
    {"no connector tag found", NULL, "Estuary does not list this tag of the image.",
     "Use a tag that Estuary lists.", WHO_YOU},
    {"expected publication id", NULL,
     "The name is there already, or was published again since the draft was made.",
     "Choose another name, or delete the live specification first if it is yours to delete.",
     WHO_YOU},
    {"the key of existing collection", NULL,
     "A collection of this name is there with another key, and a key cannot change.",
     "Choose another name for the capture, so that its collections are new.", WHO_YOU},
    {"password authentication failed", NULL,
     "PostgreSQL refuses the login: the password or the user is not the one it knows.",
     "Set the user's password anew in the PostgreSQL step, then try again.", WHO_DBA},
    {"no pg_hba.conf entry", NULL,
     "PostgreSQL has no rule for this user from the data plane's addresses, or none for its use "
     "of TLS.",
     "Add a line for the user and the data plane's addresses to pg_hba.conf.", WHO_DBA},
    {"connection refused", NULL,
     "Nothing listens there for the data plane, or a firewall refuses it.",
     "See that the address is the public one and that the data plane's addresses may connect.",
     WHO_NETWORK},
    {"i/o timeout", NULL, "The data plane's packets get no answer from there.",
     "Let the data plane's addresses through firewall and security group.", WHO_NETWORK},
    {"no such host", NULL, "The data plane cannot resolve the name: it may be a private one.",
     "Use a name that the public DNS knows.", WHO_NETWORK},
};

const struct draft_meaning *draft_meaning_at(size_t i)
{
    return i < ARRAY_LEN(meanings) ? &meanings[i] : NULL;
}

const struct draft_meaning *draft_meaning_of(const char *detail)
{
    for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
        if (strcasestr(detail, meanings[i].says) != NULL &&
            (meanings[i].also == NULL || strcasestr(detail, meanings[i].also) != NULL))
            return &meanings[i];
    return NULL;
}
