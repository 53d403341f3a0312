/* Secrets. Each has pages of its own: locked against swapping where the limit allows, left out of
 * core dumps, wiped before they go. */
#include "core/secret.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/redact.h"
#include "core/text.h"

#define MASK_SHOWN 2 /* characters at the end */
#define MASK_LEAST 8 /* a shorter secret shows none */

struct secret {
    atomic_size_t refs;
    size_t mapped;
    uint64_t revision;
    size_t len;
    char bytes[];
};

/* The system's generator; without it nothing safe can be made, and no caller could go on. */
static void random_bytes(void *p, size_t n)
{
    if (RAND_bytes(p, (int)n) != 1)
        abort();
}

struct secret *secret_new(const char *bytes, size_t n)
{
    uint64_t revision;
    do
        random_bytes(&revision, sizeof revision);
    while (revision == 0);
    return secret_restore(bytes, n, revision);
}

struct secret *secret_restore(const char *bytes, size_t n, uint64_t revision)
{
    if (n > SECRET_MAX)
        n = SECRET_MAX;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t mapped = (sizeof(struct secret) + n + 1 + page - 1) / page * page;
    struct secret *s =
        mmap(NULL, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (s == MAP_FAILED)
        mem_exhausted();
    (void)mlock(s, mapped); /* refused beyond RLIMIT_MEMLOCK: then it may be swapped */
    (void)madvise(s, mapped, MADV_DONTDUMP);
    atomic_init(&s->refs, 1);
    s->mapped = mapped;
    s->revision = revision;
    s->len = n;
    if (n != 0)
        memcpy(s->bytes, bytes, n);
    redact_register(s, s->bytes, n);
    return s;
}

struct secret *secret_ref(struct secret *s)
{
    if (s != NULL)
        atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void secret_unref(struct secret *s)
{
    if (s == NULL || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    redact_unregister(s);
    size_t mapped = s->mapped;
    explicit_bzero(s, mapped);
    munmap(s, mapped);
}

const char *secret_bytes(const struct secret *s)
{
    return s->bytes;
}

size_t secret_len(const struct secret *s)
{
    return s->len;
}

uint64_t secret_revision(const struct secret *s)
{
    return s->revision;
}

bool secret_equal(const struct secret *a, const struct secret *b)
{
    if (a == b)
        return true;
    return a != NULL && b != NULL && a->len == b->len &&
           CRYPTO_memcmp(a->bytes, b->bytes, a->len) == 0;
}

char *secret_mask(const struct secret *s)
{
    struct text out = TEXT_INIT;
    text_add(&out, "••••••");
    if (s->len < MASK_LEAST)
        return text_take(&out);
    /* Only plain characters are shown: half of a multi-byte one, or a control, would spoil the
     * line. */
    const char *tail = s->bytes + s->len - MASK_SHOWN;
    for (int i = 0; i < MASK_SHOWN; i++) {
        if (tail[i] <= 0x20 || tail[i] >= 0x7F)
            return text_take(&out);
    }
    text_addn(&out, tail, MASK_SHOWN);
    return text_take(&out);
}

struct secret *secret_generate(size_t n)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    const unsigned fair =
        256 / 62 * 62; /* bytes from here on are thrown away, else A..H come oftener */
    struct text t = TEXT_LIMITED(SECRET_MAX);
    while (t.len < n && t.len < SECRET_MAX) {
        unsigned char b;
        random_bytes(&b, 1);
        if (b < fair)
            text_addc(&t, letters[b % 62]);
    }
    struct secret *s = secret_new(t.s, t.len);
    text_wipe(&t);
    return s;
}

bool secret_is_reference(const char *s)
{
    return s != NULL && (strncmp(s, "env:", 4) == 0 || strncmp(s, "file:", 5) == 0);
}

static int refuse(struct problem *err, const char *what, const char *name, const char *fix)
{
    problem_fail(err, PROBLEM_INPUT, "secret reference", "%s: %s", name, what);
    problem_fix(err, WHO_YOU, "%s", fix);
    return -1;
}

static struct secret *from_environment(const char *name, struct problem *err)
{
    if (name[0] == '\0' || strchr(name, '=') != NULL) {
        refuse(err, "no variable is named after env:", "env:", "Write env:NAME.");
        return NULL;
    }
    char *value = getenv(name);
    if (value == NULL || value[0] == '\0') {
        problem_fail(err, PROBLEM_MISSING, "secret reference", "the environment variable %s is %s",
                     name, value == NULL ? "not set" : "empty");
        problem_fix(err, WHO_YOU, "Set %s before sluice starts; it is read once.", name);
        return NULL;
    }
    size_t n = strlen(value);
    if (n > SECRET_MAX) {
        refuse(err, "the value is over 64 KiB", name, "Check that the right variable is named.");
        return NULL;
    }
    struct secret *s = secret_new(value, n);
    /* unsetenv only forgets the pointer; the bytes would stay readable in /proc/PID/environ. */
    explicit_bzero(value, n);
    unsetenv(name);
    return s;
}

static struct secret *from_file(const char *path, struct problem *err)
{
    if (path[0] != '/') {
        refuse(err, "the path of a secret must be absolute", path, "Write file:/absolute/path.");
        return NULL;
    }
    struct text t = TEXT_LIMITED(SECRET_MAX + 2);
    struct secret *s = NULL;
    if (file_read(path, SECRET_MAX + 1, true, &t, err) == 0) {
        size_t n = t.len;
        if (n > 0 && t.s[n - 1] == '\n')
            n--;
        if (n == 0)
            refuse(err, "the file is empty", path, "Write the secret into it.");
        else if (n > SECRET_MAX)
            refuse(err, "the file is over 64 KiB", path, "Check that the right file is named.");
        else if (memchr(t.s, '\0', n) != NULL) /* what is behind it would be cut off later */
            refuse(err, "the file is no text: it holds a NUL character", path,
                   "Check that the right file is named.");
        else
            s = secret_new(t.s, n);
    }
    text_wipe(&t);
    return s;
}

struct secret *secret_from_reference(const char *reference, struct problem *err)
{
    if (reference != NULL && strncmp(reference, "env:", 4) == 0)
        return from_environment(reference + 4, err);
    if (reference != NULL && strncmp(reference, "file:", 5) == 0)
        return from_file(reference + 5, err);
    /* The text is not quoted: it may be the secret itself, put where a reference belongs. */
    refuse(err, "write env:NAME or file:/absolute/path", "this is not a reference to a secret",
           "Put the secret into a file of mode 0600 and name that file.");
    return NULL;
}
