/* What plain mode tells: where one is, each check as it finishes, the sum, one check in full. Words
 * stand where the screens have marks. See plain_parts.h. */
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/mem.h"
#include "ui/plain_parts.h"
#include "ui/theme.h"

#define ITEMS_MAX 8 /* named with a failed check; all of them stand in its details */

/* "text." without a second full stop. */
static void add_sentence(struct text *out, const char *s)
{
    size_t n = s != NULL ? strlen(s) : 0;
    if (n == 0)
        return;
    text_sep(out, " ");
    text_add(out, s);
    if (strchr(".:!?", s[n - 1]) == NULL)
        text_addc(out, '.');
}

void plain_say_problem(struct plain *p, const struct problem *what)
{
    AUTO_TEXT line = TEXT_INIT;
    add_sentence(&line, what->what);
    add_sentence(&line, what->why);
    plain_say(p, "%s", line.s);
    if (what->fix != NULL)
        plain_say(p, "  Do: %s: %s", problem_who_name(what->who), what->fix);
    if (what->copy != NULL)
        plain_say_code(p, "  Command: %s", what->copy);
}

/* --- step ------------------------------------------------------------------------------------- */

static const char *saved_word(const struct plain *p)
{
    if (state_holder(p->state) != NULL)
        return "Read-only, another sluice has it open.";
    if (state_save_problem(p->state) != NULL)
        return "NOT SAVED.";
    return state_is_new(p->state) ? "Nothing typed yet, nothing saved." : "Saved.";
}

static void say_needs(struct plain *p)
{
    plain_say(p, "You will need:");
    for (size_t i = 0; i < p->rows->step_count; i++) {
        const struct step *s = p->rows->steps[i];
        if (s->needs != NULL)
            plain_say(p, "  %s %s", s->number, s->needs);
    }
}

/* A column of labels tells nothing to who listens: each line says its own. */
static void say_page(struct plain *p, const struct step *s)
{
    AUTO(xfree) char *text = s->page(p->wizard);
    AUTO(xfree) char *label = xstrdup("");
    for (const char *at = text; *at != '\0';) {
        size_t n = strcspn(at, "\n"), tab = strcspn(at, "\t");
        AUTO(xfree) char *body = tab < n ? xstrndup(at + tab + 1, n - tab - 1) : xstrndup(at, n);
        if (tab > 0 && tab < n) {
            xfree(label);
            label = xstrndup(at, tab);
        }
        plain_say(p, "%s%s%s", tab < n ? label : "", tab < n ? ": " : "", body);
        at += n + (at[n] == '\n');
    }
}

void plain_heading(struct plain *p)
{
    const struct step *s = p->rows->steps[p->step];
    struct snapshot *snap = wizard_snapshot(p->wizard);
    const char *name = snap_text(snap, "start.name");
    plain_say(p, "\nsluice: %s%s%s, step %d of %zu, %s. %s",
              name[0] != '\0' ? "pipeline \"" : "a new pipeline", name, name[0] != '\0' ? "\"" : "",
              p->step + 1, p->rows->step_count, s->number[0] != '\0' ? s->title : s->name,
              saved_word(p));
    snapshot_unref(snap);
    if (s->intro != NULL)
        plain_say(p, "%s", s->intro);
    AUTO_TEXT later = TEXT_INIT;
    for (size_t i = 0; s->later != NULL && s->later[i] != NULL; i++) {
        text_sep(&later, s->later[i][0] == ' ' ? "\n" : " ");
        text_add(&later, s->later[i]);
    }
    if (later.len > 0)
        plain_say(p, "%s", later.s);
    if (s->page != NULL)
        say_page(p, s);
    plain_say_actions(p);
    if (s->needs != NULL && p->step > 0)
        plain_say(p, "Needs: %s.", s->needs);
    if (s->link != NULL)
        plain_say(p, "Read: %s", s->link);
    if (p->step == 0)
        say_needs(p);
}

/* --- checks ----------------------------------------------------------------------------------- */

bool plain_in_step(const struct plain *p, int check)
{
    return rows_step_of(p->rows, p->rows->checks[check]->id) == p->rows->steps[p->step];
}

const char *plain_word(const struct check_view *v)
{
    static const enum mark marks[] = {
        [STATUS_NONE] = MARK_PENDING,        [STATUS_PASSED] = MARK_PASSED,
        [STATUS_WARNED] = MARK_WARNED,       [STATUS_FAILED] = MARK_FAILED,
        [STATUS_SKIPPED] = MARK_SKIPPED,     [STATUS_WAITING] = MARK_WAITING,
        [STATUS_CANCELLED] = MARK_CANCELLED, [STATUS_UNREACHABLE] = MARK_UNREACHABLE,
        [STATUS_ACCEPTED] = MARK_ACCEPTED,
    };
    if (v->running)
        return theme_mark(MARK_RUNNING)->words;
    if (v->stale && v->status != STATUS_WAITING)
        return theme_mark(MARK_STALE)->words;
    return theme_mark(marks[v->status])->words;
}

static bool is_bad(enum status s)
{
    return s == STATUS_FAILED || s == STATUS_UNREACHABLE;
}

/* "reaches the catalog, TLS 1.3. Blocks." */
static void line_of(struct plain *p, int check, const struct check_view *v, struct text *out)
{
    const struct check *c = p->rows->checks[check];
    const char *line = v->outcome != NULL ? v->outcome->line : NULL;
    AUTO_TEXT both = TEXT_INIT;
    text_add(&both, c->title);
    if (line != NULL && line[0] != '\0')
        text_addf(&both, ", %s", line);
    add_sentence(out, both.s);
    if (is_bad(v->status))
        text_add(out, c->severity == SEV_DANGER   ? " A danger to the source."
                      : c->severity == SEV_BLOCKS ? " Blocks."
                                                  : "");
}

/* Which tables, permissions, … it is about. */
static void say_bad_items(struct plain *p, const struct outcome *o)
{
    size_t bad = 0;
    for (size_t i = 0; i < o->item_count; i++) {
        const struct item *it = &o->items[i];
        if ((!is_bad(it->status) && it->status != STATUS_WARNED) || bad++ >= ITEMS_MAX)
            continue;
        plain_say(p, "  %s%s%s%s%s", it->name, it->line != NULL ? ": " : "",
                  it->line != NULL ? it->line : "", it->fix != NULL ? ". Do: " : "",
                  it->fix != NULL ? it->fix : "");
    }
    if (bad > ITEMS_MAX)
        plain_say(p, "  and %zu more: d tells them", bad - ITEMS_MAX);
}

static void say_fix(struct plain *p, const struct check_view *v)
{
    const struct outcome *o = v->outcome;
    if (o == NULL || !(is_bad(v->status) || v->status == STATUS_WARNED))
        return;
    say_bad_items(p, o);
    if (o->fix != NULL)
        plain_say(p, "  Do: %s: %s", problem_who_name(o->who), o->fix);
    if (o->copy != NULL)
        plain_say_code(p, "  Command: %s", o->copy);
}

void plain_tell_check(struct plain *p, int check)
{
    struct check_view v;
    AUTO_TEXT line = TEXT_INIT;
    wizard_check_view(p->wizard, check, &v);
    line_of(p, check, &v, &line);
    plain_say(p, "Checking. %d %s: %s", ++p->told, plain_word(&v), line.s);
    say_fix(p, &v);
    p->just_told[check] = true;
}

/* What failed earlier and stands still: it is told again, since it was not told just now. */
static void say_standing(struct plain *p)
{
    for (size_t i = 0; i < p->rows->check_count; i++) {
        struct check_view v;
        AUTO_TEXT line = TEXT_INIT;
        wizard_check_view(p->wizard, (int)i, &v);
        if (!plain_in_step(p, (int)i) || p->just_told[i] || v.stale || !is_bad(v.status))
            continue;
        line_of(p, (int)i, &v, &line);
        plain_say(p, "As before, %s: %s", plain_word(&v), line.s);
        say_fix(p, &v);
    }
}

/* "6 wait for logs in, 1 waits for Branch" */
static void add_waiting(struct plain *p, struct text *out)
{
    for (size_t i = 0; i < p->rows->check_count; i++) {
        struct check_view v, other;
        int same = 0;
        bool told = false;
        wizard_check_view(p->wizard, (int)i, &v);
        if (!plain_in_step(p, (int)i) || v.status != STATUS_WAITING)
            continue;
        for (size_t k = 0; k < p->rows->check_count; k++) {
            wizard_check_view(p->wizard, (int)k, &other);
            bool equal = plain_in_step(p, (int)k) && other.status == STATUS_WAITING &&
                         strcmp(other.waits, v.waits) == 0;
            told |= equal && k < i;
            same += equal;
        }
        if (!told)
            text_addf(out, ", %d wait%s for: %s", same, same == 1 ? "s" : "", v.waits);
    }
}

void plain_summary(struct plain *p)
{
    struct step_view s;
    AUTO_TEXT line = TEXT_INIT;
    int open = 0, all = 0;
    say_standing(p);
    wizard_step_view(p->wizard, p->step, &s);
    for (size_t i = 0; i < p->rows->check_count; i++) {
        struct check_view v;
        wizard_check_view(p->wizard, (int)i, &v);
        if (!plain_in_step(p, (int)i))
            continue;
        all++;
        open += v.status == STATUS_NONE || v.status == STATUS_CANCELLED;
    }
    if (all == 0)
        return;
    text_addf(&line, "%d checks: %d passed", all, s.passed);
    if (s.warned > 0)
        text_addf(&line, ", %d with a warning", s.warned);
    if (s.failed > 0)
        text_addf(&line, ", %d failed", s.failed);
    add_waiting(p, &line);
    if (open > 0)
        text_addf(&line, ", %d not run", open);
    text_addc(&line, '.');
    if (s.changes > 0)
        text_addf(&line, " %d change%s planned: p shows %s.", s.changes,
                  s.changes == 1 ? " is" : "s are", s.changes == 1 ? "it" : "them");
    plain_say(p, "%s", line.s);
}

/* --- one check in full ------------------------------------------------------------------------ */

static void say_part(struct plain *p, const char *label, const char *text)
{
    if (text != NULL && text[0] != '\0')
        plain_say(p, "  %s: %s", label, text);
}

static void say_outcome(struct plain *p, const struct outcome *o)
{
    say_part(p, "Tried", o->tried);
    say_part(p, "Got", o->line);
    say_part(p, "Why", o->why);
    if (o->fix != NULL)
        plain_say(p, "  Do: %s: %s", problem_who_name(o->who), o->fix);
    if (o->copy != NULL)
        plain_say_code(p, "  Command: %s", o->copy);
    say_part(p, "Read", o->link);
    say_part(p, "Code", o->code);
    for (size_t i = 0; i < o->item_count; i++) {
        const struct item *it = &o->items[i];
        plain_say(p, "  Item %zu, %s: %s%s%s%s%s", i + 1, status_name(it->status), it->name,
                  it->line != NULL ? ", " : "", it->line != NULL ? it->line : "",
                  it->fix != NULL ? ". Do: " : "", it->fix != NULL ? it->fix : "");
    }
    say_part(p, "Evidence", o->evidence);
    AUTO(xfree) char *at = clock_iso(o->at);
    plain_say(p, "  When: %s, took %lld ms", at, (long long)o->took_ms);
}

void plain_details(struct plain *p, int check)
{
    const struct check *c = p->rows->checks[check];
    struct check_view v;
    wizard_check_view(p->wizard, check, &v);
    plain_say(p, "%s, %s: %s. %s.", c->title, c->id, plain_word(&v),
              c->severity == SEV_DANGER   ? "Failing it is a danger to the source"
              : c->severity == SEV_BLOCKS ? "Failing it blocks"
              : c->severity == SEV_WARNS  ? "It only warns"
                                          : "It only informs");
    say_part(p, "Waits for", v.waits);
    if (v.stale)
        say_part(p, "Note", "this result is of other answers, or old; r checks again");
    say_part(p, "Accepted", v.accepted);
    if (v.outcome != NULL)
        say_outcome(p, v.outcome);
    say_part(p, "Writes", c->touches);
    if (v.outcome == NULL || v.outcome->why == NULL) {
        say_part(p, "Fails when", c->cause);
        say_part(p, "Then", c->fix);
    }
}
