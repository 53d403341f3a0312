/* The loop of the full-screen front end, its stack of views, saving. See app.h. */
#include "ui/app.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clean.h"
#include "core/clock.h"
#include "core/mem.h"
#include "ui/frame.h"

#define SAVE_DELAY_MS                                                                              \
    400 /* outcomes come in bursts: one save for many; answers are saved at once */
#define CANCEL_TWICE_MS 3000
#define TICK_MS 1000 /* only while something runs: elapsed times are shown in seconds */

/* --- marks, notices, consent ------------------------------------------------------------------ */

enum mark app_mark(enum status s, bool stale, bool running)
{
    if (running)
        return MARK_RUNNING;
    if (stale && s != STATUS_WAITING)
        return MARK_STALE;
    static const enum mark marks[] = {
        [STATUS_NONE] = MARK_PENDING,        [STATUS_PASSED] = MARK_PASSED,
        [STATUS_WARNED] = MARK_WARNED,       [STATUS_FAILED] = MARK_FAILED,
        [STATUS_SKIPPED] = MARK_SKIPPED,     [STATUS_WAITING] = MARK_WAITING,
        [STATUS_CANCELLED] = MARK_CANCELLED, [STATUS_UNREACHABLE] = MARK_UNREACHABLE,
        [STATUS_ACCEPTED] = MARK_ACCEPTED,
    };
    return marks[s];
}

void app_put_mark(struct app *a, struct rect r, int row, int col, enum mark m)
{
    canvas_put(&a->canvas, r, row, col, theme_mark(m)->role, theme_mark_glyph(m, a->utf8));
}

void app_notice(struct app *a, enum role role, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    AUTO(xfree) char *raw = xvasprintf(fmt, ap);
    va_end(ap);
    xfree(a->notice);
    a->notice = clean_copy(raw, CLEAN_LINE);
    a->notice_role = role;
}

static void drop_notice(struct app *a)
{
    xfree(a->notice);
    a->notice = NULL;
}

bool app_read_only(struct app *a)
{
    if (state_holder(a->state) == NULL)
        return false;
    /* who holds it, without the path before: that may be longer than the line */
    const char *who = strstr(state_holder(a->state), "held by ");
    app_notice(a, ROLE_BANNER, "read-only: %s", who != NULL ? who : state_holder(a->state));
    return true;
}

bool app_consented(const struct app *a, int check)
{
    return a->consents[check];
}

void app_consent(struct app *a, int check)
{
    const char *service = a->rows->checks[check]->service;
    for (size_t i = 0; i < a->rows->check_count; i++) {
        const struct check *c = a->rows->checks[i];
        if (c->effect == EFFECT_PROBES && c->service != NULL && service != NULL &&
            strcmp(c->service, service) == 0)
            a->consents[i] = true;
    }
}

void app_run_check(struct app *a, int check)
{
    const struct check *c = a->rows->checks[check];
    if (c->effect == EFFECT_PROBES)
        app_consent(a, check);
    engine_want(a->engine, check, c->effect, true);
}

void app_want_step(struct app *a, int step, bool deep, bool again)
{
    engine_want_step(a->engine, step, EFFECT_READS, again);
    for (size_t i = 0; deep && i < a->rows->check_count; i++)
        if (a->consents[i] && rows_step_of(a->rows, a->rows->checks[i]->id) == a->rows->steps[step])
            engine_want(a->engine, (int)i, EFFECT_PROBES, again);
}

void app_want_begun(struct app *a, bool deep, bool again)
{
    struct snapshot *now = wizard_snapshot(a->wizard);
    for (size_t i = 0; i < a->rows->step_count; i++)
        if (rows_step_begun(a->rows->steps[i], now))
            app_want_step(a, (int)i, deep, again);
    snapshot_unref(now);
}

void app_copy(struct app *a, const char *text)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (term_copy(a->term, text, strlen(text), &p) == 0)
        app_notice(a, ROLE_HINT, "copied, if the terminal allows it: %s", text);
    else
        app_notice(a, ROLE_WARN, "%s", p.what);
}

/* --- saving ----------------------------------------------------------------------------------- */

void app_save(struct app *a)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    a->save_due = 0;
    if (state_holder(a->state) != NULL || !state_worth_saving(a->state, a->wizard))
        return;
    a->saved_answers = wizard_answers_version(a->wizard);
    if (state_save(a->state, a->wizard, &p) != 0) {
        app_notice(a, ROLE_BANNER, "not saved: %s", p.what);
        a->save_due = clock_ms() + 5000;
    }
}

/* Once there is a secret to keep and no place for it, the place is asked for. */
static void ask_for_passphrase(struct app *a)
{
    if (a->passphrase_declined || state_holder(a->state) != NULL ||
        !state_wants_passphrase(a->state, a->wizard))
        return;
    for (const struct view *v = a->top; v != NULL; v = v->below)
        if (strcmp(v->ops->name, "passphrase") == 0)
            return;
    app_push(a, view_passphrase_new(a));
}

static void save_if_due(struct app *a)
{
    if (wizard_answers_version(a->wizard) != a->saved_answers)
        ask_for_passphrase(a);
    if (wizard_answers_version(a->wizard) != a->saved_answers ||
        (a->save_due != 0 && clock_ms() >= a->save_due))
        app_save(a);
}

/* --- stack ------------------------------------------------------------------------------------ */

void app_push(struct app *a, struct view *v)
{
    v->below = a->top;
    a->top = v;
}

void app_pop(struct app *a)
{
    struct view *v = a->top;
    a->top = v->below;
    v->ops->free(v);
}

void app_go(struct app *a, int step)
{
    if (step < 0 || step >= (int)a->rows->step_count)
        return;
    while (a->top != NULL)
        app_pop(a);
    a->step = step;
    app_push(a, a->rows->steps[step]->page != NULL ? view_page_new(a) : view_step_new(a));
    app_want_step(a, step, false, false);
}

const struct key_row *view_keys(const struct view *v)
{
    return v->keys != NULL ? v->keys : v->ops->keys;
}

static void draw_stack(struct view *v, struct app *a, struct rect body)
{
    if (v->ops->popup && v->below != NULL)
        draw_stack(v->below, a, body);
    v->ops->draw(v, a, body);
}

static void draw(struct app *a)
{
    for (struct view *v = a->top; v != NULL; v = v->below)
        if (v->ops->tick != NULL)
            v->ops->tick(v, a);
    canvas_resize(&a->canvas, term_rows(a->term), term_cols(a->term));
    canvas_clear(&a->canvas);
    struct rect body = frame_draw(a);
    if (body.rows > 0 && a->top != NULL)
        draw_stack(a->top, a, body);
    if (body.rows > 0)
        frame_draw_footer(a);
    term_draw(a->term, &a->canvas);
}

/* --- keys ------------------------------------------------------------------------------------- */

static void ctrl_c(struct app *a)
{
    int64_t now = clock_ms();
    if (a->cancel_at != 0 && now - a->cancel_at < CANCEL_TWICE_MS) {
        a->leave = true;
        a->code = 130;
        return;
    }
    a->cancel_at = now;
    if (engine_applying(a->engine)) {
        engine_apply_stop(a->engine);
        app_notice(
            a, ROLE_WARN,
            "stops after this change; Ctrl-C again leaves, the journal knows what was begun");
    } else if (engine_busy(a->engine)) {
        engine_cancel(a->engine, -1);
        app_notice(a, ROLE_WARN, "cancelled what ran; Ctrl-C again leaves, everything is saved");
    } else {
        app_notice(a, ROLE_WARN, "Ctrl-C again leaves; everything is saved");
    }
}

static void leave(struct app *a)
{
    app_save(a);
    if (state_save_problem(a->state) != NULL && a->cancel_at == 0) {
        a->cancel_at = clock_ms(); /* once more, or Ctrl-C, leaves all the same */
        return;
    }
    a->leave = true;
    a->code = 0;
}

/* Keys that mean the same everywhere, when the view had no use for them. */
static void global_key(struct app *a, const struct key *k)
{
    if (k->code == K_F(2) || key_is(k, "p"))
        app_push(a, view_plan_new(a, -1));
    else if (k->code == K_F(5) || key_is(k, "r"))
        app_want_step(a, a->step, true, true);
    else if (k->code == K_F(6) || key_is(k, "l"))
        app_push(a, view_log_new(a));
    else if (k->code == K_F1 || key_is(k, "?"))
        app_push(a, view_help_new(a, a->top, -1));
    else if (k->code == K_F(10) || key_is(k, "q"))
        leave(a);
}

static void take_key(struct app *a, const struct key *k)
{
    if (k->code == K_RESIZE)
        return;
    if (k->code == K_CTRL_C) {
        ctrl_c(a);
        return;
    }
    drop_notice(a);
    if (k->code == K_CTRL_L)
        term_redraw(a->term);
    else if (k->code == K_CTRL_Z)
        term_suspend(a->term);
    else if (a->top == NULL || a->top->ops->key(a->top, a, k) == UI_IGNORED)
        global_key(a, k);
}

/* --- loop ------------------------------------------------------------------------------------- */

static void observe(void *ctx, const struct event *ev)
{
    struct app *a = ctx;
    for (struct view *v = a->top; v != NULL; v = v->below)
        if (v->ops->event != NULL)
            v->ops->event(v, a, ev);
    if (ev->kind == EVENT_APPLY_DONE)
        app_want_begun(a, true, false);
    if (a->save_due == 0)
        a->save_due = clock_ms() + SAVE_DELAY_MS;
}

static int sooner(int a, int b)
{
    return a < 0 ? b : b < 0 ? a : a < b ? a : b;
}

static int poll_timeout(struct app *a)
{
    int wait = term_timeout(a->term);
    if (a->save_due != 0) {
        int64_t left = a->save_due - clock_ms();
        wait = sooner(wait, left < 0 ? 0 : (int)left);
    }
    if (engine_busy(a->engine))
        wait = sooner(wait, TICK_MS);
    return sooner(wait, engine_timeout(a->engine));
}

static void wait_for_something(struct app *a)
{
    struct pollfd fds[3] = {{.fd = engine_fd(a->engine), .events = POLLIN}};
    int term_fd[2];
    term_fds(a->term, term_fd);
    fds[1] = (struct pollfd){.fd = term_fd[0], .events = POLLIN};
    fds[2] = (struct pollfd){.fd = term_fd[1], .events = POLLIN};
    poll(fds, 3, poll_timeout(a)); /* EINTR too: whatever it says, everything is looked at */
}

static void read_keys(struct app *a)
{
    for (;;) {
        AUTO_KEY k = KEY_INIT;
        switch (term_read(a->term, &k)) {
        case TERM_NONE:
            return;
        case TERM_KEY:
            take_key(a, &k);
            if (a->leave)
                return;
            break;
        case TERM_SIGNAL:
            a->leave = true;
            a->code = 128 + term_signal(a->term);
            return;
        case TERM_EOF:
            a->leave = true;
            a->code = 128 + SIGHUP;
            return;
        }
    }
}

static void start(struct app *a)
{
    app_go(a, wizard_first_open_step(a->wizard));
    if (state_vault(a->state) == VAULT_LOCKED)
        app_push(a, view_passphrase_new(a));
    app_read_only(a);
}

int app_run(struct wizard *w, struct state *s, struct engine *e, const struct front_hooks *hooks,
            bool no_color, struct problem *err)
{
    struct app a = {.wizard = w,
                    .state = s,
                    .engine = e,
                    .rows = wizard_rows(w),
                    .hooks = hooks,
                    .canvas = CANVAS_INIT,
                    .saved_answers = wizard_answers_version(w)};
    theme_set_locale();
    a.term = term_open(STDIN_FILENO, STDOUT_FILENO, no_color, err);
    if (a.term == NULL)
        return -1;
    a.utf8 = term_utf8(a.term);
    a.consents = xcalloc(a.rows->check_count + 1, sizeof(bool));
    start(&a);
    draw(&a); /* before the first checks start: they read certificates and open connections */
    while (!a.leave) {
        engine_pump(e, observe, &a);
        save_if_due(&a);
        draw(&a);
        wait_for_something(&a);
        read_keys(&a);
    }
    app_save(&a);
    while (a.top != NULL)
        app_pop(&a);
    term_close(a.term);
    canvas_release(&a.canvas);
    xfree(a.consents);
    xfree(a.notice);
    return a.code;
}
