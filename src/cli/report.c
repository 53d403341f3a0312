/* Checks as people read them. JSON and JUnit stand in report_json.c. */
#include "cli/report.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "ui/theme.h"

#define ID_COLUMNS 32
#define LINE_COLUMNS 78

struct paint paint_of(const struct args *a)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");
    bool tty = isatty(STDOUT_FILENO) == 1;
    return (struct paint){.utf8 = theme_set_locale(),
                          .colour = tty && !a->no_color &&
                                    (no_color == NULL || no_color[0] == '\0') && term != NULL &&
                                    strcmp(term, "dumb") != 0};
}

void paint_mark(struct text *out, struct paint p, enum status s, bool stale)
{
    enum mark mark = stale ? MARK_STALE : theme_mark_by_name(status_name(s));
    if (mark == MARK_COUNT)
        mark = MARK_PENDING;
    const struct style *style = theme_style(SCHEME_COLOUR, theme_mark(mark)->role);
    if (p.colour && style->fg >= 0)
        text_addf(out, "\033[%dm", 30 + style->fg);
    text_add(out, theme_mark_glyph(mark, p.utf8));
    if (p.colour && style->fg >= 0)
        text_add(out, "\033[0m");
}

/* s, with ASCII twins where the terminal's encoding has no other way. */
static void add(struct text *out, struct paint p, const char *s)
{
    if (p.utf8)
        text_add(out, s);
    else
        theme_add_ascii(out, s);
}

static void pad(struct text *out, int columns)
{
    for (int i = 0; i < columns; i++)
        text_addc(out, ' ');
}

static void add_wrapped(struct text *out, struct paint p, const char *before, const char *s)
{
    AUTO_TEXT line = TEXT_INIT;
    text_add(&line, before);
    int indent = utf8_columns(before);
    bool any = false;
    for (const char *at = s; *at != '\0';) {
        size_t n = strcspn(at, " \n");
        AUTO(xfree) char *word = xstrndup(at, n);
        if (any && utf8_columns(line.s) + 1 + utf8_columns(word) > LINE_COLUMNS) {
            add(out, p, line.s);
            text_addc(out, '\n');
            text_reset(&line);
            pad(&line, indent);
            any = false;
        }
        if (any)
            text_addc(&line, ' ');
        text_add(&line, word);
        any = true;
        at += n;
        at += strspn(at, " \n");
    }
    add(out, p, line.s);
    text_addc(out, '\n');
}

static void add_details(struct text *out, struct paint p, const struct outcome *o)
{
    if (o->why != NULL)
        add_wrapped(out, p, "      why: ", o->why);
    if (o->fix != NULL) {
        AUTO(xfree) char *who = xasprintf("      %s: ", problem_who_name(o->who));
        add_wrapped(out, p, who, o->fix);
    }
    if (o->copy != NULL) {
        text_add(out, "      $ ");
        add(out, p, o->copy);
        text_addc(out, '\n');
    }
    if (o->suggest_field != NULL) {
        AUTO(xfree)
        char *take =
            xasprintf("take over: sluice state set %s %s", o->suggest_field, o->suggest_value);
        add_wrapped(out, p, "      ", take);
    }
    for (size_t i = 0; i < o->item_count; i++) {
        const struct item *it = &o->items[i];
        if (it->status == STATUS_PASSED)
            continue;
        text_add(out, "      ");
        paint_mark(out, p, it->status, false);
        AUTO(xfree)
        char *line = xasprintf(" %s%s%s", it->name, it->line != NULL ? ": " : "",
                               it->line != NULL ? it->line : "");
        add(out, p, line);
        text_addc(out, '\n');
        if (it->fix != NULL)
            add_wrapped(out, p, "          ", it->fix);
    }
}

bool report_has(const struct session *s, const struct selection *sel, size_t check,
                const struct check_view *v)
{
    const struct check *c = s->rows.checks[check];
    if (!sel->checks[check])
        return false;
    return c->effect <= sel->effect || v->outcome != NULL;
}

static void add_check(struct text *out, struct paint p, const struct check *c,
                      const struct check_view *v)
{
    AUTO_TEXT left = TEXT_INIT;
    text_add(&left, c->id);
    pad(&left, ID_COLUMNS - utf8_columns(left.s));
    const char *line = v->outcome != NULL && v->outcome->line != NULL ? v->outcome->line : c->title;
    text_add(out, "  ");
    paint_mark(out, p, v->status, v->stale);
    text_addf(out, " %s", left.s);
    add(out, p, line);
    if (v->outcome != NULL && v->outcome->took_ms > 0)
        text_addf(out, "  (%lld ms)", (long long)v->outcome->took_ms);
    text_addc(out, '\n');
    if (v->status == STATUS_ACCEPTED) {
        AUTO(xfree) char *why = xasprintf("accepted: %s", v->accepted);
        add_wrapped(out, p, "      ", why);
    } else if (v->outcome != NULL && (v->status == STATUS_FAILED || v->status == STATUS_WARNED ||
                                      v->status == STATUS_UNREACHABLE)) {
        add_details(out, p, v->outcome);
    }
}

struct tally {
    int passed, failed, blocking, warned, waiting;
};

/* Checks that wait for the same thing are one line. */
static void add_waiting(struct session *s, const struct selection *sel, struct paint p,
                        const struct step *step, struct text *out)
{
    for (size_t i = 0; i < s->rows.check_count; i++) {
        struct check_view first;
        wizard_check_view(s->wizard, (int)i, &first);
        if (!report_has(s, sel, i, &first) || first.status != STATUS_WAITING ||
            rows_step_of(&s->rows, s->rows.checks[i]->id) != step)
            continue;
        int same = 0;
        bool earlier = false;
        for (size_t k = 0; k < s->rows.check_count; k++) {
            struct check_view v;
            wizard_check_view(s->wizard, (int)k, &v);
            if (!report_has(s, sel, k, &v) || v.status != STATUS_WAITING ||
                rows_step_of(&s->rows, s->rows.checks[k]->id) != step ||
                strcmp(v.waits, first.waits) != 0)
                continue;
            earlier |= k < i;
            same++;
        }
        if (earlier)
            continue;
        text_add(out, "  ");
        paint_mark(out, p, STATUS_WAITING, false);
        AUTO(xfree)
        char *line = same == 1 ? xasprintf(" %s waits for: %s", s->rows.checks[i]->id, first.waits)
                               : xasprintf(" %d wait for: %s", same, first.waits);
        add(out, p, line);
        text_addc(out, '\n');
    }
}

static void add_step(struct session *s, const struct selection *sel, struct paint p,
                     const struct step *step, struct tally *t, struct text *out)
{
    bool headed = false;
    for (size_t i = 0; i < s->rows.check_count; i++) {
        const struct check *c = s->rows.checks[i];
        struct check_view v;
        wizard_check_view(s->wizard, (int)i, &v);
        if (!report_has(s, sel, i, &v) || rows_step_of(&s->rows, c->id) != step)
            continue;
        if (!headed)
            text_addf(out, "%s\n", step->id);
        headed = true;
        bool failed = v.status == STATUS_FAILED || v.status == STATUS_UNREACHABLE;
        t->failed += failed;
        t->blocking += failed && (c->severity == SEV_BLOCKS || c->severity == SEV_DANGER);
        t->warned += v.status == STATUS_WARNED;
        t->waiting +=
            v.status == STATUS_WAITING || v.status == STATUS_NONE || v.status == STATUS_CANCELLED;
        t->passed +=
            v.status == STATUS_PASSED || v.status == STATUS_SKIPPED || v.status == STATUS_ACCEPTED;
        if (v.status != STATUS_WAITING)
            add_check(out, p, c, &v);
    }
    if (headed)
        add_waiting(s, sel, p, step, out);
}

/* "emr, bucket: not begun …": what a command without words left out, so that it is not taken for
 * proved. */
static void add_not_begun(const struct session *s, const struct selection *sel, struct paint p,
                          struct text *out)
{
    AUTO_TEXT names = TEXT_INIT;
    for (size_t i = 0; sel->not_begun != NULL && i < s->rows.step_count; i++) {
        if (!sel->not_begun[i])
            continue;
        text_sep(&names, ", ");
        text_add(&names, s->rows.steps[i]->id);
    }
    if (names.len == 0)
        return;
    AUTO(xfree)
    char *line =
        xasprintf("%s: not begun, nothing is answered yet and no credentials are found\n", names.s);
    add(out, p, line);
}

void report_checks_text(struct session *s, const struct selection *sel, struct paint p,
                        int64_t took_ms, struct text *out)
{
    struct tally t = {0};
    for (size_t i = 0; i < s->rows.step_count; i++)
        if (sel->steps[i])
            add_step(s, sel, p, s->rows.steps[i], &t, out);
    add_not_begun(s, sel, p, out);
    text_addf(out, "%d passed", t.passed);
    if (t.warned > 0)
        text_addf(out, ", %d warned", t.warned);
    if (t.failed > 0)
        text_addf(out, ", %d failed%s", t.failed, t.blocking > 0 ? " (blocks)" : "");
    if (t.waiting > 0)
        text_addf(out, ", %d not run", t.waiting);
    AUTO(xfree)
    char *end = xasprintf(" · %lld.%02lld s\n", (long long)(took_ms / 1000),
                          (long long)(took_ms % 1000 / 10));
    add(out, p, end);
}

int report_code(struct session *s, const struct selection *sel)
{
    int code = 0;
    for (size_t i = 0; i < s->rows.check_count; i++) {
        const struct check *c = s->rows.checks[i];
        struct check_view v;
        wizard_check_view(s->wizard, (int)i, &v);
        if (!report_has(s, sel, i, &v))
            continue;
        bool counts = c->severity == SEV_BLOCKS || c->severity == SEV_DANGER;
        if (v.status == STATUS_FAILED && counts)
            code = exit_worse(code, EXIT_FAILED);
        if (v.status == STATUS_UNREACHABLE || v.status == STATUS_CANCELLED)
            code = exit_worse(code, EXIT_UNREACHABLE);
        if (v.status == STATUS_WAITING && strstr(v.waits, "(planned)") != NULL)
            code = exit_worse(code, EXIT_CHANGES);
    }
    return code;
}
