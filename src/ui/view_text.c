/* Views that are text to read: help and log. */
#include "core/clean.h"
#include "core/log.h"
#include "core/mem.h"
#include "ui/app.h"
#include "ui/pager.h"

#define LOG_LINES 2000

struct view_text {
    struct view view;
    struct pager pager;
};

static struct view_text *self(struct view *v)
{
    return (struct view_text *)v;
}

static void draw_text(struct view *view, struct app *a, struct rect r)
{
    pager_draw(&self(view)->pager, &a->canvas, r);
}

static unsigned key_text(struct view *view, struct app *a, const struct key *k)
{
    if (k->code == K_ESC || k->code == K_ENTER || key_is(k, "q")) {
        app_pop(a);
        return UI_HANDLED;
    }
    unsigned r = pager_key(&self(view)->pager, k);
    return r == UI_IGNORED ? UI_HANDLED : r; /* nothing opens above a page of text */
}

static void free_text(struct view *view)
{
    pager_release(&self(view)->pager);
    xfree(view);
}

static const struct key_row keys[] = {
    {"PgUp PgDn", "scroll", "scrolls", NULL},
    {"Esc", "back", "back", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct view_ops help_ops = {.name = "help",
                                         .title = "Help",
                                         .draw = draw_text,
                                         .key = key_text,
                                         .free = free_text,
                                         .keys = keys};

/* --- help ------------------------------------------------------------------------------------- */

static void add_field_help(struct app *a, int field, struct text *out)
{
    const struct field *f = a->rows->fields[field];
    text_addf(out, "%s   (%s)\n\n%s\n\n", f->label, f->id, f->help != NULL ? f->help : "");
    if (f->example != NULL)
        text_addf(out, "Example\t%s\n", f->example);
    if (f->kind == FIELD_SECRET)
        text_add(out, "Secret\tType or paste it, or write env:NAME or file:/absolute/path. Ctrl-R "
                      "shows what you type.\n");
    text_add(out, "\n");
}

static void add_step_help(struct app *a, struct text *out)
{
    const struct step *s = a->rows->steps[a->step];
    text_addf(out, "%s\n\n%s\n\n", s->title, s->intro != NULL ? s->intro : "");
    if (s->link != NULL)
        text_addf(out, "Read\t%s\n\n", s->link);
}

struct view *view_help_new(struct app *a, const struct view *of, int field)
{
    struct view_text *v = xcalloc(1, sizeof(*v));
    AUTO_TEXT out = TEXT_INIT;
    v->view.ops = &help_ops;
    v->pager = PAGER_INIT;
    if (field >= 0)
        add_field_help(a, field, &out);
    else
        add_step_help(a, &out);
    text_add(&out, "Keys\n\n");
    for (const struct key_row *k = of != NULL ? view_keys(of) : NULL; k != NULL && k->keys != NULL;
         k++)
        text_addf(&out, "%s\t%s\n", k->keys, k->help);
    text_add(&out, "\nMarks\n\n");
    for (int m = 0; m < MARK_COUNT; m++)
        text_addf(&out, "%s\t%s\n", theme_mark_glyph((enum mark)m, a->utf8),
                  theme_mark((enum mark)m)->words);
    pager_set(&v->pager, out.s);
    return &v->view;
}

/* --- log -------------------------------------------------------------------------------------- */

static void fill_log(struct view_text *v)
{
    size_t count;
    char **lines = log_recent(LOG_LINES, &count);
    AUTO_TEXT out = TEXT_INIT;
    for (size_t i = 0; i < count; i++) {
        text_addf(&out, "%s\n", lines[i]);
        xfree(lines[i]);
    }
    xfree(lines);
    if (count == 0)
        text_add(&out, "Nothing yet.");
    pager_set(&v->pager, out.s);
}

static void log_event(struct view *view, struct app *a, const struct event *ev)
{
    (void)a;
    if (ev->kind == EVENT_CHECK_DONE || ev->kind == EVENT_CHANGE_DONE)
        fill_log(self(view));
}

static const struct view_ops log_ops = {.name = "log",
                                        .title = "Log",
                                        .draw = draw_text,
                                        .key = key_text,
                                        .event = log_event,
                                        .free = free_text,
                                        .keys = keys};

struct view *view_log_new(struct app *a)
{
    (void)a;
    struct view_text *v = xcalloc(1, sizeof(*v));
    v->view.ops = &log_ops;
    v->pager = PAGER_INIT;
    v->pager.follow = true;
    fill_log(v);
    return &v->view;
}
