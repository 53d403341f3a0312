/* The secrets file: round trip, wrong passphrase, and damage at every byte of a small one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/text.h"
#include "core/vault.h"

#define HEADER 52 /* magic 8, version, N, r, p of 4 each, salt 16, nonce 12 */
#define NONCE_AT 40

static char dir[64];
static char path[96];
static struct secret *passphrase;

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/sluice-vault-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/sluice.secrets", dir);
    passphrase = secret_new("correct horse", 13);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    secret_unref(passphrase);
    unlink(path);
    return rmdir(dir); /* fails when a temp or previous file was left */
}

static void put(struct vault *v, const char *id, const char *bytes, size_t n)
{
    struct secret *s = secret_new(bytes, n);
    vault_put(v, id, s);
    secret_unref(s);
}

static struct vault *open_it(void)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct vault *v = vault_open(path, passphrase, &err);
    if (v == NULL)
        print_error("%s\n", err.what);
    assert_non_null(v);
    return v;
}

static void make_small(struct text *bytes)
{
    struct vault *v = vault_create(path, passphrase, NULL);
    put(v, "k", "the-value", 9);
    assert_int_equal(vault_save(v, NULL), 0);
    vault_close(v);
    assert_int_equal(file_read(path, 10000, true, bytes, NULL), 0);
}

static void comes_back(void **state)
{
    (void)state;
    struct vault *v = vault_create(path, passphrase, NULL);
    assert_non_null(v);
    assert_false(file_exists(path));
    assert_true(vault_dirty(v));
    static const char odd[] = "a\0b'\"\n\xff%";
    put(v, "postgres.password", odd, sizeof odd - 1);
    put(v, "empty", "", 0);
    char *big = xmalloc(SECRET_MAX);
    memset(big, 'x', SECRET_MAX);
    put(v, "big", big, SECRET_MAX);
    struct secret *in = vault_get(v, "postgres.password");
    uint64_t revision = secret_revision(in);
    secret_unref(in);
    assert_int_equal(vault_save(v, NULL), 0);
    assert_false(vault_dirty(v));
    vault_close(v);
    vault_close(NULL);

    v = open_it();
    assert_false(vault_dirty(v));
    struct secret *s = vault_get(v, "postgres.password");
    assert_int_equal(secret_len(s), sizeof odd - 1);
    assert_memory_equal(secret_bytes(s), odd, sizeof odd);
    assert_true(secret_revision(s) == revision); /* so kept digests stand */
    struct secret *b = vault_get(v, "big"), *e = vault_get(v, "empty");
    assert_int_equal(secret_len(b), SECRET_MAX);
    assert_memory_equal(secret_bytes(b), big, SECRET_MAX);
    assert_int_equal(secret_len(e), 0);
    assert_null(vault_get(v, "missing"));
    vault_close(v);
    assert_string_equal(secret_bytes(e), ""); /* references outlive the vault */
    secret_unref(s);
    secret_unref(b);
    secret_unref(e);
    xfree(big);
}

static void nothing_is_in_clear(void **state)
{
    (void)state;
    struct vault *v = vault_create(path, passphrase, NULL);
    put(v, "postgres.password", "visible-secret", 14);
    assert_int_equal(vault_save(v, NULL), 0);
    vault_close(v);
    AUTO_TEXT t = TEXT_INIT;
    assert_int_equal(file_read(path, 10000, true, &t, NULL), 0);
    assert_null(memmem(t.s, t.len, "visible", 7));
    assert_null(memmem(t.s, t.len, "postgres", 8)); /* not even what is kept */
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void dirty_only_by_changes(void **state)
{
    (void)state;
    AUTO_TEXT first = TEXT_INIT;
    make_small(&first);
    struct vault *v = open_it();
    struct secret *s = vault_get(v, "k");
    vault_put(v, "k", s);
    vault_put(v, "unknown", NULL);
    assert_false(vault_dirty(v));
    unlink(path);
    assert_int_equal(vault_save(v, NULL), 0);
    assert_false(file_exists(path)); /* nothing was written */
    put(v, "k", "the-value", 9);     /* the same bytes, entered anew: another revision */
    assert_true(vault_dirty(v));
    assert_int_equal(vault_save(v, NULL), 0);
    vault_put(v, "k", NULL);
    assert_true(vault_dirty(v));
    assert_int_equal(vault_save(v, NULL), 0);
    assert_null(vault_get(v, "k"));
    vault_close(v);
    secret_unref(s);
    v = open_it();
    assert_null(vault_get(v, "k"));
    vault_close(v);
    AUTO(xfree) char *previous = xasprintf("%s.previous", path);
    assert_false(file_exists(previous)); /* a forgotten secret does not live on beside it */
}

static void each_save_has_a_fresh_nonce(void **state)
{
    (void)state;
    AUTO_TEXT one = TEXT_INIT;
    AUTO_TEXT two = TEXT_INIT;
    make_small(&one);
    struct vault *v = open_it();
    put(v, "k", "the-value", 9);
    assert_int_equal(vault_save(v, NULL), 0);
    vault_close(v);
    assert_int_equal(file_read(path, 10000, true, &two, NULL), 0);
    assert_int_equal(one.len, two.len);
    assert_memory_equal(one.s, two.s, NONCE_AT); /* salt and parameters stay */
    assert_memory_not_equal(one.s + NONCE_AT, two.s + NONCE_AT, HEADER - NONCE_AT);
    assert_memory_not_equal(one.s + HEADER, two.s + HEADER, 9);
    AUTO_TEXT three = TEXT_INIT;
    make_small(&three);
    assert_memory_not_equal(one.s + 24, three.s + 24, 16); /* another file, another salt */
}

static void a_wrong_passphrase_is_refused(void **state)
{
    (void)state;
    AUTO_TEXT bytes = TEXT_INIT;
    AUTO_PROBLEM err = PROBLEM_INIT;
    make_small(&bytes);
    static const char *const wrong[] = {"correct horsf", "correct horse ", "Correct horse"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        struct secret *s = secret_new(wrong[i], strlen(wrong[i]));
        assert_null(vault_open(path, s, &err));
        assert_int_equal(err.kind, PROBLEM_REFUSED);
        assert_non_null(strstr(err.why, "wrong, or the file was damaged"));
        secret_unref(s);
    }
    struct secret *none = secret_new("", 0);
    assert_null(vault_open(path, none, &err));
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_null(vault_create(path, none, &err));
    assert_null(vault_create(path, NULL, &err));
    secret_unref(none);
}

static void write_damaged(const char *bytes, size_t n)
{
    assert_int_equal(file_replace(path, bytes, n, false, NULL), 0);
}

static void a_change_of_any_byte_is_refused(void **state)
{
    (void)state;
    AUTO_TEXT bytes = TEXT_INIT;
    make_small(&bytes);
    assert_in_range(bytes.len, HEADER + 16, 128);
    for (size_t at = 0; at < bytes.len; at++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        bytes.s[at] ^= 1;
        write_damaged(bytes.s, bytes.len);
        assert_null(vault_open(path, passphrase, &err));
        bytes.s[at] ^= 1;
        assert_int_equal(err.kind, at < 24 ? PROBLEM_INPUT : PROBLEM_REFUSED);
        assert_non_null(err.fix);
    }
    write_damaged(bytes.s, bytes.len);
    vault_close(open_it());
}

static void a_cut_at_any_byte_is_refused(void **state)
{
    (void)state;
    AUTO_TEXT bytes = TEXT_INIT;
    make_small(&bytes);
    for (size_t n = 0; n < bytes.len; n++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        write_damaged(bytes.s, n);
        assert_null(vault_open(path, passphrase, &err));
        assert_int_equal(err.kind, n < HEADER + 16 ? PROBLEM_INPUT : PROBLEM_REFUSED);
    }
    AUTO_PROBLEM err = PROBLEM_INIT;
    text_addc(&bytes, 'x'); /* and one byte too many */
    write_damaged(bytes.s, bytes.len);
    assert_null(vault_open(path, passphrase, &err));
    assert_int_equal(err.kind, PROBLEM_REFUSED);
}

/* The cost is read before anything is authentic: a file must not make us take gigabytes. */
static void an_absurd_cost_is_refused_at_once(void **state)
{
    (void)state;
    AUTO_TEXT bytes = TEXT_INIT;
    make_small(&bytes);
    static const struct {
        size_t at;
        unsigned char value[4];
    } rows[] = {{12, {0, 0, 0, 0x80}}, {12, {0, 0, 0x10, 0}},
                {12, {0, 0, 0, 0}},    {12, {1, 0x80, 0, 0}},
                {12, {2, 0, 0, 0}},    {16, {0, 1, 0, 0}},
                {16, {0, 0, 0, 0}},    {20, {0xff, 0xff, 0xff, 0xff}}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        char saved[4];
        memcpy(saved, bytes.s + rows[i].at, 4);
        memcpy(bytes.s + rows[i].at, rows[i].value, 4);
        write_damaged(bytes.s, bytes.len);
        assert_null(vault_open(path, passphrase, &err));
        assert_int_equal(err.kind, PROBLEM_INPUT);
        assert_non_null(strstr(err.what, "damaged"));
        memcpy(bytes.s + rows[i].at, saved, 4);
    }
    AUTO_PROBLEM err = PROBLEM_INIT;
    bytes.s[8] = 2;
    write_damaged(bytes.s, bytes.len);
    assert_null(vault_open(path, passphrase, &err));
    assert_non_null(strstr(err.what, "newer sluice"));
}

static void odd_files_are_refused(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_null(vault_open(path, passphrase, &err));
    assert_int_equal(err.kind, PROBLEM_MISSING);
    write_damaged("sluice: 1\nname: a state file is no secrets file, however long it may be made\n",
                  76);
    assert_null(vault_open(path, passphrase, &err));
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_non_null(strstr(err.what, "not a secrets file"));
    AUTO_TEXT bytes = TEXT_INIT;
    make_small(&bytes);
    assert_int_equal(chmod(path, 0644), 0);
    assert_null(vault_open(path, passphrase, &err));
    assert_int_equal(err.kind, PROBLEM_INPUT);
    unlink(path);
    assert_int_equal(symlink("/etc/passwd", path), 0);
    assert_null(vault_open(path, passphrase, &err));
    assert_int_equal(err.kind, PROBLEM_INPUT);
}

static void a_failed_save_stays_dirty(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct vault *v = vault_create("/nonexistent/dir/secrets", passphrase, NULL);
    put(v, "k", "the-value", 9);
    assert_int_equal(vault_save(v, &err), -1);
    assert_true(vault_dirty(v));
    assert_int_equal(err.kind, PROBLEM_MISSING);
    struct secret *s = vault_get(v, "k"); /* the run goes on in memory */
    assert_string_equal(secret_bytes(s), "the-value");
    secret_unref(s);
    vault_close(v);
}

static void more_than_the_file_may_hold_is_refused(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct vault *v = vault_create(path, passphrase, NULL);
    char *big = xmalloc(SECRET_MAX);
    struct secret *s = secret_new(big, SECRET_MAX);
    for (int i = 0; i < 129; i++) {
        AUTO(xfree) char *id = xasprintf("id%d", i);
        vault_put(v, id, s);
    }
    assert_int_equal(vault_save(v, &err), -1);
    assert_non_null(strstr(err.what, "8 MiB"));
    assert_false(file_exists(path));
    vault_put(v, "id0", NULL);
    vault_put(v, "id1", NULL);
    assert_int_equal(vault_save(v, &err), 0);
    vault_close(v);
    secret_unref(s);
    xfree(big);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(comes_back),
        IN_DIR(nothing_is_in_clear),
        IN_DIR(dirty_only_by_changes),
        IN_DIR(each_save_has_a_fresh_nonce),
        IN_DIR(a_wrong_passphrase_is_refused),
        IN_DIR(a_change_of_any_byte_is_refused),
        IN_DIR(a_cut_at_any_byte_is_refused),
        IN_DIR(an_absurd_cost_is_refused_at_once),
        IN_DIR(odd_files_are_refused),
        IN_DIR(a_failed_save_stays_dirty),
        IN_DIR(more_than_the_file_may_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
