/* What the state file says: the wizard's answers, digests of facts, last outcomes and journal, put
 * into the document that was read, so that keys of a newer version stay. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/state_parts.h"

static const char *after_dot(const char *id)
{
    return strchr(id, '.') + 1;
}

/* The node of an answer, or NULL when none is to be written. */
static struct node *answer_node(struct state *s, struct wizard *w, int field)
{
    const struct field *f = wizard_rows(w)->fields[field];
    bool visible = wizard_visible(w, field);
    const struct value *v = wizard_answer(w, field);
    if (v == NULL && visible && f->kind != FIELD_SECRET)
        v = wizard_effective(w, field); /* defaults too: the file tells the whole set-up */
    if (v == NULL)
        return NULL;
    if (f->kind != FIELD_SECRET)
        return value_to_node(v);
    if (f->keep == KEEP_NEVER && v->reference == NULL)
        return NULL;
    struct node *n = value_to_node(v);
    if (v->reference == NULL) {
        /* a locked file still has what it had; an open one has what was put in */
        bool stored = s->vault == NULL ? v->secret == NULL && file_exists(s->vault_path)
                                       : state_keeps_secrets(w) && v->secret != NULL;
        node_set_text(n, "secret", stored ? "stored" : "asked");
    }
    if (v->host != NULL)
        node_set_text(n, "host", v->host);
    if (wizard_origin(w, field) == ORIGIN_MADE)
        node_set(n, "made", node_bool(true));
    return n;
}

static void fill_answers(struct state *s, struct wizard *w)
{
    const struct rows *rows = wizard_rows(w);
    struct node *answers = node_child_map(s->doc, "answers");
    for (size_t i = 0; i < rows->field_count; i++) {
        const struct field *f = rows->fields[i];
        const struct step *step = rows_step_of(rows, f->id);
        struct node *n = answer_node(s, w, (int)i);
        if (n != NULL) {
            node_set(node_child_map(answers, step->id), after_dot(f->id), n);
        } else {
            struct node *of_step = node_get_mut(answers, step->id);
            if (of_step != NULL)
                node_remove(of_step, after_dot(f->id));
        }
    }
}

static void fill_facts(struct state *s, struct wizard *w)
{
    const struct rows *rows = wizard_rows(w);
    struct node *facts = node_child_map(s->doc, "facts");
    for (size_t i = 0; i < rows->fact_count; i++) {
        struct digest d = wizard_fact_digest(w, (int)i);
        if (digest_none(&d)) {
            node_remove(facts, rows->facts[i]);
            continue;
        }
        struct node *n = node_child_map(facts, rows->facts[i]);
        char hex[DIGEST_HEX];
        digest_hex(&d, hex);
        node_set_text(n, "digest", hex);
        const struct fact *f = wizard_fact(w, (int)i);
        if (f == NULL)
            continue; /* only its digest is known: a kept value stays as it was */
        const struct fact_type *type = fact_type_of(f);
        if (type->save != NULL)
            node_set(n, "value", type->save(fact_data(f, type)));
        else
            node_remove(n, "value");
    }
}

static void fill_check(struct node *n, const struct outcome *o, const char *accepted)
{
    char hex[DIGEST_HEX];
    AUTO(xfree) char *at = clock_iso(o->at);
    digest_hex(&o->digest, hex);
    node_set_text(n, "status", status_name(o->status));
    node_set_text(n, "at", at);
    node_set_text(n, "digest", hex);
    node_set_text(n, "line", o->line);
    bool bad =
        o->status == STATUS_FAILED || o->status == STATUS_WARNED || o->status == STATUS_UNREACHABLE;
    node_set_text(n, "code", bad ? o->code : NULL);
    node_set_text(n, "why", bad ? o->why : NULL);
    node_set_text(n, "fix", bad ? o->fix : NULL);
    node_set_text(n, "who", bad && o->fix != NULL ? problem_who_name(o->who) : NULL);
    node_set_text(n, "accepted", accepted);
}

static void fill_checks(struct state *s, struct wizard *w)
{
    const struct rows *rows = wizard_rows(w);
    struct node *checks = node_child_map(s->doc, "checks");
    for (size_t i = 0; i < rows->check_count; i++) {
        struct check_view v;
        wizard_check_view(w, (int)i, &v);
        if (v.outcome != NULL && v.outcome->status != STATUS_CANCELLED)
            fill_check(node_child_map(checks, rows->checks[i]->id), v.outcome, v.accepted);
    }
}

static void fill_journal(struct state *s, struct wizard *w)
{
    const struct journal_entry *entries;
    size_t count = wizard_journal(w, &entries);
    struct node *list = node_list();
    for (size_t i = 0; i < count; i++) {
        const struct journal_entry *e = &entries[i];
        struct node *n = e->rest != NULL ? node_copy(e->rest) : node_map();
        AUTO(xfree) char *at = clock_iso(e->at);
        node_set_text(n, "change", e->change);
        node_set_text(n, "step", e->step);
        node_set_text(n, "kind", e->kind);
        node_set_text(n, "title", e->title);
        node_set_text(n, "status", journal_status_name(e->status));
        node_set_text(n, "at", at);
        node_set_text(n, "saw", e->saw);
        if (e->was_there)
            node_set(n, "was_there", node_bool(true));
        node_set_text(n, "made", e->made);
        if (e->args != NULL)
            node_set(n, "args", node_copy(e->args));
        node_add(list, n);
    }
    node_set(s->doc, "journal", list);
}

void state_fill(struct state *s, struct wizard *w)
{
    AUTO(xfree) char *run = xstrdup(state_run(s));
    int name = rows_field(wizard_rows(w), "start.name");
    const struct value *v = name >= 0 ? wizard_effective(w, name) : NULL;
    node_set(s->doc, "sluice", node_number(STATE_SCHEMA));
    node_set_text(s->doc, "run", run);
    node_set_text(s->doc, "name", v != NULL && v->kind == VALUE_TEXT ? v->text : NULL);
    fill_answers(s, w);
    fill_facts(s, w);
    fill_checks(s, w);
    fill_journal(s, w);
}
