/* Whether a sealed config is the one that was sent, and sealed. The format is that of sops: a value
 * is ENC[AES256_GCM,data:…,iv:…,tag:…,type:str], its data as long as what it hides. */
#include <openssl/evp.h>
#include <string.h>

#include "core/mem.h"
#include "core/node_json.h"
#include "estuary/seal_parts.h"

#define SUFFIX "_sops"
#define LEAST_SEARCHED 8 /* bytes; shorter ones would be found by chance in what is encrypted */
#define LEAST_COMPARED 4

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

/* The part "name:…" of an encrypted value, up to the next comma or bracket. */
static const char *part(const char *s, const char *name, size_t *len)
{
    AUTO(xfree) char *key = xasprintf(",%s:", name);
    const char *at = strstr(s, key);
    if (at == NULL)
        return NULL;
    at += strlen(key);
    *len = strcspn(at, ",]");
    return at;
}

static bool filled(const char *s, const char *name)
{
    size_t len, n = 0;
    const char *at = part(s, name, &len);
    unsigned char *bytes = at != NULL ? decode(at, len, &n) : NULL;
    xfree(bytes);
    return bytes != NULL && n > 0;
}

static bool encrypted(const char *s)
{
    size_t n = strlen(s);
    return strncmp(s, "ENC[AES256_GCM,", 15) == 0 && s[n - 1] == ']' && filled(s, "iv") &&
           filled(s, "tag") && strstr(s, ",type:str]") != NULL;
}

/* Encrypted by name only: its data are the secret itself. */
static bool bare(const char *s, const char *secret)
{
    size_t len, n = 0;
    const char *at = part(s, "data", &len);
    unsigned char *bytes = at != NULL ? decode(at, len, &n) : NULL;
    size_t whole = strlen(secret);
    bool same = bytes != NULL && whole >= LEAST_COMPARED && n >= whole &&
                memmem(bytes, n, secret, whole) != NULL;
    xfree(bytes);
    return same;
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

static int judge_secret(const struct judging *j, const char *path, const struct node *sealed,
                        const struct estuary_secret *s)
{
    if (sealed == NULL)
        return differs(j, path, "is a secret and did not come back encrypted");
    if (sealed->kind != NODE_SCALAR || !encrypted(sealed->text))
        return differs(j, path, "is a secret and is not in the form of an encrypted value");
    if (bare(sealed->text, s->bytes))
        return differs(j, path, "is a secret and is not encrypted");
    return 0;
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
        return judge_secret(j, path, node_get(sealed, renamed), s);
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

static char *base64(const char *s)
{
    size_t n = strlen(s);
    unsigned char *out = xcalloc(n / 3 * 4 + 5, 1);
    EVP_EncodeBlock(out, (const unsigned char *)s, (int)n);
    return (char *)out;
}

static bool occurs(const char *text, const char *secret)
{
    size_t n = strlen(secret);
    if (n < LEAST_SEARCHED)
        return n >= LEAST_COMPARED && strcmp(text, secret) == 0;
    char *coded = base64(secret);
    bool found = strstr(text, secret) != NULL || strstr(text, coded) != NULL;
    explicit_bzero(coded, strlen(coded));
    xfree(coded);
    return found;
}

/* No secret anywhere, keys included. */
static int judge_clear(const struct judging *j, const char *path, const struct node *n)
{
    for (size_t s = 0; s < j->count && n->kind == NODE_SCALAR; s++)
        if (occurs(n->text, j->secrets[s].bytes))
            return differs(j, path, "holds a secret in clear");
    for (size_t i = 0; i < n->count; i++) {
        const char *key = n->kind == NODE_MAP ? n->keys[i] : "-";
        AUTO(xfree) char *at = xasprintf("%s/%s", path, key);
        for (size_t s = 0; s < j->count; s++)
            if (occurs(key, j->secrets[s].bytes))
                return differs(j, path, "has a key that holds a secret in clear");
        if (judge_clear(j, at, n->items[i]) != 0)
            return -1;
    }
    return 0;
}

int estuary_seal_judge(const struct node *config, const struct estuary_secret *secrets,
                       size_t count, const struct node *sealed, struct problem *err)
{
    struct judging j = {.secrets = secrets, .count = count, .err = err};
    if (sealed->kind != NODE_MAP)
        return differs(&j, "/", "is no object");
    if (judge_sops(&j, sealed) != 0 || judge_map(&j, "", config, sealed, true) != 0)
        return -1;
    return judge_clear(&j, "", sealed);
}
