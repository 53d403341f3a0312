/* Drafts, as far as no service is asked: scopes of complaints, what the ends of jobs and known
 * texts mean, log lines without their colours, the problem that is made of it all. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/secret.h"
#include "estuary/draft_parts.h"

static void scopes_name_sort_name_and_place(void **state)
{
    (void)state;
    static const struct {
        const char *scope, *sort, *name, *where;
    } rows[] = {
        {"flow://capture/acmeCo/shop/source-postgres#/bindings/0", "capture",
         "acmeCo/shop/source-postgres", "/bindings/0"},
        {"flow://collection/acmeCo/shop/public/orders", "collection", "acmeCo/shop/public/orders",
         ""},
        {"flow://materialization/acmeCo/m#", "materialization", "acmeCo/m", ""},
        {"flow://capture/acmeCo/a%20b#/endpoint/x%23y", "capture", "acmeCo/a b", "/endpoint/x#y"},
        {"flow://capture/acmeCo/a%1b[31m%zz%2", "capture", "acmeCo/a^[[31m%zz%2", ""},
        {"flow://capture/acmeCo/a%00b", "capture", "acmeCo/a%00b", ""},
        {"flow://capture/acmeCo/a?x=1#/b", "capture", "acmeCo/a", "/b"},
        {"flow://capture", "", "", ""},
        {"flow://", "", "", ""},
        {"flow://Capture/acmeCo/a", "", "", ""},
        {"file:///flow.json#/captures", "", "", ""},
        {"", "", "", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_COMPLAINTS c = {.count = 1, .list = xcalloc(1, sizeof *c.list)};
        draft_scope_read(rows[i].scope, &c.list[0]);
        assert_string_equal(c.list[0].sort, rows[i].sort);
        assert_string_equal(c.list[0].name, rows[i].name);
        assert_string_equal(c.list[0].where, rows[i].where);
    }
}

static void every_end_has_words(void **state)
{
    (void)state;
    /* The states as the dashboard and flowctl know them. */
    static const char *const discovers[] = {
        "wrongProtocol", "tagFailed",   "imageForbidden", "discoverFailed",      "noDataPlane",
        "notAuthorized", "mergeFailed", "pullFailed",     "deprecatedBackground"};
    static const char *const publications[] = {
        "buildFailed",         "testFailed",         "publishFailed",       "emptyDraft",
        "expectPubIdMismatch", "buildIdLockFailure", "deprecatedBackground"};
    static const struct {
        const struct draft_status *table;
        const char *const *types;
        size_t count;
    } sorts[] = {{draft_discover_statuses, discovers, ARRAY_LEN(discovers)},
                 {draft_publication_statuses, publications, ARRAY_LEN(publications)}};
    for (size_t i = 0; i < ARRAY_LEN(sorts); i++) {
        for (size_t j = 0; j < sorts[i].count; j++)
            assert_string_equal(draft_status_of(sorts[i].table, sorts[i].types[j])->type,
                                sorts[i].types[j]);
        assert_null(draft_status_of(sorts[i].table, "somethingNew")->type);
        for (const struct draft_status *row = sorts[i].table;; row++) {
            assert_true(row->kind != PROBLEM_NONE && row->kind != PROBLEM_BUG);
            assert_true(*row->what != '\0' && *row->why != '\0' && *row->fix != '\0');
            if (row->type == NULL)
                break;
        }
    }
    static const char *const silent[] = {"noDataPlane", "tagFailed", "wrongProtocol",
                                         "imageForbidden"};
    for (size_t i = 0; i < ARRAY_LEN(silent); i++)
        assert_false(draft_status_of(draft_discover_statuses, silent[i])->errors);
    assert_false(draft_status_of(draft_publication_statuses, "emptyDraft")->errors);
    assert_true(draft_status_of(draft_publication_statuses, "buildIdLockFailure")->again);
    assert_true(draft_status_of(draft_publication_statuses, "publishFailed")->again);
    assert_false(draft_status_of(draft_publication_statuses, "buildFailed")->again);
}

static void every_known_text_is_reached(void **state)
{
    (void)state;
    size_t n = 0;
    for (const struct draft_meaning *m; (m = draft_meaning_at(n)) != NULL; n++) {
        AUTO(xfree) char *text = xasprintf("x %s y %s z", m->says, m->also != NULL ? m->also : "");
        assert_ptr_equal(draft_meaning_of(text), m);
        assert_true(*m->why != '\0' && *m->fix != '\0');
    }
    assert_true(n > 15);
    assert_null(draft_meaning_of("json: unknown field \"bucketpath\""));
    assert_null(draft_meaning_of(""));
}

static void known_texts_are_told_apart(void **state)
{
    (void)state;
    static const struct {
        const char *detail, *why;
        enum who who;
    } rows[] = {
        {"data plane ops/dp/private/acmeCo/x, referenced by storage mapping acmeCo/, was not "
         "found; did you mean data plane ops/dp/public/noop?",
         "no role grant", WHO_ESTUARY},
        {"data plane ops/dp/public/x was not found", "misspelt", WHO_YOU},
        {"data plane a is not one of those that storage mapping acmeCo/ allows: b",
         "does not allow", WHO_YOU},
        {"could not map collection acmeCo/x into a storage mapping", "No storage mapping", WHO_YOU},
        {"collection acmeCo/x, referenced by capture acmeCo/y, is not defined; did you mean z",
         "together with its collections", WHO_YOU},
        {"capture acmeCo/y, referenced by materialization acmeCo/m, is not defined",
         "neither in it nor live", WHO_YOU},
        {"capture acmeCo/shop is a prohibited prefix of collection acmeCo/shop/a", "folder",
         WHO_YOU},
        {"Specification 'a/b' is not write-authorized to 'c/d'.\nAvailable grants are: []",
         "grants on each other", WHO_YOU},
        {"failed to connect to `user=x`: FATAL: password authentication failed for user \"x\"",
         "refuses the login", WHO_DBA},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct draft_meaning *m = draft_meaning_of(rows[i].detail);
        assert_non_null(m);
        assert_non_null(strstr(m->why, rows[i].why));
        assert_int_equal(m->who, rows[i].who);
    }
}

static void log_lines_lose_their_colours(void **state)
{
    (void)state;
    static const struct {
        const char *line, *plain;
    } rows[] = {
        {"\033[1mdiscover\033[0m is queued", "discover is queued"},
        {"\033[38;2;1;2;3mred\033[m\r", "red"},
        {"\033]0;title\ashown", "shown"},
        {"\033]8;;https://x\033\\link\033]8;;\033\\", "link"},
        {"\033P1$r\033\\a\033(Bb\033=c\0337d", "abcd"},
        {"cut \033[31", "cut "},
        {"cut \033", "cut "},
        {"open \033]0;never ends", "open "},
        {"\033[3\xC3\xA9x", "\xC3\xA9x"},
        {"\bback \xE2\x80\xAE over", "^Hback \\u{202E} over"},
        {"", ""},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *plain = draft_log_plain(rows[i].line, strlen(rows[i].line));
        assert_string_equal(plain, rows[i].plain);
    }
    struct secret *s = secret_new("a-very-secret-word", 18);
    static const char line[] = "x a-very-\033[1msecret-word\033[0m y";
    AUTO(xfree) char *hidden = draft_log_plain(line, strlen(line));
    assert_string_equal(hidden, "x [redacted] y");
    secret_unref(s);
    AUTO_TEXT big = TEXT_INIT;
    while (big.len < 3000)
        text_add(&big, "0123456789");
    AUTO(xfree) char *cut = draft_log_plain(big.s, big.len);
    assert_int_equal(strlen(cut), DRAFT_LOG_LINE + strlen("…"));
}

static void add(struct estuary_complaints *c, const char *scope, const char *detail)
{
    c->list = xrealloc(c->list, c->count + 1, sizeof *c->list);
    draft_scope_read(scope, &c->list[c->count]);
    c->list[c->count++].detail = xstrdup(detail);
}

static void tell(const char *json, const struct draft_status *table,
                 const struct estuary_complaints *found, struct problem *err)
{
    AUTO(cJSON_Delete) cJSON *status = json_parse(json, strlen(json), "status", NULL);
    struct draft_log log = {.count = 2, .next = 2, .tail = {xstrdup("one"), xstrdup("two")}};
    const struct draft_end end = {.type = json_text(status, "type"),
                                  .row = draft_status_of(table, json_text(status, "type")),
                                  .status = status,
                                  .found = found,
                                  .log = &log};
    assert_int_equal(draft_tell(&end, err), -1);
    draft_log_release(&log);
}

static void an_end_becomes_a_problem(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_COMPLAINTS found = {0}, none = {0};
    add(&found, "flow://materialization/acmeCo/m#/bindings/1", "what nobody knows\nsecond line");
    tell("{\"type\":\"buildFailed\"}", draft_publication_statuses, &found, &err);
    assert_string_equal(err.code, "buildFailed");
    assert_string_equal(err.what, "Estuary's build refuses the draft: materialization acmeCo/m");
    assert_string_equal(err.why, "It says: what nobody knows");
    assert_string_equal(err.evidence, "materialization acmeCo/m at /bindings/1: what nobody knows\n"
                                      "second line\nlog:\n  one\n  two");

    add(&found, "flow://capture/acmeCo/c", "collection acmeCo/x, referenced by y, is not defined");
    add(&found, "flow://capture/acmeCo/c", "collection acmeCo/z, referenced by y, is not defined");
    add(&found, "", "capture acmeCo/c is a prohibited prefix of collection acmeCo/c/x");
    tell(
        "{\"type\":\"buildFailed\",\"incompatible_collections\":[{\"collection\":\"acmeCo/k\","
        "\"requires_recreation\":[\"keyChange\"],\"affected_materializations\":[{\"name\":"
        "\"acmeCo/m\",\"fields\":[{\"field\":\"id\",\"reason\":\"r\"}],\"resource_path\":[]}]},7]}",
        draft_publication_statuses, &found, &err);
    assert_string_equal(err.what, "Estuary's build refuses the draft: 4 errors");
    assert_string_equal(strchr(err.why, '\n') + 1, draft_meaning_of("prohibited prefix")->why);
    assert_non_null(strstr(err.evidence, "\ncapture acmeCo/c is a prohibited prefix"));
    assert_non_null(strstr(err.evidence, "incompatible: collection acmeCo/k, must be made anew: "
                                         "keyChange, affects acmeCo/m; fields id"));

    tell("{\"type\":\"expectPubIdMismatch\",\"failures\":[{\"catalog_name\":\"acmeCo/c\","
         "\"expected\":\"0\",\"actual\":null},{}]}",
         draft_publication_statuses, &none, &err);
    assert_int_equal(err.kind, PROBLEM_CONFLICT);
    assert_non_null(strstr(err.evidence, "acmeCo/c: expected publication 0, found none"));

    tell("{\"type\":\"brandNew\"}", draft_discover_statuses, &none, &err);
    assert_int_equal(err.kind, PROBLEM_PROTOCOL);
    assert_non_null(strstr(err.what, ": brandNew"));
    assert_string_equal(err.evidence, "log:\n  one\n  two");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scopes_name_sort_name_and_place),
        cmocka_unit_test(every_end_has_words),
        cmocka_unit_test(every_known_text_is_reached),
        cmocka_unit_test(known_texts_are_told_apart),
        cmocka_unit_test(log_lines_lose_their_colours),
        cmocka_unit_test(an_end_becomes_a_problem),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
