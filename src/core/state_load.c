/* Reads the document of a state file into the wizard. What a person edited by hand merely makes
 * checks stale; what cannot be understood is an error that names the line, and nothing is
 * overwritten. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/shown.h"
#include "core/state_parts.h"

static int wrong_form(const struct state *s, const struct node *n, const char *what,
                      struct problem *err)
{
    problem_fail(err, PROBLEM_INPUT, "form", "%s: line %d: %s", s->path, n->line, what);
    problem_fix(err, WHO_YOU, "correct the line");
    state_say_previous(s, err);
    return -1;
}

/* "key:" with nothing behind it is as good as none. */
static bool is_blank(const struct node *n)
{
    return n == NULL || (n->kind == NODE_SCALAR && node_text(n) == NULL);
}

/* What is there of another form would be overwritten by the next save: it is refused. */
static int need(const struct state *s, const struct node *n, enum node_kind kind, const char *name,
                struct problem *err)
{
    if (is_blank(n) || n->kind == kind)
        return 0;
    AUTO(xfree)
    char *what = xasprintf("%s must be a %s", name, kind == NODE_MAP ? "mapping" : "list");
    return wrong_form(s, n, what, err);
}

/* In the order of rows, so that a host stands before the secret that is bound to it. */
static int load_answers(struct state *s, struct wizard *w, struct problem *err)
{
    const struct rows *rows = wizard_rows(w);
    const struct node *answers = node_get(s->doc, "answers");
    if (need(s, answers, NODE_MAP, "answers", err) != 0)
        return -1;
    for (size_t i = 0; i < rows->step_count; i++)
        if (need(s, node_get(answers, rows->steps[i]->id), NODE_MAP, rows->steps[i]->id, err) != 0)
            return -1;
    for (size_t i = 0; i < rows->field_count; i++) {
        const char *id = rows->fields[i]->id;
        const struct node *of_step = node_get(answers, rows_step_of(rows, id)->id);
        const struct node *n = node_get(of_step, strchr(id, '.') + 1);
        AUTO_PROBLEM why = PROBLEM_INIT;
        if (n == NULL || wizard_set_node(w, (int)i, n, ORIGIN_STATE, &why) >= 0)
            continue; /* one that is not valid is kept as it is and shown at its field */
        problem_fail(err, PROBLEM_INPUT, "form", "%s: %s", s->path, why.what);
        problem_fix(err, WHO_YOU, "%s", why.fix);
        state_say_previous(s, err);
        return -1;
    }
    return 0;
}

/* An answer that still reads as it was made. */
static int load_made(struct state *s, struct wizard *w, struct problem *err)
{
    const struct rows *rows = wizard_rows(w);
    const struct node *made = node_get(s->doc, "made");
    if (need(s, made, NODE_MAP, "made", err) != 0)
        return -1;
    for (size_t i = 0; i < rows->field_count; i++) {
        const struct value *v = wizard_answer(w, (int)i);
        const struct node *n = node_get(made, rows->fields[i]->id);
        if (n == NULL || v == NULL || v->kind == VALUE_SECRET)
            continue;
        struct node *now = value_to_node(v);
        if (node_equal(n, now))
            wizard_set(w, (int)i, value_ref(v), ORIGIN_MADE, NULL);
        node_free(now);
    }
    return 0;
}

/* Each entry of a section is a mapping; those of an unknown id may be what they want. */
static int need_maps(const struct state *s, const char *section, const char **ids, size_t count,
                     struct problem *err)
{
    const struct node *all = node_get(s->doc, section);
    if (need(s, all, NODE_MAP, section, err) != 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if (need(s, node_get(all, ids[i]), NODE_MAP, ids[i], err) != 0)
            return -1;
    return 0;
}

/* *kept NULL: it is not to be taken up. False when there is a value and it was altered, or is not
 * of its form (any more): as if it had not been found. */
static bool kept_fact(const struct rows *rows, size_t i, const struct node *entry,
                      struct fact **kept)
{
    const struct fact_type *type = rows->checks[rows->givers[i]]->kept;
    const struct node *value = state_fact_value(entry);
    *kept = NULL;
    if (value == NULL)
        return node_get(entry, "value") == NULL;
    if (type == NULL)
        return true;
    void *data = type->load(value);
    *kept = data != NULL ? fact_new(type, data) : NULL;
    return data != NULL;
}

static int load_facts(struct state *s, struct wizard *w, struct problem *err)
{
    const struct rows *rows = wizard_rows(w);
    const struct node *facts = node_get(s->doc, "facts");
    if (need_maps(s, "facts", rows->facts, rows->fact_count, err) != 0)
        return -1;
    for (size_t i = 0; i < rows->fact_count; i++) {
        struct digest d;
        const struct node *entry = node_get(facts, rows->facts[i]);
        const char *hex = node_get_text(entry, "digest");
        struct fact *kept;
        if (hex == NULL || !digest_parse(hex, &d) || !kept_fact(rows, i, entry, &kept))
            continue;
        wizard_restore_fact(w, (int)i, d, kept);
        fact_unref(kept);
    }
    return 0;
}

static enum who who_parse(const char *name)
{
    for (int i = 0; i < WHO_COUNT && name != NULL; i++)
        if (strcmp(problem_who_name((enum who)i), name) == 0)
            return (enum who)i;
    return WHO_YOU;
}

/* Those a check can end with; others are derived. */
static bool is_result(enum status s)
{
    return s == STATUS_PASSED || s == STATUS_WARNED || s == STATUS_FAILED || s == STATUS_SKIPPED ||
           s == STATUS_UNREACHABLE;
}

static char *shown_text(const struct node *n, const char *key, enum clean_mode mode)
{
    return shown_copy(node_get_text(n, key), mode);
}

static struct outcome *outcome_from_node(const struct node *n)
{
    enum status status = status_parse(node_get_text(n, "status"));
    struct digest d;
    const char *hex = node_get_text(n, "digest");
    int64_t at = clock_parse_iso(node_get_text(n, "at"));
    if (!is_result(status) || hex == NULL || !digest_parse(hex, &d) || at < 0)
        return NULL; /* as if it had never run */
    struct outcome *o = outcome_new();
    const char *kind = node_get_text(n, "kind");
    if (kind != NULL && strcmp(kind, problem_kind_name(PROBLEM_REFUSED)) == 0)
        o->kind = PROBLEM_REFUSED;
    o->status = status;
    o->digest = d;
    hex = node_get_text(n, "plain");
    if (hex == NULL || !digest_parse(hex, &o->plain))
        o->plain = (struct digest){{0}};
    o->at = at;
    o->line = shown_text(n, "line", CLEAN_LINE);
    o->code = shown_text(n, "code", CLEAN_LINE);
    o->why = shown_text(n, "why", CLEAN_LINES);
    o->fix = shown_text(n, "fix", CLEAN_LINES);
    o->who = who_parse(node_get_text(n, "who"));
    return o;
}

static int load_checks(struct state *s, struct wizard *w, struct problem *err)
{
    const struct rows *rows = wizard_rows(w);
    const struct node *checks = node_get(s->doc, "checks");
    if (need(s, checks, NODE_MAP, "checks", err) != 0)
        return -1;
    for (size_t i = 0; i < rows->check_count; i++) {
        const struct node *n = node_get(checks, rows->checks[i]->id);
        if (need(s, n, NODE_MAP, rows->checks[i]->id, err) != 0)
            return -1;
        struct outcome *o = n != NULL ? outcome_from_node(n) : NULL;
        if (o != NULL)
            wizard_restore_outcome(w, (int)i, o);
        outcome_unref(o);
        const char *accepted = node_get_text(n, "accepted");
        if (accepted != NULL)
            wizard_accept(w, (int)i, accepted);
    }
    return 0;
}

static enum journal_status journal_parse(const char *name)
{
    for (int i = JOURNAL_INTENDED; i <= JOURNAL_UNDONE; i++)
        if (name != NULL && strcmp(journal_status_name((enum journal_status)i), name) == 0)
            return (enum journal_status)i;
    return JOURNAL_INTENDED; /* the cautious reading: find decides */
}

static struct journal_entry entry_from_node(const struct node *n)
{
    static const char *const known[] = {"change", "step", "kind",      "title", "status",
                                        "at",     "saw",  "was_there", "made",  "args"};
    const char *change = node_get_text(n, "change");
    const char *step = node_get_text(n, "step");
    const char *title = node_get_text(n, "title");
    const char *was_there = node_get_text(n, "was_there");
    const struct node *args = node_get(n, "args");
    int64_t at = clock_parse_iso(node_get_text(n, "at"));
    struct journal_entry e = {
        .change = xstrdup(change),
        .step = step != NULL ? xstrdup(step) : xstrndup(change, strcspn(change, ".")),
        .kind = xstrdup(node_get_text(n, "kind")),
        .title = shown_copy(title != NULL ? title : change, CLEAN_LINE),
        .status = journal_parse(node_get_text(n, "status")),
        .saw = shown_text(n, "saw", CLEAN_LINE),
        .was_there = was_there != NULL && strcmp(was_there, "true") == 0,
        .made = xstrdup(node_get_text(n, "made")),
        .at = at > 0 ? at : 0,
        .args = args != NULL ? node_copy(args) : NULL,
        .rest = node_copy(n),
    };
    for (size_t k = 0; k < ARRAY_LEN(known); k++)
        node_remove(e.rest, known[k]);
    return e;
}

static int load_journal(struct state *s, struct wizard *w, struct problem *err)
{
    const struct node *list = node_get(s->doc, "journal");
    if (need(s, list, NODE_LIST, "journal", err) != 0)
        return -1;
    for (size_t i = 0; !is_blank(list) && i < list->count; i++) {
        const struct node *n = list->items[i];
        if (node_get_text(n, "change") == NULL || node_get_text(n, "kind") == NULL)
            return wrong_form(s, n, "a journal entry names no change", err);
        wizard_journal_restore(w, entry_from_node(n));
    }
    return 0;
}

int state_load(struct state *s, struct wizard *w, struct problem *err)
{
    if (load_answers(s, w, err) != 0 || load_made(s, w, err) != 0 || load_journal(s, w, err) != 0 ||
        load_facts(s, w, err) != 0 || load_checks(s, w, err) != 0)
        return -1;
    wizard_unpin_defaults(w);
    s->saved_version = wizard_version(w);
    return 0;
}
