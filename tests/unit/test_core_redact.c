/* The redactor: every form in which a secret leaves the program, overlaps, and what it must not
 * touch. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "core/mem.h"
#include "core/redact.h"

static const char owner_a, owner_b;

static void expect(const char *in, const char *out)
{
    char *s = redact_copy(in);
    assert_string_equal(s, out);
    xfree(s);
}

static const char odd[] = "pä'ss\\w\"rd/ +%\n1";

static const char *const odd_forms[] = {
    "pä'ss\\w\"rd/ +%\n1",
    /* RFC 3986, upper and lower case, and as a form */
    "p%C3%A4%27ss%5Cw%22rd%2F%20%2B%25%0A1",
    "p%c3%a4%27ss%5cw%22rd%2f%20%2b%25%0a1",
    "p%C3%A4%27ss%5Cw%22rd%2F+%2B%25%0A1",
    "p%c3%a4%27ss%5cw%22rd%2f+%2b%25%0a1",
    /* JSON: least escapes, with \/, with all but ASCII escaped */
    "pä'ss\\\\w\\\"rd/ +%\\n1",
    "pä'ss\\\\w\\\"rd\\/ +%\\n1",
    "p\\u00e4'ss\\\\w\\\"rd/ +%\\n1",
    /* SQL: '…', E'…', and a conninfo value */
    "pä''ss\\w\"rd/ +%\n1",
    "pä''ss\\\\w\"rd/ +%\n1",
    "pä\\'ss\\\\w\"rd/ +%\n1",
};

static void each_form_is_found(void **state)
{
    (void)state;
    redact_register(&owner_a, odd, sizeof odd - 1);
    for (size_t i = 0; i < ARRAY_LEN(odd_forms); i++) {
        char *in = xasprintf("a<%s>b %s", odd_forms[i], odd_forms[i]);
        expect(in, "a<[redacted]>b [redacted]");
        xfree(in);
    }
    redact_unregister(&owner_a);
    expect(odd, odd);
}

static void pairs_outside_the_bmp_are_found(void **state)
{
    (void)state;
    redact_register(&owner_a, "geheim😀geheim", 16);
    expect("\"geheim\\ud83d\\ude00geheim\"", "\"[redacted]\"");
    redact_unregister(&owner_a);
}

/* base64 of "", "u", "us", "usr" before and "" or ":x" behind the secret: all characters that hold
 * one of its bits are hidden, and no other. */
static void base64_is_found_at_every_offset(void **state)
{
    (void)state;
    redact_register(&owner_a, "Tr0ub4dor&3>?~", 14);
    expect("Basic VHIwdWI0ZG9yJjM+P34=", "Basic [redacted]=");
    expect("Basic VHIwdWI0ZG9yJjM-P34", "Basic [redacted]");
    expect("Basic VHIwdWI0ZG9yJjM+P346eA==", "Basic [redacted]6eA==");
    expect("Basic dVRyMHViNGRvciYzPj9+", "Basic d[redacted]");
    expect("Basic dVRyMHViNGRvciYzPj9+Ong=", "Basic d[redacted]Ong=");
    expect("Basic dXNUcjB1YjRkb3ImMz4/fjp4", "Basic dX[redacted]p4");
    expect("Basic dXNyVHIwdWI0ZG9yJjM+P346eA==", "Basic dXNy[redacted]6eA==");
    redact_unregister(&owner_a);
}

static void short_values_are_left_alone(void **state)
{
    (void)state;
    redact_register(&owner_a, "1234567", 7);
    expect("order 1234567", "order 1234567");
    redact_unregister(&owner_a);
    redact_register(&owner_a, "12345678", 8);
    expect("order 12345678", "order [redacted]");
    redact_unregister(&owner_a);
}

static void overlapping_secrets_show_nothing_of_either(void **state)
{
    (void)state;
    redact_register(&owner_a, "abcdefghij", 10);
    redact_register(&owner_b, "ghijklmnop", 10);
    expect("x abcdefghijklmnop y", "x [redacted] y");
    expect("abcdefghijabcdefghij", "[redacted]");
    expect("ghijklmnopabcdefghij!", "[redacted]!");
    redact_unregister(&owner_a);
    expect("x abcdefghijklmnop y", "x abcdef[redacted] y");
    redact_unregister(&owner_b);
}

static void a_longer_secret_hides_whole(void **state)
{
    (void)state;
    redact_register(&owner_a, "password1", 9);
    redact_register(&owner_b, "password12345", 13);
    expect("password12345.", "[redacted].");
    expect("password1.", "[redacted].");
    redact_unregister(&owner_b);
    redact_unregister(&owner_a);
}

static void lines_of_a_key_are_found_alone(void **state)
{
    (void)state;
    static const char key[] =
        "-----BEGIN X KEY-----\nMIIEvQIBADANBgkqhkiG\r\nzzzzyyyyxxxxwwwwvvvv\nab\n-----END X "
        "KEY-----\n";
    redact_register(&owner_a, key, sizeof key - 1);
    expect("   MIIEvQIBADANBgkqhkiG\n   zzzzyyyyxxxxwwwwvvvv\n", "   [redacted]\n   [redacted]\n");
    expect("-----BEGIN X KEY----- ab", "-----BEGIN X KEY----- ab");
    expect(key, "[redacted]");
    redact_unregister(&owner_a);
}

static void other_texts_come_back_as_they_were(void **state)
{
    (void)state;
    assert_null(redact_copy(NULL));
    expect("", "");
    redact_register(&owner_a, "abcdefghij", 10);
    expect("abcdefghi abcdefgh", "abcdefghi abcdefgh");
    redact_unregister(&owner_a);
    redact_unregister(&owner_a); /* unknown now: nothing happens */
}

static void *churn(void *arg)
{
    const char *mine = arg;
    char secret[32];
    int n = snprintf(secret, sizeof secret, "thread-secret-%p", arg);
    for (int i = 0; i < 200; i++) {
        redact_register(mine, secret, (size_t)n);
        char *s = redact_copy(secret);
        if (strcmp(s, "[redacted]") != 0)
            return s;
        xfree(s);
        redact_unregister(mine);
    }
    return NULL;
}

static void threads_do_not_disturb_each_other(void **state)
{
    (void)state;
    static char marks[4];
    pthread_t threads[ARRAY_LEN(marks)];
    for (size_t i = 0; i < ARRAY_LEN(marks); i++)
        assert_int_equal(pthread_create(&threads[i], NULL, churn, &marks[i]), 0);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        void *failed = NULL;
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_form_is_found),
        cmocka_unit_test(pairs_outside_the_bmp_are_found),
        cmocka_unit_test(base64_is_found_at_every_offset),
        cmocka_unit_test(short_values_are_left_alone),
        cmocka_unit_test(overlapping_secrets_show_nothing_of_either),
        cmocka_unit_test(a_longer_secret_hides_whole),
        cmocka_unit_test(lines_of_a_key_are_found_alone),
        cmocka_unit_test(other_texts_come_back_as_they_were),
        cmocka_unit_test(threads_do_not_disturb_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
