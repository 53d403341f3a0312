/* Secrets: life under threads, wiping, masks, references. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/redact.h"
#include "core/secret.h"
#include "core/text.h"

static void holds_its_bytes(void **state)
{
    (void)state;
    struct secret *s = secret_new("a\0b", 3);
    assert_int_equal(secret_len(s), 3);
    assert_memory_equal(secret_bytes(s), "a\0b\0", 4);
    secret_unref(s);
    s = secret_new("", 0);
    assert_string_equal(secret_bytes(s), "");
    secret_unref(s);
    secret_unref(NULL);
    assert_null(secret_ref(NULL));
}

static void revisions_tell_edits_apart(void **state)
{
    (void)state;
    struct secret *a = secret_new("same-value", 10);
    struct secret *b = secret_new("same-value", 10);
    assert_true(secret_revision(a) != secret_revision(b));
    assert_true(secret_equal(a, b));
    struct secret *c = secret_restore("same-value", 10, secret_revision(a));
    assert_true(secret_revision(a) == secret_revision(c));
    struct secret *d = secret_new("Same-value", 10);
    struct secret *e = secret_new("same-value!", 11);
    assert_false(secret_equal(a, d));
    assert_false(secret_equal(a, e));
    assert_false(secret_equal(a, NULL));
    assert_true(secret_equal(NULL, NULL));
    struct secret *all[] = {a, b, c, d, e};
    for (size_t i = 0; i < ARRAY_LEN(all); i++)
        secret_unref(all[i]);
}

static void masks_show_two_characters_at_most(void **state)
{
    (void)state;
    static const char *const rows[][2] = {
        {"", "••••••"},           {"1234567", "••••••"},
        {"12345678", "••••••78"}, {"longer-one-3f", "••••••3f"},
        {"passwörté", "••••••"},  {"12345678 \n", "••••••"},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct secret *s = secret_new(rows[i][0], strlen(rows[i][0]));
        char *mask = secret_mask(s);
        assert_string_equal(mask, rows[i][1]);
        xfree(mask);
        secret_unref(s);
    }
}

static void registers_with_the_redactor_for_its_life(void **state)
{
    (void)state;
    struct secret *s = secret_new("correct horse", 13);
    struct secret *again = secret_ref(s);
    secret_unref(s);
    char *seen = redact_copy("<correct horse>");
    assert_string_equal(seen, "<[redacted]>");
    xfree(seen);
    secret_unref(again);
    seen = redact_copy("<correct horse>");
    assert_string_equal(seen, "<correct horse>");
    xfree(seen);
}

/* Looks for the bytes in all private writable memory of this process. */
static bool in_memory(const char *half1, const char *half2)
{
    /* Not by printf, which leaves copies of its own behind. */
    size_t n1 = strlen(half1), n = n1 + strlen(half2);
    char *wanted = xmalloc(n);
    memcpy(wanted, half1, n1);
    memcpy(wanted + n1, half2, n - n1);
    FILE *maps = fopen("/proc/self/maps", "re");
    int mem = -1;
    FILE *f = fopen("/proc/self/mem", "re");
    assert_non_null(maps);
    assert_non_null(f);
    mem = fileno(f);
    char line[512], perms[8];
    unsigned long from, to;
    bool found = false;
    char *buffer = xmalloc(1 << 20);
    while (!found && fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%lx-%lx %7s", &from, &to, perms) != 3 || strncmp(perms, "rw", 2) != 0)
            continue;
        if (to - from > (64UL << 20))
            continue; /* shadow memory of a sanitizer */
        for (unsigned long at = from; at < to && !found; at += (1 << 20) - 64) {
            size_t want = to - at < (1 << 20) ? to - at : (1 << 20);
            ssize_t got = pread(mem, buffer, want, (off_t)at);
            for (char *p = buffer;
                 got > 0 && (p = memmem(p, (size_t)(buffer + got - p), wanted, n)) != NULL; p++) {
                unsigned long address = at + (unsigned long)(p - buffer);
                bool own = address >= (unsigned long)wanted && address < (unsigned long)wanted + n;
                bool copy =
                    address >= (unsigned long)buffer && address < (unsigned long)buffer + (1 << 20);
                if (!own && !copy)
                    found = true;
            }
        }
        explicit_bzero(buffer, 1 << 20);
    }
    xfree(buffer);
    explicit_bzero(wanted, n);
    xfree(wanted);
    fclose(f);
    fclose(maps);
    return found;
}

/* The value is put together from halves, so that it stands nowhere else in the program's memory. */
static struct secret *assembled(const char *half1, const char *half2)
{
    struct text t = TEXT_INIT;
    text_add(&t, half1);
    text_add(&t, half2);
    struct secret *s = secret_new(t.s, t.len);
    text_wipe(&t);
    return s;
}

static void leaves_no_trace_after_the_last_release(void **state)
{
    (void)state;
    struct secret *s = assembled("needle/in'", "memory\n42");
    struct secret *other = secret_ref(s);
    secret_unref(s);
    assert_true(in_memory("needle/in'", "memory\n42"));
    secret_unref(other);
    assert_false(in_memory("needle/in'", "memory\n42"));
    /* the forms of the redactor neither */
    assert_false(in_memory("%27mem", "ory%0A42"));
    assert_false(in_memory("in''mem", "ory\n42"));
    assert_false(in_memory("n'mem", "ory\\n42"));
}

static void growing_text_leaves_no_trace(void **state)
{
    (void)state;
    struct text t = TEXT_INIT;
    text_add(&t, "behind what free() overwrites: ");
    text_add(&t, "another/");
    text_add(&t, "needle-7");
    for (int i = 0; i < 2000; i++)
        text_addc(&t, '.');
    text_wipe(&t);
    assert_false(in_memory("another/", "needle-7"));
}

static void *take_and_release(void *arg)
{
    struct secret *s = arg;
    for (int i = 0; i < 20000; i++) {
        struct secret *mine = secret_ref(s);
        if (secret_bytes(mine)[0] != 's')
            return arg;
        secret_unref(mine);
    }
    secret_unref(s); /* the reference that this thread was given */
    return NULL;
}

static void references_are_counted_across_threads(void **state)
{
    (void)state;
    struct secret *s = secret_new("shared-value", 12);
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        secret_ref(s);
        assert_int_equal(pthread_create(&threads[i], NULL, take_and_release, s), 0);
    }
    secret_unref(s); /* the last one is whichever thread ends last */
    for (size_t i = 0; i < ARRAY_LEN(threads); i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    char *seen = redact_copy("shared-value");
    assert_string_equal(seen, "shared-value"); /* so it was released */
    xfree(seen);
}

static void generates_fair_letters(void **state)
{
    (void)state;
    struct secret *s = secret_generate(6200);
    assert_int_equal(secret_len(s), 6200);
    size_t seen[256] = {0};
    for (size_t i = 0; i < 6200; i++)
        seen[(unsigned char)secret_bytes(s)[i]]++;
    size_t kinds = 0;
    for (int c = 0; c < 256; c++) {
        if (seen[c] == 0)
            continue;
        kinds++;
        assert_true((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z'));
        assert_in_range(seen[c], 40, 180); /* 100 expected, deviation 10 */
    }
    assert_int_equal(kinds, 62);
    size_t first = 0; /* the eight that a byte modulo 62 gives too often: 969 instead of 800 */
    for (int c = 'A'; c <= 'H'; c++)
        first += seen[c];
    assert_in_range(first, 650, 900);
    secret_unref(s);
    struct secret *a = secret_generate(24), *b = secret_generate(24);
    assert_false(secret_equal(a, b));
    secret_unref(a);
    secret_unref(b);
}

static void reads_the_environment_once(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    setenv("SLUICE_TEST_PASSWORD", "from the env", 1);
    const char *place = getenv("SLUICE_TEST_PASSWORD");
    struct secret *s = secret_from_reference("env:SLUICE_TEST_PASSWORD", &err);
    assert_non_null(s);
    assert_string_equal(secret_bytes(s), "from the env");
    assert_null(getenv("SLUICE_TEST_PASSWORD"));
    assert_int_equal(place[0], 0); /* what /proc/PID/environ shows */
    secret_unref(s);
    assert_null(secret_from_reference("env:SLUICE_TEST_PASSWORD", &err));
    assert_int_equal(err.kind, PROBLEM_MISSING);
    assert_non_null(strstr(err.what, "SLUICE_TEST_PASSWORD is not set"));
    setenv("SLUICE_TEST_PASSWORD", "", 1);
    assert_null(secret_from_reference("env:SLUICE_TEST_PASSWORD", &err));
    assert_non_null(strstr(err.what, "is empty"));
    assert_null(secret_from_reference("env:", &err));
    assert_null(secret_from_reference("env:A=B", NULL));
}

struct dir {
    char path[64];
    char file[128];
};

static void write_file(const char *path, const char *bytes, size_t n, mode_t mode)
{
    assert_int_equal(file_replace(path, bytes, n, false, NULL), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void file_reference(const char *path, struct secret **s, struct problem *err)
{
    char *reference = xasprintf("file:%s", path);
    *s = secret_from_reference(reference, err);
    xfree(reference);
}

static void reads_private_files_only(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct dir d = {.path = "/tmp/sluice-secret-XXXXXX"};
    assert_non_null(mkdtemp(d.path));
    snprintf(d.file, sizeof d.file, "%s/key", d.path);
    struct secret *s;

    write_file(d.file, "line\n\n", 6, 0600);
    file_reference(d.file, &s, &err);
    assert_non_null(s);
    assert_string_equal(secret_bytes(s), "line\n"); /* one newline is cut off */
    secret_unref(s);

    static const mode_t open_to_others[] = {0640, 0604, 0620, 0610, 0666};
    for (size_t i = 0; i < ARRAY_LEN(open_to_others); i++) {
        assert_int_equal(chmod(d.file, open_to_others[i]), 0);
        file_reference(d.file, &s, &err);
        assert_null(s);
        assert_int_equal(err.kind, PROBLEM_INPUT);
        assert_non_null(strstr(err.copy, "chmod 600"));
    }
    assert_int_equal(chmod(d.file, 0600), 0);
    char *link = xasprintf("%s/link", d.path);
    assert_int_equal(symlink(d.file, link), 0);
    file_reference(link, &s, &err);
    assert_null(s);
    assert_non_null(strstr(err.what, "symbolic link"));
    unlink(link);
    xfree(link);

    write_file(d.file, "\n", 1, 0600);
    file_reference(d.file, &s, &err);
    assert_null(s);
    assert_non_null(strstr(err.what, "empty"));
    write_file(d.file, "half\0of it", 10, 0600);
    file_reference(d.file, &s, &err);
    assert_null(s);
    assert_non_null(strstr(err.what, "NUL"));
    char *big = xmalloc(SECRET_MAX + 2);
    memset(big, 'x', SECRET_MAX + 1);
    big[SECRET_MAX] = '\n';
    write_file(d.file, big, SECRET_MAX + 1, 0600);
    file_reference(d.file, &s, &err);
    assert_non_null(s);
    assert_int_equal(secret_len(s), SECRET_MAX);
    secret_unref(s);
    big[SECRET_MAX] = 'x';
    write_file(d.file, big, SECRET_MAX + 1, 0600);
    file_reference(d.file, &s, &err);
    assert_null(s);
    xfree(big);
    unlink(d.file);
    file_reference(d.file, &s, &err);
    assert_null(s);
    assert_int_equal(err.kind, PROBLEM_MISSING);
    file_reference("relative/key", &s, &err);
    assert_null(s);
    assert_non_null(strstr(err.what, "absolute"));
    rmdir(d.path);
}

static void a_literal_is_refused_and_not_quoted(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(secret_from_reference("hunter2hunter2", &err));
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_null(strstr(err.what, "hunter2"));
    assert_null(secret_from_reference(NULL, &err));
    assert_true(secret_is_reference("env:X"));
    assert_true(secret_is_reference("file:/x"));
    assert_false(secret_is_reference("ENV:X"));
    assert_false(secret_is_reference("hunter2"));
    assert_false(secret_is_reference(NULL));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_its_bytes),
        cmocka_unit_test(revisions_tell_edits_apart),
        cmocka_unit_test(masks_show_two_characters_at_most),
        cmocka_unit_test(registers_with_the_redactor_for_its_life),
        cmocka_unit_test(leaves_no_trace_after_the_last_release),
        cmocka_unit_test(growing_text_leaves_no_trace),
        cmocka_unit_test(references_are_counted_across_threads),
        cmocka_unit_test(generates_fair_letters),
        cmocka_unit_test(reads_the_environment_once),
        cmocka_unit_test(reads_private_files_only),
        cmocka_unit_test(a_literal_is_refused_and_not_quoted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
