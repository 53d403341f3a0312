/* Asks for the passphrase of the secrets file: once to open it, twice to make it. Esc leaves
 * secrets in memory only. */
#include <string.h>

#include "core/mem.h"
#include "ui/app.h"
#include "ui/box.h"
#include "ui/edit.h"

struct view_passphrase {
    struct view view;
    struct edit edit;
    struct secret *first; /* typed once, to be repeated */
    bool opens;           /* the file is there */
};

static struct view_passphrase *self(struct view *v)
{
    return (struct view_passphrase *)v;
}

static const char *text_of(const struct view_passphrase *v)
{
    if (v->opens)
        return "Secrets of this set-up lie in a file under a passphrase. With it nothing has to be "
               "typed again.";
    if (v->first != NULL)
        return "The same passphrase once more, so that a slip of the finger does not lock you out.";
    return "Secrets are kept beside the state file, encrypted under a passphrase of yours. It is "
           "asked for when you "
           "resume. There is no way to read them without it.";
}

static void draw_passphrase(struct view *view, struct app *a, struct rect body)
{
    struct view_passphrase *v = self(view);
    struct rect r = box_draw(a, body, 60, 6, v->opens ? "Unlock secrets" : "Keep secrets");
    canvas_put_wrapped(&a->canvas, rect_rows(r, 0, 3), ROLE_TEXT, text_of(v));
    int col = canvas_put(&a->canvas, r, 4, 0, ROLE_LABEL,
                         v->first != NULL ? "Again       " : "Passphrase  ");
    struct edit_look look = {.focused = true};
    edit_draw(&v->edit, &a->canvas, rect_cols(rect_rows(r, 4, 1), col, -1), &look);
}

static void unlock(struct view_passphrase *v, struct app *a, struct secret *s)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (state_unlock(a->state, a->wizard, s, &p) != 0) {
        app_notice(a, ROLE_FAIL, "%s", p.what);
        edit_set(&v->edit, NULL);
        return;
    }
    bool resumes = v->opens;
    app_pop(a);
    if (resumes) /* what was locked counted as missing */
        app_go(a, wizard_first_open_step(a->wizard));
    app_save(a);
    if (state_save_problem(a->state) == NULL)
        app_notice(a, ROLE_PASS,
                   resumes ? "secrets are unlocked" : "secrets are kept under your passphrase");
    app_want_step(a, a->step, false, false);
}

static void enter(struct view_passphrase *v, struct app *a)
{
    if (v->edit.len == 0) {
        app_notice(a, ROLE_WARN, "type a passphrase, or Esc to go on without");
        return;
    }
    struct secret *typed = secret_new(v->edit.s, v->edit.len);
    if (v->opens) {
        unlock(v, a, typed);
    } else if (v->first == NULL) {
        v->first = secret_ref(typed);
        edit_set(&v->edit, NULL);
    } else if (secret_equal(v->first, typed)) {
        unlock(v, a, typed);
    } else {
        app_notice(a, ROLE_FAIL, "the two differ: type it anew");
        secret_unref(v->first);
        v->first = NULL;
        edit_set(&v->edit, NULL);
    }
    secret_unref(typed);
}

static unsigned key_passphrase(struct view *view, struct app *a, const struct key *k)
{
    struct view_passphrase *v = self(view);
    if (k->code == K_ESC) {
        bool opens = v->opens;
        a->passphrase_declined = true;
        app_pop(a);
        app_notice(a, ROLE_WARN,
                   opens ? "secrets stay locked: their fields are to be typed, or F5 later"
                         : "secrets are only in memory now: after a restart they are typed again");
    } else if (k->code == K_ENTER) {
        enter(v, a);
    } else {
        edit_key(&v->edit, k);
    }
    return UI_HANDLED;
}

static void free_passphrase(struct view *view)
{
    struct view_passphrase *v = self(view);
    secret_unref(v->first);
    edit_release(&v->edit);
    xfree(v);
}

static const struct key_row keys[] = {
    {"Enter", "go on", "takes the passphrase", NULL},
    {"Ctrl-R", "show", "shows and hides what is typed", NULL},
    {"Esc", "without", "goes on; secrets are only in memory", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct view_ops ops = {.name = "passphrase",
                                    .popup = true,
                                    .draw = draw_passphrase,
                                    .key = key_passphrase,
                                    .free = free_passphrase,
                                    .keys = keys};

struct view *view_passphrase_new(struct app *a)
{
    struct view_passphrase *v = xcalloc(1, sizeof(*v));
    v->view.ops = &ops;
    v->opens = state_vault(a->state) == VAULT_LOCKED;
    edit_init(&v->edit, EDIT_SECRET);
    return &v->view;
}
