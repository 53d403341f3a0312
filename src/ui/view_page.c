/* The screen of a step that has a page in place of rows: worked out from the model each time it is
 * drawn, with the keys of what can be done there below. */
#include <string.h>

#include "core/mem.h"
#include "ui/app.h"
#include "ui/pager.h"

#define LABEL_COLS 12

struct view_page {
    struct view view;
    const struct step *step;
    struct pager pager;   /* set anew when the page reads otherwise */
    struct key_row *keys; /* of the actions, then those of every page */
    int asked;            /* the check that consent is asked for */
};

static struct view_page *self(struct view *v)
{
    return (struct view_page *)v;
}

/* --- drawing ---------------------------------------------------------------------------------- */

static char *text_of(const struct view_page *v, struct app *a)
{
    AUTO(xfree) char *page = v->step->page(a->wizard);
    AUTO_TEXT all = TEXT_INIT;
    text_addf(&all, "%s\n", page);
    for (const struct page_action *p = v->step->actions; p != NULL && p->key != NULL; p++)
        text_addf(&all, "%s %s\t%s\n", p->key, p->verb, p->help);
    return text_take(&all);
}

/* Kept where it was scrolled to while only a line of it changes. */
static void draw_page(struct view *view, struct app *a, struct rect r)
{
    struct view_page *v = self(view);
    AUTO(xfree) char *now = text_of(v, a);
    if (v->pager.s == NULL || strcmp(v->pager.s, now) != 0) {
        size_t place = v->pager.place;
        pager_set(&v->pager, now);
        v->pager.place = place;
    }
    canvas_put(&a->canvas, r, 0, 0, ROLE_TITLE, v->step->title);
    pager_draw(&v->pager, &a->canvas, rect_rows(r, 2, -1));
}

/* --- keys ------------------------------------------------------------------------------------- */

static void run_shown(struct app *a, int check)
{
    app_run_check(a, check);
    app_push(a, view_check_new(a, check));
}

static void allowed(struct app *a, void *ctx)
{
    run_shown(a, ((struct view_page *)ctx)->asked);
}

/* Consent to one probe of a service is consent to all of it, so all is named. */
static void ask_to_run(struct view_page *v, struct app *a, int check)
{
    AUTO_TEXT all = TEXT_INIT;
    const struct check *asked = a->rows->checks[check];
    for (size_t i = 0; i < a->rows->check_count; i++) {
        const struct check *c = a->rows->checks[i];
        if (c->effect != EFFECT_PROBES || strcmp(c->service, asked->service) != 0)
            continue;
        AUTO(xfree) char *step = rows_step_label(rows_step_of(a->rows, c->id));
        text_sep(&all, "\n");
        text_addf(&all, "%s, %s: %s.", step, c->title, c->touches);
    }
    v->asked = check;
    app_push(a, view_confirm_new(a, asked->title, all.s, "try", allowed, v));
}

static void act(struct view_page *v, struct app *a, const struct page_action *p)
{
    int check;
    switch (p->act) {
    case PAGE_EXPORT:
        app_push(a, view_export_new(a, p));
        break;
    case PAGE_CHECK:
        check = rows_check(a->rows, p->first[0]);
        if (a->rows->checks[check]->effect == EFFECT_PROBES && !app_consented(a, check))
            ask_to_run(v, a, check);
        else
            run_shown(a, check);
        break;
    case PAGE_UNDO:
        if (engine_applying(a->engine))
            app_notice(a, ROLE_HINT, "changes are being made: only then they can be taken back");
        else
            app_push(a, view_undo_new(a, -1));
        break;
    }
}

static bool acts(struct view_page *v, struct app *a, const struct key *k)
{
    for (const struct page_action *p = v->step->actions; p != NULL && p->key != NULL; p++) {
        if (key_is(k, p->key)) {
            act(v, a, p);
            return true;
        }
    }
    return false;
}

/* The page tells of all steps. */
static void check_all(struct app *a)
{
    app_want_begun(a, true, true);
    app_notice(a, ROLE_HINT, "everything is checked again");
}

static unsigned key_page(struct view *view, struct app *a, const struct key *k)
{
    struct view_page *v = self(view);
    unsigned scrolled = pager_key(&v->pager, k);
    if (scrolled != UI_IGNORED)
        return scrolled;
    if (k->code == K_ESC)
        app_go(a, a->step - 1); /* v is gone now, unless it is the first */
    else if (k->code == K_ENTER)
        app_go(a, a->step + 1);
    else if (k->code == K_F(5) || key_is(k, "r"))
        check_all(a);
    else if (!acts(v, a, k))
        return UI_IGNORED;
    return UI_HANDLED;
}

static bool has_next(const struct view *v, const struct app *a)
{
    (void)v;
    return a->step + 1 < (int)a->rows->step_count;
}

static const struct key_row common[] = {
    {"Enter", "next", "to the next step", has_next},
    {"PgUp PgDn", "scroll", "scrolls the page", NULL},
    {"F1", "help", "this help (?)", NULL},
    {"Esc", "back", "to the step before; nothing is lost", NULL},
    {"F5", "all again", "all checks of all steps again, and the probes that are allowed (r)", NULL},
    {"F2", "plan", "what would be made, before anything is (p)", NULL},
    {"F10", "quit", "leaves; everything is saved (q)", NULL},
    {"F6", NULL, "the log (l)", NULL},
    {"Ctrl-C", NULL, "cancels what runs; twice leaves", NULL},
};

static void make_keys(struct view_page *v)
{
    size_t count = 0;
    const struct page_action *actions = v->step->actions;
    while (actions != NULL && actions[count].key != NULL)
        count++;
    v->keys = xcalloc(count + ARRAY_LEN(common) + 1, sizeof *v->keys);
    for (size_t i = 0; i < count; i++)
        v->keys[i] = (struct key_row){actions[i].key, actions[i].verb, actions[i].help, NULL};
    memcpy(v->keys + count, common, sizeof common);
    v->view.keys = v->keys;
}

static void free_page(struct view *view)
{
    struct view_page *v = self(view);
    pager_release(&v->pager);
    xfree(v->keys);
    xfree(v);
}

static const struct view_ops ops = {
    .name = "page", .draw = draw_page, .key = key_page, .free = free_page};

struct view *view_page_new(struct app *a)
{
    struct view_page *v = xcalloc(1, sizeof(*v));
    v->view.ops = &ops;
    v->step = a->rows->steps[a->step];
    v->pager = PAGER_INIT;
    v->pager.label_cols = LABEL_COLS;
    make_keys(v);
    return &v->view;
}
