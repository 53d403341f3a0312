/* Answers from a file, the environment and --set: what is refused and how it is said, and which of
 * several counts. */
#include "fake_world.h"

#include <errno.h>
#include <sys/stat.h>

#include "core/file.h"
#include "core/state.h"

struct world {
    struct rows rows;
    struct wizard *w;
    char folder[64];
    char *path;
};

static int set_up(void **state)
{
    struct world *x = xcalloc(1, sizeof *x);
    x->w = fake_wizard(&x->rows);
    memcpy(x->folder, "/tmp/answersXXXXXX", sizeof "/tmp/answersXXXXXX");
    assert_non_null(mkdtemp(x->folder));
    x->path = xasprintf("%s/answers.yaml", x->folder);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct world *x = *state;
    AUTO(xfree) char *command = xasprintf("%s/sluice", x->folder);
    AUTO(xfree) char *recent = xasprintf("%s/recent", command);
    unlink(recent);
    rmdir(command);
    unlink(x->path);
    rmdir(x->folder);
    wizard_free(x->w);
    rows_release(&x->rows);
    xfree(x->path);
    xfree(x);
    return 0;
}

static int load(struct world *x, const char *text, struct problem *err)
{
    assert_int_equal(file_replace(x->path, text, strlen(text), false, NULL), 0);
    return answers_load(x->w, x->path, err);
}

static void assert_refused(struct world *x, const char *text, const char *said)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_int_equal(load(x, text, &p), -1);
    assert_int_equal(p.kind, PROBLEM_INPUT);
    if (strstr(p.what, said) == NULL || strstr(p.what, x->path) == NULL || p.fix == NULL)
        fail_msg("“%s” and not “%s”", p.what, said);
}

static void file_sets_every_kind(void **state)
{
    struct world *x = *state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    setenv("FAKE_KEY", "from-the-environment", 1);
    assert_int_equal(load(x,
                          "answers:\n"
                          "  a: {url: https://one.example, use_key: yes, list: [x, 'y,z'],\n"
                          "      map: {x: full}, key: {secret: 'env:FAKE_KEY'}}\n"
                          "  start: {name: shop, keep_secrets: file}\n"
                          "  b:\n",
                          &p),
                     0);
    assert_string_equal(effective_text(x->w, F_NAME), "shop");
    assert_string_equal(secret_text(x->w, F_KEY), "from-the-environment");
    assert_string_equal(wizard_answer(x->w, F_KEY)->host, "https://one.example");
    assert_string_equal(wizard_answer(x->w, F_LIST)->items[1], "y,z");
    assert_int_equal(wizard_origin(x->w, F_LIST), ORIGIN_ANSWERS);
    assert_int_equal(load(x, "start: {name: shop2}", &p), 0); /* without the mapping, too */
    assert_string_equal(effective_text(x->w, F_NAME), "shop2");
    assert_int_equal(load(x, "answers:\n", &p), 0);
    assert_int_equal(load(x, "", &p), 0);
}

static void wrong_files_are_named_with_line_and_reason(void **state)
{
    struct world *x = *state;
    assert_refused(x, "start:\n  nmae: shop\n", "line 2: “start.nmae” is no field");
    assert_refused(x, "strat: {name: shop}\n", "line 1: “strat” is no step");
    assert_refused(x, "start: shop\n", "line 1: “start” is not a mapping");
    assert_refused(x, "answers: [x]\n", "line 1: “answers” is no step");
    assert_refused(x, "start:\n  name: [x]\n", "line 2: start.name must be a single text");
    assert_refused(x, "\na:\n  list: x\n", "line 3: a.list must be a list");
    assert_refused(x, "start: {name: 'aloud!'}\n", "line 1: start.name: it shouts");
    assert_refused(x, "start: {keep_secrets: everywhere}\n", "everywhere");
    assert_refused(x, "start: {name: [}\n", "line 1");
    assert_refused(x, "start: {name: a, name: b}\n", "line 1");
    assert_refused(x, "a:\n  key: {secret: 'env:NO_SUCH'}\n", "line 2: a.key");
    assert_refused(x, "a:\n  key: {secret: stored}\n", "line 2: a.key must be a reference");
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_int_equal(load(x, "a:\n  key: hunter2-hunter2\n", &p), -1);
    assert_non_null(strstr(p.what, "line 2: a.key must be"));
    assert_null(strstr(p.what, "hunter2"));
    assert_int_equal(answers_load(x->w, "/no/such/file", &p), -1);
    assert_int_equal(p.kind, PROBLEM_INPUT);
    assert_non_null(p.fix);
}

static void literal_secrets_are_wrong_usage(void **state)
{
    struct world *x = *state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_int_equal(answers_set(x->w, "a.key=hunter2-hunter2", ORIGIN_SET, &p), -1);
    assert_string_equal(p.code, "usage");
    assert_null(strstr(p.what, "hunter2"));
    assert_null(strstr(p.fix, "hunter2"));
    assert_null(wizard_answer(x->w, F_KEY));
    assert_int_equal(answers_set(x->w, "a.nothing=1", ORIGIN_SET, &p), -1);
    assert_string_equal(p.code, "usage");
    assert_int_equal(answers_set(x->w, "a.url", ORIGIN_SET, &p), -1);
    assert_string_equal(p.code, "usage");
    setenv("FAKE_KEY", "from-the-environment", 1);
    assert_int_equal(answers_set(x->w, "a.key=env:FAKE_KEY", ORIGIN_SET, &p), 0);
    assert_string_equal(secret_text(x->w, F_KEY), "from-the-environment");
    assert_int_equal(answers_set(x->w, "a.admin=env:FAKE_KEY", ORIGIN_SET, &p), 0);
    assert_int_equal(answers_set(x->w, "a.key=", ORIGIN_SET, &p), 0);
    assert_null(wizard_answer(x->w, F_KEY));
    assert_int_equal(answers_set(x->w, "a.url=https://x/?a=b", ORIGIN_SET, &p), 0);
    assert_string_equal(effective_text(x->w, F_URL), "https://x/?a=b");
    assert_int_equal(answers_set(x->w, "a.list=x,y", ORIGIN_SET, &p), 0);
    assert_int_equal(wizard_answer(x->w, F_LIST)->count, 2);
    assert_int_equal(answers_set(x->w, "start.name=aloud!", ORIGIN_SET, &p), -1);
    assert_string_not_equal(p.code, "usage");
}

static void the_environment_fills_gaps_only(void **state)
{
    struct world *x = *state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    wizard_set_text(x->w, F_URL, "https://state.example", ORIGIN_STATE, NULL);
    setenv("SLUICE_A_URL", "https://environment.example", 1);
    setenv("SLUICE_A_BRANCH", "from.environment", 1);
    setenv("SLUICE_A_SIZE", "", 1);
    setenv("SLUICE_A_LIST", "x, y", 1);
    setenv("SLUICE_B_TOKEN", "token-of-the-environment", 1);
    assert_int_equal(answers_environment(x->w, &p), 0);
    assert_string_equal(effective_text(x->w, F_URL), "https://state.example");
    assert_string_equal(effective_text(x->w, F_BRANCH), "from.environment");
    assert_int_equal(wizard_origin(x->w, F_BRANCH), ORIGIN_ENVIRONMENT);
    assert_int_equal(wizard_answer(x->w, F_LIST)->count, 2);
    assert_null(wizard_answer(x->w, F_SIZE));
    assert_string_equal(secret_text(x->w, F_TOKEN), "token-of-the-environment");
    assert_null(getenv("SLUICE_B_TOKEN"));
    unsetenv("SLUICE_A_URL");
    unsetenv("SLUICE_A_BRANCH");
    unsetenv("SLUICE_A_SIZE");
    setenv("SLUICE_A_LIST", "x, y!", 1);
    setenv("SLUICE_B_TOKEN", "another-token-altogether", 1);
    assert_int_equal(answers_environment(x->w, &p), -1);
    assert_non_null(strstr(p.what, "SLUICE_A_LIST"));
    assert_null(getenv("SLUICE_B_TOKEN")); /* removed though there was an error before it */
    unsetenv("SLUICE_A_LIST");
}

static void secret_variables_are_wiped_even_when_not_used(void **state)
{
    struct world *x = *state;
    wizard_set_text(x->w, F_URL, "https://one.example", ORIGIN_STATE, NULL);
    assert_int_equal(wizard_set_text(x->w, F_KEY, "of-the-state", ORIGIN_STATE, NULL), 0);
    setenv("SLUICE_A_KEY", "of-the-environment", 1);
    char *bytes = getenv("SLUICE_A_KEY");
    assert_int_equal(answers_environment(x->w, NULL), 0);
    assert_string_equal(secret_text(x->w, F_KEY), "of-the-state");
    assert_null(getenv("SLUICE_A_KEY"));
    assert_int_equal(bytes[0], '\0');
    /* one that is not at hand is a gap as well */
    wizard_set(x->w, F_KEY, value_secret(NULL, NULL, "https://one.example"), ORIGIN_STATE, NULL);
    setenv("SLUICE_A_KEY", "of-the-environment", 1);
    assert_int_equal(answers_environment(x->w, NULL), 0);
    assert_string_equal(secret_text(x->w, F_KEY), "of-the-environment");
}

static void precedence(void **state)
{
    struct world *x = *state;
    wizard_set_text(x->w, F_URL, "https://state.example", ORIGIN_STATE, NULL);
    setenv("SLUICE_A_URL", "https://environment.example", 1);
    assert_int_equal(answers_environment(x->w, NULL), 0);
    unsetenv("SLUICE_A_URL");
    assert_string_equal(effective_text(x->w, F_URL), "https://state.example");
    assert_int_equal(load(x, "a: {url: 'https://answers.example'}", NULL), 0);
    assert_string_equal(effective_text(x->w, F_URL), "https://answers.example");
    assert_int_equal(answers_set(x->w, "a.url=https://set.example", ORIGIN_SET, NULL), 0);
    assert_string_equal(effective_text(x->w, F_URL), "https://set.example");
    assert_int_equal(wizard_origin(x->w, F_URL), ORIGIN_SET);
}

static void recent_files(void **state)
{
    struct world *x = *state;
    setenv("XDG_STATE_HOME", x->folder, 1);
    size_t count;
    assert_null(recent_list(&count));
    assert_int_equal(count, 0);
    assert_int_equal(load(x, "", NULL), 0);
    recent_add(x->path);
    recent_add("/no/such/file");
    recent_add("/etc/passwd");
    recent_add(x->path);
    char **list = recent_list(&count);
    assert_int_equal(count, 2);
    assert_string_equal(list[0], x->path);
    assert_string_equal(list[1], "/etc/passwd");
    for (size_t i = 0; i < count; i++)
        xfree(list[i]);
    xfree(list);
    unlink(x->path); /* a file that is gone is not offered */
    list = recent_list(&count);
    assert_int_equal(count, 1);
    xfree(list[0]);
    xfree(list);
    unsetenv("XDG_STATE_HOME");
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(file_sets_every_kind),
        TEST(wrong_files_are_named_with_line_and_reason),
        TEST(literal_secrets_are_wrong_usage),
        TEST(the_environment_fills_gaps_only),
        TEST(secret_variables_are_wiped_even_when_not_used),
        TEST(precedence),
        TEST(recent_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
