/* The state file: what is written comes back, what is not understood stays or is refused, and
 * secrets lie where they should and nowhere else. */
#include "fake_world.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "core/file.h"
#include "core/state.h"

struct world {
    char folder[64];
    char *path, *secrets, *previous;
};

/* One run of the program: everything that is in memory. */
struct session {
    struct rows rows;
    struct wizard *w;
    struct state *s;
};

static int set_up(void **state)
{
    struct world *x = xcalloc(1, sizeof *x);
    memcpy(x->folder, "/tmp/sluice-state-XXXXXX", sizeof "/tmp/sluice-state-XXXXXX");
    assert_non_null(mkdtemp(x->folder));
    x->path = xasprintf("%s/sluice.yaml", x->folder);
    x->secrets = xasprintf("%s/sluice.secrets", x->folder);
    x->previous = xasprintf("%s/sluice.yaml.previous", x->folder);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct world *x = *state;
    AUTO(xfree) char *command = xasprintf("%s/sluice.yaml.lock", x->folder);
    chmod(x->folder, 0700);
    unlink(x->path);
    unlink(x->secrets);
    unlink(x->previous);
    unlink(command);
    assert_int_equal(rmdir(x->folder), 0); /* no temporary file was left */
    xfree(x->path);
    xfree(x->secrets);
    xfree(x->previous);
    xfree(x);
    return 0;
}

static void session_begin(struct session *e, const char *path)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    e->w = fake_wizard(&e->rows);
    e->s = state_open(path, true, &p);
    if (e->s == NULL || state_load(e->s, e->w, &p) != 0)
        fail_msg("%s", p.what);
}

static void session_end(struct session *e)
{
    state_close(e->s);
    wizard_free(e->w);
    rows_release(&e->rows);
}

static void session_save(struct session *e)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (state_save(e->s, e->w, &p) != 0)
        fail_msg("%s", p.what);
}

static int unlock(struct session *e, const char *passphrase)
{
    struct secret *s = secret_new(passphrase, strlen(passphrase));
    int rc = state_unlock(e->s, e->w, s, NULL);
    secret_unref(s);
    return rc;
}

static char *read_all(const char *path)
{
    struct text t = TEXT_INIT;
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (file_read(path, STATE_FILE_MAX, true, &t, &p) != 0)
        fail_msg("%s", p.what);
    return text_take(&t);
}

static void write_all(const char *path, const char *bytes, size_t n)
{
    assert_int_equal(file_replace(path, bytes, n, false, NULL), 0);
}

static bool file_holds(const char *path, const char *what)
{
    AUTO(xfree) char *all = read_all(path);
    return strstr(all, what) != NULL;
}

/* A set-up with something of everything. */
static void fill(struct session *e)
{
    struct wizard *w = e->w;
    set_text(w, F_NAME, "shop");
    set_text(w, F_URL, "https://one.example");
    set_text(w, F_USE_KEY, "yes");
    set_text(w, F_KEY, "key-of-the-operator");
    set_text(w, F_ADMIN, "secret-of-the-admin");
    set_text(w, F_DIARY, "dear diary");
    set_text(w, F_LIST, "public.orders, public.\"Order Items\", \"a\nb\"");
    set_text(w, F_MAP, "public.tags=full");
    put_survey(w, 16, 3);
    put(w, C_VERDICT, STATUS_FAILED);
    wizard_accept(w, C_VERDICT, "we know");
    put(w, C_MAYBE, STATUS_PASSED);
    struct journal_entry *entry =
        wizard_journal_entry(w, plan_find(wizard_plan(w), "b.application"));
    entry->status = JOURNAL_MADE;
    entry->made = xstrdup("00abc");
    entry->saw = xstrdup("nothing");
    node_set_text(entry->args, "size", "large");
}

/* --- round trip ------------------------------------------------------------------------------- */

static void what_is_written_comes_back(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    assert_true(state_is_new(a.s));
    fill(&a);
    session_save(&a);
    assert_false(state_is_new(a.s));
    AUTO(xfree) char *run = xstrdup(state_run(a.s));
    assert_int_equal(strlen(run), 16);
    AUTO(xfree) char *first = read_all(x->path);
    assert_int_equal(strncmp(first, "sluice: 1\n", 10), 0);
    session_end(&a);

    session_begin(&b, x->path);
    assert_string_equal(state_run(b.s), run);
    assert_string_equal(effective_text(b.w, F_NAME), "shop");
    assert_int_equal(wizard_answer(b.w, F_LIST)->count, 3);
    assert_string_equal(wizard_answer(b.w, F_LIST)->items[1], "public.\"Order Items\"");
    assert_string_equal(wizard_answer(b.w, F_LIST)->items[2], "\"a\nb\"");
    assert_string_equal(wizard_answer(b.w, F_MAP)->items[0], "full");
    assert_int_equal(wizard_origin(b.w, F_BRANCH), ORIGIN_DEFAULT);
    assert_string_equal(wizard_accepted(b.w, C_VERDICT), "we know");
    assert_string_equal(seen(b.w, C_MAYBE).outcome->line, "fine");
    assert_string_equal(seen(b.w, C_VERDICT).outcome->code, "E1");
    const struct journal_entry *entries;
    assert_int_equal(wizard_journal(b.w, &entries), 1);
    assert_int_equal(entries[0].status, JOURNAL_MADE);
    assert_string_equal(entries[0].made, "00abc");
    assert_string_equal(entries[0].step, "b");
    assert_string_equal(entries[0].title, "application sluice-shop");
    assert_string_equal(node_get_text(entries[0].args, "size"), "large");
    assert_false(entries[0].was_there);
    session_save(&b);
    AUTO(xfree) char *same = read_all(x->path);
    assert_string_equal(same, first); /* nothing changed: nothing was written */
    wizard_touch(b.w);
    session_save(&b);
    AUTO(xfree) char *again = read_all(x->path);
    assert_string_equal(again, first);
    session_end(&b);
}

static void verdicts_stand_after_a_restart(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    fill(&a);
    set_text(a.w, F_USE_KEY, "no");
    put_survey(a.w, 16, 3);
    session_save(&a);
    session_end(&a);
    session_begin(&b, x->path);
    assert_true(stands(b.w, C_SURVEY, STATUS_PASSED));
    assert_true(stands(b.w, C_VERDICT, STATUS_ACCEPTED));
    assert_true(stands(b.w, C_MAYBE, STATUS_PASSED));
    set_text(b.w, F_URL, "https://two.example");
    assert_true(seen(b.w, C_SURVEY).stale && seen(b.w, C_VERDICT).stale);
    session_end(&b);
}

/* What a check found holds for the answers it found it with, also where its secrets are not at hand
 * or are read anew. */
static void outcomes_stand_without_their_secrets(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    fill(&a);
    assert_true(wizard_check_stands(a.w, C_SURVEY));
    set_text(a.w, F_KEY, "another-key-of-theirs");
    assert_false(wizard_check_current(a.w, C_SURVEY));
    assert_true(wizard_check_stands(a.w, C_SURVEY));
    session_save(&a);
    session_end(&a);
    session_begin(&b, x->path);
    assert_string_equal(secret_text(b.w, F_KEY), "");
    assert_false(wizard_check_current(b.w, C_SURVEY));
    assert_true(wizard_check_stands(b.w, C_SURVEY));
    assert_true(wizard_check_stands(b.w, C_VERDICT));
    assert_false(wizard_check_stands(b.w, C_PROBE)); /* never run */
    set_text(b.w, F_URL, "https://two.example");
    assert_false(wizard_check_stands(b.w, C_SURVEY));
    assert_false(wizard_check_stands(b.w, C_VERDICT)); /* its fact is of before */
    set_text(b.w, F_URL, "https://one.example");
    assert_true(wizard_check_stands(b.w, C_VERDICT));
    wizard_expire_check(b.w, C_SURVEY);
    assert_false(wizard_check_stands(b.w, C_SURVEY));
    session_end(&b);
}

static void facts_are_kept_to_be_read(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    fill(&a);
    struct node *now = state_kept_fact(a.s, a.w, "a.version");
    assert_string_equal(node_text(now), "16");
    assert_null(state_kept_fact(a.s, a.w, "b.items_found"));
    assert_null(state_kept_fact(a.s, a.w, "no.fact"));
    session_save(&a);
    session_end(&a);
    session_begin(&b, x->path);
    assert_null(wizard_fact(b.w, rows_fact(&b.rows, "a.version")));
    struct node *kept = state_kept_fact(b.s, b.w, "a.version");
    assert_string_equal(node_text(kept), "16");
    node_free(now);
    node_free(kept);
    session_end(&b);
}

/* Written otherwise it is the same value; another one was never found. */
static void an_edited_fact_was_not_found(void **state)
{
    static const struct {
        const char *from, *to;
        bool known;
    } edits[] = {{"value: 16", "value:    16   # sixteen", true},
                 {"value: 16", "value: 17", false},
                 {"value: 16", "value: [16]", false},
                 {"    sum: ", "    sun: ", true}}; /* as in a file of before */
    struct world *x = *state;
    struct session a;
    session_begin(&a, x->path);
    fill(&a);
    session_save(&a);
    session_end(&a);
    AUTO(xfree) char *whole = read_all(x->path);
    for (size_t i = 0; i < ARRAY_LEN(edits); i++) {
        const char *at = strstr(whole, edits[i].from);
        assert_non_null(at);
        AUTO(xfree)
        char *text = xasprintf("%.*s%s%s", (int)(at - whole), whole, edits[i].to,
                               at + strlen(edits[i].from));
        write_all(x->path, text, strlen(text));
        session_begin(&a, x->path);
        struct node *kept = state_kept_fact(a.s, a.w, "a.version");
        struct digest d = wizard_fact_digest(a.w, rows_fact(&a.rows, "a.version"));
        assert_int_equal(kept != NULL, edits[i].known);
        assert_int_equal(!digest_none(&d), edits[i].known);
        node_free(kept);
        session_end(&a);
    }
}

static void a_refused_login_stays_refused(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    fill(&a);
    set_text(a.w, F_USE_KEY, "no");
    AUTO_PROBLEM p = PROBLEM_INIT;
    problem_fail(&p, PROBLEM_REFUSED, "28P01", "password refused");
    problem_fix(&p, WHO_DBA, "reset it");
    struct outcome *o = brought(a.w, C_SURVEY, STATUS_FAILED);
    outcome_problem(o, &p);
    o->at -= 86400;
    assert_true(put_taken(a.w, C_SURVEY, o));
    session_save(&a);
    session_end(&a);
    session_begin(&b, x->path);
    assert_true(stands(b.w, C_SURVEY, STATUS_FAILED));
    assert_true(wizard_check_current(b.w, C_SURVEY));
    const struct outcome *kept = wizard_outcome(b.w, C_SURVEY);
    assert_int_equal(kept->who, WHO_DBA);
    assert_string_equal(kept->fix, "reset it");
    session_end(&b);
}

static void defaults_are_not_pinned(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    set_text(a.w, F_NAME, "shop");
    set_text(a.w, F_URL, "https://one.example");
    put_survey(a.w, 16, 3);
    assert_string_equal(effective_text(a.w, F_SIZE), "160");
    session_save(&a);
    assert_true(file_holds(x->path, "branch: shop.ingest")); /* the whole set-up is told */
    session_end(&a);
    session_begin(&b, x->path);
    set_text(b.w, F_NAME, "shop2");
    assert_string_equal(effective_text(b.w, F_BRANCH), "shop2.ingest");
    assert_string_equal(effective_text(b.w, F_SIZE), "160"); /* though its fact is not at hand */
    put_survey(b.w, 16, 3);
    put_survey(b.w, 17, 3);
    assert_string_equal(effective_text(b.w, F_SIZE), "170");
    session_end(&b);
}

/* Undo forgets what was made, in another process as well; what was typed stays. */
static void made_values_are_known_as_such(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    const char *const list[] = {"x", "y"};
    wizard_set(a.w, F_APP, value_text("made-abc"), ORIGIN_MADE, NULL);
    wizard_set(a.w, F_LIST, value_list(list, 2), ORIGIN_MADE, NULL);
    set_text(a.w, F_URL, "https://one.example");
    session_save(&a);
    session_end(&a);
    session_begin(&b, x->path);
    assert_int_equal(wizard_origin(b.w, F_APP), ORIGIN_MADE);
    assert_int_equal(wizard_origin(b.w, F_LIST), ORIGIN_MADE);
    assert_int_equal(wizard_origin(b.w, F_URL), ORIGIN_STATE);
    set_text(b.w, F_LIST, "z");
    session_save(&b);
    session_end(&b);
    AUTO(xfree) char *bytes = read_all(x->path);
    char *at = strstr(bytes, "app: made-abc"); /* edited by hand: no longer what was made */
    assert_non_null(at);
    memcpy(at, "app: made-xyz", 13);
    write_all(x->path, bytes, strlen(bytes));
    session_begin(&a, x->path);
    assert_int_equal(wizard_origin(a.w, F_APP), ORIGIN_STATE);
    assert_int_equal(wizard_origin(a.w, F_LIST), ORIGIN_STATE);
    assert_string_equal(effective_text(a.w, F_APP), "made-xyz");
    session_end(&a);
}

static void exceptions_without_outcome(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    wizard_accept(a.w, C_PROBE, "not here");
    session_save(&a);
    session_end(&a);
    session_begin(&b, x->path);
    assert_string_equal(wizard_accepted(b.w, C_PROBE), "not here");
    wizard_accept(b.w, C_PROBE, NULL);
    session_save(&b);
    session_end(&b);
    session_begin(&a, x->path);
    assert_null(wizard_accepted(a.w, C_PROBE));
    session_end(&a);
}

/* --- files of others -------------------------------------------------------------------------- */

static const char newer[] = "sluice: 1\n"
                            "run: 0123456789abcdef\n"
                            "answers:\n"
                            "  start: {name: shop, colour: blue}\n"
                            "  later: {x: 1}\n"
                            "  a:\n"
                            "    key: {secret: asked, note: ours}\n"
                            "facts:\n"
                            "  later.fact: {digest: 00, extra: [1, 2]}\n"
                            "checks:\n"
                            "  later.check: {status: passed}\n"
                            "  a.survey: {status: odd, extra: 1}\n"
                            "journal:\n"
                            "- {change: b.application, kind: b.thing, by: alice}\n"
                            "sealed: {capture: {x: y}}\n";

static void unknown_keys_survive(void **state)
{
    struct world *x = *state;
    struct session a;
    write_all(x->path, newer, sizeof newer - 1);
    session_begin(&a, x->path);
    assert_string_equal(state_run(a.s), "0123456789abcdef");
    set_text(a.w, F_URL, "https://one.example");
    put_survey(a.w, 1, 1);
    session_save(&a);
    session_end(&a);
    AUTO(xfree) char *bytes = read_all(x->path);
    struct node *n = node_parse_yaml(bytes, strlen(bytes), "state", NULL);
    assert_string_equal(node_get_text(node_find(n, "answers.start"), "colour"), "blue");
    assert_string_equal(node_get_text(node_find(n, "answers.later"), "x"), "1");
    assert_string_equal(node_get_text(node_find(n, "answers.a.key"), "note"), "ours");
    assert_int_equal(node_get(node_get(node_get(n, "facts"), "later.fact"), "extra")->count, 2);
    assert_non_null(node_get(node_get(n, "checks"), "later.check"));
    const struct node *survey = node_get(node_get(n, "checks"), "a.survey");
    assert_string_equal(node_get_text(survey, "extra"), "1");
    assert_string_equal(node_get_text(survey, "status"), "passed");
    assert_string_equal(node_get_text(node_get(n, "journal")->items[0], "by"), "alice");
    assert_string_equal(node_get_text(node_find(n, "sealed.capture"), "x"), "y");
    node_free(n);
}

/* Loading fails, says file, line and reason, and the file stands as it was. */
static void assert_refused(struct world *x, const char *text, const char *said)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    struct rows rows;
    struct wizard *w = fake_wizard(&rows);
    write_all(x->path, text, strlen(text));
    struct state *s = state_open(x->path, true, &p);
    if (s != NULL)
        assert_int_equal(state_load(s, w, &p), -1);
    assert_int_equal(p.kind, PROBLEM_INPUT);
    if (strstr(p.what, x->path) == NULL || strstr(p.what, said) == NULL || p.fix == NULL)
        fail_msg("“%s” and not “%s”", p.what, said);
    state_close(s);
    wizard_free(w);
    rows_release(&rows);
    AUTO(xfree) char *stands = read_all(x->path);
    assert_string_equal(stands, text);
}

static void malformed_files_are_refused(void **state)
{
    struct world *x = *state;
    assert_refused(x, "", "line 1: not a state file");
    assert_refused(x, "just a text", "line 1");
    assert_refused(x, "answers: {}\n", "line 1: not a state file");
    assert_refused(x, "\nsluice: 2\n", "line 2: written by a newer sluice (schema 2)");
    assert_refused(x, "sluice: x\n", "line 1: not a state file");
    assert_refused(x, "sluice: 1\n\tanswers: {}\n", "line 2");
    assert_refused(x, "sluice: 1\nsluice: 1\n", "line 2");
    assert_refused(x, "sluice: 1\nanswers: [x]\n", "line 2: answers must be a mapping");
    assert_refused(x, "sluice: 1\nanswers:\n  a: x\n", "line 3: a must be a mapping");
    assert_refused(x, "sluice: 1\nanswers:\n  a: {list: x}\n", "line 3: a.list must be a list");
    assert_refused(x, "sluice: 1\nanswers:\n  a: {url: [x]}\n", "line 3: a.url must be");
    assert_refused(x, "sluice: 1\nanswers:\n  a: {key: sesame}\n", "line 3: a.key must be");
    assert_refused(x, "sluice: 1\nfacts: x\n", "line 2: facts must be a mapping");
    assert_refused(x, "sluice: 1\nfacts: {a.version: 1}\n", "line 2: a.version must be a mapping");
    assert_refused(x, "sluice: 1\nchecks: []\n", "line 2: checks must be a mapping");
    assert_refused(x, "sluice: 1\nchecks:\n  a.survey: x\n", "line 3: a.survey must be a mapping");
    assert_refused(x, "sluice: 1\nmade: [x]\n", "line 2: made must be a mapping");
    assert_refused(x, "sluice: 1\njournal: {x: y}\n", "line 2: journal must be a list");
    assert_refused(x, "sluice: 1\njournal:\n- {made: x}\n", "line 3: a journal entry names no");
    assert_refused(x, "sluice: 1\njournal:\n- x\n", "line 3: a journal entry names no");
    assert_refused(x, "sluice: 1\nx: &a [1]\ny: *a\n", "line");
}

/* What a person does to it by hand, within reason. */
static void edited_files_are_read(void **state)
{
    struct world *x = *state;
    struct session a;
    static const char text[] = "sluice: 1\n"
                               "answers:\n"
                               "  start: {name: 'aloud!'}\n"
                               "  a:\n"
                               "    url: https://one.example\n"
                               "    list:\n"
                               "    use_key: true\n"
                               "  b:\n"
                               "facts:\n"
                               "checks:\n"
                               "  a.survey: {status: accepted, at: 2026-11-30T10:00:00Z, "
                               "digest: 00000000000000000000000000000000}\n"
                               "  a.verdict: {status: passed, at: yesterday, digest: "
                               "00000000000000000000000000000000, line: \"\\e[2J\"}\n"
                               "  a.maybe: {status: warned, at: 2026-11-30T10:00:00Z, digest: "
                               "00000000000000000000000000000000, line: \"\\e[2J\"}\n"
                               "journal:\n"
                               "- {change: b.application, kind: b.thing, status: new, saw: "
                               "\"\\e[2J\"}\n";
    write_all(x->path, text, sizeof text - 1);
    session_begin(&a, x->path);
    assert_string_equal(effective_text(a.w, F_NAME), "aloud!"); /* kept, and said at its field */
    assert_int_equal(wizard_field_problem(a.w, F_NAME, NULL), -1);
    assert_string_equal(effective_text(a.w, F_USE_KEY), "yes");
    assert_null(wizard_outcome(a.w, C_SURVEY));
    assert_null(wizard_outcome(a.w, C_VERDICT));
    assert_string_equal(wizard_outcome(a.w, C_MAYBE)->line, "^[[2J");
    assert_true(seen(a.w, C_MAYBE).stale);
    const struct journal_entry *entries;
    assert_int_equal(wizard_journal(a.w, &entries), 1);
    assert_int_equal(entries[0].status, JOURNAL_INTENDED); /* find decides */
    assert_string_equal(entries[0].title, "b.application");
    assert_string_equal(entries[0].step, "b");
    assert_string_equal(entries[0].saw, "^[[2J");
    session_end(&a);
}

static void every_truncation_loads_or_is_refused(void **state)
{
    struct world *x = *state;
    struct session a;
    session_begin(&a, x->path);
    fill(&a);
    session_save(&a);
    session_end(&a);
    AUTO(xfree) char *whole = read_all(x->path);
    size_t loaded = 0, n = strlen(whole);
    for (size_t cut = 0; cut < n; cut++) {
        AUTO_PROBLEM p = PROBLEM_INIT;
        struct rows rows;
        struct wizard *w = fake_wizard(&rows);
        int fd = open(x->path, O_WRONLY | O_TRUNC);
        assert_int_equal(write(fd, whole, cut), (ssize_t)cut);
        close(fd);
        struct state *s = state_open(x->path, true, &p);
        if (s != NULL && state_load(s, w, &p) == 0) {
            loaded++;
        } else {
            assert_int_equal(p.kind, PROBLEM_INPUT);
            assert_non_null(p.what);
            assert_non_null(strstr(p.what, "line "));
        }
        state_close(s);
        wizard_free(w);
        rows_release(&rows);
    }
    assert_true(loaded > 0 && loaded < n);
}

static void the_previous_copy_is_named(void **state)
{
    struct world *x = *state;
    struct session a;
    session_begin(&a, x->path);
    set_text(a.w, F_NAME, "one");
    session_save(&a);
    set_text(a.w, F_NAME, "two");
    session_save(&a);
    session_end(&a);
    assert_true(file_holds(x->previous, "name: one"));
    write_all(x->path, "sluice: [\n", 10);
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_null(state_open(x->path, true, &p));
    assert_non_null(strstr(p.copy, "sluice.yaml.previous"));
    assert_true(file_holds(x->previous, "name: one"));
}

static void unsafe_files_are_refused(void **state)
{
    struct world *x = *state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    write_all(x->path, "sluice: 1\n", 10);
    assert_int_equal(chmod(x->path, 0640), 0);
    assert_null(state_open(x->path, false, &p));
    assert_int_equal(p.kind, PROBLEM_INPUT);
    unlink(x->path);
    assert_int_equal(symlink("/etc/passwd", x->path), 0);
    assert_null(state_open(x->path, false, &p));
    unlink(x->path);
    assert_int_equal(mkfifo(x->path, 0600), 0);
    assert_null(state_open(x->path, false, &p));
    unlink(x->path);
    assert_int_equal(mkdir(x->path, 0700), 0);
    assert_null(state_open(x->path, false, &p));
    rmdir(x->path);
}

/* --- two at once, and a disk that does not want ----------------------------------------------- */

static void a_second_instance_only_reads(void **state)
{
    struct world *x = *state;
    struct session a;
    session_begin(&a, x->path);
    set_text(a.w, F_NAME, "one");
    session_save(&a);
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_null(state_open(x->path, true, &p));
    assert_int_equal(p.kind, PROBLEM_CONFLICT);
    assert_null(state_holder(a.s));
    struct rows rows;
    struct wizard *w = fake_wizard(&rows);
    struct state *second = state_open(x->path, false, &p);
    AUTO(xfree) char *pid = xasprintf("process %d", (int)getpid());
    assert_non_null(strstr(state_holder(second), pid));
    assert_int_equal(state_load(second, w, &p), 0);
    assert_string_equal(effective_text(w, F_NAME), "one");
    set_text(w, F_NAME, "two");
    assert_int_equal(state_save(second, w, &p), -1);
    assert_int_equal(p.kind, PROBLEM_CONFLICT);
    assert_non_null(state_save_problem(second));
    assert_int_equal(state_forget_secrets(second, w, &p), -1);
    assert_false(state_can_keep(second, w, F_TOKEN));
    state_close(second);
    wizard_free(w);
    rows_release(&rows);
    assert_true(file_holds(x->path, "name: one"));
    session_end(&a);
    session_begin(&a, x->path); /* who held it is gone: taken over without a word */
    assert_null(state_holder(a.s));
    session_end(&a);
}

/* In a child without the rights of root. */
static void read_only_folders_can_be_looked_at(void **state)
{
    struct world *x = *state;
    struct session a;
    session_begin(&a, x->path);
    set_text(a.w, F_NAME, "one");
    session_save(&a);
    session_end(&a);
    AUTO(xfree) char *lock = xasprintf("%s.lock", x->path);
    unlink(lock);
    if (geteuid() == 0) {
        assert_int_equal(chown(x->path, 65534, 65534), 0);
        assert_int_equal(chown(x->folder, 65534, 65534), 0);
    }
    assert_int_equal(chmod(x->folder, 0500), 0);
    pid_t child = fork();
    if (child == 0) {
        if (geteuid() == 0 && setuid(65534) != 0)
            _exit(9);
        AUTO_PROBLEM p = PROBLEM_INIT;
        struct rows rows;
        struct wizard *w = fake_wizard(&rows);
        if (state_open(x->path, true, &p) != NULL || p.kind != PROBLEM_LOCAL)
            _exit(1);
        struct state *s = state_open(x->path, false, &p);
        if (s == NULL || state_holder(s) == NULL || state_load(s, w, &p) != 0)
            _exit(2);
        if (strcmp(effective_text(w, F_NAME), "one") != 0)
            _exit(3);
        set_text(w, F_NAME, "two");
        _exit(state_save(s, w, &p) == -1 ? 0 : 4);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    if (geteuid() == 0)
        assert_int_equal(chown(x->folder, 0, 0), 0);
}

static void failed_saves_are_remembered_and_retried(void **state)
{
    struct world *x = *state;
    struct session a;
    session_begin(&a, x->path);
    set_text(a.w, F_NAME, "one");
    session_save(&a);
    assert_true(state_saved_at(a.s) > 0);
    /* a full disk: no file may grow beyond 64 bytes */
    struct rlimit before, small = {.rlim_cur = 64};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    set_text(a.w, F_NAME, "two");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    AUTO_PROBLEM p = PROBLEM_INIT;
    int rc = state_save(a.s, a.w, &p);
    int again = state_save(a.s, a.w, NULL);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, -1);
    assert_int_equal(again, -1);
    assert_int_equal(p.kind, PROBLEM_LOCAL);
    assert_non_null(state_save_problem(a.s));
    assert_string_equal(state_save_problem(a.s)->what, p.what);
    assert_true(file_holds(x->path, "name: one"));
    assert_string_equal(effective_text(a.w, F_NAME), "two"); /* the run goes on in memory */
    session_save(&a);                                        /* though nothing changed since */
    assert_null(state_save_problem(a.s));
    assert_true(file_holds(x->path, "name: two"));
    session_end(&a);
}

/* --- secrets ---------------------------------------------------------------------------------- */

static void assert_clean(struct world *x)
{
    static const char *const secrets[] = {"key-of-the-operator", "secret-of-the-admin",
                                          "dear diary", "token-of-mine", "from-the-environment"};
    for (size_t i = 0; i < ARRAY_LEN(secrets); i++) {
        assert_false(file_holds(x->path, secrets[i]));
        if (file_exists(x->previous))
            assert_false(file_holds(x->previous, secrets[i]));
    }
}

static void secrets_in_memory_are_asked_again(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    fill(&a);
    assert_false(state_wants_passphrase(a.s, a.w));
    session_save(&a);
    assert_clean(x);
    assert_true(file_holds(x->path, "secret: asked"));
    assert_false(file_holds(x->path, "admin"));
    assert_false(file_holds(x->path, "diary"));
    assert_int_equal(state_vault(a.s), VAULT_NONE);
    session_end(&a);
    session_begin(&b, x->path);
    assert_string_equal(secret_text(b.w, F_KEY), "");
    assert_string_equal(wizard_answer(b.w, F_KEY)->host, "https://one.example");
    assert_int_equal(wizard_field_problem(b.w, F_KEY, NULL), -1);
    assert_null(wizard_answer(b.w, F_ADMIN));
    session_end(&b);
}

static void secrets_in_the_file_come_back(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    set_text(a.w, F_KEEP, "file");
    fill(&a);
    assert_true(state_wants_passphrase(a.s, a.w));
    assert_int_equal(unlock(&a, "correct horse"), 0);
    assert_false(state_wants_passphrase(a.s, a.w));
    struct secret *made = secret_new("token-of-mine", 13);
    wizard_set(a.w, F_TOKEN, value_secret(made, NULL, NULL), ORIGIN_MADE, NULL);
    secret_unref(made);
    assert_true(state_can_keep(a.s, a.w, F_TOKEN));
    assert_false(state_can_keep(a.s, a.w, F_ADMIN));
    put_survey(a.w, 16, 3);
    session_save(&a);
    assert_clean(x);
    assert_true(file_holds(x->path, "secret: stored"));
    assert_true(file_holds(x->path, "made: true"));
    session_end(&a);

    session_begin(&b, x->path);
    assert_int_equal(state_vault(b.s), VAULT_LOCKED);
    assert_true(state_wants_passphrase(b.s, b.w));
    assert_false(wizard_check_current(b.w, C_SURVEY));
    assert_int_equal(unlock(&b, "wrong horse"), -1);
    set_text(b.w, F_NAME, "shop2");
    session_save(&b); /* locked: what is stored stays so, with all that is said of it */
    AUTO(xfree) char *bytes = read_all(x->path);
    struct node *n = node_parse_yaml(bytes, strlen(bytes), "state", NULL);
    assert_string_equal(node_get_text(node_find(n, "answers.b.token"), "secret"), "stored");
    assert_string_equal(node_get_text(node_find(n, "answers.b.token"), "made"), "true");
    assert_string_equal(node_get_text(node_find(n, "answers.a.key"), "host"),
                        "https://one.example");
    node_free(n);
    assert_int_equal(unlock(&b, "correct horse"), 0);
    assert_string_equal(secret_text(b.w, F_KEY), "key-of-the-operator");
    assert_string_equal(secret_text(b.w, F_TOKEN), "token-of-mine");
    assert_int_equal(wizard_origin(b.w, F_TOKEN), ORIGIN_MADE);
    assert_null(wizard_answer(b.w, F_ADMIN));
    assert_true(wizard_check_current(b.w, C_SURVEY)); /* revisions come back, too */
    session_end(&b);
}

static void typed_while_locked(void **state)
{
    struct world *x = *state;
    struct session a;
    session_begin(&a, x->path);
    set_text(a.w, F_KEEP, "file");
    set_text(a.w, F_TOKEN, "token-of-mine-old");
    assert_int_equal(unlock(&a, "correct horse"), 0);
    session_save(&a);
    session_end(&a);
    session_begin(&a, x->path);
    set_text(a.w, F_TOKEN, "token-of-mine-new");
    session_save(&a);
    session_end(&a);
    session_begin(&a, x->path); /* the new one was in memory only: the old must not come back */
    wizard_touch(a.w);
    session_save(&a);
    assert_int_equal(unlock(&a, "correct horse"), 0);
    assert_string_equal(secret_text(a.w, F_TOKEN), "");
    set_text(a.w, F_TOKEN, "token-of-mine-new");
    session_save(&a);
    session_end(&a);
    session_begin(&a, x->path);
    set_text(a.w, F_TOKEN, "token-of-mine-last"); /* typed before unlocking: it counts */
    assert_int_equal(unlock(&a, "correct horse"), 0);
    assert_string_equal(secret_text(a.w, F_TOKEN), "token-of-mine-last");
    session_save(&a);
    session_end(&a);
    session_begin(&a, x->path);
    assert_int_equal(unlock(&a, "correct horse"), 0);
    assert_string_equal(secret_text(a.w, F_TOKEN), "token-of-mine-last");
    session_end(&a);
}

static void the_environment_stands_in_for_what_is_locked(void **state)
{
    struct world *x = *state;
    struct session a;
    session_begin(&a, x->path);
    set_text(a.w, F_KEEP, "file");
    set_text(a.w, F_TOKEN, "token-of-mine");
    assert_int_equal(unlock(&a, "correct horse"), 0);
    session_save(&a);
    session_end(&a);
    session_begin(&a, x->path);
    setenv("SLUICE_B_TOKEN", "from-the-environment", 1);
    assert_int_equal(answers_environment(a.w, NULL), 0);
    assert_string_equal(secret_text(a.w, F_TOKEN), "from-the-environment");
    session_save(&a);
    assert_true(file_holds(x->path, "secret: stored"));
    assert_int_equal(unlock(&a, "correct horse"), 0); /* state counts before environment */
    assert_string_equal(secret_text(a.w, F_TOKEN), "token-of-mine");
    session_save(&a);
    assert_clean(x);
    session_end(&a);
}

static void references_are_kept_as_such(void **state)
{
    struct world *x = *state;
    struct session a, b;
    session_begin(&a, x->path);
    set_text(a.w, F_KEEP, "file");
    set_text(a.w, F_URL, "https://one.example");
    set_text(a.w, F_USE_KEY, "yes");
    set_text(a.w, F_KEY, "key-of-the-operator");
    assert_int_equal(unlock(&a, "correct horse"), 0);
    session_save(&a);
    setenv("FAKE_KEY", "from-the-environment", 1);
    assert_int_equal(wizard_set_reference(a.w, F_KEY, "env:FAKE_KEY", ORIGIN_TYPED, NULL), 0);
    assert_int_equal(wizard_set_reference(a.w, F_ADMIN, "env:FAKE_KEY", ORIGIN_TYPED, NULL), 0);
    session_save(&a);
    assert_clean(x);
    session_end(&a);
    session_begin(&b, x->path); /* the variable is not there now: the reference stays */
    assert_string_equal(wizard_answer(b.w, F_KEY)->reference, "env:FAKE_KEY");
    assert_string_equal(wizard_answer(b.w, F_ADMIN)->reference, "env:FAKE_KEY");
    assert_int_equal(wizard_field_problem(b.w, F_KEY, NULL), -1);
    assert_int_equal(unlock(&b, "correct horse"), 0);
    assert_string_equal(secret_text(b.w, F_KEY), ""); /* and was taken out of the secrets file */
    set_text(b.w, F_NAME, "shop");
    session_save(&b);
    assert_true(file_holds(x->path, "env:FAKE_KEY"));
    session_end(&b);
    setenv("FAKE_KEY", "from-the-environment", 1);
    session_begin(&b, x->path);
    assert_string_equal(secret_text(b.w, F_KEY), "from-the-environment");
    session_end(&b);
}

static void forgetting(void **state)
{
    struct world *x = *state;
    struct session a;
    AUTO_PROBLEM p = PROBLEM_INIT;
    session_begin(&a, x->path);
    set_text(a.w, F_KEEP, "file");
    set_text(a.w, F_TOKEN, "token-of-mine");
    assert_int_equal(unlock(&a, "correct horse"), 0);
    session_save(&a);
    assert_true(file_exists(x->secrets));
    assert_int_equal(state_forget_secrets(a.s, a.w, &p), 0);
    assert_false(file_exists(x->secrets));
    assert_null(wizard_answer(a.w, F_TOKEN));
    assert_false(file_holds(x->path, "token"));
    assert_int_equal(state_vault(a.s), VAULT_NONE);
    assert_int_equal(state_forget_secrets(a.s, a.w, &p), 0); /* once more is no error */
    session_end(&a);
}

/* The state that names a secret must not be there before the secret is. */
static void the_secrets_file_is_written_first(void **state)
{
    struct world *x = *state;
    struct session a;
    session_begin(&a, x->path);
    set_text(a.w, F_KEEP, "file");
    session_save(&a);
    set_text(a.w, F_TOKEN, "token-of-mine");
    assert_int_equal(unlock(&a, "correct horse"), 0);
    assert_int_equal(mkdir(x->secrets, 0700), 0); /* it cannot be written */
    AUTO_PROBLEM p = PROBLEM_INIT;
    assert_int_equal(state_save(a.s, a.w, &p), -1);
    assert_false(file_holds(x->path, "token"));
    assert_int_equal(rmdir(x->secrets), 0);
    session_save(&a);
    assert_true(file_holds(x->path, "stored"));
    assert_true(file_exists(x->secrets));
    session_end(&a);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_is_written_comes_back),
        TEST(verdicts_stand_after_a_restart),
        TEST(a_refused_login_stays_refused),
        TEST(defaults_are_not_pinned),
        TEST(made_values_are_known_as_such),
        TEST(exceptions_without_outcome),
        TEST(unknown_keys_survive),
        TEST(malformed_files_are_refused),
        TEST(edited_files_are_read),
        TEST(every_truncation_loads_or_is_refused),
        TEST(the_previous_copy_is_named),
        TEST(unsafe_files_are_refused),
        TEST(a_second_instance_only_reads),
        TEST(read_only_folders_can_be_looked_at),
        TEST(failed_saves_are_remembered_and_retried),
        TEST(secrets_in_memory_are_asked_again),
        TEST(secrets_in_the_file_come_back),
        TEST(typed_while_locked),
        TEST(the_environment_stands_in_for_what_is_locked),
        TEST(outcomes_stand_without_their_secrets),
        TEST(facts_are_kept_to_be_read),
        TEST(an_edited_fact_was_not_found),
        TEST(references_are_kept_as_such),
        TEST(forgetting),
        TEST(the_secrets_file_is_written_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
