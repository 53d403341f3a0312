/* The secrets file. The header is authenticated as additional data, so that no byte of the file can
 * be changed unnoticed; its scrypt cost is bounded before it is used, as it is read from the file.
 */
#include "core/vault.h"

#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdint.h>
#include <string.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/text.h"

#define MAGIC "SLUICESF"
#define MAGIC_BYTES 8
#define VERSION 1
#define SALT_BYTES 16
#define NONCE_BYTES 12 /* 96 bits, NIST SP 800-38D 8.2.2 */
#define TAG_BYTES 16
#define KEY_BYTES 32
#define HEADER_BYTES (MAGIC_BYTES + 4 * 4 + SALT_BYTES + NONCE_BYTES)
#define FILE_MAX (8U << 20)

#define SCRYPT_N (1U << 15)
#define SCRYPT_R 8
#define SCRYPT_P 1
#define SCRYPT_N_LEAST (1U << 10)
#define SCRYPT_N_MOST (1U << 18) /* with r = 8: 256 MiB */

struct item {
    char *id;
    struct secret *secret;
};

struct vault {
    char *path;
    struct secret *key; /* in the locked memory of a secret */
    unsigned char salt[SALT_BYTES];
    uint32_t n;
    struct item *items;
    size_t count;
    bool dirty;
};

static void put32(struct text *t, uint32_t v)
{
    for (int i = 0; i < 4; i++)
        text_addc(t, (char)(v >> (8 * i) & 0xFF));
}

static uint32_t get32(const char *s)
{
    const unsigned char *u = (const unsigned char *)s;
    return (uint32_t)u[0] | (uint32_t)u[1] << 8 | (uint32_t)u[2] << 16 | (uint32_t)u[3] << 24;
}

static int derive(struct vault *v, const struct secret *passphrase, struct problem *err)
{
    unsigned char key[KEY_BYTES];
    uint64_t memory = (uint64_t)128 * v->n * SCRYPT_R + (1U << 20);
    if (EVP_PBE_scrypt(secret_bytes(passphrase), secret_len(passphrase), v->salt, SALT_BYTES, v->n,
                       SCRYPT_R, SCRYPT_P, memory, key, sizeof key) != 1) {
        problem_fail(err, PROBLEM_LOCAL, "scrypt", "cannot derive the key for %s", v->path);
        problem_fix(err, WHO_YOU, "Free some memory (it takes %u MiB), then try again.",
                    (unsigned)(memory >> 20));
        return -1;
    }
    v->key = secret_new((const char *)key, sizeof key);
    explicit_bzero(key, sizeof key);
    return 0;
}

static struct vault *new_vault(const char *path)
{
    struct vault *v = xcalloc(1, sizeof *v);
    v->path = xstrdup(path);
    v->n = SCRYPT_N;
    return v;
}

static int check_passphrase(const char *path, const struct secret *passphrase, struct problem *err)
{
    if (passphrase != NULL && secret_len(passphrase) > 0)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "passphrase", "the passphrase of %s is empty", path);
    problem_fix(err, WHO_YOU, "Enter a passphrase, or keep secrets in memory only.");
    return -1;
}

struct vault *vault_create(const char *path, const struct secret *passphrase, struct problem *err)
{
    if (check_passphrase(path, passphrase, err) != 0)
        return NULL;
    struct vault *v = new_vault(path);
    v->dirty = true;
    if (RAND_bytes(v->salt, SALT_BYTES) != 1)
        problem_fail(err, PROBLEM_LOCAL, "random", "the system gives no random bytes");
    else if (derive(v, passphrase, err) == 0)
        return v;
    vault_close(v);
    return NULL;
}

void vault_close(struct vault *v)
{
    if (v == NULL)
        return;
    for (size_t i = 0; i < v->count; i++) {
        xfree(v->items[i].id);
        secret_unref(v->items[i].secret);
    }
    xfree(v->items);
    secret_unref(v->key);
    xfree(v->path);
    xfree(v);
}

/* ---- the cipher ---- */

/* Both directions; in and out are n bytes. Sealing writes the tag, opening checks it. */
static bool gcm(const struct vault *v, bool seal, const char *header, const char *in, size_t n,
                char *out, unsigned char tag[TAG_BYTES])
{
    EVP_CIPHER_CTX *c = EVP_CIPHER_CTX_new();
    if (c == NULL)
        mem_exhausted();
    const unsigned char *key = (const unsigned char *)secret_bytes(v->key);
    const unsigned char *nonce = (const unsigned char *)header + HEADER_BYTES - NONCE_BYTES;
    unsigned char *to = (unsigned char *)out;
    int len = 0, rest = 0, direction = seal ? 1 : 0;
    bool ok = EVP_CipherInit_ex(c, EVP_aes_256_gcm(), NULL, key, nonce, direction) == 1 &&
              EVP_CipherUpdate(c, NULL, &len, (const unsigned char *)header, HEADER_BYTES) == 1 &&
              EVP_CipherUpdate(c, to, &len, (const unsigned char *)in, (int)n) == 1 &&
              (seal || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_SET_TAG, TAG_BYTES, tag) == 1) &&
              EVP_CipherFinal_ex(c, to + len, &rest) == 1 &&
              (!seal || EVP_CIPHER_CTX_ctrl(c, EVP_CTRL_AEAD_GET_TAG, TAG_BYTES, tag) == 1);
    EVP_CIPHER_CTX_free(c);
    return ok && (size_t)(len + rest) == n;
}

/* ---- the map ---- */

static void add_item(struct vault *v, const char *id, size_t id_len, struct secret *s)
{
    v->items = xrealloc(v->items, v->count + 1, sizeof *v->items);
    v->items[v->count++] = (struct item){.id = xstrndup(id, id_len), .secret = s};
}

static void write_map(const struct vault *v, struct text *out)
{
    put32(out, (uint32_t)v->count);
    for (size_t i = 0; i < v->count; i++) {
        const struct secret *s = v->items[i].secret;
        uint64_t revision = secret_revision(s);
        put32(out, (uint32_t)strlen(v->items[i].id));
        text_add(out, v->items[i].id);
        put32(out, (uint32_t)(revision & UINT32_MAX));
        put32(out, (uint32_t)(revision >> 32));
        put32(out, (uint32_t)secret_len(s));
        text_addn(out, secret_bytes(s), secret_len(s));
    }
}

/* Takes the next n bytes, or NULL when there are not so many. */
static const char *next(const char **at, size_t *left, size_t n)
{
    if (n > *left)
        return NULL;
    const char *here = *at;
    *at += n;
    *left -= n;
    return here;
}

static bool next32(const char **at, size_t *left, uint32_t *v)
{
    const char *p = next(at, left, 4);
    if (p != NULL)
        *v = get32(p);
    return p != NULL;
}

/* The map is authentic, so a fault here is one of the program that wrote it; still nothing is
 * trusted. */
static bool read_map(struct vault *v, const char *at, size_t left)
{
    uint32_t count;
    if (!next32(&at, &left, &count))
        return false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t id_len, low, high, len;
        const char *id, *bytes;
        if (!next32(&at, &left, &id_len) || (id = next(&at, &left, id_len)) == NULL ||
            !next32(&at, &left, &low) || !next32(&at, &left, &high) || !next32(&at, &left, &len) ||
            len > SECRET_MAX || (bytes = next(&at, &left, len)) == NULL)
            return false;
        add_item(v, id, id_len, secret_restore(bytes, len, (uint64_t)high << 32 | low));
    }
    return left == 0;
}

/* ---- opening ---- */

static int refuse(const char *path, struct problem *err, const char *what, const char *fix)
{
    problem_fail(err, PROBLEM_INPUT, "secrets file", "%s %s", path, what);
    problem_fix(err, WHO_YOU, "%s", fix);
    return -1;
}

static int read_header(struct vault *v, const struct text *t, struct problem *err)
{
    if (t->len < HEADER_BYTES + TAG_BYTES || memcmp(t->s, MAGIC, MAGIC_BYTES) != 0)
        return refuse(v->path, err, "is not a secrets file", "Move it away, or name another.");
    const char *at = t->s + MAGIC_BYTES;
    uint32_t version = get32(at), n = get32(at + 4);
    if (version > VERSION)
        return refuse(v->path, err, "was written by a newer sluice",
                      "Use that version to open it.");
    if (version != VERSION || n < SCRYPT_N_LEAST || n > SCRYPT_N_MOST || (n & (n - 1)) != 0 ||
        get32(at + 8) != SCRYPT_R || get32(at + 12) != SCRYPT_P)
        return refuse(v->path, err, "has a header that sluice never writes: it is damaged",
                      "Take it from a backup, or remove it and enter the secrets again.");
    v->n = n;
    memcpy(v->salt, at + 16, SALT_BYTES);
    return 0;
}

static int decrypt(struct vault *v, const struct text *t, struct problem *err)
{
    size_t n = t->len - HEADER_BYTES - TAG_BYTES;
    unsigned char tag[TAG_BYTES];
    memcpy(tag, t->s + t->len - TAG_BYTES, TAG_BYTES);
    char *plain = xmalloc(n + 1);
    bool ok = gcm(v, false, t->s, t->s + HEADER_BYTES, n, plain, tag) && read_map(v, plain, n);
    explicit_bzero(plain, n + 1);
    xfree(plain);
    if (ok)
        return 0;
    problem_fail(err, PROBLEM_REFUSED, "passphrase", "%s does not open with this passphrase",
                 v->path);
    problem_why(err,
                "The passphrase is wrong, or the file was damaged or changed; the cipher cannot "
                "tell which.");
    problem_fix(err, WHO_YOU,
                "Enter the passphrase again. When it is lost, remove the file and enter "
                "the secrets again.");
    return -1;
}

struct vault *vault_open(const char *path, const struct secret *passphrase, struct problem *err)
{
    struct text t = TEXT_INIT;
    if (check_passphrase(path, passphrase, err) != 0 ||
        file_read(path, FILE_MAX, true, &t, err) != 0)
        return NULL;
    struct vault *v = new_vault(path);
    int rc = read_header(v, &t, err);
    if (rc == 0)
        rc = derive(v, passphrase, err);
    if (rc == 0)
        rc = decrypt(v, &t, err);
    text_release(&t);
    if (rc == 0)
        return v;
    vault_close(v);
    return NULL;
}

/* ---- use ---- */

static size_t index_of(const struct vault *v, const char *id)
{
    size_t i = 0;
    while (i < v->count && strcmp(v->items[i].id, id) != 0)
        i++;
    return i;
}

struct secret *vault_get(struct vault *v, const char *id)
{
    size_t i = index_of(v, id);
    return i < v->count ? secret_ref(v->items[i].secret) : NULL;
}

void vault_put(struct vault *v, const char *id, struct secret *s)
{
    size_t i = index_of(v, id);
    if (i == v->count) {
        if (s == NULL)
            return;
        add_item(v, id, strlen(id), secret_ref(s));
        v->dirty = true;
        return;
    }
    struct item *item = &v->items[i];
    if (s != NULL && secret_revision(item->secret) == secret_revision(s) &&
        secret_equal(item->secret, s))
        return;
    v->dirty = true;
    secret_unref(item->secret);
    item->secret = secret_ref(s);
    if (s != NULL)
        return;
    xfree(item->id);
    v->count--;
    memmove(item, item + 1, (v->count - i) * sizeof *item);
}

bool vault_dirty(const struct vault *v)
{
    return v->dirty;
}

static int seal(const struct vault *v, const struct text *plain, struct text *out,
                struct problem *err)
{
    unsigned char nonce[NONCE_BYTES], tag[TAG_BYTES];
    if (RAND_bytes(nonce, sizeof nonce) != 1)
        return problem_fail(err, PROBLEM_LOCAL, "random", "the system gives no random bytes");
    text_addn(out, MAGIC, MAGIC_BYTES);
    put32(out, VERSION);
    put32(out, v->n);
    put32(out, SCRYPT_R);
    put32(out, SCRYPT_P);
    text_addn(out, (const char *)v->salt, SALT_BYTES);
    text_addn(out, (const char *)nonce, sizeof nonce);
    char *cipher = xmalloc(plain->len);
    bool ok = gcm(v, true, out->s, plain->s, plain->len, cipher, tag);
    text_addn(out, cipher, plain->len);
    text_addn(out, (const char *)tag, sizeof tag);
    xfree(cipher);
    if (ok)
        return 0;
    return problem_fail(err, PROBLEM_BUG, "cipher", "cannot encrypt %s", v->path);
}

int vault_save(struct vault *v, struct problem *err)
{
    if (!v->dirty)
        return 0;
    struct text plain = TEXT_LIMITED(FILE_MAX - HEADER_BYTES - TAG_BYTES);
    struct text sealed = TEXT_INIT;
    write_map(v, &plain);
    int rc;
    if (plain.cut)
        rc = problem_fail(err, PROBLEM_LOCAL, "secrets file", "%s would be over 8 MiB", v->path);
    else
        rc = seal(v, &plain, &sealed, err);
    text_wipe(&plain);
    /* No previous copy: what was removed from the file must not live on beside it. */
    if (rc == 0)
        rc = file_replace(v->path, sealed.s, sealed.len, false, err);
    if (rc == 0)
        v->dirty = false;
    text_release(&sealed);
    return rc;
}
