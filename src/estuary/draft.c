/* Drafts: made, filled, read back, deleted. PostgREST's tables drafts, draft_specs (an upsert by
 * draft and name) and draft_specs_ext. Jobs on them: draft_jobs.c. */
#include "estuary/draft.h"

#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/node_json.h"
#include "estuary/draft_parts.h"
#include "net/http.h"

/* flowctl stays below these as well: the control plane's proxies end at 2 MiB. */
#define BATCH_SPECS 99
#define BATCH_BYTES ((size_t)1 << 20)
#define SPEC_BYTES ((size_t)4 << 20) /* one alone */
#define PAGE_SPECS 100               /* with schemas of many columns far below a body's limit */
#define DRAFT_SPECS 5000
#define ID_MAX 128
/* "There is none yet." */
#define NO_PUBLICATION "00:00:00:00:00:00:00:00"
#define CLEANUP_TRIES 3
#define CLEANUP_PAUSE_MS 300

/* --- lists ------------------------------------------------------------------------------------ */

void estuary_staging_add(struct estuary_staging *s, const char *name, const char *sort,
                         struct node *model)
{
    s->list = xrealloc(s->list, s->count + 1, sizeof *s->list);
    s->list[s->count++] =
        (struct estuary_staged){.name = xstrdup(name), .sort = xstrdup(sort), .model = model};
}

void estuary_staging_release(struct estuary_staging *s)
{
    for (size_t i = 0; i < s->count; i++) {
        xfree(s->list[i].name);
        xfree(s->list[i].sort);
        node_free(s->list[i].model);
    }
    xfree(s->list);
    *s = (struct estuary_staging){0};
}

void estuary_complaints_release(struct estuary_complaints *c)
{
    for (size_t i = 0; i < c->count; i++) {
        xfree(c->list[i].sort);
        xfree(c->list[i].name);
        xfree(c->list[i].where);
        xfree(c->list[i].detail);
    }
    xfree(c->list);
    *c = (struct estuary_complaints){0};
}

/* --- answers ---------------------------------------------------------------------------------- */

void draft_range(char out[DRAFT_RANGE], size_t from, size_t count)
{
    snprintf(out, DRAFT_RANGE, "%zu-%zu", from, from + count - 1);
}

char *draft_query(const char *select, const char *column, const char *value)
{
    char *encoded = url_encode(value);
    char *query = xasprintf("select=%s&%s=eq.%s", select, column, encoded);
    xfree(encoded);
    return query;
}

int draft_lacks(const char *asked, const char *part, struct problem *err)
{
    problem_fail(err, PROBLEM_PROTOCOL, "answer", "Estuary's answer to %s has no %s", asked, part);
    problem_fix(err, WHO_ESTUARY,
                "Try again; if it stays, look for a newer sluice: the service may have changed.");
    return -1;
}

/* --- taking away ------------------------------------------------------------------------------ */

static int delete_once(struct run *run, struct secret *token, const char *query,
                       struct problem *err)
{
    const struct estuary_pg_call call = {.method = "DELETE", .path = "drafts", .query = query};
    return estuary_pg(run, token, &call, NULL, err);
}

/* Deleting twice is as good as once: what is no longer there is answered with success. */
static int delete_in_time(struct run *run, struct secret *token, const char *query,
                          struct problem *err)
{
    for (int left = CLEANUP_TRIES;; left--) {
        if (delete_once(run, token, query, err) == 0)
            return 0;
        if (left == 1 || err->kind != PROBLEM_UNREACHABLE ||
            run_sleep(run, CLEANUP_PAUSE_MS, NULL) != 0)
            return -1;
    }
}

/* A draft whose answer was lost on the way is found by what it is called, which no other is. Twice,
 * as the service may still be at making it. Nothing is said of it: what failed is. */
static void take_away(struct run *run, struct secret *token, const char *detail)
{
    AUTO(xfree) char *encoded = url_encode(detail);
    AUTO(xfree) char *query = xasprintf("detail=eq.%s", encoded);
    AUTO_PROBLEM ignored = PROBLEM_INIT;
    struct run *own = run_new_cleanup(run);
    if (delete_in_time(own, token, query, &ignored) == 0 &&
        run_sleep(own, CLEANUP_PAUSE_MS, NULL) == 0)
        delete_once(own, token, query, NULL);
    run_free(own);
}

/* --- making ----------------------------------------------------------------------------------- */

static char *called(const char *detail)
{
    uint64_t random;
    if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
        random = (uint64_t)clock_ms();
    return xasprintf("%s (%016llx)", detail, (unsigned long long)random);
}

/* Did the service, for all we know, make it nevertheless? */
static bool may_be_there(const struct problem *why)
{
    return why->kind == PROBLEM_CANCELLED || why->kind == PROBLEM_UNREACHABLE ||
           why->kind == PROBLEM_PROTOCOL;
}

static int make(struct run *run, struct secret *token, const char *detail, char **id,
                struct problem *err)
{
    AUTO_TEXT body = TEXT_INIT;
    AUTO(cJSON_Delete) cJSON *answer = NULL;
    struct json_writer w = {.out = &body};
    json_begin(&w, '{');
    json_pair_text(&w, "detail", detail);
    json_end(&w, '}');
    const struct estuary_pg_call call = {.method = "POST",
                                         .path = "drafts",
                                         .query = "select=id",
                                         .body = body.s,
                                         .prefer = "return=representation",
                                         .one = true};
    if (estuary_pg(run, token, &call, &answer, err) != 0)
        return -1;
    const char *made = json_text(answer, "id");
    if (made == NULL || *made == '\0' || strlen(made) > ID_MAX)
        return draft_lacks("a new draft", "id", err);
    *id = xstrdup(made);
    return 0;
}

int estuary_draft_new(struct run *run, struct secret *token, const char *detail, char **id,
                      struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO(xfree) char *name = called(detail);
    if (make(run, token, name, id, &why) == 0)
        return 0;
    if (may_be_there(&why))
        take_away(run, token, name);
    problem_move(err, &why);
    return -1;
}

/* --- staging ---------------------------------------------------------------------------------- */

/* Every row of a request has the same keys (PostgREST refuses others), so expect_pub_id is always
 * there: null takes back what a discover has put. */
static int write_row(const char *id, const struct estuary_staged *s, bool fresh, struct text *out,
                     struct problem *err)
{
    AUTO_TEXT model = TEXT_LIMITED(SPEC_BYTES);
    node_write_json(s->model, &model);
    if (model.cut)
        return problem_fail(err, PROBLEM_INPUT, "too large",
                            "the specification of %s is over %zu MiB", s->name, SPEC_BYTES >> 20);
    struct json_writer w = {.out = out};
    json_begin(&w, '{');
    json_pair_text(&w, "draft_id", id);
    json_pair_text(&w, "catalog_name", s->name);
    json_pair_text(&w, "spec_type", s->sort);
    json_key(&w, "spec");
    json_add_letters(&w, model.s);
    json_pair_text(&w, "expect_pub_id", fresh ? NO_PUBLICATION : NULL);
    json_end(&w, '}');
    return 0;
}

static int send_batch(struct run *run, struct secret *token, struct text *rows, size_t *count,
                      struct problem *err)
{
    if (*count == 0)
        return 0;
    AUTO_TEXT body = TEXT_INIT;
    text_addf(&body, "[%s]", rows->s);
    const struct estuary_pg_call call = {.method = "POST",
                                         .path = "draft_specs",
                                         .query = "on_conflict=draft_id,catalog_name",
                                         .body = body.s,
                                         .prefer = "resolution=merge-duplicates,return=minimal"};
    text_reset(rows);
    *count = 0;
    return estuary_pg(run, token, &call, NULL, err);
}

int estuary_draft_stage(struct run *run, struct secret *token, const char *id,
                        const struct estuary_staging *s, bool fresh, struct problem *err)
{
    AUTO_TEXT rows = TEXT_INIT;
    size_t count = 0;
    for (size_t i = 0; i < s->count; i++) {
        AUTO_TEXT row = TEXT_INIT;
        if (write_row(id, &s->list[i], fresh, &row, err) != 0)
            return -1;
        bool full = count == BATCH_SPECS || rows.len + row.len + 3 > BATCH_BYTES;
        if (full && send_batch(run, token, &rows, &count, err) != 0)
            return -1;
        text_sep(&rows, ",");
        text_addn(&rows, row.s, row.len);
        count++;
        run_progress(run, (int64_t)i + 1, (int64_t)s->count, s->list[i].name);
    }
    return send_batch(run, token, &rows, &count, err);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A row without a specification deletes what is live: nothing that we stage. */
static int add_row(const struct node *row, struct estuary_staging *out, struct problem *err)
{
    const char *name = node_get_text(row, "catalog_name");
    const char *sort = node_get_text(row, "spec_type");
    if (name == NULL)
        return draft_lacks("the specifications of a draft", "catalog_name", err);
    if (sort == NULL)
        return 0;
    const struct node *model = node_get(row, "spec");
    if (model == NULL || model->kind != NODE_MAP)
        return draft_lacks("the specifications of a draft", "spec", err);
    if (out->count == DRAFT_SPECS)
        return problem_fail(err, PROBLEM_PROTOCOL, "too large",
                            "the draft holds more than %d specifications", DRAFT_SPECS);
    estuary_staging_add(out, name, sort, node_copy(model));
    return 0;
}

/* Adds one page; *rows of it. The text is read, not cJSON's tree, whose numbers are doubles. */
static int read_page(struct run *run, struct secret *token, const char *query, size_t from,
                     size_t *rows, struct estuary_staging *out, struct problem *err)
{
    AUTO_TEXT body = TEXT_INIT;
    char range[DRAFT_RANGE];
    draft_range(range, from, PAGE_SPECS);
    const struct estuary_pg_call call = {
        .method = "GET", .path = "draft_specs_ext", .query = query, .range = range, .raw = &body};
    if (estuary_pg(run, token, &call, NULL, err) != 0)
        return -1;
    struct node *list = node_parse_json(body.s, body.len, "Estuary's draft", err);
    if (list == NULL)
        return -1;
    int rc = list->kind == NODE_LIST ? 0 : draft_lacks("the specifications of a draft", "row", err);
    *rows = list->count;
    for (size_t i = 0; rc == 0 && i < list->count; i++)
        rc = add_row(list->items[i], out, err);
    node_free(list);
    return rc;
}

int estuary_draft_read(struct run *run, struct secret *token, const char *id,
                       struct estuary_staging *out, struct problem *err)
{
    AUTO_STAGING found = {0};
    AUTO(xfree)
    char *query = draft_query("catalog_name,spec_type,spec&order=catalog_name.asc", "draft_id", id);
    size_t from = 0, rows = 0;
    do {
        if (read_page(run, token, query, from, &rows, &found, err) != 0)
            return -1;
        from += rows;
    } while (rows > 0);
    *out = found;
    found = (struct estuary_staging){0};
    return 0;
}

/* --- deleting a known one --------------------------------------------------------------------- */

int estuary_draft_delete(struct run *run, struct secret *token, const char *id, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO(xfree) char *encoded = url_encode(id);
    AUTO(xfree) char *query = xasprintf("id=eq.%s", encoded);
    struct run *own = run_new_cleanup(run);
    int rc = delete_in_time(own, token, query, &why);
    run_free(own);
    if (rc == 0)
        return 0;
    problem_fail(err, why.kind, why.code, "a draft could not be deleted from Estuary again: %s",
                 why.what);
    problem_why(err,
                "It holds what was tried, with sealed configs, and only you can see it. Nothing "
                "runs because of it.");
    problem_fix(err, WHO_YOU, "Delete it by hand.");
    problem_evidence(err, "draft %s%s%s", id, why.evidence != NULL ? "\n" : "",
                     why.evidence != NULL ? why.evidence : "");
    /* An id is a number in the service's own writing; what is none has no place in a command. */
    if (*id != '\0' && strspn(id, "0123456789abcdefABCDEF:-") == strlen(id))
        problem_copy_command(err, "flowctl draft select --id %s && flowctl draft delete", id);
    return -1;
}
