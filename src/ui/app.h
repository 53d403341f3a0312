/* struct app: the full-screen front end: one poll loop, a stack of views, the frame around them.
 *
 * A view draws into the body and says what a key did; it never loops, never blocks, never writes to
 * the terminal. What is shown comes from the wizard each time, so that screens cannot drift from
 * the model. */
#ifndef SLUICE_UI_APP_H
#define SLUICE_UI_APP_H

#include <stdbool.h>

#include "core/engine.h"
#include "core/state.h"
#include "core/wizard.h"
#include "ui/canvas.h"
#include "ui/hooks.h"
#include "ui/key.h"
#include "ui/result.h"
#include "ui/term.h"

struct app;
struct view;

/* One verb a key: the footer and the help come from these rows. */
struct key_row {
    const char *keys; /* as shown: "F5", "Enter", "Ctrl-Y" */
    const char *verb; /* in the footer: "re-check"; NULL = only in the help */
    const char *help; /* a phrase, without a stop */
    /* Shown now? NULL = always. */
    bool (*when)(const struct view *v, const struct app *a);
};

struct view_ops {
    const char *name;
    const char *title; /* in line 1 when it is not the step itself; NULL */
    bool popup;        /* drawn over the view below, in a box */
    void (*draw)(struct view *v, struct app *a, struct rect body);
    unsigned (*key)(struct view *v, struct app *a, const struct key *k);  /* enum ui_result */
    void (*event)(struct view *v, struct app *a, const struct event *ev); /* NULL = nothing */
    /* Before each drawing, also while another view lies above: for what ends without an event. NULL
     * = nothing; leaves the stack as it is. */
    void (*tick)(struct view *v, struct app *a);
    void (*free)(struct view *v);
    const struct key_row *keys; /* ends with keys NULL */
};

struct view { /* first member of each view's own struct */
    const struct view_ops *ops;
    struct view *below;
    const struct key_row *keys; /* its own, where they are not known beforehand; NULL: of ops */
};
const struct key_row *view_keys(const struct view *v); /* those that hold; ends with keys NULL */

struct app {
    struct wizard *wizard;
    struct state *state;
    struct engine *engine;
    const struct rows *rows;
    const struct front_hooks *hooks;
    struct terminal *term;
    struct canvas canvas;
    struct view *top;
    int step; /* index of the step on the screen */
    bool utf8;
    bool leave; /* ends the loop with code */
    int code;
    char *notice; /* one line above the footer; NULL none */
    enum role notice_role;
    uint64_t saved_answers;   /* wizard_answers_version of the last save */
    int64_t save_due;         /* clock_ms when outcomes are to be saved; 0 none */
    int64_t cancel_at;        /* of the last Ctrl-C; 0 none */
    bool passphrase_declined; /* secrets are only in memory, on the operator's word */
    bool *consents;           /* by check: its probe may write; given once a service */
};

/* Runs until the operator leaves; gives the exit code (0, 130, 128 + n). */
int app_run(struct wizard *w, struct state *s, struct engine *e, const struct front_hooks *hooks,
            bool no_color, struct problem *err);

void app_push(struct app *a, struct view *v);
void app_pop(struct app *a); /* frees the top */
/* The step view is the bottom of the stack; going to a step drops what lies above it. */
void app_go(struct app *a, int step);
void app_notice(struct app *a, enum role role, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Saves now; a failure is a notice and is tried again with the next save. */
void app_save(struct app *a);
void app_copy(struct app *a, const char *text); /* to the clipboard by OSC 52, with a notice */
bool app_read_only(struct app *a);              /* says so in a notice when it is */
/* The glyph of a status in this terminal, and its role. */
enum mark app_mark(enum status s, bool stale, bool running);
void app_put_mark(struct app *a, struct rect r, int row, int col, enum mark m);
/* Consent to probes: of this check's service. */
bool app_consented(const struct app *a, int check);
void app_consent(struct app *a, int check);
/* Consents to a check and runs it again, as Space does. */
void app_run_check(struct app *a, int check);
/* Wants the reading checks of a step, and the probes consented to when `deep`. */
void app_want_step(struct app *a, int step, bool deep, bool again);
/* Likewise of every step that has begun: of what nobody has answered yet nothing is asked. */
void app_want_begun(struct app *a, bool deep, bool again);

/* The views (each in its own file view_*.c). */
struct view *view_step_new(struct app *a);
struct view *view_page_new(struct app *a); /* of a step that has a page in place of rows */
struct view *view_check_new(struct app *a, int check);  /* one check, in full */
struct view *view_picker_new(struct app *a, int field); /* items of a list field */
struct view *view_plan_new(struct app *a, int step);    /* the plan of a step, or of all (-1) */
struct view *view_undo_new(struct app *a, int step);    /* what undo would take back */
struct view *view_apply_new(struct app *a);             /* what engine_apply does */
/* Writes the folder once what comes first is proved, and shows where it lies or why it is not. */
struct view *view_export_new(struct app *a, const struct page_action *action);
struct view *view_help_new(struct app *a, const struct view *of,
                           int field); /* field -1: of the view */
struct view *view_log_new(struct app *a);
/* A typed word confirms; `yes` runs then. text is copied, word is borrowed. */
struct view *view_confirm_new(struct app *a, const char *title, const char *text, const char *word,
                              void (*yes)(struct app *a, void *ctx), void *ctx);
/* Asks for the passphrase of the secrets file: to open it, or twice to make it. */
struct view *view_passphrase_new(struct app *a);
#endif
