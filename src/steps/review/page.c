/* The page of the step review: what is proved, accepted, not proved, stale, each with the way to
 * it; what was made. What is done with it stands in the actions of the step. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/text.h"
#include "steps/review/review.h"

#define NEVER_SHORT 8 /* that many of one step are named one by one */

static const struct step *step_of(const struct rows *rows, int check)
{
    return rows_step_of(rows, rows->checks[check]->id);
}

/* "34 min ago" */
static void add_age(struct text *out, int64_t at)
{
    int64_t age = clock_wall() - at;
    if (age < 60)
        text_add(out, "just now");
    else if (age < 7200)
        text_addf(out, "%lld min ago", (long long)(age / 60));
    else if (age < 172800)
        text_addf(out, "%lld hours ago", (long long)(age / 3600));
    else
        text_addf(out, "%lld days ago", (long long)(age / 86400));
}

static void add_proved(const struct review *r, struct text *out)
{
    text_addf(out, "Proved\t%zu of %zu checks", r->of[REVIEW_PROVED],
              r->count - r->of[REVIEW_APART]);
    if (r->oldest != 0) {
        text_add(out, ", the oldest ");
        add_age(out, r->oldest);
    }
    text_addc(out, '\n');
}

static void add_accepted(struct wizard *w, const struct review *r, struct text *out)
{
    const char *label = "Accepted";
    for (size_t i = 0; i < r->count; i++) {
        if (r->rows[i].group != REVIEW_ACCEPTED)
            continue;
        text_addf(out, "%s\t%s: “%s”\n", label, wizard_rows(w)->checks[r->rows[i].check]->id,
                  wizard_accepted(w, r->rows[i].check));
        label = "";
    }
    if (label[0] != '\0')
        text_addf(out, "%s\tnothing\n", label);
}

/* What ran and did not pass, with who does what. */
static bool add_failures(struct wizard *w, const struct review *r, struct text *out)
{
    const char *label = "Not proved";
    for (size_t i = 0; i < r->count; i++) {
        const struct outcome *o = r->rows[i].outcome;
        if (r->rows[i].group != REVIEW_OPEN || o == NULL)
            continue;
        text_addf(out, "%s\t%s: %s", label, wizard_rows(w)->checks[r->rows[i].check]->id,
                  o->line != NULL ? o->line : "no answer");
        if (o->fix != NULL)
            text_addf(out, " → %s: %s", problem_who_name(o->who), o->fix);
        text_addc(out, '\n');
        label = "";
    }
    return label[0] == '\0';
}

/* Checks of one step in a group that have, or have not, run: their number, the ids of a few. */
static size_t of_step(const struct rows *rows, const struct review *r, const struct step *s,
                      enum review_group group, bool ran, struct text *ids)
{
    size_t count = 0;
    for (size_t i = 0; i < r->count; i++) {
        if (r->rows[i].group != group || (r->rows[i].outcome != NULL) != ran ||
            step_of(rows, r->rows[i].check) != s)
            continue;
        if (count++ < NEVER_SHORT) {
            text_sep(ids, ", ");
            text_add(ids, rows->checks[r->rows[i].check]->id);
        }
    }
    return count;
}

/* A line a step: where they are and how they are had. */
static bool add_by_step(struct wizard *w, const struct review *r, enum review_group group, bool ran,
                        const char *label, const char *words, struct text *out)
{
    const struct rows *rows = wizard_rows(w);
    bool any = false;
    for (size_t i = 0; i < rows->step_count; i++) {
        AUTO_TEXT ids = TEXT_INIT;
        size_t count = of_step(rows, r, rows->steps[i], group, ran, &ids);
        if (count == 0)
            continue;
        AUTO(xfree) char *step = rows_step_label(rows->steps[i]);
        if (count <= NEVER_SHORT)
            text_addf(out, "%s\t%s: %s %s\n", any ? "" : label, step, ids.s, words);
        else
            text_addf(out, "%s\t%s: %zu checks %s\n", any ? "" : label, step, count, words);
        any = true;
    }
    return any;
}

static void add_open(struct wizard *w, const struct review *r, struct text *out)
{
    bool any = add_failures(w, r, out);
    add_by_step(w, r, REVIEW_OPEN, false, any ? "" : "Not proved", "never run: F5 or Space there",
                out);
    const char *label = "Beyond";
    for (const struct review_beyond *b = review_beyond; b->what != NULL; b++) {
        if (!review_is_beyond(w, b))
            continue;
        text_addf(out, "%s\t%s: %s\n", label, b->what, b->how);
        label = "";
    }
}

static void add_made(struct wizard *w, struct text *out)
{
    struct plan undo;
    AUTO_TEXT titles = TEXT_INIT;
    wizard_make_undo(w, -1, &undo);
    for (size_t i = undo.count; i-- > 0;) {
        text_sep(&titles, ", ");
        text_add(&titles, undo.changes[i]->title);
    }
    text_addf(out, "Made here\t%s\n", undo.count > 0 ? titles.s : "nothing");
    plan_release(&undo);
}

char *review_page(struct wizard *w)
{
    AUTO_TEXT out = TEXT_INIT;
    AUTO_REVIEW r = {0};
    review_make(w, true, &r);
    add_proved(&r, &out);
    add_accepted(w, &r, &out);
    add_open(w, &r, &out);
    if (!add_by_step(w, &r, REVIEW_STALE, true, "Stale",
                     "of other answers or too old: F5 or Space there", &out))
        text_add(&out, "Stale\tnothing\n");
    add_made(w, &out);
    return text_take(&out);
}
