/* The opening screen's model: what a state file says about its set-up, in words; which files it
 * finds; where a new one goes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/state.h"
#include "ui/home.h"

static void no_run(struct run *run, struct outcome *out)
{
    (void)run;
    outcome_pass(out, "fine");
}

#define CHECK(name, check_id, check_title, ...)                                                    \
    static const struct check name = {                                                             \
        .id = check_id, .title = check_title, .run = no_run, __VA_ARGS__}

CHECK(clock_check, "start.clock", "clock", .severity = SEV_INFORMS);
CHECK(login, "db.login", "logs in", .severity = SEV_BLOCKS);
CHECK(level, "db.level", "log level", .severity = SEV_BLOCKS);
CHECK(smoke, "db.smoke", "smoke job", .severity = SEV_BLOCKS, .effect = EFFECT_COSTS);
static const struct check *const start_checks[] = {&clock_check, NULL};
static const struct check *const db_checks[] = {&login, &level, &smoke, NULL};
static const char *const later[] = {"Here will be more.", NULL};

static const struct step start = {
    .id = "start", .number = "", .name = "Start", .title = "Start", .checks = start_checks};
static const struct step db = {
    .id = "db", .number = "2", .name = "DB", .title = "Database", .checks = db_checks};
static const struct step cloud = {
    .id = "cloud", .number = "3a", .name = "Cloud", .title = "Cloud", .later = later};
static const struct step page = {.id = "page", .number = "", .name = "Page", .title = "Page"};
static const struct step *const steps[] = {&start, &db, &cloud, &page, NULL};

static struct rows rows;

static int make_rows(void **state)
{
    (void)state;
    return rows_init(&rows, steps, NULL);
}

static int drop_rows(void **state)
{
    (void)state;
    rows_release(&rows);
    return 0;
}

static struct home_entry read_yaml(const char *yaml)
{
    struct home_entry e = {0};
    AUTO_PROBLEM p = PROBLEM_INIT;
    struct node *doc = node_parse_yaml(yaml, strlen(yaml), "test", &p);
    assert_non_null(doc);
    home_read(&rows, doc, &e);
    node_free(doc);
    return e;
}

static void assert_words(const struct home_entry *e, const char *status, const char *heading)
{
    AUTO_TEXT s = TEXT_INIT;
    AUTO_TEXT h = TEXT_INIT;
    home_status(e, &s);
    home_heading(e, &h);
    assert_string_equal(s.s, status);
    assert_string_equal(h.s, heading);
}

static void an_empty_file_has_all_before_it(void **state)
{
    (void)state;
    struct home_entry e = read_yaml("sluice: 1\n");
    assert_string_equal(e.name, "no name yet");
    /* what only informs holds nothing back; a page without anything to prove does not count */
    assert_words(&e, "1 of 3 steps proved", "no name yet goes on at 2 Database.");
    home_entry_release(&e);
}

static void passed_warned_skipped_and_accepted_are_proved(void **state)
{
    (void)state;
    struct home_entry e = read_yaml("sluice: 1\nname: shop\nchecks:\n"
                                    "  db.login: {status: warned}\n"
                                    "  db.level: {status: failed, accepted: until Monday}\n");
    assert_int_equal(e.proved, 2);
    assert_int_equal(e.need_count, 0);
    assert_words(&e, "2 of 3 steps proved", "shop goes on at 3a Cloud.");
    home_entry_release(&e);
}

static void who_must_act_is_named_once(void **state)
{
    (void)state;
    struct home_entry e =
        read_yaml("sluice: 1\nname: shop\nchecks:\n"
                  "  start.clock: {status: unreachable, who: network, fix: open it}\n"
                  "  db.login: {status: failed, who: AWS admin, fix: let alice in}\n"
                  "  db.level: {status: failed, who: AWS admin, fix: set it}\n");
    assert_int_equal(e.need_count, 3);
    assert_string_equal(e.needs[1].title, "logs in");
    assert_string_equal(e.needs[1].fix, "let alice in");
    assert_words(&e, "0 of 3 steps proved · waits for: network, AWS admin",
                 "shop waits for others:");
    home_entry_release(&e);
}

static void without_an_actor_it_is_you(void **state)
{
    (void)state;
    struct home_entry e = read_yaml("sluice: 1\nname: shop\nchecks:\n"
                                    "  db.login: {status: failed, line: password refused}\n");
    assert_string_equal(e.needs[0].who, "you");
    assert_string_equal(e.needs[0].fix, "password refused");
    assert_words(&e, "1 of 3 steps proved · waits for: you", "shop waits for you:");
    home_entry_release(&e);
}

static void edited_texts_are_cleaned(void **state)
{
    (void)state;
    struct home_entry e =
        read_yaml("sluice: 1\nname: \"a\\e[2Jb\"\nchecks:\n"
                  "  db.login: {status: failed, who: \"x\\ty\", fix: \"1\\n2\"}\n");
    assert_null(strchr(e.name, 27));
    assert_null(strchr(e.needs[0].who, '\t'));
    assert_null(strchr(e.needs[0].fix, '\n'));
    home_entry_release(&e);
}

static void odd_documents_do_no_harm(void **state)
{
    (void)state;
    static const char *const odd[] = {
        "sluice: 1\nchecks: [1, 2]\n", "sluice: 1\nchecks: {db.login: passed}\n",
        "sluice: 1\nname: {a: b}\nchecks: {db.login: {status: [x]}}\n",
        "sluice: 1\nchecks: {db.login: {status: nonsense, fix: ~}}\n"};
    for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
        struct home_entry e = read_yaml(odd[i]);
        assert_int_equal(e.proved, 1);
        assert_int_equal(e.need_count, 0);
        home_entry_release(&e);
    }
}

static void ages_in_words(void **state)
{
    (void)state;
    static const struct {
        int64_t seconds;
        const char *words;
    } ages[] = {
        {-5, "just now"},
        {0, "just now"},
        {59, "just now"},
        {60, "1 min ago"},
        {3599, "59 min ago"},
        {3600, "1 hour ago"},
        {7300, "2 hours ago"},
        {86400, "1 day ago"},
        {18 * 86400, "18 days ago"},
        {60 * 86400, "2 months ago"},
        {3 * 365 * 86400, "3 years ago"},
    };
    for (size_t i = 0; i < ARRAY_LEN(ages); i++) {
        AUTO_TEXT out = TEXT_INIT;
        home_age(ages[i].seconds, &out);
        assert_string_equal(out.s, ages[i].words);
    }
}

/* --- files ------------------------------------------------------------------------------------ */

struct place {
    char folder[64];
    char *before;
};

static int enter_folder(void **state)
{
    struct place *at = xcalloc(1, sizeof(*at));
    strncat(at->folder, "/tmp/sluice-home-XXXXXX", sizeof(at->folder) - 1);
    at->before = getcwd(NULL, 0);
    *state = at;
    if (mkdtemp(at->folder) == NULL || chdir(at->folder) != 0 || make_rows(state) != 0)
        return -1;
    AUTO(xfree) char *recent = xasprintf("%s/xdg", at->folder);
    return setenv("XDG_STATE_HOME", recent, 1);
}

static int leave_folder(void **state)
{
    static const char *const made[] = {
        "sluice.yaml", "sluice.yaml.lock",  "sluice-2.yaml", "other/sluice.yaml",
        "other",       "xdg/sluice/recent", "xdg/sluice",    "xdg"};
    struct place *at = *state;
    for (size_t i = 0; i < ARRAY_LEN(made); i++)
        remove(made[i]);
    int rc = chdir(at->before);
    rmdir(at->folder);
    free(at->before);
    xfree(at);
    return rc + drop_rows(state);
}

static void put(const char *path, const char *bytes)
{
    assert_int_equal(file_replace(path, bytes, strlen(bytes), false, NULL), 0);
}

static void nothing_there_means_a_new_one_here(void **state)
{
    (void)state;
    struct home h;
    home_load(&h, &rows);
    assert_int_equal(h.count, 0);
    assert_string_equal(h.new_path, "sluice.yaml");
    assert_false(file_exists("sluice.yaml.lock"));
    home_release(&h);
}

static void what_is_here_comes_first_and_once(void **state)
{
    (void)state;
    struct home h;
    mkdir("other", 0700);
    put("sluice.yaml", "sluice: 1\nname: here\n");
    put("other/sluice.yaml", "sluice: 1\nname: there\n");
    recent_add("sluice.yaml");
    recent_add("other/sluice.yaml");
    home_load(&h, &rows);
    assert_int_equal(h.count, 2);
    assert_string_equal(h.entries[0].name, "here");
    assert_string_equal(h.entries[0].path, "sluice.yaml");
    assert_string_equal(h.entries[1].name, "there");
    assert_true(h.entries[1].at > 0);
    assert_string_equal(h.new_path, "sluice-2.yaml");
    home_release(&h);
    put("sluice-2.yaml", "anything");
    home_load(&h, &rows);
    assert_string_equal(h.new_path, "sluice-3.yaml");
    home_release(&h);
}

static void what_cannot_be_opened_says_why(void **state)
{
    (void)state;
    struct home h;
    put("sluice.yaml", "sluice: 99\n");
    home_load(&h, &rows);
    assert_int_equal(h.count, 1);
    assert_non_null(strstr(h.entries[0].fault, "newer"));
    assert_words(&h.entries[0], "cannot be opened",
                 "It cannot be opened: sluice.yaml is of a newer sluice, or no state file");
    home_release(&h);
    put("sluice.yaml", "sluice: [\n");
    home_load(&h, &rows);
    assert_non_null(strstr(h.entries[0].fault, "line"));
    home_release(&h);
    put("sluice.yaml", "sluice: 1\n");
    chmod("sluice.yaml", 0644);
    home_load(&h, &rows);
    assert_non_null(h.entries[0].fault);
    home_release(&h);
}

/* A sluice in which nothing was typed yet has a lock and no file. */
static void a_held_lock_is_in_use_and_not_free(void **state)
{
    (void)state;
    struct home h;
    struct file_lock *lock = file_lock("sluice.yaml.lock", NULL);
    assert_non_null(lock);
    home_load(&h, &rows);
    assert_int_equal(h.count, 0);
    assert_string_equal(h.new_path, "sluice-2.yaml");
    home_release(&h);
    put("sluice.yaml", "sluice: 1\nname: shop\n");
    home_load(&h, &rows);
    assert_non_null(strstr(h.entries[0].holder, "is held by process"));
    assert_words(&h.entries[0], "in use · 1 of 3 steps proved", "shop goes on at 2 Database.");
    home_release(&h);
    file_unlock(lock);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)
#define WITH_ROWS(test) cmocka_unit_test_setup_teardown(test, make_rows, drop_rows)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ROWS(an_empty_file_has_all_before_it),
        WITH_ROWS(passed_warned_skipped_and_accepted_are_proved),
        WITH_ROWS(who_must_act_is_named_once),
        WITH_ROWS(without_an_actor_it_is_you),
        WITH_ROWS(edited_texts_are_cleaned),
        WITH_ROWS(odd_documents_do_no_harm),
        cmocka_unit_test(ages_in_words),
        IN_FOLDER(nothing_there_means_a_new_one_here),
        IN_FOLDER(what_is_here_comes_first_and_once),
        IN_FOLDER(what_cannot_be_opened_says_why),
        IN_FOLDER(a_held_lock_is_in_use_and_not_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
