/* Verdicts on slots, the log they keep, and transactions that slot creation would wait for. No I/O.
 */
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "postgres/facts.h"
#include "steps/postgres/postgres.h"

#define SLOT_KEEPS_MUCH ((int64_t)1 << 30) /* bytes of log kept by an idle slot */
#define SENDER_TIMEOUT_LEAST_MS 30000      /* the connector reports every 10 s */
#define KEEP_LEAST_MB 10240 /* below it a slot is soon invalidated; Estuary advises about 50 GB */

/* --- the capture's own slot ------------------------------------------------------------------ */

/* Another name of the same form, for the operator to take over. */
static void offer_name(struct outcome *out, const char *slot, const struct postgres_slots *slots)
{
    for (int i = 2; i < 100; i++) {
        AUTO(xfree) char *name = xasprintf("%.58s_%d", slot, i);
        if (postgres_slots_find(slots, name) == NULL) {
            outcome_suggest(out, "postgres.slot", name);
            return;
        }
    }
}

static void judge_active(struct outcome *out, const struct postgres_slot *r, const char *user)
{
    if (strcmp(r->user, user) == 0) {
        outcome_warn(out, "it is read now by %s (pid %d%s%s)", r->user, r->pid,
                     r->application[0] != '\0' ? ", " : "", r->application);
        outcome_why(out,
                    "Fine, when this pipeline's own capture runs already. A second capture needs "
                    "another slot: it would fail as \"active for PID %d\".",
                    r->pid);
        return;
    }
    outcome_fail(out, "55006", "slot %s is in use by another reader (pid %d, %s%s%s)", r->name,
                 r->pid, r->user[0] != '\0' ? r->user : "user unknown",
                 r->application[0] != '\0' ? ", " : "", r->application);
    outcome_why(out, "Estuary's checks would pass and the capture would fail at its start.");
}

static void judge_slot(struct outcome *out, const struct postgres_slot *r, const char *user,
                       const char *database)
{
    if (!r->logical) {
        outcome_fail(out, "slot physical", "slot %s is a physical one%s", r->name,
                     r->active ? ", in use" : "");
        outcome_why(out, "Estuary drops a slot of its name when the capture starts, a physical one "
                         "as well: the standby it belongs to could lose its place.");
    } else if (strcmp(r->database, database) != 0) {
        outcome_fail(out, "slot database", "slot %s belongs to database %s", r->name, r->database);
        outcome_why(out, "A slot reads one database; Estuary refuses one of another.");
    } else if (strcmp(r->plugin, "pgoutput") != 0) {
        outcome_fail(out, "slot plugin", "slot %s belongs to another tool (plugin %s)", r->name,
                     r->plugin);
        outcome_why(
            out,
            "Estuary drops an idle slot of its name when the capture starts, whoever made it.");
    } else if (r->active) {
        judge_active(out, r, user);
    } else {
        AUTO(xfree) char *kept = postgres_size_text(r->retained);
        outcome_fail(out, "slot exists", "slot %s exists already, idle%s", r->name,
                     strcmp(r->wal_status, "lost") == 0 ? ", and has lost its log" : "");
        outcome_why(out, "Estuary drops it and makes it anew when the capture starts. If another "
                         "tool waits for it, that tool loses its place.");
        outcome_evidence(out, "plugin pgoutput, database %s, %s of log kept%s%s", r->database, kept,
                         r->since[0] != '\0' ? ", idle since " : "", r->since);
    }
}

static void run_slot_name(struct run *run, struct outcome *out)
{
    const struct postgres_slots *slots = run_fact(run, FACT_SLOTS, &postgres_slots_type);
    const char *name = run_text(run, "postgres.slot");
    const struct postgres_slot *r = postgres_slots_find(slots, name);
    if (r == NULL) {
        outcome_pass(out, "%s is not taken; Estuary makes it", name);
        return;
    }
    judge_slot(out, r, run_text(run, "postgres.user"), run_text(run, "postgres.database"));
    if (out->status != STATUS_FAILED)
        return;
    outcome_fix(out, WHO_YOU,
                "take another name; or, if it is the slot of this very pipeline, accept that it is "
                "dropped");
    offer_name(out, name, slots);
}

const struct check postgres_check_slot_name = {
    .id = "postgres.slot_name",
    .title = "the slot's name is free",
    .reads = (const char *const[]){FACT_SLOTS, "postgres.slot", "postgres.user",
                                   "postgres.database", NULL},
    .severity = SEV_DANGER,
    .cause = "A replication slot of that name exists. Estuary drops an idle slot of its name and "
             "makes it anew, whoever it belongs to, a standby's as well.",
    .fix = "Choose another name. Accept it only when the slot is the old one of this pipeline.",
    .run = run_slot_name,
};

/* --- other slots ----------------------------------------------------------------------------- */

static void run_other_slots(struct run *run, struct outcome *out)
{
    const struct postgres_slots *slots = run_fact(run, FACT_SLOTS, &postgres_slots_type);
    const char *ours = run_text(run, "postgres.slot");
    size_t others = 0, bad = 0;
    for (size_t i = 0; i < slots->count; i++) {
        const struct postgres_slot *r = &slots->rows[i];
        if (strcmp(r->name, ours) == 0 || r->temporary)
            continue;
        others++;
        bool lost = strcmp(r->wal_status, "lost") == 0;
        if (r->active || (r->retained < SLOT_KEEPS_MUCH && !lost))
            continue;
        bad++;
        AUTO(xfree) char *kept = postgres_size_text(r->retained);
        AUTO(xfree)
        char *line = lost ? xstrdup("has lost its log, useless now")
                          : xasprintf("idle%s%s, keeps %s of log",
                                      r->since[0] != '\0' ? " since " : "", r->since, kept);
        outcome_item(out, STATUS_WARNED, r->name, line,
                     "drop it, if its owner agrees: pg_drop_replication_slot");
    }
    if (bad == 0) {
        outcome_pass(out, others == 0 ? "there are no others" : "%zu others, none keeps much log",
                     others);
        return;
    }
    outcome_warn(out, "%zu idle slot%s keep%s the log from being recycled", bad,
                 bad == 1 ? "" : "s", bad == 1 ? "s" : "");
    outcome_why(out, "The log grows until the disk is full, whoever the slot belongs to.");
    outcome_fix(out, WHO_DBA, "drop the slots that nobody will read again");
}

const struct check postgres_check_other_slots = {
    .id = "postgres.other_slots",
    .title = "no idle slot fills the disk",
    .reads = (const char *const[]){FACT_SLOTS, "postgres.slot", NULL},
    .severity = SEV_WARNS,
    .cause = "A slot that nobody reads keeps all log since then.",
    .fix = "Drop it when its owner agrees: SELECT pg_drop_replication_slot('name').",
    .run = run_other_slots,
};

/* --- retention ------------------------------------------------------------------------------- */

static void judge_keep(struct outcome *out, const struct postgres_server *s)
{
    const struct postgres_recipe *r = postgres_recipe(s->platform);
    if (s->wal_keep_mb == POSTGRES_NO_SETTING || s->wal_keep_mb < 0) {
        outcome_warn(out, "a slot may keep log without bound");
        outcome_why(
            out, "If the capture stops for long, the log fills the disk and the server stops too.");
        if (s->wal_keep_mb == POSTGRES_NO_SETTING)
            outcome_fix(out, WHO_DBA,
                        "watch the disk: max_slot_wal_keep_size exists from PostgreSQL 13 on");
        else
            outcome_fix(
                out, r->who,
                "set max_slot_wal_keep_size; about 50 GB is a start, less than the disk has free");
        if (s->wal_keep_mb != POSTGRES_NO_SETTING && s->platform != POSTGRES_AZURE &&
            s->platform != POSTGRES_NEON)
            outcome_copy_command(out, "%s", r->retention);
    } else {
        outcome_warn(out, "a slot may keep only %lld MB of log", (long long)s->wal_keep_mb);
        outcome_why(out, "A pause of the capture that writes more invalidates the slot: all tables "
                         "are then copied anew.");
        outcome_fix(out, r->who, "raise max_slot_wal_keep_size; about 50 GB is a start");
    }
}

static void run_wal_keep(struct run *run, struct outcome *out)
{
    const struct postgres_server *s = run_fact(run, FACT_SERVER, &postgres_server_type);
    if (s->sender_timeout_ms > 0 && s->sender_timeout_ms < SENDER_TIMEOUT_LEAST_MS) {
        outcome_warn(out, "wal_sender_timeout is only %lld s",
                     (long long)s->sender_timeout_ms / 1000);
        outcome_why(out, "Estuary reports its place every 10 s; a shorter wait than 30 s cuts it "
                         "off at a small delay.");
        outcome_fix(out, WHO_DBA, "set wal_sender_timeout to 60 s, its default");
    } else if (s->idle_slot_s > 0) {
        outcome_warn(out, "idle slots are invalidated after %lld min",
                     (long long)s->idle_slot_s / 60);
        outcome_why(out, "A capture that is paused for longer must copy all tables anew.");
        outcome_fix(out, WHO_DBA,
                    "set idle_replication_slot_timeout = 0, or longer than any pause");
    } else if (s->wal_keep_mb == POSTGRES_NO_SETTING || s->wal_keep_mb < KEEP_LEAST_MB) {
        judge_keep(out, s);
    } else {
        outcome_pass(out, "a slot may keep up to %lld GB of log", (long long)s->wal_keep_mb / 1024);
    }
}

const struct check postgres_check_wal_keep = {
    .id = "postgres.wal_keep",
    .title = "log kept for slots is bounded",
    .reads = (const char *const[]){FACT_SERVER, NULL},
    .severity = SEV_WARNS,
    .cause = "max_slot_wal_keep_size is unset (a stopped capture fills the disk) or small (a short "
             "pause invalidates the slot); or idle slots or senders are cut off early.",
    .fix = "Set max_slot_wal_keep_size to about 50 GB, less than the disk has free; "
           "wal_sender_timeout to 60 s; idle_replication_slot_timeout to 0.",
    .run = run_wal_keep,
};

/* --- long transactions ----------------------------------------------------------------------- */

/* "app@10.0.3.7 in shop, open for 66 min, idle in transaction: UPDATE …" */
static char *session_text(const struct postgres_session *r)
{
    AUTO(xfree) char *age = postgres_age_text(r->age_s);
    AUTO_TEXT line = TEXT_INIT;
    text_add(&line, r->user[0] != '\0' ? r->user : "a background task");
    if (r->client != NULL && r->client[0] != '\0')
        text_addf(&line, "@%s", r->client);
    if (r->database[0] != '\0')
        text_addf(&line, " in %s", r->database);
    text_addf(&line, ", open for %s, %s", age, r->state);
    if (r->pid != 0 && r->what[0] != '\0')
        text_addf(&line, ": %s", r->what);
    return text_take(&line);
}

static void run_long_transactions(struct run *run, struct outcome *out)
{
    const struct postgres_sessions *s = run_fact(run, FACT_SESSIONS, &postgres_sessions_type);
    const struct postgres_server *server = run_fact(run, FACT_SERVER, &postgres_server_type);
    if (s->count == 0) {
        outcome_pass(out, "none is open for more than 5 minutes%s",
                     server->admin_sees_all ? "" : ", as far as this admin may see");
        return;
    }
    for (size_t i = 0; i < s->count; i++) {
        const struct postgres_session *r = &s->rows[i];
        AUTO(xfree)
        char *name = r->pid != 0 ? xasprintf("pid %d", r->pid) : xasprintf("prepared %s", r->what);
        AUTO(xfree) char *line = session_text(r);
        AUTO(xfree)
        char *fix = r->pid != 0 ? xasprintf("SELECT pg_terminate_backend(%d);", r->pid)
                                : xstrdup("COMMIT PREPARED or ROLLBACK PREPARED it");
        outcome_item(out, STATUS_WARNED, name, line, fix);
    }
    const struct postgres_session *oldest = &s->rows[0];
    AUTO(xfree) char *age = postgres_age_text(oldest->age_s);
    outcome_warn(out, "%zu open for long, the oldest for %s", s->count, age);
    outcome_why(out, "A slot is only ready once all transactions that ran before have ended: the "
                     "round trip here gives up, and Estuary's capture hangs at its start.");
    outcome_fix(out, WHO_DBA, "let them end, or end them");
    if (oldest->pid != 0)
        outcome_copy_command(out, "SELECT pg_terminate_backend(%d);", oldest->pid);
}

const struct check postgres_check_long_transactions = {
    .id = "postgres.long_transactions",
    .title = "no transaction is open for long",
    .reads = (const char *const[]){FACT_SESSIONS, FACT_SERVER, NULL},
    .severity = SEV_WARNS,
    .cause = "A session is idle in a transaction, a long query runs, or a prepared transaction was "
             "forgotten, in any database of the server.",
    .fix = "Let it end or end it; idle_in_transaction_session_timeout guards against the next.",
    .run = run_long_transactions,
};
