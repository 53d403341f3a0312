/* What a row says of its answers. Whether one is missing is the model's to judge (core/wizard.h).
 */
#include "core/field.h"

#include <string.h>

#include "core/mem.h"
#include "core/shown.h"
#include "core/text.h"
#include "core/utf8.h"

#define CHOICES_NAMED 8 /* in a message */

void choices_add(struct choices *c, const char *value, const char *label)
{
    /* Doubled each time it is full. */
    if ((c->count & (c->count - 1)) == 0)
        c->rows = xrealloc(c->rows, c->count != 0 ? c->count * 2 : 1, sizeof *c->rows);
    c->rows[c->count++] = (struct choice_row){
        .value = xstrdup(value),
        .label = xstrdup(label != NULL ? label : value),
    };
}

void choices_release(struct choices *c)
{
    for (size_t i = 0; i < c->count; i++) {
        xfree(c->rows[i].value);
        xfree(c->rows[i].label);
    }
    xfree(c->rows);
    *c = (struct choices){0};
}

void field_choices(const struct field *f, const struct snapshot *s, struct choices *out)
{
    for (const struct field_choice *c = f->choices; c != NULL && c->value != NULL; c++)
        choices_add(out, c->value, c->label);
    if (f->choices_from != NULL && s != NULL)
        f->choices_from(s, out);
}

static int not_a_choice(const struct field *f, const struct choices *c, const char *text,
                        struct problem *err)
{
    problem_fail(err, PROBLEM_INPUT, "choice", "%s: “%s” is not one of the choices", f->label,
                 text);
    AUTO_TEXT names = TEXT_INIT;
    for (size_t i = 0; i < c->count && i < CHOICES_NAMED; i++) {
        text_sep(&names, ", ");
        text_add(&names, c->rows[i].value);
    }
    problem_fix(err, WHO_YOU, "Choose %s%s.", names.s, c->count > CHOICES_NAMED ? ", …" : "");
    return -1;
}

static int check_choice(const struct field *f, const struct snapshot *s, const char *text,
                        struct problem *err)
{
    struct choices c = {0};
    field_choices(f, s, &c);
    bool found = c.count == 0; /* nothing is known to choose from: free text */
    for (size_t i = 0; i < c.count && !found; i++)
        found = strcmp(c.rows[i].value, text) == 0;
    int rc = found ? 0 : not_a_choice(f, &c, text, err);
    choices_release(&c);
    return rc;
}

/* What no answer may hold, whatever the row. In names of a list control characters may be quoted.
 */
static int check_bytes(const struct field *f, const char *text, struct problem *err)
{
    if (!utf8_valid(text, strlen(text)))
        return problem_fail(err, PROBLEM_INPUT, "utf-8", "%s is not valid UTF-8", f->label);
    for (const char *c = text; f->kind != FIELD_LIST && f->kind != FIELD_MAP && *c != '\0'; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7F) {
            problem_fail(err, PROBLEM_INPUT, "control", "%s holds a control character", f->label);
            problem_fix(err, WHO_YOU, "Type it anew; something unseen came along when pasting.");
            return -1;
        }
    }
    return 0;
}

static int check_text(const struct field *f, const struct snapshot *s, const char *text,
                      struct problem *err)
{
    if (check_bytes(f, text, err) != 0)
        return -1;
    if (f->kind == FIELD_SWITCH && strcmp(text, "yes") != 0 && strcmp(text, "no") != 0)
        return problem_fail(err, PROBLEM_INPUT, "switch", "%s is yes or no", f->label);
    if (f->kind == FIELD_CHOICE && check_choice(f, s, text, err) != 0)
        return -1;
    return f->valid != NULL ? f->valid(text, err) : 0;
}

/* The message of one item says which it is. */
static void name_item(struct problem *err, const char *item)
{
    if (err == NULL || err->what == NULL || item[0] == '\0')
        return;
    char *shown = shown_copy(item, CLEAN_LINE);
    if (strstr(err->what, shown) == NULL) {
        char *what = xasprintf("%s: %s", shown, err->what);
        xfree(err->what);
        err->what = what;
    }
    xfree(shown);
}

static int check_items(const struct field *f, const struct snapshot *s, const struct value *v,
                       struct problem *err)
{
    for (size_t i = 0; i < v->count; i++) {
        const char *name = v->kind == VALUE_MAP ? v->keys[i] : v->items[i];
        if (check_bytes(f, name, err) != 0)
            return -1;
        if (check_text(f, s, v->items[i], err) != 0) {
            name_item(err, name);
            return -1;
        }
    }
    return 0;
}

int field_check_value(const struct field *f, const struct snapshot *s, const struct value *v,
                      struct problem *err)
{
    static const struct {
        enum value_kind kind;
        const char *words;
    } forms[] = {
        [FIELD_TEXT] = {VALUE_TEXT, "a text"},
        [FIELD_SECRET] = {VALUE_SECRET, "a secret"},
        [FIELD_CHOICE] = {VALUE_TEXT, "a text"},
        [FIELD_LIST] = {VALUE_LIST, "a list"},
        [FIELD_MAP] = {VALUE_MAP, "a mapping"},
        [FIELD_SWITCH] = {VALUE_TEXT, "yes or no"},
        [FIELD_PATH] = {VALUE_TEXT, "the path of a file"},
    };
    if (v == NULL)
        return 0;
    if (v->kind != forms[f->kind].kind)
        return problem_fail(err, PROBLEM_INPUT, "form", "%s must be %s", f->label,
                            forms[f->kind].words);
    if (value_empty(v))
        return 0;
    if (v->kind == VALUE_SECRET)
        return f->valid != NULL ? f->valid(secret_bytes(v->secret), err) : 0;
    if (v->kind == VALUE_TEXT)
        return check_text(f, s, v->text, err);
    return check_items(f, s, v, err);
}

void pick_row_release(struct pick_row *r)
{
    xfree(r->item);
    for (size_t i = 0; i < PICK_COLUMNS; i++)
        xfree(r->columns[i]);
    xfree(r->refusal);
    xfree(r->warning);
    xfree(r->note);
    for (size_t i = 0; i < PICK_ANSWERS; i++) {
        xfree(r->answers[i].value);
        xfree(r->answers[i].label);
    }
    *r = (struct pick_row){0};
}
