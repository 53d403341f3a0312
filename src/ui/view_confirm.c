/* What writes, publishes or removes is confirmed by a typed word, so that no stray key or paste can
 * do it. */
#include <string.h>

#include "core/mem.h"
#include "ui/app.h"
#include "ui/box.h"
#include "ui/edit.h"
#include "ui/wrap.h"

struct view_confirm {
    struct view view;
    char *title;
    char *text;
    const char *word;
    struct edit edit;
    void (*yes)(struct app *a, void *ctx);
    void *ctx;
};

static struct view_confirm *self(struct view *v)
{
    return (struct view_confirm *)v;
}

static void draw_confirm(struct view *view, struct app *a, struct rect body)
{
    struct view_confirm *v = self(view);
    int height = wrap_height(v->text, 60);
    struct rect r = box_draw(a, body, 60, height + 3, v->title);
    int at = canvas_put_wrapped(&a->canvas, rect_rows(r, 0, r.rows - 2), ROLE_TEXT, v->text);
    at = at < r.rows - 2 ? at : r.rows - 2;
    int col = canvas_putf(&a->canvas, r, at + 1, 0, ROLE_LABEL, "Type %s and Enter: ", v->word);
    struct edit_look look = {.focused = true};
    edit_draw(&v->edit, &a->canvas, rect_cols(rect_rows(r, at + 1, 1), col, -1), &look);
}

static unsigned key_confirm(struct view *view, struct app *a, const struct key *k)
{
    struct view_confirm *v = self(view);
    if (k->code == K_ESC) {
        app_pop(a);
        app_notice(a, ROLE_HINT, "nothing was done");
    } else if (k->code == K_ENTER) {
        if (strcmp(v->edit.s, v->word) != 0) {
            app_notice(a, ROLE_WARN, "to go on type %s; Esc goes back, nothing is done", v->word);
            return UI_HANDLED;
        }
        void (*yes)(struct app *, void *) = v->yes;
        void *ctx = v->ctx;
        app_pop(a);
        yes(a, ctx);
    } else if (k->code != K_PASTE) { /* consent is typed, never pasted */
        edit_key(&v->edit, k);
    }
    return UI_HANDLED;
}

static void free_confirm(struct view *view)
{
    struct view_confirm *v = self(view);
    edit_release(&v->edit);
    xfree(v->title);
    xfree(v->text);
    xfree(v);
}

static const struct key_row keys[] = {
    {"Enter", "go on", "does it, once the word stands there", NULL},
    {"Esc", "back, nothing is done", "back; nothing is done", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct view_ops ops = {.name = "confirm",
                                    .popup = true,
                                    .draw = draw_confirm,
                                    .key = key_confirm,
                                    .free = free_confirm,
                                    .keys = keys};

struct view *view_confirm_new(struct app *a, const char *title, const char *text, const char *word,
                              void (*yes)(struct app *a, void *ctx), void *ctx)
{
    (void)a;
    struct view_confirm *v = xcalloc(1, sizeof(*v));
    v->view.ops = &ops;
    v->title = xstrdup(title);
    v->text = xstrdup(text);
    v->word = word;
    v->yes = yes;
    v->ctx = ctx;
    edit_init(&v->edit, EDIT_TEXT);
    return &v->view;
}
