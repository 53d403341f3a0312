/* Plain mode's way through the steps: ask, check, say what is to be done, ask what now. Questions
 * stand in plain_ask.c, plain_fields.c and plain_list.c, what is told in plain_show.c, what a page
 * can do in plain_page.c. See plain.h. */
#include "ui/plain.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "ui/plain_parts.h"

#define STILL_MS 10000 /* of silence, after which it is said what is waited for */

/* --- running ---------------------------------------------------------------------------------- */

static void observe(void *ctx, const struct event *ev)
{
    struct plain *p = ctx;
    if (ev->kind == EVENT_CHECK_DONE || ev->kind == EVENT_CHANGE_DONE)
        p->told_at = clock_ms();
    switch (ev->kind) {
    case EVENT_CHECK_DONE:
        plain_tell_check(p, ev->check);
        break;
    case EVENT_CHANGE_PROGRESS:
    case EVENT_CHANGE_DONE:
        plain_tell_change(p, ev);
        break;
    default:
        break;
    }
}

static void say_still(struct plain *p)
{
    p->told_at = clock_ms();
    for (size_t i = 0; i < p->rows->check_count; i++) {
        struct check_view v;
        wizard_check_view(p->wizard, (int)i, &v);
        if (v.running)
            plain_say(p, "Still checking: %s%s%s, for %lld s. Ctrl-C cancels.",
                      p->rows->checks[i]->title, v.doing != NULL ? ", " : "",
                      v.doing != NULL ? v.doing : "",
                      (long long)((clock_ms() - v.running_since) / 1000));
    }
    const struct plan *plan = engine_applied_plan(p->engine);
    for (size_t i = 0; engine_applying(p->engine) && i < plan->count; i++) {
        struct change_view v;
        engine_change_view(p->engine, i, &v);
        if (v.status == CHANGE_RUNNING)
            plain_say(p, "Still applying: %s, for %lld s. Ctrl-C stops after it.",
                      plan->changes[i]->title, (long long)((clock_ms() - v.since) / 1000));
    }
}

/* True when it goes on (cancelling), false when it leaves. */
static bool interrupted(struct plain *p, int signal, bool *cancelled)
{
    if (signal != SIGINT || *cancelled) {
        p->leave = true;
        p->code = 128 + signal;
        return false;
    }
    *cancelled = true;
    if (engine_applying(p->engine)) {
        engine_apply_stop(p->engine);
        plain_say(p, "Stops after this change. Ctrl-C again leaves; the journal knows what was "
                     "begun.");
    } else {
        engine_cancel(p->engine, -1);
        plain_say(p, "Cancelled what ran. Ctrl-C again leaves; everything is saved.");
    }
    return true;
}

/* Until something is due though nothing is reported: a line after long silence, or the engine's own
 * deadlines. */
static int wait_ms(const struct plain *p)
{
    int64_t left = p->told_at + STILL_MS - clock_ms();
    int engine = engine_timeout(p->engine);
    if (left < 0)
        left = 0;
    return engine >= 0 && engine < left ? engine : (int)left;
}

bool plain_run_wanted(struct plain *p)
{
    bool cancelled = false;
    p->told_at = clock_ms();
    engine_pump(p->engine, observe, p);
    while (engine_busy(p->engine)) {
        int signal;
        if (console_wait(&p->console, engine_fd(p->engine), wait_ms(p), &signal) ==
                CONSOLE_SIGNAL &&
            !interrupted(p, signal, &cancelled))
            return false;
        engine_pump(p->engine, observe, p);
        if (clock_ms() - p->told_at >= STILL_MS)
            say_still(p);
    }
    return plain_save(p);
}

void plain_begin_telling(struct plain *p)
{
    p->told = 0;
    memset(p->just_told, 0, p->rows->check_count * sizeof(bool));
}

/* --- probes ----------------------------------------------------------------------------------- */

static bool same_service(const struct check *a, const struct check *b)
{
    return a->service != NULL && b->service != NULL && strcmp(a->service, b->service) == 0;
}

/* Consent is for the service: whatever probe of it comes later. */
static void answer_for_service(struct plain *p, int check, bool yes)
{
    const struct check *c = p->rows->checks[check];
    for (size_t i = 0; i < p->rows->check_count; i++) {
        const struct check *other = p->rows->checks[i];
        if (other->effect != EFFECT_PROBES || ((int)i != check && !same_service(c, other)))
            continue;
        p->consents[i] = yes;
        p->declined[i] = !yes;
    }
}

static bool can_run_now(struct plain *p, int check)
{
    struct check_view v;
    wizard_check_view(p->wizard, check, &v);
    return v.waits[0] == '\0' && (v.outcome == NULL || v.stale);
}

bool plain_ask_for_probe(struct plain *p, int check, bool again, bool *yes)
{
    const struct check *c = p->rows->checks[check];
    bool costs = c->effect == EFFECT_COSTS;
    if (!plain_yes(p, false, yes, "The check \"%s\" %s: %s. Run it?", c->title,
                   costs ? "costs something" : "writes and removes something",
                   c->touches != NULL ? c->touches : "what it makes"))
        return false;
    if (!costs)
        answer_for_service(p, check, *yes);
    if (*yes)
        engine_want(p->engine, check, c->effect, again || costs);
    return true;
}

/* Probes of the step that can run now: those allowed at once, the others after a question. What
 * costs is only asked about on a re-check. */
static bool run_probes(struct plain *p, bool again)
{
    for (size_t i = 0; i < p->rows->check_count; i++) {
        const struct check *c = p->rows->checks[i];
        if (!plain_in_step(p, (int)i) || c->effect == EFFECT_READS || p->consents[i])
            continue;
        bool due = c->effect == EFFECT_PROBES ? !p->declined[i] : again, yes;
        if (due && can_run_now(p, (int)i) && !plain_ask_for_probe(p, (int)i, false, &yes))
            return false;
    }
    for (size_t i = 0; i < p->rows->check_count; i++)
        if (plain_in_step(p, (int)i) && p->consents[i])
            engine_want(p->engine, (int)i, EFFECT_PROBES, again);
    return plain_run_wanted(p);
}

/* --- checking a step -------------------------------------------------------------------------- */

/* An answer that was found to work is offered; *taken when it was taken over. */
static bool offer(struct plain *p, int check, bool *taken)
{
    struct check_view v;
    AUTO_PROBLEM why = PROBLEM_INIT;
    bool yes;
    wizard_check_view(p->wizard, check, &v);
    if (!plain_in_step(p, check) || v.stale || v.outcome == NULL ||
        v.outcome->suggest_field == NULL)
        return true;
    int field = rows_field(p->rows, v.outcome->suggest_field);
    AUTO(xfree) char *value = xstrdup(v.outcome->suggest_value);
    if (field < 0)
        return true;
    if (!plain_yes(p, true, &yes, "%s = %s was found to work. Take it over?",
                   p->rows->fields[field]->label, value))
        return false;
    if (yes && wizard_set_text(p->wizard, field, value, ORIGIN_TYPED, &why) != 0)
        plain_say_problem(p, &why);
    *taken |= yes && why.kind == PROBLEM_NONE;
    return true;
}

static bool check_step(struct plain *p, bool again)
{
    bool taken = true;
    while (taken) {
        taken = false;
        plain_begin_telling(p);
        engine_want_step(p->engine, p->step, EFFECT_READS, again);
        if (!plain_run_wanted(p) || !run_probes(p, again))
            return false;
        for (size_t i = 0; i < p->rows->check_count && !taken; i++)
            if (!offer(p, (int)i, &taken))
                return false;
        again = false;
    }
    if (!plain_save(p))
        return false;
    plain_summary(p);
    return true;
}

/* --- what now --------------------------------------------------------------------------------- */

static bool details(struct plain *p)
{
    int *checks = xcalloc(p->rows->check_count + 1, sizeof(int));
    size_t count = 0;
    for (size_t i = 0; i < p->rows->check_count; i++) {
        struct check_view v;
        if (!plain_in_step(p, (int)i))
            continue;
        checks[count++] = (int)i;
        wizard_check_view(p->wizard, (int)i, &v);
        plain_say(p, "%zu %s: %s", count, plain_word(&v), p->rows->checks[i]->title);
    }
    long chosen = 0;
    bool goes_on = true;
    while (goes_on && count > 0) {
        goes_on = plain_number(p, count, &chosen, "Which check? Its number, or Enter to go back:");
        if (!goes_on || chosen < 0)
            break;
        plain_details(p, checks[chosen]);
    }
    xfree(checks);
    return goes_on;
}

static void say_commands(struct plain *p)
{
    plain_say(p, "r  runs all checks of this step again\n"
                 "p  shows what would be made, with every statement; then apply makes it\n"
                 "d  tells one check in full: tried, got, why, what to do\n"
                 "c  asks the answers of this step again; Enter keeps each\n"
                 "n  goes to the next step, b to the one before, and a step's name to that one\n"
                 "q  leaves; everything is saved. So do Ctrl-D and Ctrl-C.\n"
                 "While checks run, Ctrl-C cancels them; twice leaves.");
    plain_say_actions(p);
    AUTO_TEXT names = TEXT_INIT;
    for (size_t i = 0; i < p->rows->step_count; i++) {
        text_sep(&names, ", ");
        text_add(&names, p->rows->steps[i]->id);
    }
    plain_say(p, "Steps: %s.", names.s);
}

static bool quit(struct plain *p)
{
    bool yes = true;
    if (!plain_save(p))
        return false;
    if (state_save_problem(p->state) != NULL &&
        !plain_yes(p, false, &yes, "Leave all the same, without saving?"))
        return false;
    p->leave = yes;
    return !yes;
}

enum next {
    NEXT_ASK,
    NEXT_STEP,   /* another step: all of it */
    NEXT_FIELDS, /* this step's answers again */
    NEXT_CHECK,  /* all checks again */
    NEXT_PROVE,  /* those that are not current */
    NEXT_LEAVE
};

static enum next plan(struct plain *p)
{
    bool applied = false;
    if (!plain_plan(p, &applied))
        return NEXT_LEAVE;
    return applied ? NEXT_PROVE : NEXT_ASK;
}

static enum next go(struct plain *p, int step)
{
    if (step < 0 || step >= (int)p->rows->step_count) {
        plain_say(p, step < 0 ? "This is the first step." : "This is the last step.");
        return NEXT_ASK;
    }
    p->step = step;
    return NEXT_STEP;
}

static enum next obey(struct plain *p, const char *word)
{
    static const char *const words[] = {"re-check", "plan", "details", "change", "next",
                                        "back",     "quit", "help",    NULL};
    int step = rows_step(p->rows, word);
    const struct page_action *action = plain_action(p, word);
    if (action != NULL)
        return plain_act(p, action) ? NEXT_ASK : NEXT_LEAVE;
    char letter = word[0] == '?' ? 'h' : '\0';
    for (size_t i = 0; words[i] != NULL; i++)
        if (strcasecmp(word, words[i]) == 0 ||
            (strncasecmp(word, words[i], 1) == 0 && word[1] == '\0'))
            letter = words[i][0];
    switch (letter) {
    case 'r':
        return NEXT_CHECK;
    case 'p':
        return plan(p);
    case 'd':
        return details(p) ? NEXT_ASK : NEXT_LEAVE;
    case 'c':
        return NEXT_FIELDS;
    case 'n':
        return go(p, p->step + 1);
    case 'b':
        return go(p, p->step - 1);
    case 'q':
        return quit(p) ? NEXT_ASK : NEXT_LEAVE;
    default:
        break;
    }
    if (step >= 0)
        return go(p, step);
    say_commands(p);
    return NEXT_ASK;
}

static enum next what_now(struct plain *p)
{
    AUTO_TEXT word = TEXT_INIT;
    AUTO_TEXT actions = TEXT_INIT;
    const struct step *s = p->rows->steps[p->step];
    bool page = s->fields == NULL && s->checks == NULL;
    plain_add_actions(p, &actions);
    do {
        if (!plain_ask(p, false, &word,
                       "What now? %s%s[n]ext step, [b]ack, [q]uit, ? for help:", actions.s,
                       page ? "[p]lan, " : "[r]e-check, [p]lan, [d]etails, [c]hange answers, "))
            return NEXT_LEAVE;
    } while (word.len == 0);
    return obey(p, word.s);
}

static enum next one_step(struct plain *p, enum next next)
{
    const struct step *s = p->rows->steps[p->step];
    if (next == NEXT_STEP)
        plain_heading(p);
    if (next == NEXT_FIELDS && state_holder(p->state) != NULL)
        plain_say(p, "Read-only: %s", state_holder(p->state));
    bool asks = (next == NEXT_STEP || next == NEXT_FIELDS) && state_holder(p->state) == NULL;
    if (asks && s->fields != NULL && !plain_fields(p))
        return NEXT_LEAVE;
    if (next == NEXT_CHECK)
        memset(p->declined, 0, p->rows->check_count * sizeof(bool));
    if (next != NEXT_ASK && s->checks != NULL && !check_step(p, next == NEXT_CHECK))
        return NEXT_LEAVE;
    return what_now(p);
}

/* --- beginning and end ------------------------------------------------------------------------ */

static void say_how(struct plain *p)
{
    plain_say(p, "Plain mode. Enter keeps what stands in brackets, ? explains, Ctrl-C leaves. "
                 "Everything is saved as you go.");
    if (state_holder(p->state) != NULL)
        plain_say(p, "Read-only: %s", state_holder(p->state));
}

static void say_goodbye(struct plain *p)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (state_holder(p->state) != NULL)
        return;
    if (!state_worth_saving(p->state, p->wizard))
        plain_say(p, "Nothing was typed, nothing is written.");
    else if (state_save(p->state, p->wizard, &why) == 0)
        plain_say(p, "Saved in %s.", state_path(p->state));
    else
        plain_say_problem(p, &why);
}

int plain_run(struct wizard *w, struct state *s, struct engine *e, const struct front_hooks *hooks,
              struct problem *err)
{
    struct plain p = {.wizard = w, .state = s, .engine = e, .rows = wizard_rows(w), .hooks = hooks};
    if (console_open(&p.console, STDIN_FILENO, STDOUT_FILENO, err) != 0)
        return -1;
    p.just_told = xcalloc(p.rows->check_count + 1, sizeof(bool));
    p.consents = xcalloc(p.rows->check_count + 1, sizeof(bool));
    p.declined = xcalloc(p.rows->check_count + 1, sizeof(bool));
    say_how(&p);
    bool goes_on = (state_vault(s) != VAULT_LOCKED || plain_passphrase(&p)) && plain_save(&p);
    p.step = wizard_first_open_step(w);
    for (enum next next = NEXT_STEP; goes_on && next != NEXT_LEAVE;)
        next = one_step(&p, next);
    say_goodbye(&p);
    console_close(&p.console);
    xfree(p.just_told);
    xfree(p.consents);
    xfree(p.declined);
    return p.code;
}
