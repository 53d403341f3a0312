/* Credentials: which source counts, and the dialect of the shared files. Every expectation about
 * the dialect is what the AWS CLI (botocore) does with the same bytes, but for comments behind a
 * blank. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "aws/credentials.h"
#include "aws/ini.h"
#include "core/mem.h"
#include "core/text.h"

static char folder[] = "/tmp/sluice-aws-XXXXXX";

static void write_file(const char *name, const char *bytes)
{
    AUTO(xfree) char *path = xasprintf("%s/.aws/%s", folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, strlen(bytes)), strlen(bytes));
    close(fd);
}

static int clean(void **state)
{
    static const char *const names[] = {"AWS_ACCESS_KEY_ID",
                                        "AWS_SECRET_ACCESS_KEY",
                                        "AWS_SESSION_TOKEN",
                                        "AWS_SECURITY_TOKEN",
                                        "AWS_PROFILE",
                                        "AWS_DEFAULT_PROFILE",
                                        "AWS_REGION",
                                        "AWS_DEFAULT_REGION",
                                        "AWS_SHARED_CREDENTIALS_FILE",
                                        "AWS_CONFIG_FILE",
                                        "AWS_ROLE_ARN",
                                        "AWS_WEB_IDENTITY_TOKEN_FILE",
                                        "AWS_CREDENTIAL_EXPIRATION"};
    (void)state;
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        unsetenv(names[i]);
    setenv("HOME", folder, 1);
    AUTO(xfree) char *a = xasprintf("%s/.aws/credentials", folder);
    AUTO(xfree) char *b = xasprintf("%s/.aws/config", folder);
    unlink(a);
    unlink(b);
    return 0;
}

static int begin(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    AUTO(xfree) char *inner = xasprintf("%s/.aws", folder);
    return mkdir(inner, 0700);
}

static int end(void **state)
{
    clean(state);
    AUTO(xfree) char *inner = xasprintf("%s/.aws", folder);
    rmdir(inner);
    return rmdir(folder);
}

static void expect(const char *profile, const char *id, const char *secret, const char *source)
{
    struct aws_credentials c;
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (aws_credentials_load(profile, &c, &err) != 0)
        fail_msg("%s", err.what);
    assert_string_equal(c.key_id, id);
    assert_string_equal(secret_bytes(c.secret_key), secret);
    assert_non_null(strstr(c.source, source));
    aws_credentials_release(&c);
}

static void expect_refused(const char *profile, enum problem_kind kind, const char *says)
{
    struct aws_credentials c;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(aws_credentials_load(profile, &c, &err), -1);
    assert_int_equal(err.kind, kind);
    AUTO(xfree)
    char *all = xasprintf("%s | %s | %s", err.what, err.why != NULL ? err.why : "",
                          err.fix != NULL ? err.fix : "");
    if (strstr(all, says) == NULL)
        fail_msg("no \"%s\" in: %s", says, all);
    assert_null(c.key_id);
    assert_null(c.secret_key);
    assert_null(c.source);
}

static const char two_profiles[] = "[default]\naws_access_key_id = AKIADEFAULT\n"
                                   "aws_secret_access_key = default/secret+1\n"
                                   "[data]\naws_access_key_id = AKIADATA\n"
                                   "aws_secret_access_key = data/secret+2\n";

/* --- the order --- */

static void nothing_at_all(void **state)
{
    (void)state;
    expect_refused("", PROBLEM_MISSING, "there is no profile default");
    expect_refused("", PROBLEM_MISSING, "/.aws/credentials and ");
    unsetenv("HOME");
    expect_refused("", PROBLEM_MISSING, "(no HOME)");
}

static void the_environment_beats_files_but_not_a_chosen_profile(void **state)
{
    (void)state;
    write_file("credentials", two_profiles);
    setenv("AWS_ACCESS_KEY_ID", "AKIAENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "env/secret", 1);
    expect("", "AKIAENV", "env/secret", "environment");
    setenv("AWS_PROFILE", "data", 1);
    expect("", "AKIAENV", "env/secret", "environment");
    struct aws_credentials c;
    assert_int_equal(aws_credentials_load("", &c, NULL), 0);
    assert_string_equal(c.note, "AWS_PROFILE names data, but keys in the environment count before "
                                "it");
    assert_null(c.profile);
    aws_credentials_release(&c);
    expect("data", "AKIADATA", "data/secret+2", "profile data in ");
}

static void half_a_pair_is_not_passed_over(void **state)
{
    (void)state;
    write_file("credentials", two_profiles);
    setenv("AWS_ACCESS_KEY_ID", "AKIAENV", 1);
    expect_refused("", PROBLEM_INPUT, "AWS_ACCESS_KEY_ID is set, but AWS_SECRET_ACCESS_KEY is not");
    unsetenv("AWS_ACCESS_KEY_ID");
    setenv("AWS_SECRET_ACCESS_KEY", "x", 1);
    expect_refused("", PROBLEM_INPUT, "AWS_SECRET_ACCESS_KEY is set, but AWS_ACCESS_KEY_ID is not");
    setenv("AWS_SECRET_ACCESS_KEY", "", 1);
    expect("", "AKIADEFAULT", "default/secret+1", "profile default");
}

static void the_profile_of_the_environment(void **state)
{
    (void)state;
    write_file("credentials", two_profiles);
    expect("", "AKIADEFAULT", "default/secret+1", "profile default");
    setenv("AWS_DEFAULT_PROFILE", "data", 1);
    expect("", "AKIADATA", "data/secret+2", "profile data");
    setenv("AWS_PROFILE", "default", 1);
    expect("", "AKIADEFAULT", "default/secret+1", "profile default");
    setenv("AWS_PROFILE", "nobody", 1);
    expect_refused("", PROBLEM_MISSING, "there is no profile nobody");
}

static void web_identity_counts_before_a_profile_and_is_said(void **state)
{
    (void)state;
    write_file("credentials", two_profiles);
    setenv("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/x", 1);
    setenv("AWS_WEB_IDENTITY_TOKEN_FILE", "/var/run/token", 1);
    expect_refused("", PROBLEM_INPUT, "AWS_WEB_IDENTITY_TOKEN_FILE, which sluice does not do yet");
    expect("data", "AKIADATA", "data/secret+2", "profile data");
}

/* A profile with a role and static keys acts as the role: taking the keys would act as another. */
static void static_keys_are_not_taken_for_a_role(void **state)
{
    (void)state;
    static const char *const before[] = {("role_arn = arn:aws:iam::123456789012:role/x\n"
                                          "source_profile = data"),
                                         "web_identity_token_file = /x", "sso_session = corp",
                                         "sso_start_url = https://corp.awsapps.com/start"};
    write_file("credentials", two_profiles);
    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        AUTO(xfree) char *config = xasprintf("[profile data]\n%s\n", before[i]);
        write_file("config", config);
        expect_refused("data", PROBLEM_INPUT, "which sluice does not do yet");
        expect_refused("data", PROBLEM_INPUT, "aws configure export-credentials --profile data");
    }
}

static void a_process_counts_after_the_credentials_file_and_before_config(void **state)
{
    (void)state;
    write_file("credentials", two_profiles);
    write_file("config", "[profile data]\ncredential_process = /bin/x\n"
                         "[profile other]\ncredential_process = /bin/x\n"
                         "aws_access_key_id = AKIAOTHER\naws_secret_access_key = other\n"
                         "[profile plain]\naws_access_key_id = AKIAPLAIN\n"
                         "aws_secret_access_key = plain\nregion = eu-west-1\n");
    expect("data", "AKIADATA", "data/secret+2", "/.aws/credentials");
    expect_refused("other", PROBLEM_INPUT, "credential_process");
    expect("plain", "AKIAPLAIN", "plain", "/.aws/config");
}

static void files_elsewhere(void **state)
{
    (void)state;
    write_file("credentials", two_profiles);
    AUTO(xfree) char *path = xasprintf("%s/.aws/credentials", folder);
    setenv("AWS_SHARED_CREDENTIALS_FILE", path, 1);
    setenv("HOME", "/nowhere", 1);
    expect("data", "AKIADATA", "data/secret+2", path);
    setenv("AWS_SHARED_CREDENTIALS_FILE", "/", 1);
    struct aws_credentials c;
    assert_int_equal(aws_credentials_load("data", &c, NULL), -1);
}

static void temporary_keys_and_their_end(void **state)
{
    (void)state;
    struct aws_credentials c;
    setenv("AWS_ACCESS_KEY_ID", "ASIAENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "env/secret", 1);
    setenv("AWS_SECURITY_TOKEN", "old==", 1);
    assert_int_equal(aws_credentials_load("", &c, NULL), 0);
    assert_string_equal(secret_bytes(c.session_token), "old==");
    assert_int_equal(c.expires, 0);
    aws_credentials_release(&c);
    setenv("AWS_SESSION_TOKEN", "new==", 1);
    setenv("AWS_CREDENTIAL_EXPIRATION", "2026-11-30T10:00:00+00:00", 1);
    assert_int_equal(aws_credentials_load("", &c, NULL), 0);
    assert_string_equal(secret_bytes(c.session_token), "new==");
    assert_int_equal(c.expires, 1796032800);
    aws_credentials_release(&c);
    setenv("AWS_CREDENTIAL_EXPIRATION", "tomorrow", 1);
    assert_int_equal(aws_credentials_load("", &c, NULL), 0);
    assert_int_equal(c.expires, 0);
    aws_credentials_release(&c);
}

static void keys_that_cannot_be_keys(void **state)
{
    (void)state;
    static const struct {
        const char *id, *secret, *says;
    } rows[] = {{"AKIA X", "s", "access key id of environment"},
                {"AKIAX", "a b", "it holds a blank"},
                {"AKIAX", "a\r", "it holds a blank"},
                {"AKIAX", "\"quoted\"", "it holds a quote"},
                {"wJal/rXUtn+FEMI", "AKIAX", "wrong way round"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        setenv("AWS_ACCESS_KEY_ID", rows[i].id, 1);
        setenv("AWS_SECRET_ACCESS_KEY", rows[i].secret, 1);
        expect_refused("", PROBLEM_INPUT, rows[i].says);
    }
    setenv("AWS_ACCESS_KEY_ID", "AKIAX", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "s", 1);
    setenv("AWS_SESSION_TOKEN", "a\nb", 1);
    expect_refused("", PROBLEM_INPUT, "session token of environment");
}

/* --- regions --- */

static void expect_region(const char *profile, const char *region)
{
    struct aws_credentials c;
    AUTO(xfree) char *named = aws_region_named(profile);
    assert_int_equal(aws_credentials_load(profile, &c, NULL), 0);
    if (region == NULL) {
        assert_null(c.region);
        assert_null(named);
    } else {
        assert_string_equal(c.region, region);
        assert_string_equal(named, region);
    }
    aws_credentials_release(&c);
}

static void regions(void **state)
{
    (void)state;
    struct aws_credentials c;
    write_file("credentials", two_profiles);
    expect_region("data", NULL);
    write_file("config",
               "[profile data]\nregion = eu-central-1 # ours\n[default]\nregion=us-west-2");
    expect_region("data", "eu-central-1");
    expect_region("", "us-west-2");
    setenv("AWS_ACCESS_KEY_ID", "AKIAENV", 1);
    setenv("AWS_SECRET_ACCESS_KEY", "env/secret", 1);
    expect_region("", "us-west-2"); /* keys of the environment, region of the default profile */
    setenv("AWS_DEFAULT_REGION", "sa-east-1", 1);
    expect_region("data", "sa-east-1");
    setenv("AWS_REGION", "ap-south-1", 1);
    expect_region("data", "ap-south-1");
    assert_int_equal(aws_credentials_load("", &c, NULL), 0);
    assert_string_equal(c.note, "AWS_REGION (ap-south-1) counts, not AWS_DEFAULT_REGION "
                                "(sa-east-1)");
    aws_credentials_release(&c);
}

/* --- the dialect --- */

static void the_dialect(void **state)
{
    (void)state;
    write_file("credentials",
               "\xEF\xBB\xBF# a comment\r\n; another\r\n\r\n"
               "[ data ]  of ours\r\n"
               "AWS_Access_Key_ID: AKIADATA\r\n"
               "aws_secret_access_key = a/b+c=d#e;f ; not this\r\n"
               "[plain] \n"
               "aws_access_key_id=AKIAPLAIN\naws_secret_access_key=  plain\t\n"
               "[indented]\n  aws_access_key_id = AKIAIN\n  aws_secret_access_key = in\n"
               "[nested]\naws_access_key_id = AKIANEST\n"
               "s3 =\n  aws_access_key_id = AKIAWRONG\n\taws_secret_access_key = wrong\n"
               "aws_secret_access_key = nested\n"
               "  continued\n"
               "[twice]\naws_access_key_id = AKIAOLD\n"
               "[other]\n[twice]\naws_access_key_id = AKIANEW\naws_secret_access_key = twice\n"
               "[profile literal]\naws_access_key_id = AKIALIT\naws_secret_access_key = lit");
    expect("data", "AKIADATA", "a/b+c=d#e;f", "profile data");
    expect("plain", "AKIAPLAIN", "plain", "");
    expect("indented", "AKIAIN", "in", "");
    expect("nested", "AKIANEST", "nested", "");
    expect("twice", "AKIANEW", "twice", "");
    expect("profile literal", "AKIALIT", "lit", "");
    expect_refused("other", PROBLEM_MISSING, "profile other has no keys");
    expect_refused("literal", PROBLEM_MISSING, "there is no profile literal");
}

static void names_in_the_config_file(void **state)
{
    (void)state;
    write_file("config", "[default]\naws_access_key_id=AKIAD\naws_secret_access_key=d\n"
                         "[profile   data]\naws_access_key_id=AKIAP\naws_secret_access_key=p\n"
                         "[profile \"two words\"]\naws_access_key_id=AKIAQ\n"
                         "aws_secret_access_key=q\n"
                         "[data]\naws_access_key_id=AKIAWRONG\naws_secret_access_key=wrong\n"
                         "[sso-session data]\nsso_start_url = https://x\n"
                         "[services data]\nsts =\n  endpoint_url = http://evil\n");
    expect("", "AKIAD", "d", "profile default");
    expect("data", "AKIAP", "p", "profile data");
    expect("two words", "AKIAQ", "q", "profile two words");
}

/* inih, which other programs use, would cut this at 200 bytes. */
static void a_long_session_token(void **state)
{
    (void)state;
    AUTO_TEXT file = TEXT_INIT;
    AUTO_TEXT token = TEXT_INIT;
    struct aws_credentials c;
    for (int i = 0; i < 3000; i++)
        text_addc(&token, "abcdefghijklmnopqrstuvwxyz+/="[i % 29]);
    text_addf(&file,
              "[data]\naws_access_key_id=ASIAX\naws_secret_access_key=x\n"
              "aws_session_token=%s\nregion=us-east-1\n",
              token.s);
    write_file("credentials", file.s);
    assert_int_equal(aws_credentials_load("data", &c, NULL), 0);
    assert_string_equal(secret_bytes(c.session_token), token.s);
    aws_credentials_release(&c);
}

static void broken_files_are_said(void **state)
{
    (void)state;
    static const struct {
        const char *bytes, *says;
    } rows[] = {{"aws_access_key_id = X\n", "line 1 cannot"},
                {"[data]\nno divider here\n", "line 2 cannot"},
                {"[data\nx = 1\n", "line 1 cannot"},
                {"[data]\n= 1\n", "line 2 cannot"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        write_file("credentials", rows[i].bytes);
        expect_refused("data", PROBLEM_INPUT, rows[i].says);
    }
}

static void the_profiles_of_both_files(void **state)
{
    (void)state;
    size_t count;
    char **none = aws_profiles(&count);
    assert_int_equal(count, 0);
    xfree(none);
    write_file("credentials", two_profiles);
    write_file("config", "[profile data]\n[profile corp]\nsso_session=corp\n[sso-session corp]\n"
                         "[profile 'a b']\n[plugins]\n");
    char **names = aws_profiles(&count);
    static const char *const expected[] = {"default", "data", "corp", "a b"};
    assert_int_equal(count, ARRAY_LEN(expected));
    for (size_t i = 0; i < count; i++) {
        assert_string_equal(names[i], expected[i]);
        xfree(names[i]);
    }
    xfree(names);
}

/* --- bytes of any kind --- */

static void count_calls(void *ctx, const char *section, const char *key, const char *value)
{
    assert_non_null(section);
    assert_true((key == NULL) == (value == NULL));
    ++*(size_t *)ctx;
}

static void any_bytes_end(void **state)
{
    (void)state;
    unsigned seed = 20261130;
    static const char alphabet[] = "[]=:#; \t\r\n\"'abk\x80\xff";
    for (int round = 0; round < 20000; round++) {
        char bytes[65];
        size_t calls = 0, n = (size_t)(rand_r(&seed) % 64);
        for (size_t i = 0; i < n; i++)
            bytes[i] = alphabet[(size_t)rand_r(&seed) % (sizeof(alphabet) - 1)];
        bytes[n] = '\0';
        ini_read(bytes, &(struct ini_reader){count_calls, &calls});
        assert_true(calls <= 64);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(nothing_at_all, clean),
        cmocka_unit_test_setup(the_environment_beats_files_but_not_a_chosen_profile, clean),
        cmocka_unit_test_setup(half_a_pair_is_not_passed_over, clean),
        cmocka_unit_test_setup(the_profile_of_the_environment, clean),
        cmocka_unit_test_setup(web_identity_counts_before_a_profile_and_is_said, clean),
        cmocka_unit_test_setup(static_keys_are_not_taken_for_a_role, clean),
        cmocka_unit_test_setup(a_process_counts_after_the_credentials_file_and_before_config,
                               clean),
        cmocka_unit_test_setup(files_elsewhere, clean),
        cmocka_unit_test_setup(temporary_keys_and_their_end, clean),
        cmocka_unit_test_setup(keys_that_cannot_be_keys, clean),
        cmocka_unit_test_setup(regions, clean),
        cmocka_unit_test_setup(the_dialect, clean),
        cmocka_unit_test_setup(names_in_the_config_file, clean),
        cmocka_unit_test_setup(a_long_session_token, clean),
        cmocka_unit_test_setup(broken_files_are_said, clean),
        cmocka_unit_test_setup(the_profiles_of_both_files, clean),
        cmocka_unit_test(any_bytes_end),
    };
    return cmocka_run_group_tests(tests, begin, end);
}
