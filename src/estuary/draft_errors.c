/* What Estuary says against a draft (draft_errors), and the problem that is made of the end of a
 * job: known texts with a remedy, others as they came. */
#include <ctype.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/shown.h"
#include "estuary/draft_parts.h"

#define PAGE 200
#define DETAIL_BYTES 4096 /* kept of one complaint */
#define DETAIL_SHOWN 1200 /* of it in the evidence */
#define SHOWN 20          /* complaints in the evidence */
#define EXCERPT 240       /* of the first in `why` */
#define MEANINGS 3        /* remedies side by side */
#define SCOPE "flow://"

/* --- scopes ----------------------------------------------------------------------------------- */

static int hex_of(char c)
{
    return isdigit((unsigned char)c) ? c - '0' : (tolower((unsigned char)c) - 'a') + 10;
}

/* Undoes percent-encoding, then cleans. */
static char *part(const char *s, size_t n)
{
    AUTO_TEXT raw = TEXT_INIT;
    for (size_t i = 0; i < n; i++) {
        bool escape = s[i] == '%' && i + 2 < n && isxdigit((unsigned char)s[i + 1]) &&
                      isxdigit((unsigned char)s[i + 2]) && (s[i + 1] != '0' || s[i + 2] != '0');
        text_addc(&raw, escape ? (char)(hex_of(s[i + 1]) * 16 + hex_of(s[i + 2])) : s[i]);
        i += escape ? 2 : 0;
    }
    return shown_copy(raw.s, CLEAN_LINE);
}

void draft_scope_read(const char *scope, struct estuary_complaint *out)
{
    size_t head = strlen(SCOPE);
    const char *sort = strncmp(scope, SCOPE, head) == 0 ? scope + head : "";
    size_t sort_len = strspn(sort, "abcdefghijklmnopqrstuvwxyz");
    if (sort_len == 0 || sort[sort_len] != '/') {
        out->sort = xstrdup("");
        out->name = xstrdup("");
        out->where = xstrdup("");
        return;
    }
    const char *name = sort + sort_len + 1;
    size_t name_len = strcspn(name, "#?");
    const char *where = strchr(name, '#');
    out->sort = xstrndup(sort, sort_len);
    out->name = part(name, name_len);
    out->where = where != NULL ? part(where + 1, strlen(where + 1)) : xstrdup("");
}

/* --- reading ---------------------------------------------------------------------------------- */

static void add(struct estuary_complaints *out, const char *scope, const char *detail)
{
    struct estuary_complaint one = {0};
    AUTO_TEXT cut = TEXT_LIMITED(DETAIL_BYTES);
    /* Redacted before it is cut: half a secret is not found. */
    AUTO(xfree) char *shown = shown_copy(detail, CLEAN_LINES);
    text_add(&cut, shown);
    bool more = cut.cut;
    one.detail = xasprintf("%s%s", cut.s, more ? "…" : "");
    draft_scope_read(scope, &one);
    out->list = xrealloc(out->list, out->count + 1, sizeof *out->list);
    out->list[out->count++] = one;
}

int draft_errors_read(struct run *run, struct secret *token, const char *id,
                      struct estuary_complaints *out, struct problem *err)
{
    AUTO(xfree) char *query = draft_query("scope,detail", "draft_id", id);
    size_t seen = 0, before;
    do {
        AUTO(cJSON_Delete) cJSON *rows = NULL;
        char range[DRAFT_RANGE];
        draft_range(range, seen, PAGE);
        const struct estuary_pg_call call = {
            .method = "GET", .path = "draft_errors", .query = query, .range = range};
        if (estuary_pg(run, token, &call, &rows, err) != 0)
            return -1;
        if (!cJSON_IsArray(rows))
            return draft_lacks("a draft's errors", "list", err);
        before = seen;
        const cJSON *row;
        cJSON_ArrayForEach(row, rows)
        {
            const char *scope = json_text(row, "scope"), *detail = json_text(row, "detail");
            seen++;
            if (out->count < DRAFT_COMPLAINTS)
                add(out, scope != NULL ? scope : "", detail != NULL ? detail : "");
        }
    } while (seen > before && seen < DRAFT_COMPLAINTS);
    return 0;
}

/* --- telling ---------------------------------------------------------------------------------- */

/* "capture acmeCo/shop/source-postgres" */
static void add_subject(struct text *t, const struct estuary_complaint *c)
{
    if (*c->name != '\0')
        text_addf(t, "%s %s", c->sort, c->name);
}

static void tell_complaints(const struct estuary_complaints *found, struct text *out)
{
    for (size_t i = 0; i < found->count && i < SHOWN; i++) {
        const struct estuary_complaint *c = &found->list[i];
        AUTO_TEXT detail = TEXT_LIMITED(DETAIL_SHOWN);
        text_add(&detail, c->detail);
        text_sep(out, "\n");
        add_subject(out, c);
        if (*c->where != '\0')
            text_addf(out, " at %s", c->where);
        text_addf(out, "%s%s%s", *c->name != '\0' ? ": " : "", detail.s, detail.cut ? "…" : "");
    }
    if (found->count > SHOWN)
        text_addf(out, "\nand %zu more%s", found->count - SHOWN,
                  found->count == DRAFT_COMPLAINTS ? " or above" : "");
}

static void add_words(struct text *out, const cJSON *list)
{
    size_t n = 0;
    const cJSON *word;
    cJSON_ArrayForEach(word, list)
    {
        const char *name = cJSON_IsString(word) ? word->valuestring : json_text(word, "name");
        if (name == NULL)
            name = json_text(word, "field");
        if (name != NULL && n++ < SHOWN)
            text_addf(out, "%s%s", n > 1 ? ", " : "", name);
    }
}

/* incompatible_collections: what would have to be made anew. */
static void tell_incompatible(const cJSON *status, struct text *out)
{
    size_t n = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, json_member(status, "incompatible_collections"))
    {
        const char *name = json_text(one, "collection");
        const cJSON *why = json_member(one, "requires_recreation");
        const cJSON *tasks = json_member(one, "affected_materializations");
        if (n++ >= SHOWN || name == NULL)
            continue;
        text_sep(out, "\n");
        text_addf(out, "incompatible: collection %s", name);
        if (cJSON_GetArraySize(why) > 0) {
            text_add(out, ", must be made anew: ");
            add_words(out, why);
        }
        if (cJSON_GetArraySize(tasks) > 0) {
            text_add(out, ", affects ");
            add_words(out, tasks);
        }
        const cJSON *task;
        cJSON_ArrayForEach(task, tasks)
        {
            const cJSON *fields = json_member(task, "fields");
            if (cJSON_GetArraySize(fields) > 0) {
                text_add(out, "; fields ");
                add_words(out, fields);
            }
        }
    }
}

/* failures: publication ids that are not what was expected. */
static void tell_failures(const cJSON *status, struct text *out)
{
    size_t n = 0;
    const cJSON *one;
    cJSON_ArrayForEach(one, json_member(status, "failures"))
    {
        const char *name = json_text(one, "catalog_name");
        const char *expected = json_text(one, "expected"), *actual = json_text(one, "actual");
        if (n++ >= SHOWN || name == NULL)
            continue;
        text_sep(out, "\n");
        text_addf(out, "%s: expected publication %s, found %s", name,
                  expected != NULL ? expected : "none", actual != NULL ? actual : "none");
    }
}

/* The distinct remedies of what we know among the complaints. */
static size_t known_among(const struct estuary_complaints *found,
                          const struct draft_meaning *known[MEANINGS])
{
    size_t n = 0;
    for (size_t i = 0; i < found->count && n < MEANINGS; i++) {
        const struct draft_meaning *m = draft_meaning_of(found->list[i].detail);
        bool had = m == NULL;
        for (size_t j = 0; j < n; j++)
            had = had || known[j] == m;
        if (!had)
            known[n++] = m;
    }
    return n;
}

/* Why and fix: what is known of the complaints, else the first of them in its own words, else what
 * the status means. */
static void explain(const struct draft_end *end, struct problem *err)
{
    const struct draft_meaning *known[MEANINGS];
    size_t n = known_among(end->found, known);
    AUTO_TEXT why = TEXT_INIT, fix = TEXT_INIT;
    for (size_t i = 0; i < n; i++) {
        text_sep(&why, "\n");
        text_add(&why, known[i]->why);
        text_sep(&fix, "\n");
        text_add(&fix, known[i]->fix);
    }
    if (n == 0 && end->found->count > 0) {
        const char *detail = end->found->list[0].detail;
        AUTO(xfree) char *head = clean_excerpt(detail, strcspn(detail, "\n"), EXCERPT);
        text_addf(&why, "It says: %s", head);
    }
    problem_why(err, "%s", why.len > 0 ? why.s : end->row->why);
    problem_fix(err, n > 0 ? known[0]->who : end->row->who, "%s",
                fix.len > 0 ? fix.s : end->row->fix);
}

int draft_tell(const struct draft_end *end, struct problem *err)
{
    AUTO_TEXT what = TEXT_INIT, evidence = TEXT_INIT;
    text_add(&what, end->row->what);
    if (end->row->type == NULL)
        text_addf(&what, ": %s", end->type);
    else if (end->found->count > 1)
        text_addf(&what, ": %zu errors", end->found->count);
    else if (end->found->count == 1 && *end->found->list[0].name != '\0') {
        text_add(&what, ": ");
        add_subject(&what, &end->found->list[0]);
    }
    problem_fail(err, end->row->kind, end->type, "%s", what.s);
    explain(end, err);
    tell_complaints(end->found, &evidence);
    tell_incompatible(end->status, &evidence);
    tell_failures(end->status, &evidence);
    if (end->lost != NULL) {
        text_sep(&evidence, "\n");
        text_addf(&evidence, "Estuary's errors could not be read: %s", end->lost);
    }
    draft_tell_log(end->log, &evidence);
    if (evidence.len > 0)
        problem_evidence(err, "%s", evidence.s);
    return -1;
}
