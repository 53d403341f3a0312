/* The form's model and keys; drawing stands in form_draw.c. See form.h. */
#include "ui/form.h"

#include <string.h>

#include "core/mem.h"
#include "ui/form_parts.h"

void form_init(struct form *f, const struct step *step)
{
    *f = (struct form){.step = step, .choice = CHOICE_INIT};
    edit_init(&f->edit, EDIT_TEXT);
}

static void stop_editing(struct form *f)
{
    edit_release(&f->edit);
    edit_init(&f->edit, EDIT_TEXT);
    choice_set(&f->choice, NULL, 0, CHOICE_NONE);
    choices_release(&f->values);
    xfree(f->options);
    f->options = NULL;
    f->editing = false;
    f->dirty = false;
}

void form_release(struct form *f)
{
    stop_editing(f);
    edit_release(&f->edit);
}

/* Which fields stand in the form now: `when` and the fold may have changed with an answer. */
void form_layout(struct form *f, struct app *a)
{
    int kept = f->count > 0 ? f->fields[f->focus] : FORM_ROWS_MAX;
    int folded = 0;
    f->count = 0;
    for (size_t i = 0; i < a->rows->field_count && f->count < FORM_ROWS_MAX - 1; i++) {
        const struct field *row = a->rows->fields[i];
        if (rows_step_of(a->rows, row->id) != f->step || !wizard_visible(a->wizard, (int)i))
            continue;
        bool faulty = wizard_field_problem(a->wizard, (int)i, NULL) != 0;
        folded += row->advanced;
        if (!row->advanced || f->unfolded || faulty)
            f->fields[f->count++] = (int)i;
    }
    if (folded > 0)
        f->fields[f->count++] = FORM_FOLD;
    if (f->focus >= f->count)
        f->focus = f->count > 0 ? f->count - 1 : 0;
    for (int i = 0; i < f->count; i++)
        if (f->fields[i] == kept)
            f->focus = i;
}

int form_field(const struct form *f)
{
    return f->count > 0 ? f->fields[f->focus] : FORM_FOLD;
}

static const struct field *focused_row(const struct form *f, const struct app *a)
{
    int field = form_field(f);
    return field >= 0 ? a->rows->fields[field] : NULL;
}

static bool is_choice(const struct form *f)
{
    return f->options != NULL;
}

static void start_choice(struct form *f, struct app *a, const struct field *row)
{
    struct snapshot *s = wizard_snapshot(a->wizard);
    if (row->kind == FIELD_SWITCH) {
        choices_add(&f->values, "yes", NULL);
        choices_add(&f->values, "no", NULL);
    } else {
        field_choices(row, s, &f->values);
    }
    size_t chosen = CHOICE_NONE;
    f->options = f->values.count > 0 ? xcalloc(f->values.count, sizeof(*f->options)) : NULL;
    for (size_t i = 0; i < f->values.count; i++) {
        f->options[i].label =
            f->values.rows[i].label != NULL ? f->values.rows[i].label : f->values.rows[i].value;
        if (strcmp(snap_text(s, row->id), f->values.rows[i].value) == 0)
            chosen = i;
    }
    snapshot_unref(s);
    if (f->options != NULL)
        choice_set(&f->choice, f->options, f->values.count, chosen);
}

/* A default and its options may come with what a check found while the cursor stands here. */
static void drop_outdated(struct form *f, struct app *a, const struct field *row)
{
    if (!f->editing || f->dirty || f->choice.moved || f->of == wizard_version(a->wizard))
        return;
    f->of = wizard_version(a->wizard);
    if (!is_choice(f) && row->kind != FIELD_CHOICE) {
        const struct value *v = wizard_effective(a->wizard, form_field(f));
        AUTO(xfree) char *now = v != NULL ? value_show(v) : xstrdup("");
        if (row->kind == FIELD_SECRET || strcmp(now, f->edit.s) == 0)
            return; /* the cursor stays where it is */
    }
    stop_editing(f);
}

/* Puts the focused field's value into the editor. */
void form_start_editing(struct form *f, struct app *a)
{
    const struct field *row = focused_row(f, a);
    if (row == NULL)
        return;
    drop_outdated(f, a, row);
    if (f->editing)
        return;
    f->editing = true;
    f->dirty = false;
    f->of = wizard_version(a->wizard);
    if (row->kind == FIELD_SWITCH || row->kind == FIELD_CHOICE)
        start_choice(f, a, row);
    if (is_choice(f))
        return;
    edit_release(&f->edit);
    edit_init(&f->edit, row->kind == FIELD_SECRET ? EDIT_SECRET : EDIT_TEXT);
    const struct value *v = wizard_effective(a->wizard, form_field(f));
    if (row->kind == FIELD_SECRET || v == NULL)
        return; /* a secret is typed anew; blank keeps the one that is there */
    AUTO(xfree) char *text = value_show(v);
    edit_set(&f->edit, text);
}

static int commit_text(struct form *f, struct app *a, int field, struct problem *p)
{
    if (is_choice(f)) {
        if (f->choice.chosen == CHOICE_NONE)
            return 0;
        return wizard_set_text(a->wizard, field, f->values.rows[f->choice.chosen].value,
                               ORIGIN_TYPED, p);
    }
    const struct field *row = a->rows->fields[field];
    if (row->kind == FIELD_SECRET && f->edit.len == 0)
        return 0;
    if (row->kind == FIELD_SECRET && secret_is_reference(f->edit.s)) {
        AUTO(xfree) char *assignment = xasprintf("%s=%s", row->id, f->edit.s);
        return answers_set(a->wizard, assignment, ORIGIN_TYPED, p);
    }
    return wizard_set_text(a->wizard, field, f->edit.s, ORIGIN_TYPED, p);
}

int form_commit(struct form *f, struct app *a)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    int field = form_field(f);
    int rc = 0;
    if (!f->editing || field < 0)
        return 0;
    if (f->dirty) {
        rc = commit_text(f, a, field, &p);
        if (rc != 0)
            app_notice(a, ROLE_FAIL, "%s%s%s", p.what, p.fix != NULL ? ": " : "",
                       p.fix != NULL ? p.fix : "");
        app_want_step(a, a->step, false, false);
    }
    stop_editing(f);
    return rc;
}

/* Moves by delta; stays inside. True when it moved. */
static bool move(struct form *f, struct app *a, int delta)
{
    form_commit(f, a);
    form_layout(f, a);
    int to = f->focus + delta;
    if (to < 0 || to >= f->count)
        return false;
    f->focus = to;
    return true;
}

/* Who went to an option with the arrows means it. One that nobody went to is not taken: there may
 * be no good default. */
static void take_option(struct form *f, struct app *a, const struct field *row)
{
    if (f->choice.moved && app_read_only(a))
        return;
    f->dirty |= (choice_take(&f->choice) & UI_CHANGED) != 0;
    if (f->choice.chosen == CHOICE_NONE)
        app_notice(a, ROLE_HINT, "%s: nothing is chosen yet; Space chooses", row->label);
}

static enum form_result enter(struct form *f, struct app *a)
{
    int field = form_field(f);
    const struct field *row = focused_row(f, a);
    if (f->count > 0 && field == FORM_FOLD && !f->unfolded) {
        f->unfolded = true;
        form_layout(f, a);
        return FORM_USED;
    }
    if (row != NULL && row->pick != NULL && !f->dirty) {
        app_push(a, view_picker_new(a, field));
        return FORM_USED;
    }
    if (is_choice(f))
        take_option(f, a, row);
    if (form_commit(f, a) != 0)
        return FORM_USED; /* not valid: stays here, but every other key leads on */
    if (field >= 0) {
        AUTO_PROBLEM p = PROBLEM_INIT;
        if (wizard_field_problem(a->wizard, field, &p) != 0 &&
            strcmp(p.code != NULL ? p.code : "", "other host") == 0) {
            wizard_allow_host(a->wizard, field);
            app_notice(a, ROLE_WARN, "%s may be sent to this host now", row->label);
            app_want_step(a, a->step, false, false);
            return FORM_USED;
        }
    }
    if (move(f, a, 1))
        return FORM_USED;
    return FORM_PAST_END;
}

static enum form_result edit_focused(struct form *f, struct app *a, const struct key *k)
{
    const struct field *row = focused_row(f, a);
    if (row == NULL) {
        if (key_is(k, " ")) {
            f->unfolded = !f->unfolded;
            form_layout(f, a);
            return FORM_USED;
        }
        return FORM_IGNORED;
    }
    if (k->code != K_TEXT && k->code != K_PASTE && !f->editing && k->code != K_BACKSPACE &&
        k->code != K_LEFT && k->code != K_RIGHT && k->code != K_HOME && k->code != K_END &&
        k->code != K_DELETE)
        return FORM_IGNORED;
    if ((k->code == K_TEXT || k->code == K_PASTE) && app_read_only(a))
        return FORM_USED;
    form_start_editing(f, a);
    unsigned r = is_choice(f) ? choice_key(&f->choice, k) : edit_key(&f->edit, k);
    f->dirty |= (r & UI_CHANGED) != 0;
    AUTO_TEXT said = TEXT_INIT;
    if (k->code == K_PASTE && !is_choice(f) && edit_say(&f->edit, &said))
        app_notice(a, ROLE_HINT, "%s", said.s);
    return r == UI_IGNORED ? FORM_IGNORED : FORM_USED;
}

enum form_result form_key(struct form *f, struct app *a, const struct key *k)
{
    form_layout(f, a);
    if (f->count == 0)
        return k->code == K_ENTER ? FORM_PAST_END : FORM_IGNORED;
    bool column = is_choice(f) && f->choice.column;
    switch (k->code) {
    case K_ENTER:
        return enter(f, a);
    case K_UP:
    case K_DOWN:
        if (column && (choice_key(&f->choice, k) & UI_HANDLED))
            return FORM_USED;
        move(f, a, k->code == K_UP ? -1 : 1);
        return FORM_USED;
    case K_PGUP:
    case K_PGDN:
        move(f, a, k->code == K_PGUP ? -f->focus : f->count - 1 - f->focus);
        return FORM_USED;
    default:
        return edit_focused(f, a, k);
    }
}
