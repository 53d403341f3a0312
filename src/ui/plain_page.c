/* Plain mode's actions of a page: the exported folder, a check that is run and told, what undo
 * would take back. See plain_parts.h. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "ui/plain_parts.h"

/* --- the menu --------------------------------------------------------------------------------- */

/* Those of this step; ends with key NULL. */
static const struct page_action *actions(const struct plain *p)
{
    static const struct page_action none = {0};
    const struct page_action *a = p->rows->steps[p->step]->actions;
    return a != NULL ? a : &none;
}

/* Without the dots by which the screens say that more is asked. */
static size_t verb_length(const struct page_action *a)
{
    static const char dots[] = "…";
    size_t n = strlen(a->verb), d = sizeof dots - 1;
    return n > d && strcmp(a->verb + n - d, dots) == 0 ? n - d : n;
}

const struct page_action *plain_action(const struct plain *p, const char *word)
{
    for (const struct page_action *a = actions(p); a->key != NULL; a++) {
        size_t n = verb_length(a);
        if (strcasecmp(word, a->key) == 0 ||
            (strlen(word) == n && strncasecmp(word, a->verb, n) == 0))
            return a;
    }
    return NULL;
}

void plain_add_actions(const struct plain *p, struct text *out)
{
    for (const struct page_action *a = actions(p); a->key != NULL; a++) {
        size_t n = verb_length(a);
        const char *at = memchr(a->verb, a->key[0], n);
        if (at != NULL)
            text_addf(out, "%.*s[%s]%.*s, ", (int)(at - a->verb), a->verb, a->key,
                      (int)(n - (size_t)(at - a->verb) - 1), at + 1);
        else
            text_addf(out, "[%s] %.*s, ", a->key, (int)n, a->verb);
    }
}

void plain_say_actions(struct plain *p)
{
    for (const struct page_action *a = actions(p); a->key != NULL; a++)
        plain_say(p, "%s  %.*s: %s", a->key, (int)verb_length(a), a->verb, a->help);
}

/* --- checks that come first ------------------------------------------------------------------- */

/* Runs it, after a question where it writes; *yes false: not allowed. */
static bool prove(struct plain *p, int check, bool *yes)
{
    const struct check *c = p->rows->checks[check];
    *yes = true;
    if (c->effect != EFFECT_READS && !p->consents[check])
        return plain_ask_for_probe(p, check, true, yes);
    engine_want(p->engine, check, c->effect, true);
    return true;
}

/* *without: what comes first is not to be had, and the operator takes placeholders; *goes false:
 * not that either. */
static bool prove_first(struct plain *p, const struct page_action *a, bool *without, bool *goes)
{
    int due[PAGE_FIRST_MAX];
    AUTO_PROBLEM why = PROBLEM_INIT;
    size_t count = page_due(p->wizard, p->state, a, due);
    bool yes = true;
    plain_begin_telling(p);
    for (size_t i = 0; i < count && yes; i++)
        if (!prove(p, due[i], &yes))
            return false;
    if (count > 0 && yes && !plain_run_wanted(p))
        return false;
    *goes = true;
    *without = page_why(p->wizard, p->state, a, &why) != 0;
    if (!*without)
        return true;
    if (yes)
        plain_say_problem(p, &why);
    return plain_yes(p, false, goes, "Write it with placeholders where secrets belong?");
}

/* --- the actions ------------------------------------------------------------------------------ */

static bool export(struct plain *p, const struct page_action *a)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO_EXPORTED done = {0};
    const struct front_hooks *hooks = p->hooks;
    bool without = false, goes = false;
    bool can = hooks->can_export(hooks->ctx, &why) == 0;
    if (can && !prove_first(p, a, &without, &goes))
        return false;
    if (!goes || hooks->export(hooks->ctx, without, &done, &why) != 0) {
        plain_say(p, "Not written.");
        if (why.kind != PROBLEM_NONE)
            plain_say_problem(p, &why);
        return true;
    }
    plain_say(p, "%s", done.same ? "Unchanged: it stood there already." : "Written.");
    plain_say_code(p, "  Folder: %s", done.path);
    plain_say(p, "  %zu files, %s. %s", done.files, done.form, done.next);
    return true;
}

static bool run_check(struct plain *p, const struct page_action *a)
{
    int check = rows_check(p->rows, a->first[0]);
    bool yes;
    plain_begin_telling(p);
    if (!prove(p, check, &yes))
        return false;
    if (!yes)
        return true;
    if (!plain_run_wanted(p))
        return false;
    plain_details(p, check);
    return true;
}

static void say_undo(struct plain *p)
{
    struct plan plan;
    wizard_make_undo(p->wizard, -1, &plan);
    for (size_t i = 0; i < plan.count; i++)
        plain_say(p, "%zu %s%s%s", i + 1, plan.changes[i]->title,
                  plan.changes[i]->detail != NULL && plan.changes[i]->detail[0] != '\0' ? ": " : "",
                  plan.changes[i]->detail != NULL ? plan.changes[i]->detail : "");
    for (size_t i = 0; i < plan.right_count; i++)
        plain_say(p, "%s", plan.right[i]);
    for (size_t i = 0; i < plan.missing_count; i++)
        plain_say(p, "%s", plan.missing[i]);
    if (plan.count == 0)
        plain_say(p, "Nothing to take back: nothing stands that was made here.");
    else
        plain_say(p,
                  "Nothing is removed from here. After you left, this takes the list back, newest "
                  "first, and proves it gone:");
    if (plan.count > 0)
        plain_say_code(p, "  sluice undo --state %s --yes", state_path(p->state));
    plan_release(&plan);
}

bool plain_act(struct plain *p, const struct page_action *a)
{
    switch (a->act) {
    case PAGE_EXPORT:
        return export(p, a);
    case PAGE_CHECK:
        return run_check(p, a);
    case PAGE_UNDO:
        say_undo(p);
        break;
    }
    return true;
}
