/* The guard of the source: a table without replica identity must not get into a publication, or the
 * application's UPDATE and DELETE on it fail. Judged before anything is planned, of what is
 * published already as well. No I/O. */
#include <ctype.h>
#include <string.h>

#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "postgres/diff.h"
#include "steps/postgres/inputs.h"
#include "steps/postgres/postgres.h"

static const char *why_naked(const struct postgres_table *t)
{
    if (t->replica == 'n')
        return "REPLICA IDENTITY is NOTHING";
    if (t->replica == 'i')
        return "the index of its replica identity is gone";
    if (t->key == POSTGRES_KEY_PRIMARY && t->kind == 'r')
        return "its primary key is DEFERRABLE, which is no replica identity";
    if (t->kind == 'p')
        return t->partitions > 0 ? "no primary key, and partitions without replica identity"
                                 : "no primary key";
    return "no primary key, and REPLICA IDENTITY is DEFAULT";
}

static char *options(const struct postgres_table *t)
{
    AUTO_TEXT fix = TEXT_INIT;
    int n = 1;
    text_addf(&fix, "%d add a primary key", n++);
    if (t->kind == 'r' && t->usable[0] != '\0')
        text_addf(&fix, "; %d repair \"index:%s\" (unique, all NOT NULL)", n++, t->usable);
    text_addf(&fix, "; %d repair \"full\" (more log)", n++);
    text_addf(&fix, "; %d leave it out", n);
    return text_take(&fix);
}

/* Present repairs and the one for this table, as the answer is typed; only of names that need no
 * quoting. */
static void suggest(struct outcome *out, const struct value *repairs,
                    const struct postgres_table *t)
{
    if (t->kind != 'r' || t->usable[0] == '\0')
        return;
    for (const char *p = t->usable; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && *p != '_')
            return;
    AUTO_TEXT all = TEXT_INIT;
    for (size_t i = 0; repairs != NULL && repairs->kind == VALUE_MAP && i < repairs->count; i++)
        if (strcmp(repairs->keys[i], t->written) != 0)
            text_addf(&all, "%s=%s, ", repairs->keys[i], repairs->items[i]);
    text_addf(&all, "%s=index:%s", t->written, t->usable);
    outcome_suggest(out, "postgres.repairs", all.s);
}

struct tally {
    size_t sound, repaired, naked, wrong;
    const struct postgres_table *first; /* naked or wrong */
};

static void judge_table(struct outcome *out, const struct postgres_table *t, const char *repair,
                        struct tally *n)
{
    AUTO(xfree) char *fix = options(t);
    AUTO(xfree) char *line = NULL;
    switch (postgres_identity_of(t, repair)) {
    case POSTGRES_IDENTIFIED:
        n->sound++;
        return;
    case POSTGRES_REPAIRED:
        n->repaired++;
        line = xasprintf("%s; repaired by \"%s\" before it is published", why_naked(t), repair);
        outcome_item(out, STATUS_PASSED, t->written, line, NULL);
        return;
    case POSTGRES_BAD_REPAIR:
        n->wrong++;
        line = xasprintf("\"%s\" cannot be its replica identity: no unique, whole, immediate index "
                         "of that name with only NOT NULL columns",
                         repair);
        break;
    case POSTGRES_NAKED:
        n->naked++;
        line = xasprintf(
            "%s%s", why_naked(t),
            t->listed || t->published ? "; published already: UPDATE and DELETE fail now" : "");
        break;
    }
    if (n->first == NULL)
        n->first = t;
    outcome_item(out, STATUS_FAILED, t->written, line, fix);
}

/* Members that are no choice of ours but break the application all the same. */
static size_t judge_others(struct outcome *out, const struct postgres_publication *p,
                           const struct postgres_tables *chosen)
{
    size_t others = 0;
    for (size_t i = 0; i < p->broken_count; i++) {
        if (postgres_tables_written(chosen, p->broken[i]) != NULL)
            continue;
        others++;
        outcome_item(
            out, STATUS_FAILED, p->broken[i],
            "in the publication without replica identity: UPDATE and DELETE fail now",
            "give it a primary key or REPLICA IDENTITY FULL, or take it out of the publication");
    }
    return others;
}

static void explain(struct outcome *out, const struct tally *n, const char *publication)
{
    outcome_why(out, "Once published, every UPDATE and DELETE on such a table fails in the "
                     "application: \"cannot update table … because it does not have a replica "
                     "identity and publishes updates\". sluice never publishes one.");
    if (n->naked + n->wrong > 0)
        outcome_fix(
            out, WHO_YOU,
            "choose for each: add a primary key; REPLICA IDENTITY FULL (repair \"full\", more "
            "log); a unique index on NOT NULL columns (repair \"index:NAME\"); or leave it out");
    else
        outcome_fix(out, WHO_DBA, "mend the tables named, or choose another publication than %s",
                    publication);
}

static void run_identity(struct run *run, struct outcome *out)
{
    const struct postgres_tables *t = run_fact(run, FACT_CHOSEN, &postgres_chosen_type);
    const struct postgres_publication *p =
        run_fact(run, FACT_PUBLISHED, &postgres_publication_type);
    const struct value *repairs = run_value(run, "postgres.repairs");
    const char *watermarks = run_text(run, "postgres.watermarks");
    struct tally n = {0};
    if (p->exists && !p->updates && !p->deletes) {
        outcome_pass(out, "the publication hands out no UPDATE or DELETE");
        return;
    }
    for (size_t i = 0; i < t->count; i++)
        if (postgres_capturable(&t->rows[i], watermarks))
            judge_table(out, &t->rows[i], postgres_repair_of(repairs, t->rows[i].written), &n);
    size_t others = judge_others(out, p, t);
    if (p->all_elsewhere[0] != '\0')
        outcome_evidence(out, "other publications FOR ALL TABLES: %s", p->all_elsewhere);
    size_t bad = n.naked + n.wrong;
    if (bad + others == 0) {
        if (n.repaired > 0)
            outcome_pass(out, "%zu have one, %zu get one by the repair chosen", n.sound,
                         n.repaired);
        else
            outcome_pass(out, "%zu tables have one", n.sound);
        return;
    }
    if (bad == 1)
        outcome_fail(out, "55000", "UPDATE and DELETE on %s would fail", n.first->written);
    else if (bad > 1)
        outcome_fail(out, "55000", "UPDATE and DELETE on %zu tables would fail", bad);
    else
        outcome_fail(out, "55000", "UPDATE and DELETE fail now on %d tables of %s", p->broken_total,
                     p->name);
    explain(out, &n, p->name);
    if (n.first != NULL)
        suggest(out, repairs, n.first);
}

const struct check postgres_check_replica_identity = {
    .id = "postgres.replica_identity",
    .title = "published tables keep working",
    .reads = (const char *const[]){"postgres.tables", "?postgres.repairs", "postgres.watermarks",
                                   FACT_CHOSEN, FACT_PUBLISHED, NULL},
    .severity = SEV_DANGER,
    .cause = "A chosen table, or another one in the publication, has neither a primary key nor "
             "another replica identity. Publishing its updates makes UPDATE and DELETE fail in the "
             "application (SQLSTATE 55000).",
    .fix = "Add a primary key; or choose a repair in postgres.repairs, \"full\" or \"index:NAME\"; "
           "or leave the table out. sluice never publishes a table without one.",
    .run = run_identity,
};
