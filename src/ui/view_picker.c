/* Chooses the items of a list field from what was found: filter as you type, whole groups, the
 * answer each item needs. Esc leaves everything as it was; Enter takes it. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "ui/app.h"
#include "ui/list.h"

struct view_picker {
    struct view view;
    struct app *app;
    int field;
    const struct picker *pick;
    struct snapshot *snapshot;
    struct list list;
    bool *chosen; /* by row */
    size_t chosen_count;
    char **gone; /* chosen items that are no longer among the rows: kept unless taken out there */
    size_t gone_count;
    struct value *answers; /* of the answers field, as edited; NULL none */
    bool built;
};

static struct view_picker *self(struct view *v)
{
    return (struct view_picker *)v;
}

/* --- answers an item needs -------------------------------------------------------------------- */

static const char *answer_of(const struct view_picker *v, const char *item)
{
    for (size_t i = 0; v->answers != NULL && i < v->answers->count; i++)
        if (strcmp(v->answers->keys[i], item) == 0)
            return v->answers->items[i];
    return NULL;
}

static void set_answer(struct view_picker *v, const char *item, const char *answer)
{
    size_t n = v->answers != NULL ? v->answers->count : 0;
    const char **keys = xcalloc(n + 1, sizeof(char *));
    const char **items = xcalloc(n + 1, sizeof(char *));
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (strcmp(v->answers->keys[i], item) == 0)
            continue;
        keys[count] = v->answers->keys[i];
        items[count++] = v->answers->items[i];
    }
    if (answer != NULL && answer[0] != '\0') {
        keys[count] = item;
        items[count++] = answer;
    }
    struct value *next = count > 0 ? value_map(keys, items, count) : NULL;
    value_unref(v->answers);
    v->answers = next;
    xfree(keys);
    xfree(items);
}

/* --- rows ------------------------------------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Marks the rows that the answer names; sorted once, so that 100,000 rows against 1,000 chosen stay
 * quick. */
static void mark_chosen(struct view_picker *v)
{
    const struct value *now = wizard_effective(v->app->wizard, v->field);
    size_t n = now != NULL && now->kind == VALUE_LIST ? now->count : 0;
    char **names = xcalloc(n + 1, sizeof(char *));
    bool *seen = xcalloc(n + 1, sizeof(bool));
    for (size_t i = 0; i < n; i++)
        names[i] = xstrdup(now->items[i]);
    qsort(names, n, sizeof(char *), by_text);
    for (size_t i = 0; i < v->list.count && n > 0; i++) {
        AUTO(xfree) char *item = v->pick->item(v->snapshot, i);
        char **at = bsearch(&item, names, n, sizeof(char *), by_text);
        if (at == NULL)
            continue;
        v->chosen[i] = true;
        v->chosen_count++;
        seen[at - names] = true;
    }
    v->gone = xcalloc(n + 1, sizeof(char *));
    for (size_t i = 0; i < n; i++) {
        if (seen[i])
            xfree(names[i]);
        else
            v->gone[v->gone_count++] = names[i];
    }
    xfree(names);
    xfree(seen);
}

static void build(struct view_picker *v)
{
    snapshot_unref(v->snapshot);
    v->snapshot = wizard_snapshot(v->app->wizard);
    if (v->built || !v->pick->ready(v->snapshot))
        return;
    size_t count = v->pick->count(v->snapshot);
    v->chosen = xcalloc(count + 1, sizeof(bool));
    list_set_count(&v->list, count);
    mark_chosen(v);
    v->built = true;
}

static bool matches(void *owner, size_t row, const char *folded)
{
    struct view_picker *v = owner;
    return v->pick->matches(v->snapshot, row, folded);
}

#define LAST_LEAST 8 /* columns the last one keeps */

static int last_width(int room, int width)
{
    int least = width < LAST_LEAST ? width : LAST_LEAST;
    return room > width ? width : room < least ? least : room;
}

static void draw_row(void *owner, size_t row, struct canvas *c, struct rect r, bool at_cursor)
{
    struct view_picker *v = owner;
    struct pick_row p = {0};
    v->pick->row(v->snapshot, row, &p);
    enum role role = p.refusal != NULL ? ROLE_MUTED : at_cursor ? ROLE_FOCUS : ROLE_TEXT;
    canvas_put(c, r, 0, 0, role, p.refusal != NULL ? "[-]" : v->chosen[row] ? "[x]" : "[ ]");
    const char *answer = p.item != NULL ? answer_of(v, p.item) : NULL;
    const char *behind = p.refusal != NULL ? p.refusal : answer != NULL ? answer : p.warning;
    int wanted = behind != NULL ? utf8_columns(behind) : 0;
    int spare = r.cols > 78 ? (r.cols - 78) / 2 : 0;
    int col = 4;
    for (int i = 0; i < PICK_COLUMNS && v->pick->widths[i] > 0; i++) {
        int width = v->pick->widths[i] + (i < 2 ? spare : 0);
        bool last = i + 1 == PICK_COLUMNS || v->pick->widths[i + 1] == 0;
        if (last && wanted > 0) /* what is behind says more than the end of a long column */
            width = last_width(r.cols - col - 1 - wanted, width);
        if (p.columns[i] != NULL)
            canvas_put_elided(c, rect_cols(r, col, width), 0, 0, role, p.columns[i]);
        col += width + 1;
    }
    if (behind != NULL)
        canvas_put_elided(c, rect_cols(r, col, -1), 0, 0,
                          p.refusal != NULL ? ROLE_MUTED
                          : answer != NULL  ? ROLE_PASS
                                            : ROLE_WARN,
                          behind);
    if (at_cursor)
        canvas_cursor(c, r, 0, 1);
    pick_row_release(&p);
}

static const struct list_source source = {.draw = draw_row, .matches = matches};

/* --- drawing ---------------------------------------------------------------------------------- */

static void draw_note(struct view_picker *v, struct rect r)
{
    struct canvas *c = &v->app->canvas;
    struct pick_row p = {0};
    if (v->list.cursor == LIST_NONE)
        return;
    v->pick->row(v->snapshot, v->list.cursor, &p);
    int at = 0;
    if (p.refusal != NULL)
        at = canvas_put_wrapped(c, r, ROLE_HINT, p.refusal);
    if (p.note != NULL)
        at += canvas_put_wrapped(c, rect_rows(r, at, -1), ROLE_WARN, p.note);
    int col = 1;
    for (int i = 0; i < PICK_ANSWERS && p.answers[i].value != NULL; i++) {
        AUTO(xfree) char *option = xasprintf("%d %s", i + 1, p.answers[i].label);
        if (col > 1 && col + utf8_columns(option) > r.cols) {
            at++;
            col = 1;
        }
        col = canvas_put(c, rect_rows(r, at, 1), 0, col, ROLE_KEY, option) + 2;
    }
    pick_row_release(&p);
}

static void draw_headings(struct view_picker *v, struct rect r)
{
    int spare = r.cols > 78 ? (r.cols - 78) / 2 : 0;
    int col = 4;
    for (int i = 0; i < PICK_COLUMNS && v->pick->widths[i] > 0; i++) {
        canvas_put(&v->app->canvas, r, 0, col, ROLE_LABEL, v->pick->headings[i]);
        col += v->pick->widths[i] + (i < 2 ? spare : 0) + 1;
    }
}

static void draw_picker(struct view *view, struct app *a, struct rect r)
{
    struct view_picker *v = self(view);
    if (!v->built)
        build(v);
    canvas_put(&a->canvas, r, 0, 0, ROLE_TITLE, v->pick->title);
    if (!v->built) {
        canvas_put_wrapped(&a->canvas, rect_rows(r, 2, -1), ROLE_HINT,
                           "Not known yet. The list is read as soon as its checks pass; meanwhile "
                           "names can be typed into "
                           "the field, separated by commas.");
        return;
    }
    AUTO(xfree)
    char *count =
        xasprintf("%zu chosen · %zu of %zu shown", v->chosen_count, v->list.shown, v->list.count);
    canvas_put_right(&a->canvas, r, 0, ROLE_MUTED, count);
    list_draw_filter(&v->list, &a->canvas, rect_rows(r, 1, 1));
    draw_headings(v, rect_rows(r, 2, 1));
    int note = r.rows > 14 ? 5 : 2;
    list_draw(&v->list, &a->canvas, rect_rows(r, 3, r.rows - 4 - note));
    canvas_hline(&a->canvas, r, r.rows - 1 - note, ROLE_BORDER);
    if (v->list.below > 0)
        canvas_putf(&a->canvas, r, r.rows - 1 - note, 3, ROLE_MUTED, " %zu more below ",
                    v->list.below);
    draw_note(v, rect_rows(r, r.rows - note, note));
}

/* --- keys ------------------------------------------------------------------------------------- */

static void choose(struct view_picker *v, size_t row, bool on)
{
    if (row == LIST_NONE || v->chosen[row] == on || v->pick->refused(v->snapshot, row))
        return;
    v->chosen[row] = on;
    v->chosen_count += on ? 1 : (size_t)-1;
}

static void choose_shown(struct view_picker *v)
{
    bool all = true;
    for (size_t i = 0; i < v->list.shown; i++) {
        size_t row = list_shown(&v->list, i);
        all &= v->chosen[row] || v->pick->refused(v->snapshot, row);
    }
    for (size_t i = 0; i < v->list.shown; i++)
        choose(v, list_shown(&v->list, i), !all);
}

static void choose_group(struct view_picker *v)
{
    if (v->list.cursor == LIST_NONE)
        return;
    const char *group = v->pick->group(v->snapshot, v->list.cursor);
    bool on = !v->chosen[v->list.cursor];
    for (size_t i = 0; i < v->list.count; i++)
        if (strcmp(v->pick->group(v->snapshot, i), group) == 0)
            choose(v, i, on);
}

static void answer(struct view_picker *v, int n)
{
    struct pick_row p = {0};
    if (v->list.cursor == LIST_NONE)
        return;
    v->pick->row(v->snapshot, v->list.cursor, &p);
    if (n < PICK_ANSWERS && p.answers[n].value != NULL) {
        bool leave_out = strcmp(p.answers[n].value, "-") == 0;
        set_answer(v, p.item, leave_out ? NULL : p.answers[n].value);
        choose(v, v->list.cursor, !leave_out);
    }
    pick_row_release(&p);
}

/* As Enter on any other field: the next one has the focus then. */
static void leave(struct app *a)
{
    static const struct key down = {.code = K_DOWN};
    app_pop(a); /* the picker is gone now */
    a->top->ops->key(a->top, a, &down);
}

static void take(struct view_picker *v)
{
    struct app *a = v->app;
    AUTO_PROBLEM p = PROBLEM_INIT;
    size_t n = 0;
    char **items = xcalloc(v->chosen_count + v->gone_count + 1, sizeof(char *));
    for (size_t i = 0; i < v->list.count; i++)
        if (v->chosen[i])
            items[n++] = v->pick->item(v->snapshot, i);
    for (size_t i = 0; i < v->gone_count; i++)
        items[n++] = xstrdup(v->gone[i]);
    struct value *list = n > 0 ? value_list((const char *const *)items, n) : NULL;
    int answers = v->pick->answers_field != NULL ? rows_field(a->rows, v->pick->answers_field) : -1;
    if (answers >= 0)
        wizard_set(a->wizard, answers, v->answers != NULL ? value_ref(v->answers) : NULL,
                   ORIGIN_TYPED, NULL);
    int rc = wizard_set(a->wizard, v->field, list, ORIGIN_TYPED, &p);
    for (size_t i = 0; i < n; i++)
        xfree(items[i]);
    xfree(items);
    leave(a);
    if (rc != 0)
        app_notice(a, ROLE_FAIL, "%s", p.what);
    else
        app_notice(a, ROLE_PASS, "%zu chosen", n);
    app_want_step(a, a->step, false, false);
}

static unsigned key_picker(struct view *view, struct app *a, const struct key *k)
{
    struct view_picker *v = self(view);
    if (!v->built || v->list.filtering) {
        unsigned r = v->built ? list_key(&v->list, k) : UI_IGNORED;
        if (r == UI_IGNORED && k->code == K_ESC)
            app_pop(a);
        return UI_HANDLED;
    }
    if (k->code == K_ESC) {
        app_pop(a);
        app_notice(a, ROLE_HINT, "nothing changed");
    } else if (k->code == K_ENTER) {
        if (!app_read_only(a))
            take(v);
    } else if (key_is(k, " ")) {
        choose(v, v->list.cursor, v->list.cursor != LIST_NONE && !v->chosen[v->list.cursor]);
    } else if (key_is(k, "A")) {
        choose_shown(v);
    } else if (key_is(k, "s")) {
        choose_group(v);
    } else if (k->code == K_TEXT && k->text[0] >= '1' && k->text[0] <= '0' + PICK_ANSWERS &&
               k->text[1] == '\0') {
        answer(v, k->text[0] - '1');
    } else {
        return list_key(&v->list, k);
    }
    return UI_HANDLED;
}

static void event_picker(struct view *view, struct app *a, const struct event *ev)
{
    (void)a;
    if (ev->kind == EVENT_CHECK_DONE && !self(view)->built)
        build(self(view));
}

static void free_picker(struct view *view)
{
    struct view_picker *v = self(view);
    list_release(&v->list);
    for (size_t i = 0; i < v->gone_count; i++)
        xfree(v->gone[i]);
    xfree(v->gone);
    xfree(v->chosen);
    value_unref(v->answers);
    snapshot_unref(v->snapshot);
    xfree(v);
}

static const struct key_row keys[] = {
    {"Space", "choose", "chooses the row at the cursor, or takes it out", NULL},
    {"1-4", "answer", "gives the answer below that this row needs", NULL},
    {"/", "filter", "filters as you type; Enter leaves the filter standing, Esc clears it", NULL},
    {"A", "all shown", "chooses all rows shown, or none of them", NULL},
    {"s", NULL, "chooses the whole schema of the row, or none of it", NULL},
    {"Enter", "done", "takes what is chosen", NULL},
    {"Esc", "back, nothing changed", "back; nothing changed", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct view_ops ops = {.name = "picker",
                                    .title = "Choose",
                                    .draw = draw_picker,
                                    .key = key_picker,
                                    .event = event_picker,
                                    .free = free_picker,
                                    .keys = keys};

struct view *view_picker_new(struct app *a, int field)
{
    struct view_picker *v = xcalloc(1, sizeof(*v));
    v->view.ops = &ops;
    v->app = a;
    v->field = field;
    v->pick = a->rows->fields[field]->pick;
    int answers = v->pick->answers_field != NULL ? rows_field(a->rows, v->pick->answers_field) : -1;
    const struct value *given = answers >= 0 ? wizard_effective(a->wizard, answers) : NULL;
    v->answers = given != NULL && given->kind == VALUE_MAP ? value_ref(given) : NULL;
    list_init(&v->list, &source, v);
    build(v);
    return &v->view;
}
