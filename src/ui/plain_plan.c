/* Plain mode's plan: every change with its statements, left out by number, carried out after the
 * typed word, told as it goes. See plain_parts.h. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "ui/plain_parts.h"

/* --- telling ---------------------------------------------------------------------------------- */

static void say_change(struct plain *p, size_t number, const struct change *c)
{
    plain_say(p, "%zu %s%s %s%s%s", number, c->left_out ? "left out: " : "",
              change_action_name(c->action), c->title,
              c->detail != NULL && c->detail[0] != '\0' ? ": " : "",
              c->detail != NULL ? c->detail : "");
    if (c->left_out)
        return;
    if (c->reason != NULL && c->reason[0] != '\0')
        plain_say(p, "  Because: %s", c->reason);
    if (c->caution != NULL && c->caution[0] != '\0')
        plain_say(p, "  Caution: %s", c->caution);
    for (const char *at = c->preview; at != NULL && *at != '\0';) {
        size_t n = strcspn(at, "\n");
        plain_say_code(p, "  | %.*s", (int)n, at);
        at += n + (at[n] == '\n');
    }
}

static void say_plan(struct plain *p, const struct plan *plan)
{
    for (size_t i = 0; i < plan->missing_count; i++)
        plain_say(p, "Not known yet: %s", plan->missing[i]);
    for (size_t i = 0; i < plan->right_count; i++)
        plain_say(p, "Already right: %s", plan->right[i]);
    if (plan->count == 0 && plan->missing_count == 0)
        plain_say(p, "Nothing to change: everything stands as wanted.");
    if (plan->count > 0)
        plain_say(p, "%zu change%s. Nothing is written yet.", plan->count,
                  plan->count == 1 ? "" : "s");
    for (size_t i = 0; i < plan->count; i++)
        say_change(p, i + 1, plan->changes[i]);
}

static const struct change *change_of(const struct plain *p, const struct event *ev, size_t *index)
{
    const struct plan *plan = engine_applied_plan(p->engine);
    for (size_t i = 0; plan != NULL && i < plan->count; i++)
        if (ev->change != NULL && strcmp(plan->changes[i]->id, ev->change) == 0) {
            *index = i;
            return plan->changes[i];
        }
    return NULL;
}

void plain_tell_change(struct plain *p, const struct event *ev)
{
    size_t i;
    struct change_view v;
    const struct change *c = change_of(p, ev, &i);
    if (c == NULL)
        return;
    engine_change_view(p->engine, i, &v);
    if (ev->kind == EVENT_CHANGE_PROGRESS && v.doing != NULL) {
        if (p->doing[i] == NULL || strcmp(p->doing[i], v.doing) != 0)
            plain_say(p, "Applying. %s: %s.", c->title, v.doing);
        xreplace(&p->doing[i], v.doing);
    } else if (ev->kind == EVENT_CHANGE_DONE) {
        plain_say(p, "Applying. %d %s: %s.", ++p->told,
                  v.status == CHANGE_FOUND ? "was there already" : change_status_name(v.status),
                  c->title);
        if (v.problem != NULL && v.status == CHANGE_FAILED)
            plain_say_problem(p, v.problem);
    }
}

/* --- carrying out ----------------------------------------------------------------------------- */

static void say_applied(struct plain *p)
{
    const struct plan *plan = engine_applied_plan(p->engine);
    size_t done = 0, failed = 0;
    for (size_t i = 0; i < plan->count; i++) {
        struct change_view v;
        engine_change_view(p->engine, i, &v);
        done += v.status == CHANGE_MADE || v.status == CHANGE_FOUND;
        failed += v.status == CHANGE_FAILED;
    }
    if (failed > 0)
        plain_say(p, "%zu of %zu done, %zu failed; p plans what is left.", done, plan->count,
                  failed);
    else
        plain_say(p, "%zu of %zu done.", done, plan->count);
}

/* Afterwards everything is proved again, with the probes that are allowed. */
static void want_all(struct plain *p)
{
    for (size_t i = 0; i < p->rows->step_count; i++)
        engine_want_step(p->engine, (int)i, EFFECT_READS, false);
    for (size_t i = 0; i < p->rows->check_count; i++)
        if (p->consents[i])
            engine_want(p->engine, (int)i, EFFECT_PROBES, false);
}

static bool apply(struct plain *p, struct plan *plan)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    size_t count = plan->count;
    if (!plain_save(p))
        return false;
    if (engine_apply(p->engine, plan, true, &why) != 0) {
        plain_say_problem(p, &why);
        return true;
    }
    p->told = 0;
    p->doing = xcalloc(count + 1, sizeof(char *));
    bool goes_on = plain_run_wanted(p);
    for (size_t i = 0; i < count; i++)
        xfree(p->doing[i]);
    xfree(p->doing);
    p->doing = NULL;
    if (!goes_on)
        return false;
    say_applied(p);
    want_all(p);
    return plain_run_wanted(p);
}

/* --- asking ----------------------------------------------------------------------------------- */

static size_t wanted(const struct plan *plan)
{
    size_t n = 0;
    for (size_t i = 0; i < plan->count; i++)
        n += !plan->changes[i]->left_out;
    return n;
}

static void toggle(struct plain *p, struct plan *plan, const char *answer)
{
    char *end;
    long n = strtol(answer, &end, 10);
    if (*end != '\0' || n < 1 || (size_t)n > plan->count) {
        plain_say(p, "Nothing was done: only the word apply makes the changes.");
        return;
    }
    struct change *c = plan->changes[n - 1];
    c->left_out = !c->left_out;
    plain_say(p, "%ld %s: %s.", n, c->left_out ? "is left out" : "is made", c->title);
}

bool plain_plan(struct plain *p, bool *applied)
{
    struct plan plan;
    AUTO_TEXT answer = TEXT_INIT;
    bool goes_on = true;
    wizard_make_plan(p->wizard, -1, &plan);
    say_plan(p, &plan);
    while (goes_on && plan.count > 0 && state_holder(p->state) == NULL) {
        goes_on = plain_ask(p, false, &answer,
                            "Type apply to make %zu change%s exactly as shown, a number to leave "
                            "one out or take it in again, or Enter to go back:",
                            wanted(&plan), wanted(&plan) == 1 ? "" : "s");
        if (!goes_on || answer.len == 0)
            break;
        if (strcmp(answer.s, "apply") == 0 && wanted(&plan) > 0) {
            goes_on = apply(p, &plan);
            *applied = true;
            break;
        }
        toggle(p, &plan, answer.s);
    }
    plan_release(&plan);
    return goes_on;
}
