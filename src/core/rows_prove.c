/* Proves the rows: form and uniqueness of ids, that what is named is there, that each read has a
 * source, and an order without circles. */
#include "core/rows_prove.h"

#include <stdbool.h>
#include <string.h>

#include "core/mem.h"
#include "core/text.h"

static int wrong(struct problem *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static int wrong(struct problem *err, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *what = xvasprintf(fmt, ap);
    va_end(ap);
    problem_fail(err, PROBLEM_BUG, "rows", "%s", what);
    xfree(what);
    return -1;
}

/* Lower-case words: an id becomes a key of YAML, a word of the command line, part of a variable. */
static bool is_word(const char *s)
{
    return s[0] != '\0' && s[strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0';
}

static int prove_id(const struct step *s, const char *sort, const char *id, struct problem *err)
{
    size_t n = strlen(s->id);
    if (id == NULL)
        return wrong(err, "step %s has a %s without id", s->id, sort);
    if (strncmp(id, s->id, n) != 0 || id[n] != '.' || !is_word(id + n + 1))
        return wrong(err, "%s %s: its id must be of the form %s.what", sort, id, s->id);
    return 0;
}

static int prove_ids_of_step(const struct step *s, struct problem *err)
{
    for (const struct field *const *f = s->fields; f != NULL && *f != NULL; f++) {
        if (prove_id(s, "field", (*f)->id, err) != 0)
            return -1;
    }
    for (const struct check *const *c = s->checks; c != NULL && *c != NULL; c++) {
        if (prove_id(s, "check", (*c)->id, err) != 0)
            return -1;
        for (const char *const *id = (*c)->gives; id != NULL && *id != NULL; id++) {
            if (prove_id(s, "fact", *id, err) != 0)
                return -1;
        }
    }
    return 0;
}

static int prove_ids(const struct rows *r, struct problem *err)
{
    for (size_t i = 0; i < r->step_count; i++) {
        const struct step *s = r->steps[i];
        if (s->id == NULL || !is_word(s->id))
            return wrong(err, "step %zu has no proper id", i);
        if (rows_step(r, s->id) != (int)i)
            return wrong(err, "there are two steps %s", s->id);
        if (prove_ids_of_step(s, err) != 0)
            return -1;
    }
    /* Sorted by id, equal ones stand side by side. */
    for (size_t i = 1; i < r->field_count; i++) {
        const char *id = r->fields[r->by_id[0][i]]->id;
        if (strcmp(r->fields[r->by_id[0][i - 1]]->id, id) == 0)
            return wrong(err, "there are two fields %s", id);
    }
    for (size_t i = 0; i < r->fact_count; i++) {
        int at = r->by_id[1][i], before = i > 0 ? r->by_id[1][i - 1] : -1;
        const char *id = r->facts[at];
        if (before >= 0 && strcmp(r->facts[before], id) == 0)
            return wrong(err, "fact %s has two givers: %s and %s", id,
                         r->checks[r->givers[before]]->id, r->checks[r->givers[at]]->id);
        if (rows_field(r, id) >= 0)
            return wrong(err, "%s is a field and a fact", id);
    }
    for (size_t i = 1; i < r->check_count; i++) {
        const char *id = r->checks[r->by_id[2][i]]->id;
        if (strcmp(r->checks[r->by_id[2][i - 1]]->id, id) == 0)
            return wrong(err, "there are two checks %s", id);
    }
    return 0;
}

static int prove_fields(const struct rows *r, struct problem *err)
{
    for (size_t i = 0; i < r->field_count; i++) {
        const struct field *f = r->fields[i];
        if (f->label == NULL)
            return wrong(err, "field %s has no label", f->id);
        if (f->host_of != NULL && rows_field(r, f->host_of) < 0)
            return wrong(err, "field %s: host_of names %s, which is no field", f->id, f->host_of);
        if (f->picker != NULL && rows_fact(r, f->picker) < 0)
            return wrong(err, "field %s: picker names %s, which is no fact", f->id, f->picker);
        if (f->kind == FIELD_SECRET && (f->initial != NULL || f->default_from != NULL))
            return wrong(err, "field %s: a secret has no default", f->id);
    }
    return 0;
}

static int prove_checks(const struct rows *r, struct problem *err)
{
    for (size_t i = 0; i < r->check_count; i++) {
        const struct check *c = r->checks[i];
        if (c->title == NULL || c->run == NULL)
            return wrong(err, "check %s has no title or no function", c->id);
        if (c->effect == EFFECT_PROBES && c->touches == NULL)
            return wrong(err, "check %s writes and does not say what (touches)", c->id);
        for (const char *const *id = c->reads; id != NULL && *id != NULL; id++) {
            const char *name = **id == '?' ? *id + 1 : *id;
            if (rows_field(r, name) < 0 && rows_fact(r, name) < 0)
                return wrong(err, "check %s reads %s, which is no field and has no giver", c->id,
                             name);
        }
        for (const char *const *id = c->after; id != NULL && *id != NULL; id++) {
            if (rows_check(r, *id) < 0)
                return wrong(err, "check %s comes after %s, which is no check", c->id, *id);
        }
        if (c->kept != NULL && (c->gives == NULL || c->gives[0] == NULL || c->gives[1] != NULL))
            return wrong(err, "check %s keeps a fact and does not give just one", c->id);
    }
    return 0;
}

static int prove_actions(const struct rows *r, const struct step *s, struct problem *err)
{
    for (const struct page_action *a = s->actions; a != NULL && a->key != NULL; a++) {
        size_t count = 0;
        for (; a->first != NULL && a->first[count] != NULL; count++) {
            if (rows_check(r, a->first[count]) < 0)
                return wrong(err, "step %s: %s names %s, which is no check", s->id, a->verb,
                             a->first[count]);
        }
        if (count > PAGE_FIRST_MAX || (a->act == PAGE_CHECK && count != 1))
            return wrong(err, "step %s: %s names %zu checks", s->id, a->verb, count);
    }
    return 0;
}

/* The first check that must come before check i and is not placed yet, or -1. A fact that may be
 * missing
 * ("?id") counts: else its survey and its reader would make each other stale forever. */
static int open_before(const struct rows *r, const bool *placed, int i)
{
    const struct check *c = r->checks[i];
    for (const char *const *id = c->reads; id != NULL && *id != NULL; id++) {
        int fact = rows_fact(r, **id == '?' ? *id + 1 : *id);
        if (fact >= 0 && !placed[r->givers[fact]])
            return r->givers[fact];
    }
    for (const char *const *id = c->after; id != NULL && *id != NULL; id++) {
        int check = rows_check(r, *id);
        if (!placed[check])
            return check;
    }
    return -1;
}

/* From a check that cannot be placed one comes, by what it waits for, into the circle and round it.
 */
static int name_circle(const struct rows *r, const bool *placed, struct problem *err)
{
    int at = 0;
    while (placed[at])
        at++;
    for (size_t i = 0; i < r->check_count; i++)
        at = open_before(r, placed, at);
    AUTO_TEXT circle = TEXT_INIT;
    int start = at;
    do {
        text_addf(&circle, "%s waits for ", r->checks[at]->id);
        at = open_before(r, placed, at);
    } while (at != start);
    text_add(&circle, r->checks[at]->id);
    return wrong(err, "checks in a circle: %s", circle.s);
}

/* Stable: of those that may come next it takes the first in the order of steps and rows. */
static int put_in_order(struct rows *r, struct problem *err)
{
    bool *placed = xcalloc(r->check_count, sizeof *placed);
    size_t count = 0;
    int rc = 0;
    while (count < r->check_count && rc == 0) {
        size_t i = 0;
        while (i < r->check_count && (placed[i] || open_before(r, placed, (int)i) >= 0))
            i++;
        if (i < r->check_count) {
            placed[i] = true;
            r->order[count++] = (int)i;
        } else {
            rc = name_circle(r, placed, err);
        }
    }
    xfree(placed);
    return rc;
}

int rows_prove(struct rows *r, struct problem *err)
{
    if (prove_ids(r, err) != 0 || prove_fields(r, err) != 0 || prove_checks(r, err) != 0)
        return -1;
    for (size_t i = 0; i < r->step_count; i++)
        if (prove_actions(r, r->steps[i], err) != 0)
            return -1;
    return put_in_order(r, err);
}
