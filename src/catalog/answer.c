/* Reading error answers. */
#include "catalog/answer.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/clean.h"
#include "core/json.h"
#include "core/mem.h"

#define ERROR_BODY_MAX 65536
#define EXCERPT_MAX 200
#define WAIT_MAX_S 86400

const char *answer_shape_name(enum answer_shape s)
{
    switch (s) {
    case SHAPE_EMPTY:
        return "an empty body";
    case SHAPE_OAUTH:
        return "an OAuth error";
    case SHAPE_ICEBERG:
        return "an Iceberg error";
    case SHAPE_BAUPLAN:
        return "a Bauplan error";
    case SHAPE_GATEWAY:
        return "a gateway's error";
    case SHAPE_JSON:
        return "JSON";
    case SHAPE_HTML:
        return "a web page";
    case SHAPE_TEXT:
        break;
    }
    return "text";
}

static char *line_of(const char *s)
{
    return s != NULL ? clean_excerpt(s, strlen(s), 400) : xstrdup("");
}

/* Shape, type and message of a JSON body. */
static void read_json(const cJSON *root, struct answer *out)
{
    const cJSON *error = json_member(root, "error");
    const char *type = NULL, *message = NULL;
    if (cJSON_IsString(error)) {
        out->shape = SHAPE_OAUTH;
        type = error->valuestring;
        message = json_text(root, "error_description");
    } else if (cJSON_IsObject(error)) {
        out->shape = json_member(error, "code") != NULL ? SHAPE_ICEBERG : SHAPE_BAUPLAN;
        type = json_text(error, "type");
        message = json_text(error, "message");
    } else if (json_text(root, "message") != NULL) {
        out->shape = SHAPE_GATEWAY;
        message = json_text(root, "message");
    } else {
        out->shape = SHAPE_JSON;
    }
    out->type = line_of(type);
    out->message = line_of(message);
}

static enum answer_shape shape_of_text(const struct http_response *r, size_t n)
{
    size_t start = 0;
    while (start < n && isspace((unsigned char)r->body.s[start]))
        start++;
    if (start == n)
        return SHAPE_EMPTY;
    bool tagged = r->body.s[start] == '<';
    return tagged || strcmp(r->content_type, "text/html") == 0 ? SHAPE_HTML : SHAPE_TEXT;
}

/* Of a web page its words alone: tags are left out, runs of blanks become one. */
static char *page_words(const char *s, size_t n)
{
    AUTO_TEXT t = TEXT_INIT;
    bool in_tag = false, gap = false;
    for (size_t i = 0; i < n && t.len < EXCERPT_MAX; i++) {
        if (s[i] == '<') {
            in_tag = true;
            gap = true;
        } else if (in_tag) {
            in_tag = s[i] != '>';
        } else if (isspace((unsigned char)s[i])) {
            gap = true;
        } else {
            if (gap && t.len > 0)
                text_addc(&t, ' ');
            gap = false;
            text_addc(&t, s[i]);
        }
    }
    return clean_excerpt(t.s, t.len, EXCERPT_MAX);
}

static int wait_seconds(const char *s)
{
    if (s == NULL || !isdigit((unsigned char)*s))
        return -1;
    long v = strtol(s, NULL, 10);
    return v > WAIT_MAX_S ? WAIT_MAX_S : (int)v;
}

static char *challenge_of(const char *header)
{
    if (header == NULL)
        return xstrdup("");
    char *s = xstrndup(header, strcspn(header, " ,"));
    for (char *p = s; *p != '\0'; p++)
        *p = (char)tolower((unsigned char)*p);
    return s;
}

void answer_read(const struct http_response *r, struct answer *out)
{
    size_t n = r->body.len < ERROR_BODY_MAX ? r->body.len : ERROR_BODY_MAX;
    *out = (struct answer){.status = r->status, .wait_s = -1};
    out->shape = shape_of_text(r, n);
    if (out->shape == SHAPE_TEXT && n == r->body.len) {
        AUTO(cJSON_Delete) cJSON *root = json_parse(r->body.s, n, "the answer", NULL);
        if (cJSON_IsObject(root))
            read_json(root, out);
    }
    if (out->type == NULL)
        out->type = xstrdup("");
    if (out->message == NULL)
        out->message = xstrdup("");
    out->challenge = challenge_of(http_response_header(r, "WWW-Authenticate"));
    out->location = line_of(r->location);
    out->wait_s = wait_seconds(http_response_header(r, "Retry-After"));
    out->excerpt = out->shape == SHAPE_HTML ? page_words(r->body.s, n)
                                            : clean_excerpt(r->body.s, n, EXCERPT_MAX);
}

void answer_release(struct answer *a)
{
    xfree(a->type);
    xfree(a->message);
    xfree(a->challenge);
    xfree(a->location);
    xfree(a->excerpt);
    *a = (struct answer){0};
}
