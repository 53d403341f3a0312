/* Plain mode's form: the fields of a step, one after the other. Enter keeps what stands in
 * brackets; what is not valid is kept too and said, so that one can always go on. See
 * plain_parts.h. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "ui/plain_parts.h"

#define SHOWN_BYTES 200 /* of a value in its brackets */

static const struct field *row_of(const struct plain *p, int field)
{
    return p->rows->fields[field];
}

static void say_help(struct plain *p, const struct field *f)
{
    plain_say(p, "%s", f->help != NULL ? f->help : f->label);
    if (f->example != NULL)
        plain_say(p, "Example: %s", f->example);
    if (f->kind == FIELD_SECRET)
        plain_say(p, "Type or paste it, or write env:NAME or file:/absolute/path.");
    if (f->kind == FIELD_MAP)
        plain_say(p, "Written as ITEM=ANSWER, several separated by commas.");
    plain_say(p, "Enter keeps what stands in brackets; a single - empties the field.");
}

/* As it could be typed again: maps with "=". */
static char *shown_value(struct plain *p, int field)
{
    const struct value *v = wizard_effective(p->wizard, field);
    AUTO_TEXT out = TEXT_LIMITED(SHOWN_BYTES);
    if (v == NULL)
        return xstrdup("");
    if (v->kind == VALUE_MAP) {
        for (size_t i = 0; i < v->count; i++)
            text_addf(&out, "%s%s=%s", i > 0 ? ", " : "", v->keys[i], v->items[i]);
    } else {
        AUTO(xfree) char *text = value_show(v);
        text_add(&out, text);
    }
    if (out.cut)
        return xasprintf("%s…", out.s);
    return text_take(&out);
}

/* Takes a typed text: true when the field is settled, false to ask again. */
static bool put(struct plain *p, int field, const char *typed)
{
    const struct field *f = row_of(p, field);
    AUTO_PROBLEM why = PROBLEM_INIT;
    int rc;
    if (strcmp(typed, "-") == 0)
        typed = "";
    if (f->kind == FIELD_SECRET && secret_is_reference(typed)) {
        AUTO(xfree) char *assignment = xasprintf("%s=%s", f->id, typed);
        rc = answers_set(p->wizard, assignment, ORIGIN_TYPED, &why);
    } else {
        rc = wizard_set_text(p->wizard, field, typed, ORIGIN_TYPED, &why);
    }
    if (rc == 0)
        return true;
    plain_say_problem(p, &why);
    return false;
}

/* What an empty answer leaves behind. */
static void say_if_missing(struct plain *p, int field)
{
    const struct field *f = row_of(p, field);
    if (f->required && value_empty(wizard_effective(p->wizard, field)) &&
        wizard_answer(p->wizard, field) == NULL)
        plain_say(p, "%s stays empty: checks that need it wait.", f->label);
}

/* --- kinds ------------------------------------------------------------------------------------ */

static bool ask_text(struct plain *p, int field)
{
    const struct field *f = row_of(p, field);
    AUTO_TEXT answer = TEXT_INIT;
    for (;;) {
        AUTO(xfree) char *now = shown_value(p, field);
        const char *how = f->kind == FIELD_LIST  ? " (separated by commas)"
                          : f->kind == FIELD_MAP ? " (ITEM=ANSWER, separated by commas)"
                                                 : "";
        if (!plain_ask(p, false, &answer, "%s%s [%s]:", f->label, how, now))
            return false;
        if (strcmp(answer.s, "?") == 0) {
            say_help(p, f);
        } else if (answer.len == 0) {
            say_if_missing(p, field);
            return true;
        } else if (put(p, field, answer.s)) {
            return true;
        }
    }
}

static void secret_prompt(struct plain *p, int field, struct text *out)
{
    const struct field *f = row_of(p, field);
    const struct value *given = wizard_answer(p->wizard, field);
    text_addf(out, "%s (not shown", f->label);
    if (f->keep == KEEP_NEVER)
        text_add(out, ", never stored");
    if (given != NULL && given->reference != NULL)
        text_addf(out, "; Enter keeps %s", given->reference);
    else if (given != NULL && given->secret != NULL)
        text_add(out, "; Enter keeps the one that is there");
    else if (given != NULL)
        text_add(out, "; is locked or to be asked again");
    else if (f->make > 0)
        text_add(out, "; after Enter alone it is made here when it is needed");
    text_add(out, "; ? for help):");
}

static bool ask_secret(struct plain *p, int field)
{
    const struct field *f = row_of(p, field);
    AUTO_TEXT typed = TEXT_INIT;
    bool settled = false, goes_on = true;
    while (!settled && goes_on) {
        AUTO_TEXT prompt = TEXT_INIT;
        secret_prompt(p, field, &prompt);
        goes_on = plain_ask(p, true, &typed, "%s", prompt.s);
        if (!goes_on)
            break;
        if (strcmp(typed.s, "?") == 0)
            say_help(p, f);
        else if (typed.len == 0)
            settled = true;
        else
            settled = put(p, field, typed.s);
    }
    if (goes_on && typed.len == 0)
        say_if_missing(p, field);
    text_wipe(&typed);
    return goes_on;
}

/* The value of an answer that is a number, a value or a label; NULL: none of them. */
static const char *chosen(const struct choices *c, const char *answer)
{
    char *end;
    long n = strtol(answer, &end, 10);
    if (*end == '\0' && n >= 1 && (size_t)n <= c->count)
        return c->rows[n - 1].value;
    for (size_t i = 0; i < c->count; i++)
        if (strcmp(c->rows[i].value, answer) == 0 ||
            (c->rows[i].label != NULL && strcasecmp(c->rows[i].label, answer) == 0))
            return c->rows[i].value;
    return NULL;
}

static bool ask_from(struct plain *p, int field, const struct choices *c)
{
    const struct field *f = row_of(p, field);
    AUTO_TEXT answer = TEXT_INIT;
    plain_say(p, "%s:", f->label);
    for (size_t i = 0; i < c->count; i++)
        plain_say(p, "  %zu %s%s%s", i + 1, c->rows[i].value,
                  c->rows[i].label != NULL && c->rows[i].value[0] != '\0' ? ", " : "",
                  c->rows[i].label != NULL ? c->rows[i].label : "");
    for (;;) {
        AUTO(xfree) char *now = shown_value(p, field);
        if (!plain_ask(p, false, &answer, "%s, a number or its word [%s]:", f->label, now))
            return false;
        const char *value = chosen(c, answer.s);
        if (strcmp(answer.s, "?") == 0)
            say_help(p, f);
        else if (answer.len == 0) {
            say_if_missing(p, field);
            return true;
        } else if (value == NULL && strcmp(answer.s, "-") != 0)
            plain_say(p, "Type a number from 1 to %zu.", c->count);
        else if (put(p, field, value != NULL ? value : "-"))
            return true;
    }
}

static bool ask_choice(struct plain *p, int field)
{
    struct choices c = {0};
    struct snapshot *s = wizard_snapshot(p->wizard);
    if (row_of(p, field)->kind == FIELD_SWITCH) {
        choices_add(&c, "yes", NULL);
        choices_add(&c, "no", NULL);
    } else {
        field_choices(row_of(p, field), s, &c);
    }
    snapshot_unref(s);
    bool goes_on = c.count > 0 ? ask_from(p, field, &c) : ask_text(p, field);
    choices_release(&c);
    return goes_on;
}

static bool ask_field(struct plain *p, int field)
{
    const struct field *f = row_of(p, field);
    switch (f->kind) {
    case FIELD_SECRET:
        return ask_secret(p, field);
    case FIELD_CHOICE:
    case FIELD_SWITCH:
        return ask_choice(p, field);
    case FIELD_LIST:
        return f->pick != NULL ? plain_ask_list(p, field) : ask_text(p, field);
    default:
        return ask_text(p, field);
    }
}

/* --- a step ----------------------------------------------------------------------------------- */

static bool here(const struct plain *p, size_t field)
{
    return rows_step_of(p->rows, row_of(p, (int)field)->id) == p->rows->steps[p->step] &&
           wizard_visible(p->wizard, (int)field);
}

/* Fields that have a good default are asked only where that is wanted, once a round. */
static bool wants_advanced(struct plain *p, bool *wanted)
{
    AUTO_TEXT names = TEXT_INIT;
    for (size_t i = 0; i < p->rows->field_count; i++)
        if (here(p, i) && row_of(p, (int)i)->advanced) {
            text_sep(&names, ", ");
            text_add(&names, row_of(p, (int)i)->label);
        }
    return plain_yes(p, false, wanted, "Change these too: %s?", names.s);
}

/* A secret typed for one host is sent to another only on the operator's word. */
static bool ask_other_host(struct plain *p, int field)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    bool yes;
    if (row_of(p, field)->kind != FIELD_SECRET ||
        wizard_field_problem(p->wizard, field, &why) == 0 || why.code == NULL ||
        strcmp(why.code, "other host") != 0)
        return true;
    struct snapshot *s = wizard_snapshot(p->wizard);
    AUTO(xfree) char *host = xstrdup(snap_text(s, row_of(p, field)->host_of));
    snapshot_unref(s);
    if (!plain_yes(p, false, &yes, "%s. May it be sent to %s?", why.what, host))
        return false;
    if (yes)
        wizard_allow_host(p->wizard, field);
    return true;
}

bool plain_fields(struct plain *p)
{
    bool asked = false, advanced = false;
    p->told = 0;
    for (size_t i = 0; i < p->rows->field_count; i++) {
        if (!here(p, i))
            continue;
        bool faulty = wizard_field_problem(p->wizard, (int)i, NULL) != 0;
        if (row_of(p, (int)i)->advanced && !faulty && !asked) {
            if (!wants_advanced(p, &advanced))
                return false;
            asked = true;
        }
        if (row_of(p, (int)i)->advanced && !faulty && !advanced)
            continue;
        if (!ask_field(p, (int)i) || !ask_other_host(p, (int)i) || !plain_save(p))
            return false;
    }
    return true;
}
