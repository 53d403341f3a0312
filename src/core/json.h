/* JSON by cJSON, behind a guard: cJSON 1.7.15 accepts trailing garbage, control characters in
 * strings and other bad input and spoils some integers from 10^15 on. json_parse refuses what RFC
 * 8259 refuses, depth over 64, duplicate keys and more than a million values, before cJSON sees it.
 */
#ifndef SLUICE_CORE_JSON_H
#define SLUICE_CORE_JSON_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"
#include "core/text.h"

/* NULL and PROBLEM_PROTOCOL when it is not JSON; `name` says in the message what was read. Numbers
 * that a double cannot hold exactly are kept as JSON strings of their digits. cJSON_Delete it. */
cJSON *json_parse(const char *bytes, size_t n, const char *name, struct problem *err);
/* The same with every number as a string of its own letters behind JSON_NUMBER, for documents that
 * must come back letter by letter. U+FDD0 is no character (Unicode keeps it for such inner use); a
 * document that holds it is refused here. */
#define JSON_NUMBER "\xEF\xB7\x90"
cJSON *json_parse_letters(const char *bytes, size_t n, const char *name, struct problem *err);
const char *json_text(const cJSON *object, const char *key); /* string member or NULL */
double json_number(const cJSON *object, const char *key, double otherwise);
const cJSON *json_member(const cJSON *object,
                         const char *key); /* exact case; NULL when not an object */
/* cJSON frees its strings without wiping them: overwrites all of them. NULL is fine. */
void json_wipe(cJSON *root);

/* Writer: appends compact JSON directly to a text; commas are placed by itself. */
struct json_writer {
    struct text *out;
    bool need_comma;
};
void json_begin(struct json_writer *w, char bracket); /* '{' or '[' */
void json_end(struct json_writer *w, char bracket);   /* '}' or ']' */
void json_key(struct json_writer *w, const char *key);
void json_add_text(struct json_writer *w,
                   const char *s); /* NULL gives null; invalid UTF-8 -> U+FFFD */
void json_add_number(struct json_writer *w, long long v);
void json_add_letters(struct json_writer *w, const char *json); /* one value, as it is written */
void json_add_bool(struct json_writer *w, bool v);
void json_add_null(struct json_writer *w);
void json_pair_text(struct json_writer *w, const char *key, const char *s);
void json_pair_number(struct json_writer *w, const char *key, long long v);
void json_pair_bool(struct json_writer *w, const char *key, bool v);

static inline void cJSON_Delete_auto(cJSON **p)
{
    cJSON_Delete(*p);
}
#endif
