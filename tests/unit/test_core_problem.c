/* Problems: filled, replaced by what quotes them, moved, cleaned, redacted, and harmless without
 * err. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "core/problem.h"
#include "core/secret.h"

static void fills_and_returns_minus_one(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(problem_fail(&err, PROBLEM_REFUSED, "28P01", "login as %s refused", "bob"),
                     -1);
    problem_why(&err, "The %s is wrong.", "password");
    problem_fix(&err, WHO_DBA, "ALTER it");
    problem_evidence(&err, "line 1\nline 2");
    problem_copy_command(&err, "psql -c '\\du'");
    assert_int_equal(err.kind, PROBLEM_REFUSED);
    assert_string_equal(err.code, "28P01");
    assert_string_equal(err.what, "login as bob refused");
    assert_string_equal(err.why, "The password is wrong.");
    assert_string_equal(err.fix, "ALTER it");
    assert_int_equal(err.who, WHO_DBA);
    assert_string_equal(err.evidence, "line 1\nline 2");
    assert_string_equal(err.copy, "psql -c '\\du'");
}

static void a_new_one_replaces_all_of_the_old(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    problem_fail(&err, PROBLEM_DENIED, "42501", "no right");
    problem_fix(&err, WHO_DBA, "GRANT");
    /* quoting the old one, its code too */
    problem_fail(&err, PROBLEM_LOCAL, err.code, "cannot list tables: %s", err.what);
    assert_string_equal(err.what, "cannot list tables: no right");
    assert_string_equal(err.code, "42501");
    assert_null(err.fix);
    assert_int_equal(err.who, WHO_YOU);
}

static void null_is_allowed_everywhere(void **state)
{
    (void)state;
    assert_int_equal(problem_fail(NULL, PROBLEM_BUG, NULL, "x%d", 1), -1);
    assert_int_equal(problem_errno(NULL, ENOSPC, "x%d", 1), -1);
    problem_why(NULL, "x");
    problem_fix(NULL, WHO_YOU, "x");
    problem_evidence(NULL, "x");
    problem_copy_command(NULL, "x");
    problem_release(NULL);
    struct problem from = PROBLEM_INIT;
    problem_fail(&from, PROBLEM_LOCAL, NULL, "lost");
    problem_move(NULL, &from);
    assert_int_equal(from.kind, PROBLEM_NONE);
    assert_null(from.what);
}

static void errno_becomes_words(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(problem_errno(&err, ENOSPC, "cannot save %s", "a.yaml"), -1);
    assert_string_equal(err.what, "cannot save a.yaml: No space left on device");
    assert_string_equal(err.code, "errno 28");
    assert_int_equal(err.kind, PROBLEM_LOCAL);
    assert_non_null(err.fix);
    problem_errno(&err, ENOENT, "cannot open x");
    assert_int_equal(err.kind, PROBLEM_MISSING);
    assert_null(err.fix);
    problem_errno(&err, ECONNREFUSED, "cannot connect");
    assert_int_equal(err.kind, PROBLEM_UNREACHABLE);
    problem_errno(&err, 99999, "odd");
    assert_string_equal(err.what, "odd: error 99999");
}

static void texts_are_cleaned_as_they_enter(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    problem_fail(&err, PROBLEM_PROTOCOL, "a\x1b[2J", "bad \x1b]52;c;eA==\a name\n%s",
                 "\xc2\x9b"
                 "2J");
    assert_string_equal(err.code, "a^[[2J");
    assert_string_equal(err.what, "bad ^[]52;c;eA==^G name^J\\u{9B}2J");
    problem_evidence(&err, "one\ntwo\r\xff");
    assert_string_equal(err.evidence, "one\ntwo^M\\xFF");
}

static void texts_are_redacted_as_they_enter(void **state)
{
    (void)state;
    /* the control character would hide it from a redactor that came after the sanitiser */
    struct secret *s = secret_new("hunter2\x01hunter2", 15);
    AUTO_PROBLEM err = PROBLEM_INIT;
    problem_fail(&err, PROBLEM_REFUSED, secret_bytes(s), "password %s refused", secret_bytes(s));
    problem_evidence(&err, "sent: <%s>", secret_bytes(s));
    assert_string_equal(err.what, "password [redacted] refused");
    assert_string_equal(err.code, "[redacted]");
    assert_string_equal(err.evidence, "sent: <[redacted]>");
    secret_unref(s);
}

static void moves_whole(void **state)
{
    (void)state;
    AUTO_PROBLEM to = PROBLEM_INIT;
    AUTO_PROBLEM from = PROBLEM_INIT;
    problem_fail(&to, PROBLEM_LOCAL, NULL, "old");
    problem_fail(&from, PROBLEM_INPUT, "c", "new");
    problem_move(&to, &from);
    assert_string_equal(to.what, "new");
    assert_null(from.what);
    problem_move(&to, &to);
    assert_string_equal(to.what, "new");
}

static void names_are_total(void **state)
{
    (void)state;
    for (int who = 0; who < WHO_COUNT; who++)
        assert_true(strlen(problem_who_name((enum who)who)) > 0);
    for (int kind = PROBLEM_NONE; kind <= PROBLEM_BUG; kind++)
        assert_true(strlen(problem_kind_name((enum problem_kind)kind)) > 0);
    assert_string_equal(problem_who_name(WHO_AWS_ADMIN), "AWS admin");
    assert_string_equal(problem_kind_name(PROBLEM_UNREACHABLE), "unreachable");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fills_and_returns_minus_one),
        cmocka_unit_test(a_new_one_replaces_all_of_the_old),
        cmocka_unit_test(null_is_allowed_everywhere),
        cmocka_unit_test(errno_becomes_words),
        cmocka_unit_test(texts_are_cleaned_as_they_enter),
        cmocka_unit_test(texts_are_redacted_as_they_enter),
        cmocka_unit_test(moves_whole),
        cmocka_unit_test(names_are_total),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
