/* What an action of a page needs first, and why it cannot be had. See page.h. */
#include "core/page.h"

#include <string.h>

#include "core/mem.h"
#include "core/text.h"
#include "core/wizard.h"

const struct page_action *page_find(const struct rows *rows, enum page_act act)
{
    for (size_t i = 0; i < rows->step_count; i++)
        for (const struct page_action *a = rows->steps[i]->actions; a != NULL && a->key != NULL;
             a++)
            if (a->act == act)
                return a;
    return NULL;
}

/* --- what is due ------------------------------------------------------------------------------ */

static bool good(enum status s)
{
    return s == STATUS_PASSED || s == STATUS_WARNED || s == STATUS_SKIPPED || s == STATUS_ACCEPTED;
}

static bool stands(struct wizard *w, int check)
{
    return wizard_check_stands(w, check) && good(wizard_outcome(w, check)->status);
}

/* Those that stand are left out unless `all`. */
static size_t collect(struct wizard *w, const struct page_action *a, bool all, int *checks)
{
    size_t count = 0;
    for (size_t i = 0; a->first != NULL && a->first[i] != NULL; i++) {
        int check = rows_check(wizard_rows(w), a->first[i]);
        if (all || !stands(w, check))
            checks[count++] = check;
    }
    return count;
}

size_t page_due(struct wizard *w, const struct state *s, const struct page_action *a, int *checks)
{
    size_t count = collect(w, a, false, checks);
    if (count == 0 && a->had != NULL && a->had(w, s, NULL) != 0)
        count = collect(w, a, true, checks);
    return count;
}

/* --- why not ---------------------------------------------------------------------------------- */

static int missing_field(struct wizard *w, const struct check *c)
{
    const struct rows *rows = wizard_rows(w);
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int field = c->reads[i][0] != '?' ? rows_field(rows, c->reads[i]) : -1;
        if (field >= 0 && wizard_visible(w, field) && wizard_field_problem(w, field, NULL) != 0)
            return field;
    }
    return -1;
}

/* What it builds on that is not as it should be: a giver of what it reads, or one before it. */
static int unproved_before(struct wizard *w, const struct check *c)
{
    const struct rows *rows = wizard_rows(w);
    struct check_view v;
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = c->reads[i][0] != '?' ? rows_fact(rows, c->reads[i]) : -1;
        if (fact < 0)
            continue;
        wizard_check_view(w, rows->givers[fact], &v);
        if (v.stale || !good(v.status))
            return rows->givers[fact];
    }
    for (size_t i = 0; c->after != NULL && c->after[i] != NULL; i++) {
        int before = rows_check(rows, c->after[i]);
        wizard_check_view(w, before, &v);
        if (v.stale || !good(v.status))
            return before;
    }
    return -1;
}

/* Rows have no circles, so the chain ends. */
static int cause_of(struct wizard *w, int check)
{
    const struct check *c = wizard_rows(w)->checks[check];
    struct check_view v;
    wizard_check_view(w, check, &v);
    int before = v.status == STATUS_WAITING && missing_field(w, c) < 0 ? unproved_before(w, c) : -1;
    return before >= 0 ? cause_of(w, before) : check;
}

static int of_field(struct wizard *w, int field, const struct check *c, struct problem *err)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    const struct field *f = wizard_rows(w)->fields[field];
    wizard_field_problem(w, field, &p);
    problem_fail(err, PROBLEM_INPUT, PAGE_MISSING, "%s: %s", f->id, p.what);
    problem_why(err, "%s needs it: %s", c->id, c->title);
    if (p.fix != NULL)
        problem_fix(err, p.who, "%s", p.fix);
    else
        problem_fix(err, WHO_YOU, "answer %s", f->id);
    return -1;
}

static int of_outcome(const struct check *c, const struct check_view *v, struct problem *err)
{
    const struct outcome *o = v->outcome;
    enum problem_kind kind = v->status == STATUS_UNREACHABLE ? PROBLEM_UNREACHABLE
                             : v->status == STATUS_CANCELLED ? PROBLEM_CANCELLED
                             : o->kind != PROBLEM_NONE       ? o->kind
                                                             : PROBLEM_CONFLICT;
    const char *line = o->line != NULL             ? o->line
                       : kind == PROBLEM_CANCELLED ? "cancelled"
                                                   : "no result";
    problem_fail(err, kind, o->code != NULL ? o->code : c->id, "%s: %s", c->id, line);
    if (o->why != NULL)
        problem_why(err, "%s", o->why);
    if (o->fix != NULL)
        problem_fix(err, o->who, "%s", o->fix);
    if (o->evidence != NULL)
        problem_evidence(err, "%s", o->evidence);
    return -1;
}

int page_why(struct wizard *w, const struct state *s, const struct page_action *a,
             struct problem *err)
{
    int due[PAGE_FIRST_MAX];
    struct check_view v;
    if (page_due(w, s, a, due) == 0)
        return 0;
    if (stands(w, due[0]))
        return a->had(w, s, err);
    int check = cause_of(w, due[0]);
    const struct check *c = wizard_rows(w)->checks[check];
    int field = missing_field(w, c);
    if (field >= 0)
        return of_field(w, field, c, err);
    wizard_check_view(w, check, &v);
    if (v.status == STATUS_WAITING) {
        problem_fail(err, PROBLEM_INPUT, PAGE_MISSING, "%s waits for: %s", c->id, v.waits);
        problem_fix(err, WHO_YOU, "have that done first; sluice check %s says more",
                    rows_step_of(wizard_rows(w), c->id)->id);
        return -1;
    }
    if (v.outcome != NULL && !v.stale)
        return of_outcome(c, &v, err);
    problem_fail(err, PROBLEM_CANCELLED, PAGE_NOT_PROVED, "%s was not run", c->id);
    return -1;
}

/* --- the way to it ---------------------------------------------------------------------------- */

static int step_index(const struct rows *rows, const char *row)
{
    bool known = rows_field(rows, row) >= 0 || rows_check(rows, row) >= 0;
    return known ? rows_step(rows, rows_step_of(rows, row)->id) : -1;
}

/* Word by word: an id of a row; or a step after the word of a command, as a step's id alone may be
 * a word like any other. */
static int named_in(const struct rows *rows, const char *s)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    bool command = false;
    while (s != NULL && *s != '\0') {
        size_t n = strspn(s, letters);
        if (n == 0) {
            s++;
            continue;
        }
        size_t stop = n;
        while (stop > 0 && s[stop - 1] == '.')
            stop--;
        AUTO(xfree) char *word = xstrndup(s, stop);
        int step = step_index(rows, word);
        if (step < 0 && command)
            step = rows_step(rows, word);
        if (step >= 0)
            return step;
        command = strcmp(word, "check") == 0 || strcmp(word, "apply") == 0;
        s += n;
    }
    return -1;
}

int page_way(const struct rows *rows, const struct problem *p)
{
    const char *const places[] = {p->code, p->what, p->fix};
    for (size_t i = 0; i < ARRAY_LEN(places); i++) {
        int step = named_in(rows, places[i]);
        if (step >= 0)
            return step;
    }
    return -1;
}
