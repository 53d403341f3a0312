/* Outcomes: filled by a check on its thread, then handed to the main thread. Each text passes the
 * gate of core/shown.h as it enters, so that whoever shows one need not think of it. */
#include "core/outcome.h"

#include <string.h>

#include "core/bug.h"
#include "core/mem.h"
#include "core/shown.h"

static const char *const status_names[STATUS_COUNT] = {
    [STATUS_NONE] = "none",           [STATUS_PASSED] = "passed",
    [STATUS_WARNED] = "warned",       [STATUS_FAILED] = "failed",
    [STATUS_SKIPPED] = "skipped",     [STATUS_WAITING] = "waiting",
    [STATUS_CANCELLED] = "cancelled", [STATUS_UNREACHABLE] = "unreachable",
    [STATUS_ACCEPTED] = "accepted",
};

const char *status_name(enum status s)
{
    return (unsigned)s < STATUS_COUNT ? status_names[s] : status_names[STATUS_NONE];
}

enum status status_parse(const char *name)
{
    for (int i = 0; i < STATUS_COUNT; i++) {
        if (name != NULL && strcmp(name, status_names[i]) == 0)
            return (enum status)i;
    }
    return STATUS_NONE;
}

struct outcome *outcome_new(void)
{
    struct outcome *o = xcalloc(1, sizeof *o);
    o->refs = 1;
    return o;
}

struct outcome *outcome_ref(struct outcome *o)
{
    if (o != NULL)
        o->refs++;
    return o;
}

void outcome_unref(struct outcome *o)
{
    if (o == NULL || --o->refs > 0)
        return;
    char *const texts[] = {o->line, o->tried, o->why,  o->fix,           o->evidence,
                           o->copy, o->link,  o->code, o->suggest_field, o->suggest_value};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        xfree(texts[i]);
    for (size_t i = 0; i < o->item_count; i++) {
        xfree(o->items[i].name);
        xfree(o->items[i].line);
        xfree(o->items[i].fix);
    }
    xfree(o->items);
    for (size_t i = 0; i < o->given_count; i++) {
        xfree(o->given[i].id);
        fact_unref(o->given[i].fact);
    }
    xfree(o->given);
    xfree(o);
}

/* Takes s, which may have been made from what stands in the slot. */
static void put(char **slot, char *s)
{
    xfree(*slot);
    *slot = s;
}

/* Renders the variable arguments after `last` into o->member. */
#define PUT_FORMAT(o, member, mode, last)                                                          \
    do {                                                                                           \
        va_list ap_;                                                                               \
        va_start(ap_, last);                                                                       \
        char *s_ = shown_format(mode, last, ap_);                                                  \
        va_end(ap_);                                                                               \
        put(&(o)->member, s_);                                                                     \
    } while (0)

static void settle(struct outcome *o, enum status status)
{
    o->status = status;
    o->kind = PROBLEM_NONE;
    put(&o->code, NULL);
}

void outcome_pass(struct outcome *o, const char *line, ...)
{
    PUT_FORMAT(o, line, CLEAN_LINE, line);
    settle(o, STATUS_PASSED);
}

void outcome_warn(struct outcome *o, const char *line, ...)
{
    PUT_FORMAT(o, line, CLEAN_LINE, line);
    settle(o, STATUS_WARNED);
}

void outcome_skip(struct outcome *o, const char *line, ...)
{
    PUT_FORMAT(o, line, CLEAN_LINE, line);
    settle(o, STATUS_SKIPPED);
}

void outcome_fail(struct outcome *o, const char *code, const char *line, ...)
{
    /* Better words for a problem that was taken over before do not make a refused login one that
     * may be tried again. */
    enum problem_kind kind = o->status == STATUS_FAILED ? o->kind : PROBLEM_NONE;
    char *kept = shown_copy(code, CLEAN_LINE);
    PUT_FORMAT(o, line, CLEAN_LINE, line);
    settle(o, STATUS_FAILED);
    o->kind = kind;
    put(&o->code, kept);
}

void outcome_problem(struct outcome *o, const struct problem *p)
{
    settle(o, p->kind == PROBLEM_UNREACHABLE ? STATUS_UNREACHABLE
              : p->kind == PROBLEM_CANCELLED ? STATUS_CANCELLED
                                             : STATUS_FAILED);
    o->kind = p->kind;
    o->who = p->who;
    put(&o->code, shown_copy(p->code, CLEAN_LINE));
    put(&o->line, shown_copy(p->what != NULL ? p->what : problem_kind_name(p->kind), CLEAN_LINE));
    put(&o->why, shown_copy(p->why, CLEAN_LINES));
    put(&o->fix, shown_copy(p->fix, CLEAN_LINES));
    put(&o->evidence, shown_copy(p->evidence, CLEAN_LINES));
    put(&o->copy, shown_copy(p->copy, CLEAN_LINES));
}

void outcome_tried(struct outcome *o, const char *fmt, ...)
{
    PUT_FORMAT(o, tried, CLEAN_LINE, fmt);
}

void outcome_why(struct outcome *o, const char *fmt, ...)
{
    PUT_FORMAT(o, why, CLEAN_LINES, fmt);
}

void outcome_fix(struct outcome *o, enum who who, const char *fmt, ...)
{
    PUT_FORMAT(o, fix, CLEAN_LINES, fmt);
    o->who = who;
}

void outcome_evidence(struct outcome *o, const char *fmt, ...)
{
    PUT_FORMAT(o, evidence, CLEAN_LINES, fmt);
}

void outcome_copy_command(struct outcome *o, const char *fmt, ...)
{
    PUT_FORMAT(o, copy, CLEAN_LINES, fmt);
}

void outcome_link(struct outcome *o, const char *url)
{
    put(&o->link, shown_copy(url, CLEAN_LINE));
}

void outcome_suggest(struct outcome *o, const char *field, const char *value)
{
    put(&o->suggest_field, xstrdup(field));
    put(&o->suggest_value, shown_copy(value, CLEAN_LINES));
}

void outcome_item(struct outcome *o, enum status status, const char *name, const char *line,
                  const char *fix)
{
    /* Doubled each time it is full: a survey may have an item for each of 100,000 tables. */
    if ((o->item_count & (o->item_count - 1)) == 0)
        o->items = xrealloc(o->items, o->item_count != 0 ? o->item_count * 2 : 1, sizeof *o->items);
    o->items[o->item_count++] = (struct item){
        .status = status,
        .name = shown_copy(name, CLEAN_LINE),
        .line = shown_copy(line, CLEAN_LINE),
        .fix = shown_copy(fix, CLEAN_LINES),
    };
}

void outcome_give(struct outcome *o, const char *fact_id, struct fact *fact)
{
    if (fact == NULL)
        return;
    for (size_t i = 0; i < o->given_count; i++) {
        if (strcmp(o->given[i].id, fact_id) == 0)
            bug("%s is given twice in one outcome", fact_id);
    }
    o->given = xrealloc(o->given, o->given_count + 1, sizeof *o->given);
    o->given[o->given_count++] = (struct given){.id = xstrdup(fact_id), .fact = fact};
}
