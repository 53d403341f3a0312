/* What the state file says: the wizard's answers, digests of facts, last outcomes and journal, put
 * into the document that was read, so that keys of a newer version stay. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/node_json.h"
#include "core/state_parts.h"

static const char *after_dot(const char *id)
{
    return strchr(id, '.') + 1;
}

static const struct node *answer_in(const struct state *s, const struct rows *rows,
                                    const struct field *f)
{
    const struct node *of_step =
        node_get(node_get(s->doc, "answers"), rows_step_of(rows, f->id)->id);
    return node_get(of_step, after_dot(f->id));
}

const struct node *state_stored_node(const struct state *s, const struct rows *rows,
                                     const struct field *f)
{
    const struct node *n = answer_in(s, rows, f);
    const char *how = node_get_text(n, "secret");
    return f->kind == FIELD_SECRET && how != NULL && strcmp(how, "stored") == 0 ? n : NULL;
}

/* Where the secret is found after a restart: "stored" (the secrets file has it, or will have had it
 * before this is written) or "asked". */
static const char *secret_place(struct state *s, struct wizard *w, bool was_stored,
                                const struct value *v)
{
    bool stored = s->vault != NULL ? state_keeps_secrets(w) && v->secret != NULL
                                   : was_stored && v->secret == NULL && file_exists(s->vault_path);
    return stored ? "stored" : "asked";
}

static struct node *secret_node(struct state *s, struct wizard *w, int field, const struct value *v)
{
    const struct rows *rows = wizard_rows(w);
    const struct field *f = rows->fields[field];
    if (f->keep == KEEP_NEVER && v->reference == NULL)
        return NULL;
    const struct node *stored = state_stored_node(s, rows, f);
    if (stored != NULL && s->vault == NULL && v->secret != NULL &&
        wizard_origin(w, field) == ORIGIN_ENVIRONMENT)
        return node_copy(stored); /* it stands in for what is locked away */
    const struct node *before = answer_in(s, rows, f);
    struct node *n = before != NULL && before->kind == NODE_MAP ? node_copy(before) : node_map();
    node_set_text(n, "secret",
                  v->reference != NULL ? v->reference : secret_place(s, w, stored != NULL, v));
    node_set_text(n, "host", v->host);
    if (wizard_origin(w, field) == ORIGIN_MADE)
        node_set(n, "made", node_bool(true));
    else
        node_remove(n, "made");
    return n;
}

/* The node of an answer, or NULL when none is to be written. */
static struct node *answer_node(struct state *s, struct wizard *w, int field)
{
    const struct field *f = wizard_rows(w)->fields[field];
    const struct value *v = wizard_answer(w, field);
    if (f->kind == FIELD_SECRET)
        return v != NULL && v->kind == VALUE_SECRET ? secret_node(s, w, field, v) : NULL;
    if (f->keep == KEEP_NEVER)
        return NULL;
    if (v == NULL && wizard_visible(w, field))
        v = wizard_effective(w, field); /* defaults too: the file tells the whole set-up */
    return value_to_node(v);
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

/* Which answers were made and as what, so that undo forgets them and what was typed stays. Secrets
 * say so themselves. */
static void fill_made(struct state *s, struct wizard *w)
{
    const struct rows *rows = wizard_rows(w);
    struct node *made = node_map();
    for (size_t i = 0; i < rows->field_count; i++)
        if (rows->fields[i]->kind != FIELD_SECRET && rows->fields[i]->keep != KEEP_NEVER &&
            wizard_origin(w, (int)i) == ORIGIN_MADE)
            node_append(made, rows->fields[i]->id, value_to_node(wizard_answer(w, (int)i)));
    if (made->count > 0) {
        node_set(s->doc, "made", made);
    } else {
        node_free(made);
        node_remove(s->doc, "made");
    }
}

/* Of the JSON, so that another way to write the same YAML is no other value. */
static void sum_of(const struct node *value, char out[DIGEST_HEX])
{
    AUTO_TEXT json = TEXT_INIT;
    node_write_json(value, &json);
    struct digest d = digest_of(json.s, json.len);
    digest_hex(&d, out);
}

const struct node *state_fact_value(const struct node *entry)
{
    const struct node *value = node_get(entry, "value");
    const char *kept = node_get_text(entry, "sum");
    char now[DIGEST_HEX];
    if (value == NULL || kept == NULL)
        return value;
    sum_of(value, now);
    return strcmp(now, kept) == 0 ? value : NULL;
}

static void fill_value(struct node *entry, const struct fact *f)
{
    const struct fact_type *type = fact_type_of(f);
    if (type->save == NULL) {
        node_remove(entry, "value");
        node_remove(entry, "sum");
        return;
    }
    struct node *value = type->save(fact_data(f, type));
    char sum[DIGEST_HEX];
    sum_of(value, sum);
    node_set_text(entry, "sum", sum);
    node_set(entry, "value", value);
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
        if (f != NULL) /* else only its digest is known: a kept value stays as it was */
            fill_value(n, f);
    }
}

struct node *state_kept_fact(const struct state *s, const struct wizard *w, const char *fact)
{
    int i = rows_fact(wizard_rows(w), fact);
    const struct fact *f = i >= 0 ? wizard_fact(w, i) : NULL;
    if (f != NULL) {
        const struct fact_type *type = fact_type_of(f);
        return type->save != NULL ? type->save(fact_data(f, type)) : NULL;
    }
    struct digest known = i >= 0 ? wizard_fact_digest(w, i) : (struct digest){{0}};
    if (digest_none(&known))
        return NULL; /* its giver has run since, and brought none: the next save removes it */
    const struct node *kept = state_fact_value(node_get(node_get(s->doc, "facts"), fact));
    return kept != NULL ? node_copy(kept) : NULL;
}

static bool is_bad(const struct outcome *o)
{
    return o->status == STATUS_FAILED || o->status == STATUS_WARNED ||
           o->status == STATUS_UNREACHABLE;
}

struct outcome *state_kept_outcome(const struct outcome *o)
{
    struct outcome *kept = outcome_new();
    bool bad = is_bad(o);
    kept->status = o->status;
    kept->at = o->at;
    kept->digest = o->digest;
    kept->plain = o->plain;
    kept->line = xstrdup(o->line);
    kept->kind = bad && o->kind == PROBLEM_REFUSED ? o->kind : PROBLEM_NONE;
    kept->code = bad ? xstrdup(o->code) : NULL;
    kept->why = bad ? xstrdup(o->why) : NULL;
    kept->fix = bad ? xstrdup(o->fix) : NULL;
    kept->who = bad && o->fix != NULL ? o->who : WHO_YOU;
    return kept;
}

static void fill_check(struct node *n, const struct outcome *o)
{
    char hex[DIGEST_HEX];
    AUTO(xfree) char *at = clock_iso(o->at);
    digest_hex(&o->digest, hex);
    node_set_text(n, "status", status_name(o->status));
    node_set_text(n, "at", at);
    node_set_text(n, "digest", hex);
    digest_hex(&o->plain, hex);
    node_set_text(n, "plain", digest_none(&o->plain) ? NULL : hex);
    node_set_text(n, "line", o->line);
    bool bad = is_bad(o);
    bool refused = bad && o->kind == PROBLEM_REFUSED; /* not to be repeated after a restart */
    node_set_text(n, "kind", refused ? problem_kind_name(o->kind) : NULL);
    node_set_text(n, "code", bad ? o->code : NULL);
    node_set_text(n, "why", bad ? o->why : NULL);
    node_set_text(n, "fix", bad ? o->fix : NULL);
    node_set_text(n, "who", bad && o->fix != NULL ? problem_who_name(o->who) : NULL);
}

static void fill_checks(struct state *s, struct wizard *w)
{
    const struct rows *rows = wizard_rows(w);
    struct node *checks = node_child_map(s->doc, "checks");
    for (size_t i = 0; i < rows->check_count; i++) {
        const char *id = rows->checks[i]->id;
        const struct outcome *o = wizard_outcome(w, (int)i);
        const char *accepted = wizard_accepted(w, (int)i);
        if (o != NULL && o->status != STATUS_CANCELLED)
            fill_check(node_child_map(checks, id), o);
        if (accepted != NULL || node_get(checks, id) != NULL)
            node_set_text(node_child_map(checks, id), "accepted", accepted);
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
    fill_made(s, w);
    fill_facts(s, w);
    fill_checks(s, w);
    fill_journal(s, w);
}
