/* The exported folder: what comes first is proved (on consent), then it is written, and shown where
 * it lies and in which form; or why not, and the way to what is missing. */
#include <string.h>

#include "core/mem.h"
#include "ui/app.h"
#include "ui/pager.h"

enum stage {
    STAGE_ASK,    /* what comes first writes somewhere: allowed? */
    STAGE_PROVE,  /* it runs */
    STAGE_STUCK,  /* it is not to be had; a draft is */
    STAGE_FAILED, /* nothing is written */
    STAGE_WRITTEN
};

enum { KEYS_MAX = 10 };

struct view_export {
    struct view view;
    struct app *app;
    const struct page_action *action;
    enum stage stage;
    struct pager pager;
    struct problem why; /* of STUCK and FAILED */
    int way;            /* step where that is settled; -1 */
    char *way_verb;
    struct exported done;
    struct key_row keys[KEYS_MAX];
};

static struct view_export *self(struct view *v)
{
    return (struct view_export *)v;
}

/* --- keys of each stage ----------------------------------------------------------------------- */

#define ON(stage) (1u << (stage))

/* Nobody allows what stands below the edge of the screen. */
static bool all_seen(const struct view *v, const struct app *a)
{
    (void)a;
    return pager_at_end(&((const struct view_export *)v)->pager);
}

static bool more_to_see(const struct view *v, const struct app *a)
{
    return !all_seen(v, a);
}

static const struct {
    unsigned stages;
    struct key_row row;
} rows[] = {
    {ON(STAGE_ASK),
     {"Space", "allow it", "allows what is named, then writes the folder", all_seen}},
    {ON(STAGE_ASK), {"Space", "read on", "scrolls to what is to be allowed", more_to_see}},
    {ON(STAGE_STUCK) | ON(STAGE_FAILED), {"Enter", "", "to where it is settled", NULL}},
    {ON(STAGE_STUCK) | ON(STAGE_FAILED), {"x", "again", "tries once more", NULL}},
    {ON(STAGE_ASK) | ON(STAGE_STUCK),
     {"d", "placeholders", "writes the folder with placeholders where secrets belong", NULL}},
    {ON(STAGE_WRITTEN), {"Ctrl-Y", "copy the path", "copies where it lies", NULL}},
    {ON(STAGE_PROVE), {"Ctrl-C", "cancel", "cancels what runs; nothing is written", NULL}},
    {~0u, {"F1", "help", "this help (?)", NULL}},
    {~0u, {"Esc", "back", "back; what was written stays", NULL}},
};

static void make_keys(struct view_export *v)
{
    size_t n = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        bool leads = strcmp(rows[i].row.keys, "Enter") == 0;
        if ((rows[i].stages & ON(v->stage)) == 0 || (leads && v->way < 0))
            continue;
        v->keys[n] = rows[i].row;
        if (leads)
            v->keys[n].verb = v->way_verb;
        n++;
    }
    v->keys[n] = (struct key_row){0};
}

/* --- text of each stage ----------------------------------------------------------------------- */

static void add(struct text *out, const char *label, const char *body)
{
    if (body != NULL && body[0] != '\0')
        text_addf(out, "%s\t%s\n", label, body);
}

static void add_first(const struct view_export *v, struct text *out)
{
    int due[PAGE_FIRST_MAX];
    size_t count = page_due(v->app->wizard, v->app->state, v->action, due);
    for (size_t i = 0; i < count; i++) {
        const struct check *c = v->app->rows->checks[due[i]];
        AUTO(xfree) char *step = rows_step_label(rows_step_of(v->app->rows, c->id));
        text_addf(out, "%s\t%s: %s\n", i == 0 ? "First" : "", step, c->title);
        add(out, "", c->touches);
    }
    add(out, "Then",
        v->stage == STAGE_ASK ? "the folder is written; d writes it at once, with placeholders "
                                "where secrets belong"
                              : "the folder is written");
}

static void add_problem(const struct view_export *v, struct text *out)
{
    add(out, "Why not", v->why.what);
    add(out, "", v->why.why);
    add(out, "Do", v->why.fix);
    if (v->why.fix != NULL)
        add(out, "Who", problem_who_name(v->why.who));
    add(out, "Evidence", v->why.evidence);
}

static void add_done(const struct view_export *v, struct text *out)
{
    add(out, "Folder", v->done.path);
    text_addf(out, "Files\t%zu%s\n", v->done.files,
              v->done.same ? "; it stood there already, unchanged" : "");
    add(out, "Form", v->done.form);
    add(out, "Next", v->done.next);
}

static void set_stage(struct view_export *v, enum stage stage)
{
    AUTO_TEXT out = TEXT_INIT;
    v->stage = stage;
    v->way = -1;
    switch (stage) {
    case STAGE_ASK:
    case STAGE_PROVE:
        add_first(v, &out);
        break;
    case STAGE_STUCK:
    case STAGE_FAILED:
        v->way = page_way(v->app->rows, &v->why);
        add_problem(v, &out);
        break;
    case STAGE_WRITTEN:
        add_done(v, &out);
        break;
    }
    if (v->way >= 0) {
        AUTO(xfree) char *step = rows_step_label(v->app->rows->steps[v->way]);
        xfree(v->way_verb);
        v->way_verb = xasprintf("to %s", step);
    }
    pager_set(&v->pager, out.s);
    make_keys(v);
}

/* --- doing ------------------------------------------------------------------------------------ */

static void write_folder(struct view_export *v, bool placeholders)
{
    const struct front_hooks *hooks = v->app->hooks;
    problem_release(&v->why);
    exported_release(&v->done);
    bool written = hooks->export(hooks->ctx, placeholders, &v->done, &v->why) == 0;
    set_stage(v, written ? STAGE_WRITTEN : STAGE_FAILED);
}

static void prove_first(struct view_export *v)
{
    int due[PAGE_FIRST_MAX];
    size_t count = page_due(v->app->wizard, v->app->state, v->action, due);
    for (size_t i = 0; i < count; i++)
        app_run_check(v->app, due[i]);
    set_stage(v, STAGE_PROVE);
}

static void begin(struct view_export *v)
{
    int due[PAGE_FIRST_MAX];
    const struct front_hooks *hooks = v->app->hooks;
    problem_release(&v->why);
    if (hooks->can_export(hooks->ctx, &v->why) != 0) {
        set_stage(v, STAGE_FAILED);
        return;
    }
    size_t count = page_due(v->app->wizard, v->app->state, v->action, due);
    bool allowed = true;
    for (size_t i = 0; i < count; i++)
        allowed &=
            v->app->rows->checks[due[i]]->effect == EFFECT_READS || app_consented(v->app, due[i]);
    if (count == 0)
        write_folder(v, false);
    else if (allowed)
        prove_first(v);
    else
        set_stage(v, STAGE_ASK);
}

/* What was wished for and cannot run is dropped without an event; so it has ended when nothing is
 * left to run. */
static void see_how_it_goes(struct view *view, struct app *a)
{
    struct view_export *v = self(view);
    int due[PAGE_FIRST_MAX];
    if (v->stage != STAGE_PROVE)
        return;
    if (page_due(a->wizard, a->state, v->action, due) == 0) {
        write_folder(v, false);
    } else if (!engine_busy(a->engine)) {
        problem_release(&v->why);
        page_why(a->wizard, a->state, v->action, &v->why);
        set_stage(v, STAGE_STUCK);
    }
}

/* --- view ------------------------------------------------------------------------------------- */

static const char *running(const struct view_export *v)
{
    for (size_t i = 0; i < v->app->rows->check_count; i++) {
        struct check_view state;
        wizard_check_view(v->app->wizard, (int)i, &state);
        if (state.running)
            return v->app->rows->checks[i]->title;
    }
    return "";
}

static void draw_export(struct view *view, struct app *a, struct rect r)
{
    static const struct {
        enum mark mark;
        const char *words;
    } heads[] = {
        [STAGE_ASK] = {MARK_PENDING, "Not written yet"},
        [STAGE_PROVE] = {MARK_RUNNING, "Proving first"},
        [STAGE_STUCK] = {MARK_FAILED, "Not written: what comes first is not to be had"},
        [STAGE_FAILED] = {MARK_FAILED, "Not written"},
        [STAGE_WRITTEN] = {MARK_PASSED, "Written"},
    };
    struct view_export *v = self(view);
    app_put_mark(a, r, 0, 0, heads[v->stage].mark);
    int col = canvas_put(&a->canvas, r, 0, 2, ROLE_TITLE, heads[v->stage].words);
    if (v->stage == STAGE_PROVE)
        canvas_put_elided(&a->canvas, rect_cols(r, col + 2, -1), 0, 0, ROLE_WAIT, running(v));
    pager_draw(&v->pager, &a->canvas, rect_rows(r, 2, -1));
}

static unsigned key_export(struct view *view, struct app *a, const struct key *k)
{
    struct view_export *v = self(view);
    bool refused = v->stage == STAGE_STUCK || v->stage == STAGE_FAILED;
    if (refused && k->code == K_ENTER && v->way >= 0) {
        app_go(a, v->way); /* v is gone now */
    } else if (k->code == K_ESC || k->code == K_ENTER) {
        if (v->stage == STAGE_PROVE)
            app_notice(a, ROLE_HINT, "nothing is written; what runs goes on");
        app_pop(a);
    } else if (v->stage == STAGE_ASK && key_is(k, " ") && all_seen(view, a)) {
        prove_first(v);
    } else if (refused && key_is(k, "x")) {
        begin(v);
    } else if ((v->stage == STAGE_ASK || v->stage == STAGE_STUCK) && key_is(k, "d")) {
        write_folder(v, true);
    } else if (v->stage == STAGE_WRITTEN && k->code == K_CTRL_Y) {
        app_copy(a, v->done.path);
    } else {
        return pager_key(&v->pager, k);
    }
    return UI_HANDLED;
}

static void free_export(struct view *view)
{
    struct view_export *v = self(view);
    pager_release(&v->pager);
    problem_release(&v->why);
    exported_release(&v->done);
    xfree(v->way_verb);
    xfree(v);
}

static const struct view_ops ops = {.name = "export",
                                    .title = "Export",
                                    .draw = draw_export,
                                    .key = key_export,
                                    .tick = see_how_it_goes,
                                    .free = free_export};

struct view *view_export_new(struct app *a, const struct page_action *action)
{
    struct view_export *v = xcalloc(1, sizeof(*v));
    v->view.ops = &ops;
    v->view.keys = v->keys;
    v->app = a;
    v->action = action;
    v->pager = PAGER_INIT;
    v->why = PROBLEM_INIT;
    begin(v);
    return &v->view;
}
