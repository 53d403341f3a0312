/* Plain mode's picker: names are typed, with what was found as a help: "?" lists it, "?word" those
 * with the word in their name, "schema.*" takes a whole schema. Then each chosen item that needs an
 * answer is asked about. See plain_parts.h. */
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"
#include "ui/plain_parts.h"

#define NAMED_MAX 12   /* found items named before the question */
#define LISTED_MAX 100 /* and for "?" */

struct listing {
    struct plain *p;
    int field;
    const struct picker *pick;
    struct snapshot *snapshot;
};

static const struct field *row_of(const struct listing *l)
{
    return l->p->rows->fields[l->field];
}

/* --- what was found --------------------------------------------------------------------------- */

/* Names at most `max` items that can be chosen and match; tells how many there are. */
static size_t name_items(const struct listing *l, const char *folded, size_t max, struct text *out)
{
    size_t found = 0;
    size_t count = l->pick->count(l->snapshot);
    for (size_t i = 0; i < count; i++) {
        if (l->pick->refused(l->snapshot, i) ||
            (folded[0] != '\0' && !l->pick->matches(l->snapshot, i, folded)))
            continue;
        if (found++ >= max)
            continue;
        AUTO(xfree) char *item = l->pick->item(l->snapshot, i);
        text_sep(out, ", ");
        text_add(out, item);
    }
    return found;
}

static void say_found(const struct listing *l, const char *word, size_t max)
{
    AUTO_TEXT names = TEXT_INIT;
    if (!l->pick->ready(l->snapshot)) {
        plain_say(l->p, "What can be chosen is not known yet: type the names.");
        return;
    }
    AUTO(xfree) char *folded = utf8_fold(word);
    size_t found = name_items(l, folded, max, &names);
    if (found > max)
        plain_say(l->p, "%zu found: %s and %zu more.", found, names.s, found - max);
    else
        plain_say(l->p, "%zu found%s%s.", found, found > 0 ? ": " : "", names.s);
}

/* The survey that finds the items, before they are asked for. */
static bool find_items(struct listing *l)
{
    struct plain *p = l->p;
    int fact = row_of(l)->picker != NULL ? rows_fact(p->rows, row_of(l)->picker) : -1;
    if (fact >= 0 && !l->pick->ready(l->snapshot)) {
        engine_want(p->engine, p->rows->givers[fact], EFFECT_READS, false);
        if (!plain_run_wanted(p))
            return false;
    }
    snapshot_unref(l->snapshot);
    l->snapshot = wizard_snapshot(p->wizard);
    return true;
}

/* --- what was typed --------------------------------------------------------------------------- */

/* Once each: "public.orders, public.*" names it twice. */
static void add(struct text *out, const char *item)
{
    size_t n = strlen(item);
    for (const char *at = out->s; (at = strstr(at, item)) != NULL; at += n)
        if ((at == out->s || at[-1] == '\n') && (at[n] == '\n' || at[n] == '\0'))
            return;
    text_sep(out, "\n");
    text_add(out, item);
}

/* "schema.*" and "*" become their items; anything else stays as it is. */
static void expand(const struct listing *l, const char *typed, struct text *out)
{
    size_t n = strlen(typed);
    bool all = strcmp(typed, "*") == 0;
    bool group = n > 2 && strcmp(typed + n - 2, ".*") == 0;
    if ((!all && !group) || !l->pick->ready(l->snapshot)) {
        add(out, typed);
        return;
    }
    AUTO(xfree) char *name = xstrndup(typed, all ? 0 : n - 2);
    size_t before = out->len, count = l->pick->count(l->snapshot);
    for (size_t i = 0; i < count; i++) {
        if (l->pick->refused(l->snapshot, i) ||
            (group && strcmp(l->pick->group(l->snapshot, i), name) != 0))
            continue;
        AUTO(xfree) char *item = l->pick->item(l->snapshot, i);
        add(out, item);
    }
    if (out->len == before)
        plain_say(l->p, "Nothing was found for %s.", typed);
}

/* Names that are not among what was found, or cannot be chosen: said, and kept. */
static void judge(const struct listing *l, const struct value *v)
{
    if (!l->pick->ready(l->snapshot))
        return;
    size_t count = l->pick->count(l->snapshot);
    bool *seen = xcalloc(v->count + 1, sizeof(bool));
    for (size_t i = 0; i < count; i++) {
        AUTO(xfree) char *item = l->pick->item(l->snapshot, i);
        for (size_t k = 0; k < v->count; k++) {
            if (seen[k] || strcmp(v->items[k], item) != 0)
                continue;
            seen[k] = true;
            struct pick_row row = {0};
            l->pick->row(l->snapshot, i, &row);
            if (row.refusal != NULL)
                plain_say(l->p, "%s cannot be chosen: %s. %s", item, row.refusal,
                          row.note != NULL ? row.note : "");
            pick_row_release(&row);
        }
    }
    for (size_t k = 0; k < v->count; k++)
        if (!seen[k])
            plain_say(l->p, "%s was not found.", v->items[k]);
    xfree(seen);
}

static bool take(struct listing *l, const char *typed)
{
    AUTO_TEXT items = TEXT_INIT;
    AUTO_PROBLEM why = PROBLEM_INIT;
    struct value *list = value_list_parse(typed);
    for (size_t i = 0; i < list->count; i++)
        expand(l, list->items[i], &items);
    value_unref(list);
    if (wizard_set_text(l->p->wizard, l->field, items.s, ORIGIN_TYPED, &why) != 0) {
        plain_say_problem(l->p, &why);
        return false;
    }
    return true;
}

/* --- answers an item needs -------------------------------------------------------------------- */

static const char *answer_of(const struct value *map, const char *item)
{
    for (size_t i = 0; map != NULL && map->kind == VALUE_MAP && i < map->count; i++)
        if (strcmp(map->keys[i], item) == 0)
            return map->items[i];
    return NULL;
}

/* The map with one answer more. */
static void set_answer(struct listing *l, int field, const char *item, const char *answer)
{
    const struct value *old = wizard_effective(l->p->wizard, field);
    size_t n = old != NULL && old->kind == VALUE_MAP ? old->count : 0;
    const char **keys = xcalloc(n + 1, sizeof(char *));
    const char **items = xcalloc(n + 1, sizeof(char *));
    for (size_t i = 0; i < n; i++) {
        keys[i] = old->keys[i];
        items[i] = old->items[i];
    }
    keys[n] = item;
    items[n] = answer;
    wizard_set(l->p->wizard, field, value_map(keys, items, n + 1), ORIGIN_TYPED, NULL);
    xfree(keys);
    xfree(items);
}

static void leave_out(struct listing *l, const char *item)
{
    const struct value *now = wizard_effective(l->p->wizard, l->field);
    const char **items = xcalloc(now->count + 1, sizeof(char *));
    size_t n = 0;
    for (size_t i = 0; i < now->count; i++)
        if (strcmp(now->items[i], item) != 0)
            items[n++] = now->items[i];
    wizard_set(l->p->wizard, l->field, n > 0 ? value_list(items, n) : NULL, ORIGIN_TYPED, NULL);
    xfree(items);
}

static bool ask_answer(struct listing *l, int field, const struct pick_row *row)
{
    long chosen;
    size_t n = 0;
    plain_say(l->p, "%s: %s", row->item, row->note != NULL ? row->note : "an answer is needed.");
    for (; n < PICK_ANSWERS && row->answers[n].value != NULL; n++)
        plain_say(l->p, "  %zu %s", n + 1, row->answers[n].label);
    if (!plain_number(l->p, n, &chosen, "A number, or Enter to decide later:"))
        return false;
    if (chosen < 0 || row->answers[chosen].value[0] == '\0')
        return true;
    if (strcmp(row->answers[chosen].value, "-") == 0)
        leave_out(l, row->item);
    else
        set_answer(l, field, row->item, row->answers[chosen].value);
    return true;
}

static bool ask_answers(struct listing *l)
{
    const char *id = l->pick->answers_field;
    int field = id != NULL ? rows_field(l->p->rows, id) : -1;
    const struct value *now = wizard_effective(l->p->wizard, l->field);
    if (field < 0 || now == NULL || !l->pick->ready(l->snapshot))
        return true;
    bool goes_on = true;
    struct value *items = value_ref(now);
    size_t count = l->pick->count(l->snapshot);
    for (size_t i = 0; i < count && goes_on; i++) {
        AUTO(xfree) char *item = l->pick->item(l->snapshot, i);
        bool here = false;
        for (size_t k = 0; k < items->count && !here; k++)
            here = strcmp(items->items[k], item) == 0;
        if (!here || answer_of(wizard_effective(l->p->wizard, field), item) != NULL)
            continue;
        struct pick_row row = {0};
        l->pick->row(l->snapshot, i, &row);
        if (row.answers[0].value != NULL)
            goes_on = ask_answer(l, field, &row);
        pick_row_release(&row);
    }
    value_unref(items);
    return goes_on;
}

/* --- the field -------------------------------------------------------------------------------- */

static bool ask_names(struct listing *l)
{
    AUTO_TEXT answer = TEXT_INIT;
    for (;;) {
        const struct value *now = wizard_effective(l->p->wizard, l->field);
        AUTO(xfree) char *shown = now != NULL ? value_show(now) : NULL;
        if (!plain_ask(l->p, false, &answer,
                       "%s, separated by commas (? lists, ?word searches, schema.* takes all of a "
                       "schema) [%s]:",
                       row_of(l)->label, shown != NULL ? shown : ""))
            return false;
        if (answer.s[0] == '?') {
            if (answer.len == 1)
                plain_say(l->p, "%s", row_of(l)->help);
            say_found(l, answer.s + 1, LISTED_MAX);
        } else if (answer.len == 0 || take(l, strcmp(answer.s, "-") == 0 ? "" : answer.s)) {
            return true;
        }
    }
}

bool plain_ask_list(struct plain *p, int field)
{
    struct listing l = {.p = p,
                        .field = field,
                        .pick = p->rows->fields[field]->pick,
                        .snapshot = wizard_snapshot(p->wizard)};
    bool goes_on = find_items(&l);
    if (goes_on)
        say_found(&l, "", NAMED_MAX);
    goes_on = goes_on && ask_names(&l);
    const struct value *now = goes_on ? wizard_effective(p->wizard, field) : NULL;
    if (now != NULL) {
        struct value *items = value_ref(now);
        judge(&l, items);
        value_unref(items);
        goes_on = ask_answers(&l);
    }
    snapshot_unref(l.snapshot);
    return goes_on;
}
