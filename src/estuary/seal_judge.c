/* Whether a sealed config is the one that was sent, and sealed. The format is that of sops: a value
 * is ENC[AES256_GCM,data:…,iv:…,tag:…,type:str], its data as long as what it hides. */
#include <openssl/evp.h>
#include <string.h>

#include "core/mem.h"
#include "core/node_json.h"
#include "core/redact.h"
#include "estuary/seal_parts.h"

#define SUFFIX "_sops"
#define LEAST_COMPARED 3 /* bytes; fewer are found by chance in what is encrypted */

struct judging {
    const struct estuary_secret *secrets;
    size_t count;
    struct problem *err;
};

static int differs(const struct judging *j, const char *path, const char *how)
{
    problem_fail(j->err, PROBLEM_PROTOCOL, "unsealed", "the sealed config is not taken: %s %s",
                 path, how);
    problem_why(j->err, "Estuary's encryption service must give back what was sent, with the "
                        "secrets encrypted and all else as it was. Published, this would be "
                        "another config than the one that was proved, or a secret in clear.");
    problem_fix(j->err, WHO_ESTUARY,
                "Try again; if it stays so, export with placeholders (--secrets placeholder), "
                "which flowctl seals, and report it.");
    return -1;
}

/* --- encrypted values
 * ---------------------------------------------------------------------------- */

/* The bytes that base64 stands for; NULL when it is none. *n their number; xfree. */
static unsigned char *decode(const char *s, size_t len, size_t *n)
{
    if (len % 4 != 0 || len > 1 << 20)
        return NULL;
    unsigned char *out = xcalloc(len + 1, 1);
    int got = EVP_DecodeBlock(out, (const unsigned char *)s, (int)len);
    if (got < 0) {
        xfree(out);
        return NULL;
    }
    while (len > 0 && s[len - 1] == '=' && got > 0) {
        got--;
        len--;
    }
    *n = (size_t)got;
    return out;
}

/* The value of a part that begins at *s with this name; *s then stands behind it. */
static unsigned char *take_part(const char **s, const char *name, size_t *n)
{
    size_t head = strlen(name);
    if (strncmp(*s, name, head) != 0)
        return NULL;
    size_t len = strcspn(*s + head, ",]");
    unsigned char *bytes = decode(*s + head, len, n);
    *s += head + len;
    return bytes;
}

/* What an encrypted value hides, still encrypted; NULL when it is not of that form. xfree. */
static unsigned char *hidden(const char *s, size_t *n)
{
    size_t iv_len = 0, tag_len = 0;
    unsigned char *data = take_part(&s, "ENC[AES256_GCM,data:", n);
    unsigned char *iv = data != NULL ? take_part(&s, ",iv:", &iv_len) : NULL;
    unsigned char *tag = iv != NULL ? take_part(&s, ",tag:", &tag_len) : NULL;
    bool good = iv_len > 0 && tag_len > 0 && strcmp(s, ",type:str]") == 0;
    xfree(iv);
    xfree(tag);
    if (good)
        return data;
    xfree(data);
    return NULL;
}

static bool encrypted(const char *s)
{
    size_t n = 0;
    unsigned char *data = hidden(s, &n);
    xfree(data);
    return data != NULL && n > 0;
}

/* In any form that the redactor knows, which those judged here are registered with (seal_live). */
static bool shows_secret(const struct judging *j, const char *text)
{
    AUTO(xfree) char *without = redact_copy(text);
    bool shows = strcmp(without, text) != 0;
    for (size_t i = 0; i < j->count && !shows; i++) /* the redactor passes over short ones */
        shows =
            strlen(j->secrets[i].bytes) > LEAST_COMPARED && strcmp(text, j->secrets[i].bytes) == 0;
    return shows;
}

/* --- the config
 * ---------------------------------------------------------------------------------- */

static bool same_value(const struct node *a, const struct node *b)
{
    AUTO_TEXT left = TEXT_INIT;
    AUTO_TEXT right = TEXT_INIT;
    node_write_json(a, &left);
    node_write_json(b, &right);
    return strcmp(left.s, right.s) == 0;
}

/* Of a value in clear with the secret in its placeholder's place: data are its bytes. */
static bool same_bytes(const char *value, const struct estuary_secret *s, const unsigned char *data,
                       size_t n)
{
    size_t before = (size_t)(strstr(value, s->placeholder) - value), secret = strlen(s->bytes);
    return secret >= LEAST_COMPARED && n >= before + secret &&
           memcmp(data + before, s->bytes, secret) == 0;
}

static int judge_secret(const struct judging *j, const char *path, const char *value,
                        const struct node *sealed, const struct estuary_secret *s)
{
    size_t n = 0, whole = strlen(value) - strlen(s->placeholder) + strlen(s->bytes);
    if (sealed == NULL)
        return differs(j, path, "is a secret and did not come back encrypted");
    unsigned char *data = sealed->kind == NODE_SCALAR ? hidden(sealed->text, &n) : NULL;
    const char *wrong = NULL;
    if (data == NULL)
        wrong = "is a secret and is not in the form of an encrypted value";
    else if (n != whole)
        wrong = "is a secret and came back encrypted with another length";
    else if (same_bytes(value, s, data, n))
        wrong = "is a secret and is not encrypted";
    else if (shows_secret(j, sealed->text))
        wrong = "holds a secret in clear";
    xfree(data);
    return wrong != NULL ? differs(j, path, wrong) : 0;
}

static int judge_map(const struct judging *j, const char *path, const struct node *config,
                     const struct node *sealed, bool root);

static int judge_entry(const struct judging *j, const char *path, const char *key,
                       const struct node *value, const struct node *sealed)
{
    if (value->kind == NODE_MAP) {
        const struct node *inner = node_get(sealed, key);
        if (inner == NULL || inner->kind != NODE_MAP)
            return differs(j, path, "is missing or of another kind");
        return judge_map(j, path, value, inner, false);
    }
    const struct estuary_secret *s =
        value->plain ? NULL : seal_secret_of(value->text, j->secrets, j->count);
    if (s != NULL) {
        AUTO(xfree) char *renamed = xasprintf("%s" SUFFIX, key);
        if (node_get(sealed, key) != NULL)
            return differs(j, path, "is a secret and came back under its plain name");
        return judge_secret(j, path, value->text, node_get(sealed, renamed), s);
    }
    const struct node *back = node_get(sealed, key);
    if (back == NULL || !same_value(value, back))
        return differs(j, path, back == NULL ? "is missing" : "came back changed");
    return 0;
}

/* Each key of what was sent is there, and, as there are no more of them, none besides. */
static int judge_map(const struct judging *j, const char *path, const struct node *config,
                     const struct node *sealed, bool root)
{
    size_t more = root && node_get(sealed, "sops") != NULL ? 1 : 0;
    for (size_t i = 0; i < config->count; i++) {
        AUTO(xfree) char *at = xasprintf("%s/%s", path, config->keys[i]);
        if (judge_entry(j, at, config->keys[i], config->items[i], sealed) != 0)
            return -1;
    }
    if (sealed->count != config->count + more)
        return differs(j, path[0] != '\0' ? path : "/", "has something that was not sent");
    return 0;
}

/* --- the document
 * -------------------------------------------------------------------------------- */

static bool has_key(const struct node *sops)
{
    static const char *const groups[] = {"gcp_kms", "kms", "azure_kv", "hc_vault", "age", "pgp"};
    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        const struct node *list = node_get(sops, groups[i]);
        if (list != NULL && list->kind == NODE_LIST && list->count > 0)
            return true;
    }
    return false;
}

static int judge_sops(const struct judging *j, const struct node *sealed)
{
    const struct node *sops = node_get(sealed, "sops");
    const char *suffix = node_get_text(sops, "encrypted_suffix");
    const char *mac = node_get_text(sops, "mac");
    if (sops == NULL || sops->kind != NODE_MAP)
        return differs(j, "/sops", "is missing: nothing was sealed");
    if (suffix == NULL || strcmp(suffix, SUFFIX) != 0)
        return differs(j, "/sops/encrypted_suffix", "is not " SUFFIX);
    if (mac == NULL || !encrypted(mac))
        return differs(j, "/sops/mac", "is not an encrypted checksum");
    return has_key(sops) ? 0 : differs(j, "/sops", "names no key that could open it");
}

/* No secret in what was not sent, keys included. What was sent in clear came back the same: there a
 * weak password may be the user's name, too. */
static int judge_clear(const struct judging *j, const char *path, const struct node *n)
{
    if (n->kind == NODE_SCALAR && shows_secret(j, n->text))
        return differs(j, path, "holds a secret in clear");
    for (size_t i = 0; i < n->count; i++) {
        const char *key = n->kind == NODE_MAP ? n->keys[i] : "-";
        AUTO(xfree) char *at = xasprintf("%s/%s", path, key);
        if (shows_secret(j, key))
            return differs(j, path, "has a key that holds a secret in clear");
        if (judge_clear(j, at, n->items[i]) != 0)
            return -1;
    }
    return 0;
}

static int judge(const struct judging *j, const struct node *config, const struct node *sealed)
{
    if (sealed->kind != NODE_MAP)
        return differs(j, "/", "is no object");
    if (judge_sops(j, sealed) != 0 || judge_map(j, "", config, sealed, true) != 0)
        return -1;
    return judge_clear(j, "/sops", node_get(sealed, "sops"));
}

int estuary_seal_judge(const struct node *config, const struct estuary_secret *secrets,
                       size_t count, const struct node *sealed, struct problem *err)
{
    struct judging j = {.secrets = secrets, .count = count, .err = err};
    struct secret **live = seal_live(secrets, count);
    int rc = judge(&j, config, sealed);
    seal_live_free(live, count);
    return rc;
}
