/* The opening screen's model: what state files say about their set-ups. See home.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/clean.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/state.h"
#include "ui/home.h"

#define NEW_MAX                                                                                    \
    1000 /* sluice-N.yaml; who has more of them in one folder names the next himself               \
          */

/* --- one document ----------------------------------------------------------------------------- */

static bool status_in(const char *status, const char *const *names)
{
    for (; status != NULL && *names != NULL; names++)
        if (strcmp(status, *names) == 0)
            return true;
    return false;
}

static bool good(const struct node *check)
{
    static const char *const names[] = {"passed", "warned", "skipped", NULL};
    return node_get_text(check, "accepted") != NULL ||
           status_in(node_get_text(check, "status"), names);
}

static bool bad(const struct node *check)
{
    static const char *const names[] = {"failed", "unreachable", NULL};
    return node_get_text(check, "accepted") == NULL &&
           status_in(node_get_text(check, "status"), names);
}

static void add_need(struct home_entry *e, const struct check *c, const struct node *n)
{
    const char *who = node_get_text(n, "who");
    const char *fix = node_get_text(n, "fix");
    if (fix == NULL)
        fix = node_get_text(n, "line");
    e->needs = xrealloc(e->needs, e->need_count + 1, sizeof(*e->needs));
    e->needs[e->need_count++] = (struct home_need){
        .who = clean_copy(who != NULL ? who : problem_who_name(WHO_YOU), CLEAN_LINE),
        .title = xstrdup(c->title),
        .fix = clean_copy(fix, CLEAN_LINE)};
}

/* Proved = as wizard_step_view counts it: what only informs or costs holds nothing back by its
 * absence. */
static bool step_proved(const struct step *s, const struct node *checks, struct home_entry *e)
{
    bool proved = true;
    for (size_t i = 0; s->checks[i] != NULL; i++) {
        const struct check *c = s->checks[i];
        const struct node *n = node_get(checks, c->id);
        if (bad(n))
            add_need(e, c, n);
        bool absent_is_fine = c->severity == SEV_INFORMS || c->effect == EFFECT_COSTS;
        proved &= n == NULL ? absent_is_fine : good(n);
    }
    return proved;
}

void home_read(const struct rows *rows, const struct node *doc, struct home_entry *e)
{
    const struct node *checks = node_get(doc, "checks");
    const char *name = node_get_text(doc, "name");
    e->name = clean_copy(name != NULL ? name : "no name yet", CLEAN_LINE);
    for (size_t i = 0; i < rows->step_count; i++) {
        const struct step *s = rows->steps[i];
        if (s->checks == NULL && s->later == NULL && s->page == NULL)
            continue;
        e->total++;
        bool proved = s->checks != NULL && step_proved(s, checks, e);
        e->proved += proved;
        if (!proved && e->next == NULL)
            e->next = xasprintf("%s%s%s", s->number, s->number[0] != '\0' ? " " : "", s->title);
    }
}

void home_entry_release(struct home_entry *e)
{
    for (size_t i = 0; i < e->need_count; i++) {
        xfree(e->needs[i].who);
        xfree(e->needs[i].title);
        xfree(e->needs[i].fix);
    }
    xfree(e->needs);
    xfree(e->path);
    xfree(e->name);
    xfree(e->next);
    xfree(e->holder);
    xfree(e->fault);
    *e = (struct home_entry){0};
}

/* --- words ------------------------------------------------------------------------------------ */

void home_age(int64_t seconds, struct text *out)
{
    static const struct {
        int64_t from, unit;
        const char *name;
    } units[] = {
        {(int64_t)2 * 365 * 86400, (int64_t)365 * 86400, "year"},
        {(int64_t)60 * 86400, (int64_t)30 * 86400, "month"},
        {86400, 86400, "day"},
        {3600, 3600, "hour"},
        {60, 60, "min"}, /* has no plural */
    };
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (seconds >= units[i].from) {
            long long n = (long long)(seconds / units[i].unit);
            text_addf(out, "%lld %s%s ago", n, units[i].name,
                      n == 1 || units[i].unit == 60 ? "" : "s");
            return;
        }
    text_add(out, "just now");
}

static bool named_before(const struct home_entry *e, size_t need)
{
    for (size_t i = 0; i < need; i++)
        if (strcmp(e->needs[i].who, e->needs[need].who) == 0)
            return true;
    return false;
}

void home_status(const struct home_entry *e, struct text *out)
{
    if (e->fault != NULL) {
        text_add(out, "cannot be opened");
        return;
    }
    if (e->holder != NULL)
        text_add(out, "in use · ");
    if (e->proved == e->total)
        text_addf(out, "all %d steps proved", e->total);
    else
        text_addf(out, "%d of %d steps proved", e->proved, e->total);
    for (size_t i = 0; i < e->need_count; i++)
        if (!named_before(e, i))
            text_addf(out, "%s%s", i == 0 ? " · waits for: " : ", ", e->needs[i].who);
}

void home_heading(const struct home_entry *e, struct text *out)
{
    bool others = false;
    for (size_t i = 0; i < e->need_count; i++)
        others |= strcmp(e->needs[i].who, problem_who_name(WHO_YOU)) != 0;
    if (e->fault != NULL)
        text_addf(out, "It cannot be opened: %s", e->fault);
    else if (e->need_count > 0)
        text_addf(out, "%s waits for %s:", e->name, others ? "others" : "you");
    else if (e->next != NULL)
        text_addf(out, "%s goes on at %s.", e->name, e->next);
    else
        text_addf(out, "%s is proved.", e->name);
}

/* --- files ------------------------------------------------------------------------------------ */

static struct node *read_document(const char *path, struct problem *err)
{
    AUTO_TEXT bytes = TEXT_INIT;
    if (file_read(path, STATE_FILE_MAX, true, &bytes, err) != 0)
        return NULL;
    struct node *doc = node_parse_yaml(bytes.s, bytes.len, path, err);
    if (doc == NULL || node_get_number(doc, "sluice", -1) == STATE_SCHEMA)
        return doc;
    problem_fail(err, PROBLEM_INPUT, "schema", "%s is of a newer sluice, or no state file", path);
    node_free(doc);
    return NULL;
}

static bool in_use(const char *path, struct problem *holder)
{
    AUTO(xfree) char *lock = xasprintf("%s.lock", path);
    return file_lock_held(lock, holder);
}

static void read_entry(const struct rows *rows, const char *path, struct home_entry *e)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO_PROBLEM holder = PROBLEM_INIT;
    struct stat st;
    const char *slash = strrchr(path, '/');
    *e = (struct home_entry){.path = xstrdup(path)};
    e->at = stat(path, &st) == 0 ? (int64_t)st.st_mtime : 0;
    if (in_use(path, &holder))
        e->holder = xstrdup(holder.what);
    struct node *doc = read_document(path, &why);
    if (doc != NULL) {
        home_read(rows, doc, e);
    } else {
        e->fault = xstrdup(why.what);
        e->name = clean_copy(slash != NULL ? slash + 1 : path, CLEAN_LINE);
    }
    node_free(doc);
}

/* Two ways to the same file? */
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

static void add_path(struct home *h, const struct rows *rows, const char *path)
{
    for (size_t i = 0; i < h->count; i++)
        if (same_file(h->entries[i].path, path))
            return;
    h->entries = xrealloc(h->entries, h->count + 1, sizeof(*h->entries));
    read_entry(rows, path, &h->entries[h->count++]);
}

/* A file that is not there yet may be held all the same: by a sluice in which nothing was typed. */
static bool is_free(const char *path)
{
    return !file_exists(path) && !in_use(path, NULL);
}

static char *free_path(void)
{
    char *path = state_default_path();
    for (int n = 2; !is_free(path) && n < NEW_MAX; n++) {
        xfree(path);
        path = xasprintf("sluice-%d.yaml", n);
    }
    return path;
}

void home_load(struct home *h, const struct rows *rows)
{
    AUTO(xfree) char *here = state_default_path();
    size_t count;
    char **recent = recent_list(&count);
    *h = (struct home){.new_path = free_path()};
    if (file_exists(here))
        add_path(h, rows, here);
    for (size_t i = 0; i < count; i++) {
        add_path(h, rows, recent[i]);
        xfree(recent[i]);
    }
    xfree(recent);
}

void home_release(struct home *h)
{
    for (size_t i = 0; i < h->count; i++)
        home_entry_release(&h->entries[i]);
    xfree(h->entries);
    xfree(h->new_path);
    *h = (struct home){0};
}
