/* The log: ring, file, threads; nothing raw and nothing secret in it. */
#include <fcntl.h>
#include <pthread.h>
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
#include "core/log.h"
#include "core/mem.h"
#include "core/secret.h"

static char dir[] = "/tmp/sluice-log-XXXXXX";
static char path[64];

static int make_dir(void **state)
{
    (void)state;
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/log", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    return rmdir(dir);
}

static int clear(void **state)
{
    (void)state;
    log_close();
    unlink(path);
    return 0;
}

static void free_lines(char **lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        xfree(lines[i]);
    xfree(lines);
}

static void keeps_the_newest_lines(void **state)
{
    (void)state;
    size_t n;
    char **lines = log_recent(10, &n);
    assert_int_equal(n, 0);
    free_lines(lines, n);
    for (int i = 0; i < 5000; i++)
        log_line("line %d", i);
    lines = log_recent(3, &n);
    assert_int_equal(n, 3);
    for (size_t i = 0; i < 3; i++) {
        char expected[32];
        snprintf(expected, sizeof expected, "Z line %zu", 4997 + i);
        assert_non_null(strstr(lines[i], expected));
    }
    free_lines(lines, n);
    lines = log_recent(SIZE_MAX, &n);
    assert_in_range(n, 500, 4999); /* bounded */
    free_lines(lines, n);
}

static void lines_are_cleaned_and_redacted(void **state)
{
    (void)state;
    struct secret *s = secret_new("sesame-open", 11);
    log_line("token \x1b[31m%s\nsecond", secret_bytes(s));
    size_t n;
    char **lines = log_recent(1, &n);
    assert_non_null(strstr(lines[0], "Z token ^[[31m[redacted]^Jsecond"));
    free_lines(lines, n);
    secret_unref(s);
    char *huge = xmalloc(1 << 20);
    memset(huge, 'x', (1 << 20) - 1);
    log_line("%s", huge);
    xfree(huge);
    lines = log_recent(1, &n);
    assert_in_range(strlen(lines[0]), 1000, 8192);
    free_lines(lines, n);
}

static void the_file_is_private_and_appended_to(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    umask(0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(log_open(path, &err), 0);
        log_line("run %d", i);
        log_close();
    }
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    AUTO_TEXT t = TEXT_INIT;
    assert_int_equal(file_read(path, 10000, true, &t, &err), 0);
    assert_non_null(strstr(t.s, "Z run 0\n"));
    assert_non_null(strstr(t.s, "Z run 1\n"));
    assert_int_equal(chmod(path, 0666), 0);
    assert_int_equal(log_open(path, &err), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
}

static void odd_files_are_refused(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(symlink("/dev/null", path), 0);
    assert_int_equal(log_open(path, &err), -1);
    assert_non_null(strstr(err.what, "symbolic link"));
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(log_open(path, &err), -1); /* and does not hang */
    assert_int_equal(log_open("/dev/null", &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_int_equal(log_open(dir, &err), -1);
    assert_int_equal(log_open("/nonexistent/log", &err), -1);
    assert_int_equal(err.kind, PROBLEM_MISSING);
    log_line("still works");
}

static void *write_many(void *arg)
{
    (void)arg;
    for (int i = 0; i < 300; i++)
        log_line("thread line %d end", i);
    size_t n;
    char **lines = log_recent(50, &n);
    free_lines(lines, n);
    return NULL;
}

static void threads_write_whole_lines(void **state)
{
    (void)state;
    assert_int_equal(log_open(path, NULL), 0);
    pthread_t threads[4];
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, NULL), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        pthread_join(threads[i], NULL);
    AUTO_TEXT t = TEXT_INIT;
    assert_int_equal(file_read(path, 1 << 20, true, &t, NULL), 0);
    size_t count = 0;
    for (char *line = t.s, *nl; (nl = strchr(line, '\n')) != NULL; line = nl + 1, count++) {
        *nl = '\0';
        assert_non_null(strstr(line, "Z thread "));
        assert_string_equal(nl - 4, " end");
    }
    assert_int_equal(count, 1200);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(keeps_the_newest_lines, clear),
        cmocka_unit_test_teardown(lines_are_cleaned_and_redacted, clear),
        cmocka_unit_test_teardown(the_file_is_private_and_appended_to, clear),
        cmocka_unit_test_teardown(odd_files_are_refused, clear),
        cmocka_unit_test_teardown(threads_write_whole_lines, clear),
    };
    return cmocka_run_group_tests(tests, make_dir, remove_dir);
}
