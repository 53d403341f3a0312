/* A folder is written whole, exchanged only while all of it is ours, and never over what others
 * put there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/folder.h"
#include "core/mem.h"

static char *base; /* a folder of this test's own */

static int make_base(void **state)
{
    (void)state;
    base = xstrdup("/tmp/sluice-folder-XXXXXX");
    return mkdtemp(base) == NULL;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static int remove_base(void **state)
{
    (void)state;
    int rc = nftw(base, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    xfree(base);
    return rc;
}

static char *at(const char *name)
{
    return xasprintf("%s/%s", base, name);
}

static void put(const char *name, const char *text)
{
    AUTO(xfree) char *path = at(name);
    assert_int_equal(file_replace(path, text, strlen(text), false, NULL), 0);
}

static void assert_file(const char *name, const char *text)
{
    AUTO_TEXT bytes = TEXT_INIT;
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO(xfree) char *path = at(name);
    if (file_read(path, 4096, false, &bytes, &err) != 0)
        fail_msg("%s", err.what);
    assert_string_equal(bytes.s, text);
}

static size_t entries(const char *name)
{
    AUTO(xfree) char *path = at(name);
    DIR *dir = opendir(path);
    size_t n = 0;
    assert_non_null(dir);
    while (readdir(dir) != NULL)
        n++;
    closedir(dir);
    return n - 2;
}

static struct folder sample(const char *of_a)
{
    struct folder f = {0};
    folder_add(&f, "b/c/flow.yaml", "c: 1\n", 5);
    folder_add(&f, "a.yaml", of_a, strlen(of_a));
    return f;
}

static int write_sample(const char *of_a, const char *name, bool *same, struct problem *err)
{
    AUTO_FOLDER f = sample(of_a);
    AUTO(xfree) char *path = at(name);
    return folder_write(&f, path, same, err);
}

static void it_is_written_whole_and_private(void **state)
{
    (void)state;
    struct stat st;
    bool same = true;
    AUTO(xfree) char *root = at("x/y");
    AUTO(xfree) char *file = at("x/y/b/c/flow.yaml");
    AUTO(xfree) char *inner = at("x/y/b");
    assert_int_equal(write_sample("a: 1\n", "x/y/", &same, NULL), 0);
    assert_false(same);
    assert_file("x/y/a.yaml", "a: 1\n");
    assert_file("x/y/b/c/flow.yaml", "c: 1\n");
    assert_int_equal(stat(root, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(inner, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(stat(file, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(entries("x"), 1); /* nothing is left beside it */
}

static void sums_are_those_of_sha256sum(void **state)
{
    (void)state;
    AUTO_FOLDER f = {0};
    AUTO(xfree) char *path = at("x");
    folder_add(&f, "abc", "abc", 3); /* the vector of FIPS 180-2 */
    assert_int_equal(folder_write(&f, path, NULL, NULL), 0);
    AUTO(xfree) char *sums = xstrdup(f.files[0].bytes);
    assert_string_equal(f.files[0].path, FOLDER_SUMS);
    assert_non_null(
        strstr(sums, "\nba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad  abc\n"));
    assert_file("x/SHA256SUMS", sums);
}

static void ours_is_exchanged(void **state)
{
    (void)state;
    bool same = true;
    struct stat before, after;
    AUTO(xfree) char *root = at("x");
    assert_int_equal(write_sample("a: 1\n", "x", NULL, NULL), 0);
    assert_int_equal(stat(root, &before), 0);
    assert_int_equal(write_sample("a: 1\n", "x", &same, NULL), 0);
    assert_true(same);
    assert_int_equal(stat(root, &after), 0);
    assert_int_equal(before.st_ino, after.st_ino);
    assert_int_equal(write_sample("a: 2\n", "x", &same, NULL), 0);
    assert_false(same);
    assert_file("x/a.yaml", "a: 2\n");
    assert_int_equal(entries("."), 1);
}

static void an_empty_folder_is_taken(void **state)
{
    (void)state;
    AUTO(xfree) char *root = at("x");
    assert_int_equal(mkdir(root, 0755), 0);
    assert_int_equal(write_sample("a: 1\n", "x", NULL, NULL), 0);
    assert_file("x/a.yaml", "a: 1\n");
    assert_int_equal(entries("."), 1);
}

static void expect_refusal(const char *word)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(write_sample("a: new\n", "x", NULL, &err), -1);
    assert_int_equal(err.kind, PROBLEM_CONFLICT);
    if (strstr(err.what, word) == NULL)
        fail_msg("%s", err.what);
    assert_non_null(err.fix);
}

static void what_others_did_stays(void **state)
{
    (void)state;
    AUTO(xfree) char *a = at("x/a.yaml");
    AUTO(xfree) char *sums = at("x/SHA256SUMS");
    AUTO(xfree) char *more = at("x/b/notes");
    assert_int_equal(write_sample("a: 1\n", "x", NULL, NULL), 0);
    put("x/b/notes", "mine");
    expect_refusal("b/notes was not written by sluice");
    assert_int_equal(unlink(more), 0);
    put("x/a.yaml", "a: edited\n");
    expect_refusal("a.yaml was changed since");
    assert_file("x/a.yaml", "a: edited\n");
    put("x/a.yaml", "a: 1\n");
    assert_int_equal(write_sample("a: 1\n", "x", NULL, NULL), 0); /* as it was: ours again */
    assert_int_equal(unlink(a), 0);
    expect_refusal("a file was removed since");
    assert_int_equal(symlink("/etc/passwd", a), 0);
    expect_refusal("a.yaml cannot be read");
    assert_int_equal(unlink(sums), 0);
    expect_refusal("other files lie there");
    assert_int_equal(entries("."), 1);
}

static void what_is_no_folder_stays(void **state)
{
    (void)state;
    AUTO(xfree) char *root = at("x");
    put("x", "a file");
    expect_refusal("it is no folder");
    assert_file("x", "a file");
    assert_int_equal(unlink(root), 0);
    assert_int_equal(symlink(base, root), 0);
    expect_refusal("it is no folder");
}

static void paths_that_lead_elsewhere(void **state)
{
    (void)state;
    static const char *const wrong[] = {"../a", "/a",   "a//b",       "a/../b", "",         "a/",
                                        "./a",  "a\nb", "SHA256SUMS", "a.yaml", "a.yaml/b", "b"};
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO_FOLDER f = sample("a: 1\n");
        AUTO(xfree) char *path = at("x");
        folder_add(&f, wrong[i], "x", 1);
        assert_int_equal(folder_write(&f, path, NULL, &err), -1);
        assert_string_equal(err.code, "path");
        assert_false(file_exists(path));
    }
}

static void nothing_is_left_of_a_failure(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_FOLDER f = sample("a: 1\n");
    AUTO(xfree) char *path = at("x");
    char long_name[300];
    memset(long_name, 'n', sizeof long_name - 1);
    long_name[sizeof long_name - 1] = '\0';
    folder_add(&f, long_name, "x", 1);
    assert_int_equal(folder_write(&f, path, NULL, &err), -1);
    assert_int_equal(err.kind, PROBLEM_LOCAL);
    assert_int_equal(entries("."), 0);
}

static void make(const char *name)
{
    AUTO(xfree) char *path = at(name);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* Beside the folder: half of one, one that was exchanged, one that was changed meanwhile, one that
 * is being written, and a person's own. */
static void what_a_killed_one_left_goes(void **state)
{
    (void)state;
    AUTO(xfree) char *busy = at("x.sluice-busyyy");
    AUTO(xfree) char *whole = at("x.sluice-whole1");
    AUTO(xfree) char *edited = at("x.sluice-edited");
    AUTO(xfree) char *x = at("x");
    make("x.sluice-halff1");
    make("x.sluice-halff1/b");
    put("x.sluice-halff1/b/config.yaml", "password: plain");
    make("x.sluice-busyyy");
    put("x.sluice-busyyy/a.yaml", "a: 1\n");
    make("x.sluice-more-than-six");
    make("x.backup");
    put("x.backup/a.yaml", "mine");
    assert_int_equal(write_sample("a: 1\n", "y", NULL, NULL), 0);
    AUTO(xfree) char *y = at("y");
    assert_int_equal(rename(y, whole), 0);
    assert_int_equal(write_sample("a: 2\n", "y", NULL, NULL), 0);
    assert_int_equal(rename(y, edited), 0);
    put("x.sluice-edited/a.yaml", "mine");
    int held = open(busy, O_RDONLY | O_DIRECTORY);
    assert_int_equal(flock(held, LOCK_EX), 0);
    assert_int_equal(write_sample("a: 3\n", "x", NULL, NULL), 0);
    close(held);
    assert_int_equal(entries("."), 5); /* x, edited, busy, the longer name, the backup */
    assert_file("x.sluice-edited/a.yaml", "mine");
    assert_file("x.sluice-busyyy/a.yaml", "a: 1\n");
    assert_file("x.backup/a.yaml", "mine");
    assert_true(file_exists(x));
}

/* Not all of a disk is looked at to see that it is not ours. */
static void a_look_at_much_ends_early(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_FOLDER f = sample("a: 1\n");
    clock_t from = clock();
    assert_int_equal(folder_write(&f, "/", NULL, &err), -1);
    assert_true(clock() - from < CLOCKS_PER_SEC / 10);
    if (geteuid() == 0)
        assert_non_null(strstr(err.what, "other files lie there"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_base, remove_base)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(it_is_written_whole_and_private),
        TEST(sums_are_those_of_sha256sum),
        TEST(ours_is_exchanged),
        TEST(an_empty_folder_is_taken),
        TEST(what_others_did_stays),
        TEST(what_is_no_folder_stays),
        TEST(paths_that_lead_elsewhere),
        TEST(nothing_is_left_of_a_failure),
        TEST(what_a_killed_one_left_goes),
        TEST(a_look_at_much_ends_early),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
