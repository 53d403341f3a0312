/* Looking up the rules, and putting names into their texts. */
#include "catalog/classify.h"

#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "core/text.h"

static bool one_of(const char *types, const char *type)
{
    size_t n = strlen(type);
    for (const char *p = types; *p != '\0';) {
        size_t m = strcspn(p, " ");
        if (m == n && strncasecmp(p, type, n) == 0)
            return true;
        p += m + strspn(p + m, " ");
    }
    return false;
}

static bool fits(const struct catalog_rule *r, const struct answer *a, enum catalog_call call)
{
    if (a->status < r->from || a->status > r->to)
        return false;
    if (r->calls != 0 && (r->calls & (unsigned)call) == 0)
        return false;
    if (r->shapes != 0 && (r->shapes & (unsigned)a->shape) == 0)
        return false;
    if (r->types != NULL && !one_of(r->types, a->type))
        return false;
    if (r->says != NULL && strcasestr(a->message, r->says) == NULL)
        return false;
    return r->challenge == NULL || strcmp(r->challenge, a->challenge) == 0;
}

const struct catalog_rule *catalog_rule_for(const struct answer *a, enum catalog_call call)
{
    const struct catalog_rule *r = catalog_rules;
    while (r[1].id != NULL && !fits(r, a, call))
        r++;
    return r;
}

/* The value of a placeholder, or NULL when `name` is none. `room` holds numbers. */
static const char *placed(const char *name, size_t n, const struct answer *a,
                          const struct catalog_context *c, struct text *room)
{
    const struct {
        const char *name, *value;
    } places[] = {
        {"url", c->url},
        {"host", c->host},
        {"branch", *c->branch != '\0' ? c->branch : "main"},
        {"warehouse", c->warehouse},
        {"name", c->name},
        {"type", *a->type != '\0' ? a->type : "no type"},
        {"message", *a->message != '\0' ? a->message : a->excerpt},
        {"location", *a->location != '\0' ? a->location : "nowhere"},
    };
    for (size_t i = 0; i < ARRAY_LEN(places); i++)
        if (strlen(places[i].name) == n && memcmp(places[i].name, name, n) == 0)
            return places[i].value;
    text_reset(room);
    if (n == 6 && memcmp(name, "status", n) == 0)
        text_addf(room, "%d", a->status);
    else if (n == 4 && memcmp(name, "wait", n) == 0 && a->wait_s >= 0)
        text_addf(room, "%d s", a->wait_s);
    else if (n == 4 && memcmp(name, "wait", n) == 0)
        text_add(room, "a minute");
    else
        return NULL;
    return room->s;
}

/* A word for a shell: as it is when nothing in it has a meaning there, else in single quotes. */
static void add_shell_word(struct text *out, const char *s)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    if (*s != '\0' && s[strspn(s, plain)] == '\0') {
        text_add(out, s);
        return;
    }
    text_addc(out, '\'');
    for (; *s != '\0'; s++) {
        if (*s == '\'')
            text_add(out, "'\\''");
        else
            text_addc(out, *s);
    }
    text_addc(out, '\'');
}

static char *expanded(const char *pattern, const struct answer *a, const struct catalog_context *c,
                      bool shell)
{
    struct text out = TEXT_INIT;
    AUTO_TEXT room = TEXT_INIT;
    for (const char *p = pattern; *p != '\0';) {
        size_t plain = strcspn(p, "{");
        text_addn(&out, p, plain);
        p += plain;
        if (*p == '\0')
            break;
        size_t n = strcspn(p + 1, "}");
        const char *value = placed(p + 1, n, a, c, &room);
        if (value != NULL) {
            if (shell)
                add_shell_word(&out, value);
            else
                text_add(&out, value);
            p += n + 2;
        } else {
            text_addc(&out, *p++);
        }
    }
    return text_take(&out);
}

static char *code_of(const struct answer *a)
{
    if (*a->type != '\0')
        return xasprintf("http %d %s", a->status, a->type);
    return xasprintf("http %d", a->status);
}

static void add_evidence(const struct answer *a, const struct catalog_context *c,
                         struct problem *err)
{
    AUTO_TEXT t = TEXT_INIT;
    text_addf(&t, "%s %s: HTTP %d, %s", c->method, c->url, a->status, answer_shape_name(a->shape));
    if (*a->type != '\0' || *a->message != '\0')
        text_addf(&t, ": %s%s%s", a->type, *a->type != '\0' && *a->message != '\0' ? ": " : "",
                  a->message);
    else if (*a->excerpt != '\0')
        text_addf(&t, ": %s", a->excerpt);
    if (*a->location != '\0')
        text_addf(&t, "\nLocation: %s", a->location);
    if (*a->challenge != '\0')
        text_addf(&t, "\nWWW-Authenticate: %s", a->challenge);
    problem_evidence(err, "%s", t.s);
}

int catalog_explain(const struct answer *a, const struct catalog_context *c, struct problem *err)
{
    const struct catalog_rule *r = catalog_rule_for(a, c->call);
    AUTO(xfree) char *what = expanded(r->what, a, c, false);
    AUTO(xfree) char *code = code_of(a);
    problem_fail(err, r->kind, code, "%s", what);
    if (r->why != NULL) {
        AUTO(xfree) char *why = expanded(r->why, a, c, false);
        problem_why(err, "%s", why);
    }
    if (r->fix != NULL) {
        AUTO(xfree) char *fix = expanded(r->fix, a, c, false);
        problem_fix(err, r->who, "%s", fix);
    }
    if (r->copy != NULL && *c->branch != '\0') {
        AUTO(xfree) char *copy = expanded(r->copy, a, c, true);
        problem_copy_command(err, "%s", copy);
    }
    add_evidence(a, c, err);
    return -1;
}
