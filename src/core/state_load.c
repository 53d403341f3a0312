/* Reads the document of a state file into the wizard. What a person edited by hand merely makes
 * checks stale; what cannot be understood is an error that names the line, and nothing is
 * overwritten. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/state_parts.h"

static const struct node *need_map(const struct state *s, const char *key, struct problem *err)
{
    const struct node *n = node_get(s->doc, key);
    if (n == NULL || n->kind == NODE_MAP)
        return n;
    problem_fail(err, PROBLEM_INPUT, "form", "%s: line %d: %s must be a mapping", s->path, n->line,
                 key);
    problem_fix(err, WHO_YOU, "correct the line, or put %s.previous back", s->path);
    return NULL;
}

/* A value that equals the default is the default: it follows when what it is derived from changes.
 */
static void unpin_defaults(struct wizard *w)
{
    const struct rows *rows = wizard_rows(w);
    for (size_t i = 0; i < rows->field_count; i++) {
        const struct value *given = wizard_answer(w, (int)i);
        if (given == NULL || given->kind == VALUE_SECRET ||
            wizard_origin(w, (int)i) != ORIGIN_STATE)
            continue;
        struct value *kept = value_ref(given);
        wizard_set(w, (int)i, NULL, ORIGIN_NONE, NULL);
        if (value_empty(kept) || !value_equal(kept, wizard_effective(w, (int)i)))
            wizard_set(w, (int)i, value_ref(kept), ORIGIN_STATE, NULL);
        value_unref(kept);
    }
}

/* In the order of rows, so that a host stands before the secret that is bound to it. */
static int load_answers(struct state *s, struct wizard *w, struct problem *err)
{
    const struct rows *rows = wizard_rows(w);
    AUTO_PROBLEM why = PROBLEM_INIT;
    const struct node *answers = need_map(s, "answers", &why);
    if (why.kind != PROBLEM_NONE) {
        problem_move(err, &why);
        return -1;
    }
    for (size_t i = 0; i < rows->field_count; i++) {
        const char *id = rows->fields[i]->id;
        const struct node *of_step = node_get(answers, rows_step_of(rows, id)->id);
        const struct node *n = node_get(of_step, strchr(id, '.') + 1);
        if (n == NULL)
            continue;
        if (wizard_set_node(w, (int)i, n, ORIGIN_STATE, &why) == 0)
            continue;
        bool wrong_form = why.code != NULL && strcmp(why.code, "form") == 0;
        if (wrong_form) {
            problem_fail(err, PROBLEM_INPUT, "form", "%s: %s", s->path, why.what);
            problem_fix(err, WHO_YOU, "correct the line, or put %s.previous back", s->path);
            return -1;
        }
        problem_release(&why); /* kept as it is and shown at its field */
    }
    unpin_defaults(w);
    return 0;
}

static void load_facts(struct state *s, struct wizard *w)
{
    const struct rows *rows = wizard_rows(w);
    const struct node *facts = node_get(s->doc, "facts");
    for (size_t i = 0; i < rows->fact_count; i++) {
        struct digest d;
        const char *hex = node_get_text(node_get(facts, rows->facts[i]), "digest");
        if (hex != NULL && digest_parse(hex, &d))
            wizard_restore_fact(w, (int)i, d, NULL);
    }
}

static enum who who_parse(const char *name)
{
    for (int i = 0; i < WHO_COUNT && name != NULL; i++)
        if (strcmp(problem_who_name((enum who)i), name) == 0)
            return (enum who)i;
    return WHO_YOU;
}

static struct outcome *outcome_from_node(const struct node *n)
{
    enum status status = status_parse(node_get_text(n, "status"));
    struct digest d;
    const char *hex = node_get_text(n, "digest");
    const char *at = node_get_text(n, "at");
    if (status == STATUS_NONE || hex == NULL || !digest_parse(hex, &d) || at == NULL)
        return NULL; /* as if it had never run */
    struct outcome *o = outcome_new();
    o->status = status;
    o->digest = d;
    o->at = clock_parse_iso(at);
    o->line = xstrdup(node_get_text(n, "line"));
    o->code = xstrdup(node_get_text(n, "code"));
    o->why = xstrdup(node_get_text(n, "why"));
    o->fix = xstrdup(node_get_text(n, "fix"));
    o->who = who_parse(node_get_text(n, "who"));
    return o;
}

static void load_checks(struct state *s, struct wizard *w)
{
    const struct rows *rows = wizard_rows(w);
    const struct node *checks = node_get(s->doc, "checks");
    for (size_t i = 0; i < rows->check_count; i++) {
        const struct node *n = node_get(checks, rows->checks[i]->id);
        struct outcome *o = n != NULL ? outcome_from_node(n) : NULL;
        if (o != NULL)
            wizard_restore_outcome(w, (int)i, o);
        outcome_unref(o);
        const char *accepted = node_get_text(n, "accepted");
        if (accepted != NULL)
            wizard_accept(w, (int)i, accepted);
    }
}

static enum journal_status journal_parse(const char *name)
{
    for (int i = JOURNAL_INTENDED; i <= JOURNAL_UNDONE; i++)
        if (name != NULL && strcmp(journal_status_name((enum journal_status)i), name) == 0)
            return (enum journal_status)i;
    return JOURNAL_INTENDED; /* the cautious reading: find decides */
}

static int load_journal(struct state *s, struct wizard *w, struct problem *err)
{
    const struct node *list = node_get(s->doc, "journal");
    if (list == NULL)
        return 0;
    static const char *const known[] = {"change", "step", "kind",      "title", "status",
                                        "at",     "saw",  "was_there", "made",  "args"};
    for (size_t i = 0; list->kind == NODE_LIST && i < list->count; i++) {
        const struct node *n = list->items[i];
        if (node_get_text(n, "change") == NULL || node_get_text(n, "kind") == NULL) {
            problem_fail(err, PROBLEM_INPUT, "form", "%s: line %d: a journal entry names no change",
                         s->path, n->line);
            problem_fix(err, WHO_YOU, "put %s.previous back", s->path);
            return -1;
        }
        const char *at = node_get_text(n, "at");
        const char *was_there = node_get_text(n, "was_there");
        struct journal_entry e = {
            .change = xstrdup(node_get_text(n, "change")),
            .step = xstrdup(node_get_text(n, "step")),
            .kind = xstrdup(node_get_text(n, "kind")),
            .title = xstrdup(node_get_text(n, "title")),
            .status = journal_parse(node_get_text(n, "status")),
            .saw = xstrdup(node_get_text(n, "saw")),
            .was_there = was_there != NULL && strcmp(was_there, "true") == 0,
            .made = xstrdup(node_get_text(n, "made")),
            .at = at != NULL ? clock_parse_iso(at) : 0,
            .rest = node_copy(n),
        };
        const struct node *args = node_get(n, "args");
        e.args = args != NULL ? node_copy(args) : NULL;
        for (size_t k = 0; k < ARRAY_LEN(known); k++)
            node_remove(e.rest, known[k]);
        wizard_journal_restore(w, e);
    }
    return 0;
}

int state_load(struct state *s, struct wizard *w, struct problem *err)
{
    if (load_answers(s, w, err) != 0 || load_journal(s, w, err) != 0)
        return -1;
    load_facts(s, w);
    load_checks(s, w);
    s->saved_version = wizard_version(w);
    return 0;
}
