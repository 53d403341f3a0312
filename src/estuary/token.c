/* What was pasted. No message quotes a byte of it: neither form may be seen by anyone. */
#include "estuary/token.h"

#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "estuary/jwt.h"

#define PART_MAX 1024 /* bytes of an id or a secret */

#define WHERE "on Estuary's dashboard: Admin, CLI-API, Generate token"

enum fault {
    FAULT_NONE,
    FAULT_EMPTY,
    FAULT_LONG,
    FAULT_BLANK,
    FAULT_SERVICE,
    FAULT_JSON,
    FAULT_CUT,
    FAULT_PUBLIC,
    FAULT_OTHER
};

static const struct {
    const char *what, *why, *fix;
} faults[] = {
    [FAULT_EMPTY] = {"there is no token", "Nothing was entered.", "Make one " WHERE "."},
    [FAULT_LONG] = {"this is too long for a token of Estuary",
                    "A refresh token has about 150 characters, an access token about a thousand.",
                    "Paste the token alone. A new one is made " WHERE "."},
    [FAULT_BLANK] = {"the token has a blank, a line end or another such character in it",
                     "A token is one word; this comes from copying it in pieces, or with its "
                     "surroundings.",
                     "Copy it with the button beside it. A new one is made " WHERE "."},
    [FAULT_SERVICE] = {"this is the key of a service account",
                       "Keys that begin with flow_sa_ are not documented for Estuary's tables yet, "
                       "which drafts need.",
                       "Paste a refresh token; it is made " WHERE "."},
    [FAULT_JSON] = {"this is the JSON of a token, not the token",
                    "The dashboard shows it as one word that begins with eyJ: the base64 form of "
                    "that JSON.",
                    "Paste that word. A new one is made " WHERE "."},
    [FAULT_CUT] = {"the token is cut short or damaged",
                   "It begins as Estuary's tokens do, but does not end so.",
                   "Copy all of it, with the button beside it. A new one is made " WHERE "."},
    [FAULT_PUBLIC] = {"this is the public key of Estuary's project, not a token of yours",
                      "It names the project and speaks for nobody.",
                      "Paste a refresh token; it is made " WHERE "."},
    [FAULT_OTHER] = {"this is no token of Estuary",
                     "It is neither a refresh token (the base64 form of an id and a secret) nor an "
                     "access token (three parts between dots).",
                     "Paste a refresh token; it is made " WHERE "."},
};

static bool starts(const char *s, size_t n, const char *with)
{
    return n >= strlen(with) && memcmp(s, with, strlen(with)) == 0;
}

/* Visible ASCII, and not too much of it. */
static bool is_part(const char *s)
{
    if (s == NULL || *s == '\0' || strlen(s) > PART_MAX)
        return false;
    for (; *s != '\0'; s++)
        if (*s <= ' ' || *s > '~')
            return false;
    return true;
}

static enum fault take_pair(const cJSON *pair, struct estuary_token *out)
{
    const char *id = json_text(pair, "id"), *secret = json_text(pair, "secret");
    if (!is_part(id) || !is_part(secret))
        return json_member(pair, "alg") != NULL ? FAULT_CUT : FAULT_OTHER; /* the head of a JWT */
    out->sort = ESTUARY_REFRESH;
    out->id = xstrdup(id);
    out->secret = secret_new(secret, strlen(secret));
    return FAULT_NONE;
}

static enum fault read_refresh(const char *s, size_t n, struct estuary_token *out)
{
    struct text json;
    enum fault fault = FAULT_OTHER;
    if (estuary_base64(s, n, &json)) {
        AUTO(cJSON_Delete) cJSON *pair = json_parse(json.s, json.len, "the token", NULL);
        if (cJSON_IsObject(pair))
            fault = take_pair(pair, out);
        else if (json.len > 0 && json.s[0] == '{')
            fault = FAULT_CUT;
        json_wipe(pair);
    } else if (starts(s, n, "eyJ")) {
        fault = FAULT_CUT;
    }
    text_wipe(&json);
    return fault;
}

static enum fault read_access(const char *s, size_t n, struct estuary_token *out)
{
    AUTO_JWT jwt;
    if (!estuary_jwt_read(s, n, &jwt))
        return starts(s, n, "eyJ") ? FAULT_CUT : FAULT_OTHER;
    if (jwt.role != NULL && strcmp(jwt.role, "anon") == 0)
        return FAULT_PUBLIC;
    out->sort = ESTUARY_ACCESS;
    out->until = jwt.until;
    out->email = jwt.email;
    jwt.email = NULL;
    out->secret = secret_new(s, n);
    return FAULT_NONE;
}

static enum fault read_token(const struct secret *pasted, struct estuary_token *out)
{
    const char *s = secret_bytes(pasted);
    size_t n = secret_len(pasted), dots = 0;
    while (n > 0 && strchr(" \t\r\n", s[n - 1]) != NULL)
        n--;
    while (n > 0 && strchr(" \t\r\n", *s) != NULL) {
        s++;
        n--;
    }
    if (n == 0)
        return FAULT_EMPTY;
    if (n > JWT_MAX)
        return FAULT_LONG;
    if (s[0] == '{')
        return FAULT_JSON;
    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c <= ' ' || c == 0x7F)
            return FAULT_BLANK;
        dots += s[i] == '.';
    }
    if (starts(s, n, "flow_sa_"))
        return FAULT_SERVICE;
    if (dots == 2)
        return read_access(s, n, out);
    if (dots > 0)
        return dots == 1 && starts(s, n, "eyJ") ? FAULT_CUT : FAULT_OTHER;
    return read_refresh(s, n, out);
}

int estuary_token_read(const struct secret *pasted, struct estuary_token *out, struct problem *err)
{
    *out = (struct estuary_token){0};
    enum fault fault = read_token(pasted, out);
    if (fault == FAULT_NONE)
        return 0;
    estuary_token_release(out);
    problem_fail(err, PROBLEM_INPUT, "token", "%s", faults[fault].what);
    problem_why(err, "%s", faults[fault].why);
    problem_fix(err, WHO_YOU, "%s", faults[fault].fix);
    return -1;
}

void estuary_token_release(struct estuary_token *t)
{
    xfree(t->id);
    secret_unref(t->secret);
    xfree(t->email);
    *t = (struct estuary_token){0};
}

int estuary_token_check(const char *text, struct problem *err)
{
    struct secret *s = secret_new(text, strlen(text));
    AUTO_ESTUARY_TOKEN token;
    int rc = estuary_token_read(s, &token, err);
    secret_unref(s);
    return rc;
}
