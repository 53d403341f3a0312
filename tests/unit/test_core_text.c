/* Memory and the growing string: limits, cuts at character boundaries, overlap, the end of memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/mem.h"
#include "core/text.h"

static void starts_empty_and_never_null(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    assert_string_equal(t.s, "");
    text_add(&t, NULL);
    text_add(&t, "");
    assert_int_equal(t.room, 0);
    char *s = text_take(&t);
    assert_non_null(s);
    assert_string_equal(s, "");
    xfree(s);
}

static void grows_and_formats(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    for (int i = 0; i < 1000; i++)
        text_addf(&t, "%d,", i);
    assert_int_equal(t.len, 10 * 2 + 90 * 3 + 900 * 4);
    assert_int_equal(strlen(t.s), t.len);
    text_reset(&t);
    text_sep(&t, ", ");
    text_add(&t, "a");
    text_sep(&t, ", ");
    text_add(&t, "b");
    assert_string_equal(t.s, "a, b");
    text_release(&t);
    assert_string_equal(t.s, "");
}

static void keeps_embedded_nul(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    text_addn(&t, "a\0b", 3);
    text_addc(&t, '\0');
    assert_int_equal(t.len, 4);
    assert_memory_equal(t.s, "a\0b\0", 5);
}

static void may_add_itself(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_INIT;
    text_add(&t, "0123456789");
    for (int i = 0; i < 6; i++)
        text_addn(&t, t.s, t.len);
    assert_int_equal(t.len, 640);
    for (size_t i = 0; i < t.len; i++)
        assert_int_equal(t.s[i], '0' + (int)(i % 10));
}

static void cuts_at_a_character(void **state)
{
    (void)state;
    for (size_t limit = 0; limit <= 11; limit++) {
        AUTO_TEXT t = TEXT_LIMITED(limit);
        text_add(&t, "aé😀€");
        const size_t whole[] = {0, 1, 1, 3, 3, 3, 3, 7, 7, 7, 10, 10};
        assert_int_equal(t.len, whole[limit]);
        assert_int_equal(t.cut, limit < 10);
        assert_int_equal(t.s[t.len], '\0');
    }
}

static void adds_nothing_after_a_cut(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_LIMITED(4);
    text_add(&t, "abé!");
    assert_true(t.len == 4 && t.cut);
    AUTO_TEXT u = TEXT_LIMITED(4);
    text_add(&u, "abc");
    text_add(&u, "é");
    assert_true(u.cut);
    text_add(&u, "x"); /* would fit, but a hole would be a lie */
    text_addf(&u, "%d", 1);
    assert_string_equal(u.s, "abc");
    text_reset(&u);
    text_add(&u, "x");
    assert_string_equal(u.s, "x");
}

static void formatted_text_is_cut_alike(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_LIMITED(5);
    text_addf(&t, "%s", "abc€€");
    assert_string_equal(t.s, "abc");
    assert_true(t.cut);
}

static void bytes_that_are_no_text_are_cut_anywhere(void **state)
{
    (void)state;
    AUTO_TEXT t = TEXT_LIMITED(5);
    text_addn(&t, "\x80\x80\x80\x80\x80\x80\x80", 7);
    assert_int_equal(t.len, 5);
}

static void allocators_return_what_they_say(void **state)
{
    (void)state;
    unsigned char *p = xmalloc(64);
    for (int i = 0; i < 64; i++)
        assert_int_equal(p[i], 0);
    xfree(p);
    p = xcalloc(0, 0);
    assert_non_null(p);
    xfree(p);
    assert_null(xstrdup(NULL));
    char *s = xstrndup("abc", 2);
    assert_string_equal(s, "ab");
    xreplace(&s, s + 1); /* a part of itself */
    assert_string_equal(s, "b");
    xreplace(&s, NULL);
    assert_null(s);
    s = xasprintf("%s-%d", "x", 7);
    assert_string_equal(s, "x-7");
    xfree(s);
}

static void hook(void)
{
    ssize_t ignored = write(STDERR_FILENO, "[terminal restored]", 19);
    (void)ignored;
}

static void end_of_memory_runs_the_hook_and_exits_70(void **state)
{
    (void)state;
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        mem_on_exhausted(hook);
        volatile size_t huge = SIZE_MAX / 2;
        xfree(xrealloc(NULL, huge, 4)); /* the product overflows */
        _exit(0);
    }
    close(fds[1]);
    char seen[512] = "";
    size_t n = 0;
    for (ssize_t got; (got = read(fds[0], seen + n, sizeof seen - 1 - n)) > 0;)
        n += (size_t)got;
    close(fds[0]);
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 70);
    assert_ptr_equal(strstr(seen, "[terminal restored]"), seen);
    assert_non_null(strstr(seen, "out of memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_empty_and_never_null),
        cmocka_unit_test(grows_and_formats),
        cmocka_unit_test(keeps_embedded_nul),
        cmocka_unit_test(may_add_itself),
        cmocka_unit_test(cuts_at_a_character),
        cmocka_unit_test(adds_nothing_after_a_cut),
        cmocka_unit_test(formatted_text_is_cut_alike),
        cmocka_unit_test(bytes_that_are_no_text_are_cut_anywhere),
        cmocka_unit_test(allocators_return_what_they_say),
        cmocka_unit_test(end_of_memory_runs_the_hook_and_exits_70),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
