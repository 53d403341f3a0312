/* RUNBOOK.md: for who reviews the folder and takes it live. What to do first, then what is proved
 * and by what, what is not, and who must still act. */
#include <string.h>

#include "core/clean.h"
#include "core/clock.h"
#include "core/mem.h"
#include "estuary/names.h"
#include "estuary/tree.h"
#include "steps/materialization/materialization.h"
#include "steps/review/material.h"
#include "steps/review/review.h"

/* One line of Markdown: nothing of it may end a cell, begin a tag or a link. */
static void add_inline(struct text *out, const char *s)
{
    AUTO(xfree) char *line = clean_copy(s, CLEAN_LINE);
    for (const char *p = line; *p != '\0'; p++) {
        if (strchr("|<>[]*_`\\", *p) != NULL)
            text_addc(out, '\\');
        text_addc(out, *p);
    }
}

/* In a code span, which a backtick would end. */
static void add_code(struct text *out, const char *s)
{
    AUTO(xfree) char *line = clean_copy(s, CLEAN_LINE);
    text_addc(out, '`');
    for (const char *p = line; *p != '\0'; p++)
        text_addc(out, *p == '`' || *p == '|' ? '\'' : *p);
    text_addc(out, '`');
}

/* "2026-11-30 10:41"; the zone is said once. */
static void add_when(struct text *out, int64_t at)
{
    AUTO(xfree) char *iso = clock_iso(at);
    text_addf(out, "%.10s %.5s", iso, iso + 11);
}

static const struct check *check_of(const struct material *m, const struct review_row *r)
{
    return wizard_rows(m->wizard)->checks[r->check];
}

/* --- beginning -------------------------------------------------------------------------------- */

/* What is still to be done to it before it can be published, if anything. */
static void add_sort(const struct material *m, struct text *out)
{
    /* In brackets: clang takes a text of two parts in a list for a comma that was forgotten. */
    static const char *const secrets[SECRETS_FORMS] = {
        [SECRETS_SEALED] = ("The configs are sealed: only Estuary can open them, and they must not "
                            "be edited."),
        [SECRETS_PLACEHOLDER] = "Secrets are placeholders.",
        [SECRETS_PLAIN] = ("**The configs hold the secrets in clear.** Do not commit or send this "
                           "folder; flowctl seals them when it\npublishes."),
    };
    if (material_draft(m))
        text_add(out, "**This is a draft.** The collections are drafted from the columns of the "
                      "tables, as Estuary has not discovered\nthem. The first command that is run "
                      "here is `flowctl discover`. ");
    else
        text_add(out, "The collections are as Estuary discovered them. ");
    text_addf(out, "%s\n\n", secrets[m->form]);
}

static void add_beginning(const struct material *m, const struct review *r, struct text *out)
{
    text_addf(out, "# %s: PostgreSQL → Bauplan", material_text(m, "start.name"));
    if (r->newest != 0) {
        text_add(out, ", as proved on ");
        add_when(out, r->newest);
        text_add(out, " UTC");
    }
    text_add(out, "\n\n");
    add_sort(m, out);
    text_addf(out,
              "Of %zu checks %zu are proved, %zu accepted, %zu not proved, %zu proved of other "
              "answers; %zu do not apply.\n\n",
              r->count, r->of[REVIEW_PROVED], r->of[REVIEW_ACCEPTED], r->of[REVIEW_OPEN],
              r->of[REVIEW_STALE], r->of[REVIEW_APART]);
}

/* --- going live ------------------------------------------------------------------------------- */

static void add_placeholders(const struct material *m, struct text *out)
{
    AUTO(xfree) char *source = estuary_config_path(material_text(m, "capture.name"));
    AUTO(xfree) char *target = estuary_config_path(material_text(m, "materialization.name"));
    const char *const rows[][3] = {
        {SPEC_NO_PASSWORD, source, "password of the capture user (postgres.password)"},
        {SPEC_NO_CLIENT_SECRET, target, "secret of Bauplan's OAuth client (oauth.client_secret)"},
        {SPEC_NO_KEY_SECRET, target, "secret of the IAM user's access key (iam.access_key)"},
        {SPEC_NO_KEY_ID, target, "id of the IAM user's access key (iam.access_key)"},
    };
    size_t count = m->key_id != NULL ? ARRAY_LEN(rows) - 1 : ARRAY_LEN(rows);
    text_add(out, "   | placeholder | in | is |\n   |---|---|---|\n");
    for (size_t i = 0; i < count; i++)
        text_addf(out, "   | `%s` | `%s` | %s |\n", rows[i][0], rows[i][1], rows[i][2]);
}

/* Where Estuary connects from, as the login knew it. */
static void add_addresses(const struct material *m, struct text *out)
{
    const struct node *plane =
        node_get(node_get(m->account, "planes"), material_text(m, "start.data_plane"));
    const struct node *cidrs = node_get(plane, "cidrs");
    if (cidrs == NULL || cidrs->kind != NODE_LIST || cidrs->count == 0)
        return;
    text_addf(out, "1. See that %s lets these addresses in at port %s:\n   ",
              material_text(m, "postgres.host"), material_text(m, "postgres.port"));
    for (size_t i = 0; i < cidrs->count; i++) {
        text_add(out, i > 0 ? ", " : "");
        add_code(out, node_text(cidrs->items[i]) != NULL ? node_text(cidrs->items[i]) : "");
    }
    text_addc(out, '\n');
}

static void add_publish(const struct material *m, struct text *out)
{
    const char *plane = material_text(m, "start.data_plane");
    text_add(out, "1. `flowctl catalog publish --source flow.yaml");
    if (plane[0] != '\0') {
        AUTO(xfree) char *line = clean_copy(plane, CLEAN_LINE);
        text_addf(out, " --init-data-plane %s", line);
    }
    text_addf(out, "`%s\n   From here the tables are filled; each sync starts Spark jobs.\n",
              plane[0] != '\0' ? " (older versions: `--default-data-plane`)" : "");
}

/* Numbers are given by Markdown: each line begins with 1. */
static void add_going_live(const struct material *m, struct text *out)
{
    text_add(out, "## To go live\n\n");
    if (m->form == SECRETS_PLACEHOLDER) {
        text_add(out, "1. With an editor put the secrets where the placeholders are, never on a "
                      "command line:\n\n");
        add_placeholders(m, out);
        text_addc(out, '\n');
    }
    add_addresses(m, out);
    text_add(out, "1. `flowctl auth login`\n");
    if (material_draft(m))
        text_addf(out,
                  "1. `flowctl discover --source flow.yaml`\n"
                  "   Estuary reads the tables itself: the drafts of the collections are replaced, "
                  "and configs that are not\n   sealed yet are (a sealed file must not be edited "
                  "any more). It writes into this folder. Only then can soft\n   deletes become "
                  "hard ones.\n"
                  "1. Read what changed: a table that is missing now is not in the publication "
                  "%s.\n",
                  material_text(m, "postgres.publication"));
    text_add(out, "1. `flowctl catalog test --source flow.yaml`\n");
    if (m->image_kept == NULL)
        text_addf(out,
                  "   If the image `%s` is unknown there, use `%s`: the\n   same under its older "
                  "name.\n",
                  ESTUARY_TARGET_IMAGE, ESTUARY_TARGET_IMAGE_OLDER);
    add_publish(m, out);
    text_addf(out, "1. `flowctl catalog status %s`: pending, then backfilling, then streaming.\n\n",
              material_text(m, "capture.name"));
}

/* --- what goes where -------------------------------------------------------------------------- */

static void add_tables(const struct material *m, struct text *out)
{
    AUTO(xfree)
    char *base = xasprintf("s3://%s/%s", material_text(m, "bucket.lake"),
                           material_text(m, "bucket.lake_prefix"));
    const char *every = material_text(m, "materialization.sync_frequency");
    long syncs = materialization_syncs(every);
    text_add(
        out,
        "## What goes where\n\n| table | collection | in Bauplan | files |\n|---|---|---|---|\n");
    for (size_t i = 0; i < m->tables.count; i++) {
        const struct estuary_binding *b = &m->bindings[i];
        AUTO(xfree) char *place = estuary_table_location(base, b->ns, b->iceberg);
        text_add(out, "| ");
        add_code(out, m->tables.list[i].written);
        text_addf(out, " | `%s` | `%s.%s` | `%s` |\n", b->collection, b->ns, b->iceberg, place);
    }
    AUTO(xfree)
    char *parameter = estuary_parameter(material_text(m, "iam.ssm_prefix"),
                                        material_text(m, "materialization.name"));
    text_addf(
        out,
        "\nDeleted rows %s. A sync every %s%s. The catalog's credential is\nkept as the parameter "
        "`%s`.\n\n",
        strcmp(material_text(m, "materialization.hard_delete"), "yes") == 0
            ? "vanish with the next sync (hard)"
            : "stay, marked `d` in `_meta/op` (soft)",
        every, syncs > 0 ? "" : ", one after the other", parameter);
}

/* --- how it stands ---------------------------------------------------------------------------- */

static void add_proved(const struct material *m, const struct review *r, struct text *out)
{
    text_add(out, "## Proved\n\nTimes are UTC.\n\n| what | proved by | when | evidence "
                  "|\n|---|---|---|---|\n");
    for (size_t i = 0; i < r->count; i++) {
        const struct review_row *row = &r->rows[i];
        if (row->group != REVIEW_PROVED)
            continue;
        text_add(out, "| ");
        add_inline(out, check_of(m, row)->title);
        text_addf(out, " | `%s` | ", check_of(m, row)->id);
        add_when(out, row->outcome->at);
        text_add(out, row->outcome->status == STATUS_WARNED ? " | **but:** " : " | ");
        add_inline(out, row->outcome->line);
        text_add(out, " |\n");
    }
    text_addc(out, '\n');
}

static void add_accepted(const struct material *m, const struct review *r, struct text *out)
{
    text_add(out, "## Accepted\n\n");
    for (size_t i = 0; i < r->count; i++) {
        const struct review_row *row = &r->rows[i];
        if (row->group != REVIEW_ACCEPTED)
            continue;
        text_addf(out, "- `%s`: ", check_of(m, row)->id);
        add_inline(out, row->outcome->line);
        text_add(out, ". Accepted: ");
        add_inline(out, wizard_accepted(m->wizard, row->check));
        text_addc(out, '\n');
    }
    text_add(out, r->of[REVIEW_ACCEPTED] == 0 ? "Nothing.\n\n" : "\n");
}

static void add_open(const struct material *m, const struct review *r, struct text *out)
{
    text_add(out, "## Not proved\n\n");
    for (const struct review_beyond *b = review_beyond; b->what != NULL; b++)
        if (review_is_beyond(m->wizard, b))
            text_addf(out, "- **%s**: %s.\n", b->what, b->how);
    for (size_t i = 0; i < r->count; i++) {
        const struct review_row *row = &r->rows[i];
        if (row->group != REVIEW_OPEN && row->group != REVIEW_STALE)
            continue;
        const struct check *c = check_of(m, row);
        text_addf(out, "- `%s` (%s): ", c->id, severity_name(c->severity));
        if (row->outcome == NULL) {
            text_add(out, "never run. ");
            add_inline(out, c->title);
        } else if (row->group == REVIEW_STALE) {
            text_add(out, "of other answers. It was: ");
            add_inline(out, row->outcome->line);
        } else {
            add_inline(out, row->outcome->line);
        }
        text_addc(out, '\n');
    }
    text_add(out, "\n`sluice check --deep` runs what can be run.\n\n");
}

/* Those that have something to do, each with all of it. */
static void add_who(const struct material *m, const struct review *r, struct text *out)
{
    bool any = false;
    text_add(out, "## Who must still act\n\n");
    for (int who = 0; who < WHO_COUNT; who++)
        for (size_t i = 0; i < r->count; i++) {
            const struct review_row *row = &r->rows[i];
            const struct outcome *o = row->outcome;
            bool concerns = row->group == REVIEW_OPEN ||
                            (row->group == REVIEW_PROVED && o->status == STATUS_WARNED);
            if (!concerns || o == NULL || o->fix == NULL || (int)o->who != who)
                continue;
            text_addf(out, "- **%s** (`%s`): ", problem_who_name((enum who)who),
                      check_of(m, row)->id);
            add_inline(out, o->fix);
            text_addc(out, '\n');
            any = true;
        }
    text_add(out, any ? "\n" : "Nobody, by the checks.\n\n");
}

static void add_undo(const struct material *m, struct text *out)
{
    struct plan undo;
    wizard_make_undo(m->wizard, -1, &undo);
    text_add(out,
             "## To take it back\n\nDelete the materialization and the capture in Estuary first; "
             "the capture leaves its replication slot, which\nkeeps the server's log from "
             "being recycled until it is dropped: ");
    AUTO(xfree)
    char *drop =
        xasprintf("SELECT pg_drop_replication_slot('%s')", material_text(m, "postgres.slot"));
    add_code(out, drop);
    text_add(out, ".\n`sluice undo` then takes back what sluice made, newest first:\n\n");
    for (size_t i = 0; i < undo.count; i++) {
        text_add(out, "- ");
        add_inline(out, undo.changes[i]->title);
        text_addc(out, '\n');
    }
    if (undo.count == 0)
        text_add(out, "Nothing was made by sluice.\n");
    plan_release(&undo);
}

void export_runbook(const struct material *m, struct text *out)
{
    AUTO_REVIEW r = {0};
    review_make(m->wizard, false, &r);
    add_beginning(m, &r, out);
    add_going_live(m, out);
    add_tables(m, out);
    add_proved(m, &r, out);
    add_accepted(m, &r, out);
    add_open(m, &r, out);
    add_who(m, &r, out);
    add_undo(m, out);
}
