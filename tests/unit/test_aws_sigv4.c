/* SigV4 against AWS's own suite (38 cases, header and query form) where it lies beside the project,
 * else against vectors of our own that botocore's signer made; which of the two ran is printed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "aws/sigv4.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/json.h"
#include "core/mem.h"

#define SUITE "../shared/sigv4-suite"

static char *slurp(const char *folder, const char *name)
{
    AUTO(xfree) char *path = xasprintf(SUITE "/%s/%s", folder, name);
    struct text bytes = TEXT_INIT;
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (file_read(path, 1 << 20, false, &bytes, &p) != 0)
        fail_msg("%s: %s", path, p.what);
    return text_take(&bytes);
}

struct parsed {
    char *method, *path, *query, *body;
    struct sigv4_header headers[32];
    char *names[32], *values[32];
    size_t count;
};

/* request.txt: "METHOD target HTTP/1.1", headers, perhaps folded, an empty line, the body. */
static void parse_request(char *text, struct parsed *out)
{
    *out = (struct parsed){0};
    char *end = strchrnul(text, '\n');
    char *line = xstrndup(text, (size_t)(end - text));
    char *space = strchr(line, ' ');
    char *last = strrchr(line, ' ');
    out->method = xstrndup(line, (size_t)(space - line));
    char *target = xstrndup(space + 1, (size_t)(last - space - 1));
    char *mark = strchr(target, '?');
    out->path = mark != NULL ? xstrndup(target, (size_t)(mark - target)) : xstrdup(target);
    out->query = xstrdup(mark != NULL ? mark + 1 : "");
    xfree(target);
    xfree(line);
    char *at = *end == '\0' ? end : end + 1;
    while (*at != '\0' && *at != '\n') {
        char *colon = strchr(at, ':');
        end = strchrnul(at, '\n');
        while (*end == '\n' && (end[1] == ' ' || end[1] == '\t'))
            end = strchrnul(end + 1, '\n');
        out->names[out->count] = xstrndup(at, (size_t)(colon - at));
        out->values[out->count] = xstrndup(colon + 1, (size_t)(end - colon - 1));
        out->headers[out->count] =
            (struct sigv4_header){out->names[out->count], out->values[out->count]};
        out->count++;
        at = *end == '\0' ? end : end + 1;
    }
    out->body = xstrdup(*at == '\n' ? at + 1 : "");
}

static void parsed_release(struct parsed *p)
{
    xfree(p->method);
    xfree(p->path);
    xfree(p->query);
    xfree(p->body);
    for (size_t i = 0; i < p->count; i++) {
        xfree(p->names[i]);
        xfree(p->values[i]);
    }
}

static void same(const char *folder, const char *file, const char *got)
{
    AUTO(xfree) char *want = slurp(folder, file);
    if (strcmp(want, got) != 0)
        fail_msg("%s/%s\n--- want\n%s\n--- got\n%s", folder, file, want, got);
}

static void run_case(const char *folder)
{
    AUTO(xfree) char *text = slurp(folder, "request.txt");
    AUTO(xfree) char *context = slurp(folder, "context.json");
    AUTO(cJSON_Delete) cJSON *c = json_parse(context, strlen(context), "context.json", NULL);
    const cJSON *keys = json_member(c, "credentials");
    const char *secret_text = json_text(keys, "secret_access_key");
    struct secret *secret = secret_new(secret_text, strlen(secret_text));
    struct parsed p;
    parse_request(text, &p);
    struct sigv4_request r = {.method = p.method,
                              .path = p.path,
                              .query = p.query,
                              .headers = p.headers,
                              .header_count = p.count,
                              .body = p.body,
                              .body_len = strlen(p.body),
                              .region = json_text(c, "region"),
                              .service = json_text(c, "service"),
                              .key_id = json_text(keys, "access_key_id"),
                              .secret_key = secret,
                              .session_token = json_text(keys, "token"),
                              .when = clock_parse_iso(json_text(c, "timestamp")),
                              .normalise = cJSON_IsTrue(json_member(c, "normalize")),
                              .sign_body_header = cJSON_IsTrue(json_member(c, "sign_body")),
                              .token_after = cJSON_IsTrue(json_member(c, "omit_session_token")),
                              .expires_s = (int)json_number(c, "expiration_in_seconds", 0)};
    struct sigv4_result out;
    assert_int_equal(sigv4_sign_header(&r, &out, NULL), 0);
    same(folder, "header-canonical-request.txt", out.canonical.s);
    same(folder, "header-string-to-sign.txt", out.to_sign.s);
    same(folder, "header-signature.txt", out.signature);
    sigv4_result_release(&out);
    assert_int_equal(sigv4_sign_query(&r, &out, NULL), 0);
    same(folder, "query-canonical-request.txt", out.canonical.s);
    same(folder, "query-string-to-sign.txt", out.to_sign.s);
    same(folder, "query-signature.txt", out.signature);
    sigv4_result_release(&out);
    parsed_release(&p);
    secret_unref(secret);
}

/* --- our own, for where the suite is not: made by botocore 1.43 from the requests as they stand
 * here ---- */

struct vector {
    const char *method, *path, *query, *body, *service, *host;
    bool s3;
    const char *signature;
};

#include "sigv4_vectors.h"

static void run_vector(const struct vector *v)
{
    struct secret *secret = secret_new("wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY", 40);
    struct sigv4_header headers[] = {{"Host", v->host}};
    struct sigv4_request r = {.method = v->method,
                              .path = v->path,
                              .query = v->query,
                              .headers = headers,
                              .header_count = 1,
                              .body = v->body,
                              .body_len = strlen(v->body),
                              .region = "eu-west-1",
                              .service = v->service,
                              .key_id = "AKIDEXAMPLE",
                              .secret_key = secret,
                              .when = clock_parse_iso("2026-11-30T12:36:00Z"),
                              .keep_path = v->s3,
                              .normalise = !v->s3,
                              .sign_body_header = true};
    struct sigv4_result out;
    assert_int_equal(sigv4_sign_header(&r, &out, NULL), 0);
    if (strcmp(out.signature, v->signature) != 0)
        fail_msg("%s %s?%s: %s\n%s", v->method, v->path, v->query, out.signature, out.canonical.s);
    sigv4_result_release(&out);
    secret_unref(secret);
}

static void own_vectors_sign_as_botocore(void **state)
{
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(vectors); i++)
        run_vector(&vectors[i]);
}

static void the_suite_signs_as_aws(void **state)
{
    (void)state;
    DIR *suite = opendir(SUITE);
    size_t cases = 0;
    if (suite == NULL) {
        printf("the official suite is not beside the project: own vectors ran instead\n");
        return;
    }
    for (struct dirent *d; (d = readdir(suite)) != NULL;) {
        AUTO(xfree) char *probe = xasprintf(SUITE "/%s/context.json", d->d_name);
        if (d->d_name[0] == '.' || !file_exists(probe))
            continue;
        run_case(d->d_name);
        cases++;
    }
    closedir(suite);
    printf("the official suite ran: %zu cases in two forms\n", cases);
    assert_int_equal(cases, 38);
}

static void line_breaks_are_refused(void **state)
{
    (void)state;
    struct secret *secret = secret_new("secretsecret", 12);
    struct sigv4_header headers[] = {{"Host", "a\r\nX-Evil: b"}};
    struct sigv4_request r = {.method = "GET",
                              .headers = headers,
                              .header_count = 1,
                              .region = "r",
                              .service = "s",
                              .key_id = "k",
                              .secret_key = secret};
    struct sigv4_result out;
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_int_equal(sigv4_sign_header(&r, &out, &p), -1);
    assert_int_equal(p.kind, PROBLEM_INPUT);
    secret_unref(secret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_vectors_sign_as_botocore),
        cmocka_unit_test(the_suite_signs_as_aws),
        cmocka_unit_test(line_breaks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
