/* Carrying out changes against a service that is a piece of shared memory: its objects outlive a
 * process that is killed, as those of a real one do. Killed at any moment, a rerun ends with
 * exactly one of each. */
#include "fake_world.h"

#include <dirent.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "core/engine_parts.h"
#include "core/file.h"

/* --- the service ------------------------------------------------------------------------------ */

enum { ROLE, POLICY, KEY, APP, USER, TAIL, THINGS };

static const char *const thing_ids[THINGS] = {"b.role",     "b.policy", "b.key",
                                              "b.app_made", "b.user",   "b.tail"};

struct thing {
    atomic_int objects;
    atomic_int sends, finds, waits;
    atomic_int inside;
    atomic_int sleep_ms;   /* of a send */
    atomic_int answer;     /* enum problem_kind of the next send */
    atomic_bool effective; /* although it answers with a problem, it was done */
    atomic_bool find_fails;
    atomic_int ready_fails;
    char secret[32]; /* of the key */
};

struct cloud {
    struct thing things[THINGS];
    atomic_int most_inside, inside;
    atomic_int kill_at, moment; /* the process ends at this moment; 0 = never */
};
static struct cloud *cloud;

static void moment(void)
{
    if (cloud != NULL && cloud->kill_at != 0 && ++cloud->moment == cloud->kill_at)
        _exit(9);
}

/* Killed before and after each step of a save. The disk of a test need not be waited for. */
int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    moment();
    int rc = (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, 0);
    moment();
    return rc;
}

int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
    moment();
    return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
}

int fsync(int fd)
{
    (void)fd;
    moment();
    return 0;
}

/* Nor need its passphrase be hard to guess. */
int EVP_PBE_scrypt(const char *pass, size_t pass_len, const unsigned char *salt, size_t salt_len,
                   uint64_t n, uint64_t r, uint64_t p, uint64_t max_memory, unsigned char *key,
                   size_t key_len)
{
    (void)n, (void)r, (void)p, (void)max_memory, (void)salt, (void)salt_len;
    struct digest d = digest_of(pass, pass_len);
    memcpy(key, d.b, key_len < sizeof d.b ? key_len : sizeof d.b);
    return 1;
}

static int which(const struct change *c)
{
    int i = 0;
    while (strcmp(thing_ids[i], c->id) != 0)
        i++;
    return i;
}

static int find_thing(struct run *run, const struct change *c, struct found *out,
                      struct problem *err)
{
    int i = which(c);
    struct thing *t = &cloud->things[i];
    moment();
    t->finds++;
    if (t->find_fails)
        return problem_fail(err, PROBLEM_UNREACHABLE, "net", "find got no answer");
    out->present = t->objects > 0;
    out->as_wanted = out->present;
    if (i == KEY && out->present) { /* without its secret a key is of no use */
        struct secret *s = run_secret(run, "b.key_secret");
        out->as_wanted = s != NULL && strcmp(secret_bytes(s), t->secret) == 0;
    }
    out->id = out->present ? xasprintf("id-of-%s", c->id) : NULL;
    out->saw = xstrdup(out->present ? "there" : "nothing");
    moment();
    return 0;
}

static void make(int i)
{
    struct thing *t = &cloud->things[i];
    if (i == KEY)
        t->objects = 0; /* the one whose secret was lost is deleted */
    t->objects++;
    if (i == KEY)
        snprintf(t->secret, sizeof t->secret, "key-secret-number-%d", (int)t->sends);
}

static int send_thing(struct run *run, const struct change *c, struct made *out,
                      struct problem *err)
{
    int i = which(c);
    struct thing *t = &cloud->things[i];
    moment();
    t->sends++;
    t->inside++;
    int inside = ++cloud->inside;
    if (inside > cloud->most_inside)
        cloud->most_inside = inside;
    run_progress(run, 0, 0, "waits for a lock");
    int rc = run_sleep(run, t->sleep_ms, err);
    cloud->inside--;
    t->inside--;
    if (rc != 0)
        return -1;
    enum problem_kind answer = (enum problem_kind)(int)t->answer;
    t->answer = 0;
    if (answer == PROBLEM_NONE || t->effective)
        make(i);
    moment();
    if (answer != PROBLEM_NONE)
        return problem_fail(err, answer, "E", "the send of %s failed", c->id);
    out->id = xasprintf("id-of-%s", c->id);
    if (i == KEY)
        out->give_secret = secret_new(t->secret, strlen(t->secret));
    if (i == APP)
        out->give_text = xasprintf("id-of-%s", c->id);
    return 0;
}

static int await_thing(struct run *run, const struct change *c, struct problem *err)
{
    (void)run;
    moment();
    cloud->things[which(c)].waits++;
    if (cloud->things[which(c)].ready_fails-- > 0)
        return problem_fail(err, PROBLEM_UNREACHABLE, "slow", "it does not get ready");
    return 0;
}

static const struct change_kind plain_kind = {
    .id = "b.plain", .label = "thing", .find = find_thing, .send = send_thing};
static const struct change_kind slow_kind = {.id = "b.slow",
                                             .label = "slow thing",
                                             .find = find_thing,
                                             .send = send_thing,
                                             .ready = await_thing};

/* --- rows ------------------------------------------------------------------------------------- */

enum { NAME, KEEP, PASSWORD, KEY_SECRET, APP_ID, FIXED, FIELDS };

static const struct field fields[] = {
    {.id = "start.name", .label = "Name"},
    {.id = "start.keep_secrets", .label = "Keep", .initial = "file"},
    {.id = "b.password", .kind = FIELD_SECRET, .label = "Password", .make = 24},
    {.id = "b.key_secret", .kind = FIELD_SECRET, .label = "Key secret"},
    {.id = "b.app", .label = "Application"},
    {.id = "b.fixed", .kind = FIELD_SECRET, .label = "Fixed"},
};

static void survey(struct run *run, struct outcome *out)
{
    (void)run;
    outcome_pass(out, "looked");
}

static const struct check surveys[] = {
    {.id = "start.survey", .title = "looks elsewhere", .service = "s", .run = survey},
    {.id = "b.survey", .title = "looks at b", .service = "b", .run = survey},
    {.id = "b.verdict", .title = "judges b", .run = survey},
};

static void add(struct plan *p, int i, const struct change_kind *kind, int after, const char *uses,
                const char *gives)
{
    struct change *c = plan_add(p, kind, "b", thing_ids[i], CHANGE_CREATE, node_map());
    change_text(&c->title, "thing %s", thing_ids[i]);
    change_text(&c->preview, "make %s", thing_ids[i]);
    if (after >= 0)
        change_after(c, thing_ids[after]);
    c->uses = uses;
    c->gives = gives;
}

/* role -> policy -> key; app; user; tail after policy and app. */
static void plan_things(const struct snapshot *s, struct plan *out)
{
    const char *app = snap_text(s, "b.app");
    add(out, ROLE, &plain_kind, -1, NULL, NULL);
    add(out, POLICY, &plain_kind, ROLE, NULL, NULL);
    add(out, KEY, &plain_kind, POLICY, NULL, "b.key_secret");
    add(out, APP, &slow_kind, -1, NULL, "b.app");
    add(out, USER, &plain_kind, -1, "b.password", NULL);
    if (strcmp(snap_text(s, "start.name"), "without tail") == 0)
        return;
    add(out, TAIL, &plain_kind, POLICY, NULL, NULL);
    struct change *tail = out->changes[out->count - 1];
    change_after(tail, thing_ids[APP]);
    change_text(&tail->preview, "make tail of %s in %s",
                app[0] != '\0' ? app : "(known after: application)", snap_text(s, "start.name"));
}

static const struct step start_step = {
    .id = "start",
    .fields = (const struct field *const[]){&fields[NAME], &fields[KEEP], NULL},
    .checks = (const struct check *const[]){&surveys[0], NULL}};
static const struct step b_step = {
    .id = "b",
    .fields = (const struct field *const[]){&fields[PASSWORD], &fields[KEY_SECRET], &fields[APP_ID],
                                            &fields[FIXED], NULL},
    .checks = (const struct check *const[]){&surveys[1], &surveys[2], NULL},
    .plan = plan_things};
static const struct step *const steps[] = {&start_step, &b_step, NULL};

/* --- world ------------------------------------------------------------------------------------ */

struct world {
    char folder[64];
    char *path;
    struct rows rows;
    struct wizard *w;
    struct state *s;
    struct engine *e;
    int done, started, progress, ended;
};

static void begin(struct world *x, const char *passphrase)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (rows_init(&x->rows, steps, &p) != 0)
        fail_msg("%s", p.what);
    x->w = wizard_new(&x->rows);
    x->s = state_open(x->path, true, &p);
    if (x->s == NULL || state_load(x->s, x->w, &p) != 0)
        fail_msg("%s", p.what);
    if (passphrase != NULL) {
        struct secret *s = secret_new(passphrase, strlen(passphrase));
        if (state_unlock(x->s, x->w, s, &p) != 0)
            fail_msg("%s", p.what);
        secret_unref(s);
    }
    x->e = engine_new(x->w, x->s, NULL);
    x->done = x->started = x->progress = x->ended = 0;
}

static void end(struct world *x)
{
    assert_true(engine_free(x->e));
    state_close(x->s);
    wizard_free(x->w);
    rows_release(&x->rows);
}

static void remove_files(struct world *x)
{
    static const char *const names[] = {"sluice.yaml", "sluice.yaml.previous", "sluice.yaml.lock",
                                        "sluice.secrets"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        AUTO(xfree) char *path = xasprintf("%s/%s", x->folder, names[i]);
        unlink(path);
    }
}

static int set_up(void **state)
{
    struct world *x = xcalloc(1, sizeof *x);
    memcpy(x->folder, "/tmp/sluice-apply-XXXXXX", sizeof "/tmp/sluice-apply-XXXXXX");
    assert_non_null(mkdtemp(x->folder));
    x->path = xasprintf("%s/sluice.yaml", x->folder);
    if (cloud == NULL)
        cloud =
            mmap(NULL, sizeof *cloud, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(cloud, 0, sizeof *cloud);
    *state = x;
    return 0;
}

static int tear_down(void **state)
{
    struct world *x = *state;
    remove_files(x);
    assert_int_equal(rmdir(x->folder), 0);
    xfree(x->path);
    xfree(x);
    return 0;
}

static void observe(void *ctx, const struct event *ev)
{
    struct world *x = ctx;
    x->started += ev->kind == EVENT_CHANGE_STARTED;
    x->done += ev->kind == EVENT_CHANGE_DONE;
    x->progress += ev->kind == EVENT_CHANGE_PROGRESS;
    x->ended += ev->kind == EVENT_APPLY_DONE;
}

static void pump_out(struct world *x)
{
    int64_t until = clock_ms() + 10000;
    engine_pump(x->e, observe, x);
    while (engine_busy(x->e)) {
        assert_true(clock_ms() < until);
        struct pollfd p = {.fd = engine_fd(x->e), .events = POLLIN};
        poll(&p, 1, 1000);
        engine_pump(x->e, observe, x);
    }
}

static int try_apply(struct world *x, bool memory_ok, const char *left_out, struct problem *err)
{
    struct plan p;
    wizard_make_plan(x->w, -1, &p);
    for (size_t i = 0; i < p.count; i++)
        p.changes[i]->left_out = left_out != NULL && strcmp(p.changes[i]->id, left_out) == 0;
    int rc = engine_apply(x->e, &p, memory_ok, err);
    plan_release(&p);
    return rc;
}

static void apply(struct world *x)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (try_apply(x, true, NULL, &p) != 0)
        fail_msg("%s", p.what);
    pump_out(x);
}

static struct change_view view_of(struct world *x, int thing)
{
    const struct plan *p = engine_applied_plan(x->e);
    struct change_view v = {.status = CHANGE_WAITING};
    for (size_t i = 0; p != NULL && i < p->count; i++)
        if (strcmp(p->changes[i]->id, thing_ids[thing]) == 0)
            engine_change_view(x->e, i, &v);
    return v;
}

static void assert_status(struct world *x, int thing, enum change_status status)
{
    struct change_view v = view_of(x, thing);
    if (v.status != status)
        fail_msg("%s is %s%s%s", thing_ids[thing], change_status_name(v.status),
                 v.problem != NULL ? ": " : "", v.problem != NULL ? v.problem->what : "");
}

static void assert_journal(struct world *x, int thing, int status, int was_there)
{
    const struct journal_entry *e = wizard_journal_find(x->w, thing_ids[thing]);
    if (status < 0) {
        assert_null(e);
        return;
    }
    assert_non_null(e);
    assert_string_equal(journal_status_name(e->status),
                        journal_status_name((enum journal_status)status));
    assert_int_equal(e->was_there, was_there);
}

static void assert_one_of_each(void)
{
    for (int i = 0; i < THINGS; i++)
        assert_int_equal(cloud->things[i].objects, 1);
}

/* --- killed anywhere -------------------------------------------------------------------------- */

/* A whole run in a process of its own; its exit code. */
static int run_once(struct world *x, int kill_at)
{
    cloud->kill_at = kill_at;
    cloud->moment = 0;
    pid_t child = fork();
    if (child == 0) {
        begin(x, "correct horse");
        wizard_set_text(x->w, NAME, "shop", ORIGIN_TYPED, NULL);
        AUTO_PROBLEM p = PROBLEM_INIT;
        if (state_save(x->s, x->w, &p) != 0 || try_apply(x, false, NULL, &p) != 0)
            _exit(3);
        pump_out(x);
        _exit(x->ended == 1 ? 0 : 4);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    cloud->kill_at = 0;
    return WEXITSTATUS(status);
}

static void assert_complete(struct world *x)
{
    assert_one_of_each();
    begin(x, "correct horse");
    for (int i = 0; i < THINGS; i++)
        assert_journal(x, i, JOURNAL_READY, false);
    const struct value *key = wizard_answer(x->w, KEY_SECRET);
    assert_string_equal(secret_bytes(key->secret), cloud->things[KEY].secret);
    assert_int_equal(wizard_origin(x->w, KEY_SECRET), ORIGIN_MADE);
    assert_string_equal(effective_text(x->w, APP_ID), "id-of-b.app_made");
    assert_int_equal(secret_len(wizard_answer(x->w, PASSWORD)->secret), 24);
    end(x);
}

/* What kills left behind. */
static void remove_temporary(struct world *x)
{
    DIR *d = opendir(x->folder);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d)) != NULL;)
        if (strstr(entry->d_name, ".tmp") != NULL)
            assert_int_equal(unlinkat(dirfd(d), entry->d_name, 0), 0);
    closedir(d);
}

static void killed_at_any_moment(void **state)
{
    struct world *x = *state;
    int kills = 0;
    for (int at = 1; at < 1000; at++) {
        remove_files(x);
        memset(cloud, 0, sizeof *cloud);
        int first = run_once(x, at);
        kills += first == 9;
        if (first != 9)
            assert_int_equal(first, 0);
        int second = run_once(x, 0);
        if (second != 0)
            fail_msg("killed at moment %d: the rerun ended with %d", at, second);
        assert_complete(x);
        if (first == 0)
            break;
    }
    print_message("killed at %d moments\n", kills);
    assert_true(kills > 50);
    remove_temporary(x);
}

/* --- in order --------------------------------------------------------------------------------- */

static void all_goes_well(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    wizard_set_text(x->w, NAME, "shop", ORIGIN_TYPED, NULL);
    for (int i = 0; i < 3; i++)
        put(x->w, i, STATUS_PASSED);
    struct plan p;
    wizard_make_plan(x->w, -1, &p);
    assert_int_equal(engine_apply(x->e, &p, false, NULL), 0);
    assert_int_equal(p.count, 0); /* moved into the engine */
    assert_true(engine_applying(x->e));
    assert_true(file_exists(x->path)); /* the made password is saved before anything is sent */
    assert_int_equal(secret_len(wizard_answer(x->w, PASSWORD)->secret), 24);
    assert_int_equal(try_apply(x, false, NULL, NULL), -1); /* one at a time */
    pump_out(x);
    assert_false(engine_applying(x->e));
    assert_int_equal(x->started, THINGS);
    assert_int_equal(x->done, THINGS);
    assert_int_equal(x->ended, 1);
    assert_true(x->progress >= THINGS);
    for (int i = 0; i < THINGS; i++) {
        assert_status(x, i, CHANGE_MADE);
        assert_journal(x, i, JOURNAL_READY, false);
    }
    assert_string_equal(wizard_journal_find(x->w, "b.role")->saw, "nothing");
    assert_string_equal(wizard_journal_find(x->w, "b.role")->made, "id-of-b.role");
    assert_int_equal(cloud->things[APP].waits, 1);
    assert_true(stands(x->w, 0, STATUS_PASSED));
    assert_true(seen(x->w, 1).stale); /* what was changed is looked at anew */
    apply(x);                         /* once more: all is found */
    for (int i = 0; i < THINGS; i++) {
        assert_status(x, i, CHANGE_FOUND);
        assert_int_equal(cloud->things[i].sends, 1);
        assert_journal(x, i, JOURNAL_READY, false);
    }
    end(x);
    assert_complete(x);
}

static void independent_changes_go_side_by_side(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    cloud->things[ROLE].sleep_ms = cloud->things[APP].sleep_ms = cloud->things[USER].sleep_ms = 200;
    int64_t started = clock_ms();
    apply(x);
    assert_true(clock_ms() - started < 500);
    assert_int_equal(cloud->most_inside, 3);
    end(x);
}

static int wide_find(struct run *run, const struct change *c, struct found *out,
                     struct problem *err)
{
    (void)c;
    (void)out;
    int inside = ++cloud->inside;
    if (inside > cloud->most_inside)
        cloud->most_inside = inside;
    int rc = run_sleep(run, 60, err);
    cloud->inside--;
    return rc;
}

static int wide_send(struct run *run, const struct change *c, struct made *out, struct problem *err)
{
    (void)run;
    (void)c;
    (void)out;
    (void)err;
    return 0;
}

static void not_too_many_at_once(void **state)
{
    struct world *x = *state;
    static const struct change_kind wide = {
        .id = "b.wide", .label = "wide", .find = wide_find, .send = wide_send};
    begin(x, NULL);
    struct plan p;
    plan_init(&p);
    for (int i = 0; i < 50; i++) {
        AUTO(xfree) char *id = xasprintf("b.wide%d", i);
        plan_add(&p, &wide, "b", id, CHANGE_REMOVE, NULL); /* not of the model's plan: an undo */
    }
    assert_int_equal(engine_apply(x->e, &p, true, NULL), 0);
    pump_out(x);
    assert_int_equal(x->done, 50);
    assert_true(cloud->most_inside > 4 && cloud->most_inside <= 16);
    end(x);
}

static void failures_block_what_needs_them(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    cloud->things[POLICY].answer = PROBLEM_DENIED;
    apply(x);
    assert_status(x, ROLE, CHANGE_MADE);
    assert_status(x, POLICY, CHANGE_FAILED);
    assert_string_equal(view_of(x, POLICY).problem->what, "the send of b.policy failed");
    assert_status(x, KEY, CHANGE_BLOCKED);
    assert_status(x, TAIL, CHANGE_BLOCKED);
    assert_status(x, APP, CHANGE_MADE);
    assert_int_equal(cloud->things[KEY].finds, 0);
    /* refused, and nothing of it stands: whoever makes it now makes his own */
    assert_journal(x, POLICY, JOURNAL_UNDONE, false);
    cloud->things[POLICY].objects = 1;
    apply(x);
    assert_status(x, POLICY, CHANGE_FOUND);
    assert_journal(x, POLICY, JOURNAL_READY, true);
    assert_status(x, TAIL, CHANGE_MADE);
    end(x);
}

static void left_out_changes_block_what_needs_them(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    assert_int_equal(try_apply(x, true, "b.policy", NULL), 0);
    pump_out(x);
    assert_status(x, POLICY, CHANGE_STOPPED);
    assert_int_equal(cloud->things[POLICY].finds, 0);
    assert_status(x, KEY, CHANGE_BLOCKED);
    assert_status(x, TAIL, CHANGE_BLOCKED);
    assert_status(x, USER, CHANGE_MADE);
    assert_int_equal(x->ended, 1);
    end(x);
}

static void a_plan_without_changes_ends(void **state)
{
    struct world *x = *state;
    begin(x, NULL);
    struct plan p;
    plan_init(&p);
    assert_int_equal(engine_apply(x->e, &p, true, NULL), 0);
    pump_out(x);
    assert_int_equal(x->ended, 1); /* and is told */
    struct change *c = plan_add(&p, &plain_kind, "b", "b.role", CHANGE_CREATE, NULL);
    change_after(c, "b.policy");
    c = plan_add(&p, &plain_kind, "b", "b.policy", CHANGE_CREATE, NULL);
    change_after(c, "b.role");
    assert_int_equal(engine_apply(x->e, &p, true, NULL), 0);
    pump_out(x); /* a circle does not wait for ever */
    assert_status(x, ROLE, CHANGE_BLOCKED);
    assert_int_equal(view_of(x, ROLE).problem->kind, PROBLEM_BUG);
    end(x);
}

/* --- lost answers ----------------------------------------------------------------------------- */

static void lost_answers_are_settled_by_find(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    wizard_set_text(x->w, APP_ID, "id-of-one-that-is-gone", ORIGIN_MADE, NULL);
    for (int i = 0; i < TAIL; i++)
        cloud->things[i].answer = PROBLEM_UNREACHABLE;
    cloud->things[ROLE].effective = true;
    cloud->things[APP].effective = true;
    cloud->things[POLICY].effective = true;
    cloud->things[KEY].effective = true;
    apply(x);
    assert_status(x, ROLE, CHANGE_MADE);
    assert_journal(x, ROLE, JOURNAL_READY, false);
    assert_status(x, APP, CHANGE_MADE);
    assert_int_equal(cloud->things[APP].waits, 1);
    assert_string_equal(effective_text(x->w, APP_ID), "id-of-b.app_made"); /* what find saw */
    assert_status(x, POLICY, CHANGE_MADE);
    assert_status(x, KEY, CHANGE_FAILED); /* it is there, but its secret is lost */
    assert_journal(x, KEY, JOURNAL_INTENDED, false);
    assert_status(x, USER, CHANGE_FAILED); /* nothing was done, or not yet */
    assert_journal(x, USER, JOURNAL_INTENDED, false);
    assert_string_equal(view_of(x, USER).problem->what, "the send of b.user failed");
    assert_status(x, TAIL, CHANGE_FAILED); /* it showed the application that is gone */
    apply(x);
    assert_one_of_each();
    assert_int_equal(cloud->things[ROLE].sends, 1);
    assert_int_equal(cloud->things[KEY].sends, 2);
    end(x);
    assert_complete(x);
}

static void what_cannot_be_settled_stays_open(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    cloud->things[ROLE].answer = PROBLEM_PROTOCOL;
    cloud->things[ROLE].effective = true;
    cloud->things[ROLE].sleep_ms = 100;
    assert_int_equal(try_apply(x, true, NULL, NULL), 0);
    engine_pump(x->e, observe, x);
    for (int i = 0; i < 1000 && cloud->things[ROLE].inside == 0; i++) {
        engine_pump(x->e, observe, x);
        usleep(1000);
    }
    cloud->things[ROLE].find_fails = true;
    pump_out(x);
    assert_status(x, ROLE, CHANGE_FAILED);
    assert_string_equal(view_of(x, ROLE).problem->what, "the send of b.role failed");
    assert_journal(x, ROLE, JOURNAL_INTENDED, false);
    apply(x); /* find itself fails: nothing is sent */
    assert_status(x, ROLE, CHANGE_FAILED);
    assert_int_equal(cloud->things[ROLE].sends, 1);
    cloud->things[ROLE].find_fails = false;
    apply(x);
    assert_status(x, ROLE, CHANGE_FOUND);
    assert_journal(x, ROLE, JOURNAL_READY, false); /* ours: absent before, present after */
    assert_int_equal(cloud->things[ROLE].sends, 1);
    end(x);
}

static void denied_but_there(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    cloud->things[ROLE].answer = PROBLEM_DENIED;
    cloud->things[ROLE].effective = true; /* somebody else was faster */
    apply(x);
    assert_status(x, ROLE, CHANGE_MADE);
    assert_journal(x, ROLE, JOURNAL_READY, true);
    end(x);
}

static void not_ready_is_waited_for_again(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    cloud->things[APP].ready_fails = 1;
    apply(x);
    assert_status(x, APP, CHANGE_FAILED);
    assert_journal(x, APP, JOURNAL_MADE, false);
    assert_status(x, TAIL, CHANGE_BLOCKED);
    apply(x);
    assert_status(x, APP, CHANGE_FOUND);
    assert_int_equal(cloud->things[APP].sends, 1);
    assert_int_equal(cloud->things[APP].waits, 2);
    assert_status(x, TAIL, CHANGE_MADE);
    end(x);
}

static void what_was_there_is_adopted(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    cloud->things[ROLE].objects = cloud->things[APP].objects = 1;
    apply(x);
    assert_status(x, ROLE, CHANGE_FOUND);
    assert_journal(x, ROLE, JOURNAL_READY, true);
    assert_string_equal(effective_text(x->w, APP_ID), "id-of-b.app_made");
    assert_int_equal(cloud->things[ROLE].sends + cloud->things[APP].sends, 0);
    end(x);
}

/* --- consent ---------------------------------------------------------------------------------- */

static void another_preview_is_not_sent(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    wizard_set_text(x->w, NAME, "shop", ORIGIN_TYPED, NULL);
    cloud->things[ROLE].sleep_ms = 100;
    assert_int_equal(try_apply(x, true, NULL, NULL), 0);
    engine_pump(x->e, observe, x);
    wizard_set_text(x->w, NAME, "another", ORIGIN_TYPED, NULL);
    pump_out(x);
    assert_status(x, TAIL, CHANGE_FAILED);
    assert_string_equal(view_of(x, TAIL).problem->code, "preview");
    assert_int_equal(cloud->things[TAIL].sends, 0);
    assert_journal(x, TAIL, -1, 0); /* nothing was intended */
    assert_int_equal(try_apply(x, true, NULL, NULL), 0);
    wizard_set_text(x->w, NAME, "without tail", ORIGIN_TYPED, NULL);
    pump_out(x);
    assert_status(x, TAIL, CHANGE_FAILED); /* no longer planned at all */
    assert_int_equal(cloud->things[TAIL].sends, 0);
    end(x);
}

static void announced_values_may_differ(void **state)
{
    (void)state;
    assert_true(previews_agree("", ""));
    assert_true(previews_agree("a", "a"));
    assert_false(previews_agree("a", "b"));
    assert_true(previews_agree("x (known after: make (it)) y", "x 00abc y"));
    assert_true(previews_agree("x (known after: make it) y", "x (known after: make it) y"));
    assert_true(previews_agree("(known after: a)", "b"));
    assert_true(previews_agree("(known after: a)/(known after: b)\nz", "1/2\nz"));
    assert_false(previews_agree("(known after: a)/(known after: b)\nz", "1/2\ny"));
    assert_false(previews_agree("x (known after: a) y", "x  y"));
    assert_false(previews_agree("x (known after: a) y", "x 1\nDROP y"));
    assert_false(previews_agree("x (known after: a) y", "w 1 y"));
    assert_false(previews_agree("x (known after: a) y", "x 1 y z"));
    assert_false(previews_agree("x (known after: a", "x 1"));
}

static void a_stop_counts_before_each_send(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    cloud->things[ROLE].sleep_ms = 150;
    assert_int_equal(try_apply(x, true, NULL, NULL), 0);
    for (int i = 0; i < 1000 && cloud->things[ROLE].inside == 0; i++) {
        engine_pump(x->e, observe, x);
        usleep(1000);
    }
    engine_apply_stop(x->e);
    pump_out(x);
    assert_status(x, ROLE, CHANGE_MADE); /* never inside one */
    assert_journal(x, ROLE, JOURNAL_READY, false);
    assert_status(x, POLICY, CHANGE_STOPPED);
    assert_int_equal(cloud->things[POLICY].finds, 0);
    assert_int_equal(x->ended, 1);
    /* stopped while find looks: what it brings is not followed by a send */
    memset(cloud, 0, sizeof *cloud);
    assert_int_equal(try_apply(x, true, NULL, NULL), 0);
    engine_pump(x->e, observe, x);
    engine_apply_stop(x->e);
    pump_out(x);
    for (int i = 0; i < THINGS; i++) {
        assert_int_equal(cloud->things[i].sends, 0);
        assert_true(view_of(x, i).status == CHANGE_STOPPED ||
                    view_of(x, i).status == CHANGE_BLOCKED);
    }
    end(x);
}

/* --- secrets ---------------------------------------------------------------------------------- */

static void no_place_to_keep_a_secret(void **state)
{
    struct world *x = *state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    begin(x, NULL);
    assert_int_equal(try_apply(x, false, NULL, &p), -1);
    assert_string_equal(p.code, "cannot keep");
    assert_null(wizard_answer(x->w, PASSWORD)); /* nothing was made either */
    assert_false(engine_applying(x->e));
    assert_int_equal(try_apply(x, true, NULL, &p), 0); /* on the operator's word */
    pump_out(x);
    assert_status(x, KEY, CHANGE_MADE);
    end(x);
    /* an open secrets file is no place either, when secrets are not to be kept in it */
    remove_files(x);
    begin(x, "correct horse");
    wizard_set_text(x->w, KEEP, "memory", ORIGIN_TYPED, NULL);
    assert_int_equal(try_apply(x, false, NULL, &p), -1);
    assert_string_equal(p.code, "cannot keep");
    end(x);
}

static void given_secrets_are_not_replaced(void **state)
{
    struct world *x = *state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    begin(x, "correct horse");
    wizard_set_text(x->w, PASSWORD, "typed-by-the-operator", ORIGIN_TYPED, NULL);
    assert_int_equal(state_save(x->s, x->w, NULL), 0);
    end(x);
    begin(x, NULL); /* locked */
    assert_int_equal(try_apply(x, true, NULL, &p), -1);
    assert_string_equal(p.code, "not at hand");
    assert_null(wizard_answer(x->w, PASSWORD)->secret);
    end(x);
    begin(x, "correct horse");
    apply(x);
    assert_string_equal(secret_bytes(wizard_answer(x->w, PASSWORD)->secret),
                        "typed-by-the-operator");
    end(x);
    begin(x, NULL); /* the key that was made lies locked away as well */
    assert_int_equal(wizard_origin(x->w, KEY_SECRET), ORIGIN_MADE);
    wizard_set_text(x->w, PASSWORD, "typed-by-the-operator", ORIGIN_TYPED, NULL);
    struct plan plan;
    plan_init(&plan);
    plan_add(&plan, &plain_kind, "b", "b.role", CHANGE_CREATE, NULL)->uses = "b.key_secret";
    assert_int_equal(engine_apply(x->e, &plan, true, &p), -1);
    assert_string_equal(p.code, "not at hand");
    plan_release(&plan);
    end(x);
    remove_files(x); /* typed, and to be asked for again */
    begin(x, NULL);
    wizard_set_text(x->w, KEEP, "memory", ORIGIN_TYPED, NULL);
    wizard_set_text(x->w, PASSWORD, "typed-by-the-operator", ORIGIN_TYPED, NULL);
    assert_int_equal(state_save(x->s, x->w, NULL), 0);
    end(x);
    begin(x, NULL);
    assert_int_equal(try_apply(x, true, NULL, &p), -1);
    assert_string_equal(p.code, "not at hand");
    end(x);
    /* made, and lost with the process it was made in: made anew */
    remove_files(x);
    begin(x, NULL);
    wizard_set_text(x->w, KEEP, "memory", ORIGIN_TYPED, NULL);
    apply(x);
    end(x);
    begin(x, NULL);
    assert_null(wizard_answer(x->w, PASSWORD)->secret);
    apply(x);
    assert_int_equal(secret_len(wizard_answer(x->w, PASSWORD)->secret), 24);
    end(x);
}

static void a_secret_nobody_makes_is_asked_for(void **state)
{
    struct world *x = *state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    begin(x, "correct horse");
    struct plan plan;
    plan_init(&plan);
    plan_add(&plan, &plain_kind, "b", "b.role", CHANGE_CREATE, NULL)->uses = "b.fixed";
    assert_int_equal(engine_apply(x->e, &plan, true, &p), -1);
    assert_string_equal(p.code, "missing");
    plan_release(&plan);
    end(x);
}

/* --- the disk --------------------------------------------------------------------------------- */

static void nothing_is_sent_that_cannot_be_written_down(void **state)
{
    struct world *x = *state;
    AUTO_PROBLEM p = PROBLEM_INIT;
    struct rlimit before, small = {.rlim_cur = 64};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small.rlim_max = before.rlim_max;
    begin(x, "correct horse");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc = try_apply(x, true, NULL, &p);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(rc, -1);
    assert_int_equal(p.kind, PROBLEM_LOCAL);
    assert_int_equal(try_apply(x, true, NULL, &p), 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    pump_out(x);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    for (int i = 0; i < THINGS; i++)
        assert_int_equal(cloud->things[i].sends, 0);
    assert_status(x, ROLE, CHANGE_FAILED);
    assert_int_equal(view_of(x, ROLE).problem->kind, PROBLEM_LOCAL);
    apply(x);
    assert_one_of_each();
    end(x);
}

/* --- the end ---------------------------------------------------------------------------------- */

static void answers_at_the_end_are_written_down(void **state)
{
    struct world *x = *state;
    begin(x, "correct horse");
    for (int i = 0; i < KEY; i++)
        cloud->things[i].objects = 1;
    cloud->things[KEY].sleep_ms = 500;
    cloud->things[APP].sleep_ms = 5000; /* this one is cancelled after a while */
    assert_int_equal(try_apply(x, false, NULL, NULL), 0);
    for (int i = 0; i < 2000 && cloud->inside < 2; i++) {
        engine_pump(x->e, observe, x);
        usleep(1000);
    }
    int64_t started = clock_ms();
    end(x);
    int64_t took = clock_ms() - started;
    assert_true(took >= 1400 && took < 2100);
    begin(x, "correct horse");
    assert_journal(x, KEY, JOURNAL_READY, false);
    assert_string_equal(secret_bytes(wizard_answer(x->w, KEY_SECRET)->secret),
                        cloud->things[KEY].secret);
    assert_journal(x, APP, JOURNAL_INTENDED, false);
    end(x);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(killed_at_any_moment), /* first: it forks, and nobody else has had threads yet */
        TEST(all_goes_well),
        TEST(independent_changes_go_side_by_side),
        TEST(not_too_many_at_once),
        TEST(failures_block_what_needs_them),
        TEST(left_out_changes_block_what_needs_them),
        TEST(a_plan_without_changes_ends),
        TEST(lost_answers_are_settled_by_find),
        TEST(what_cannot_be_settled_stays_open),
        TEST(denied_but_there),
        TEST(not_ready_is_waited_for_again),
        TEST(what_was_there_is_adopted),
        TEST(another_preview_is_not_sent),
        TEST(announced_values_may_differ),
        TEST(a_stop_counts_before_each_send),
        TEST(no_place_to_keep_a_secret),
        TEST(given_secrets_are_not_replaced),
        TEST(a_secret_nobody_makes_is_asked_for),
        TEST(nothing_is_sent_that_cannot_be_written_down),
        TEST(answers_at_the_end_are_written_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
