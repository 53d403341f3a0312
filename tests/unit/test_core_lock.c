/* The lock: one holder, who is named; a dead one holds nothing. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/file.h"
#include "core/mem.h"

static char dir[64];
static char path[96];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/sluice-lock-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/sluice.yaml.lock", dir);
    return 0;
}

static int remove_dir(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(dir);
}

/* A child that takes the lock, says so and waits for its end. */
static pid_t holder(void)
{
    int fds[2];
    assert_int_equal(pipe(fds), 0);
    pid_t pid = fork();
    if (pid == 0) {
        struct file_lock *lock = file_lock(path, NULL);
        ssize_t ignored = write(fds[1], lock != NULL ? "y" : "n", 1);
        (void)ignored;
        for (;;)
            pause();
    }
    char answer = 0;
    assert_int_equal(read(fds[0], &answer, 1), 1);
    assert_int_equal(answer, 'y');
    close(fds[0]);
    close(fds[1]);
    return pid;
}

static void kill_and_wait(pid_t pid)
{
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

static void taken_and_given_back(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    for (int i = 0; i < 3; i++) {
        struct file_lock *lock = file_lock(path, &err);
        assert_non_null(lock);
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        file_unlock(lock);
    }
    file_unlock(NULL);
}

static void the_holder_is_named(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    pid_t pid = holder();
    assert_null(file_lock(path, &err));
    assert_int_equal(err.kind, PROBLEM_CONFLICT);
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    AUTO(xfree) char *who = xasprintf("held by process %ld on %s since 2", (long)pid, host);
    assert_non_null(strstr(err.what, who));
    assert_non_null(err.fix);
    assert_null(file_lock(path, NULL));
    kill_and_wait(pid);
}

static void a_dead_holder_holds_nothing(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    kill_and_wait(holder());
    AUTO_TEXT left = TEXT_INIT;
    assert_int_equal(file_read(path, 1000, true, &left, &err), 0);
    assert_true(left.len > 0); /* it still names the dead one */
    struct file_lock *lock = file_lock(path, &err);
    assert_non_null(lock);
    AUTO_TEXT now = TEXT_INIT;
    assert_int_equal(file_read(path, 1000, true, &now, &err), 0);
    AUTO(xfree) char *me = xasprintf("%ld ", (long)getpid());
    assert_ptr_equal(strstr(now.s, me), now.s);
    file_unlock(lock);
}

/* A process id that is in use again proves nothing. */
static void a_reused_process_id_does_not_lock(void **state)
{
    (void)state;
    AUTO(xfree) char *line = xasprintf("%ld elsewhere 2026-01-01T00:00:00Z\n", (long)getppid());
    assert_int_equal(file_replace(path, line, strlen(line), false, NULL), 0);
    struct file_lock *lock = file_lock(path, NULL);
    assert_non_null(lock);
    file_unlock(lock);
}

static void twice_in_one_process_is_a_conflict(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct file_lock *lock = file_lock(path, &err);
    assert_null(file_lock(path, &err));
    assert_int_equal(err.kind, PROBLEM_CONFLICT);
    file_unlock(lock);
}

static void hostile_content_is_cleaned(void **state)
{
    (void)state;
    static const char *const lines[] = {"1 \x1b[2Jhost since\n", "garbage", "",
                                        "99999999999999999999 a b"};
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        AUTO_PROBLEM err = PROBLEM_INIT;
        struct file_lock *lock = file_lock(path, NULL);
        assert_non_null(lock);
        FILE *f = fopen(path, "we");
        fputs(lines[i], f);
        fclose(f);
        assert_null(file_lock(path, &err));
        assert_int_equal(err.kind, PROBLEM_CONFLICT);
        assert_null(strchr(err.what, '\x1b'));
        file_unlock(lock);
    }
}

static void odd_lock_files_are_refused(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO(xfree) char *target = xasprintf("%s/target", dir);
    assert_int_equal(symlink(target, path), 0);
    assert_null(file_lock(path, &err));
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_false(file_exists(target)); /* not made through the link */
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(file_lock(path, &err));
    assert_int_equal(err.kind, PROBLEM_INPUT);
    unlink(path);
    assert_null(file_lock("/nonexistent/lock", &err));
    assert_int_equal(err.kind, PROBLEM_MISSING);
}

/* A child program started meanwhile does not inherit the lock. */
static void is_not_inherited(void **state)
{
    (void)state;
    struct file_lock *lock = file_lock(path, NULL);
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sleep", "sleep", "60", (char *)NULL);
        _exit(1);
    }
    struct timespec nap = {0, 50 * 1000 * 1000};
    nanosleep(&nap, NULL);
    file_unlock(lock);
    lock = file_lock(path, NULL);
    kill_and_wait(pid);
    assert_non_null(lock);
    file_unlock(lock);
}

/* Looking neither makes a file nor takes the lock away from anybody. */
static void looking_leaves_all_as_it_is(void **state)
{
    (void)state;
    AUTO_PROBLEM holder = PROBLEM_INIT;
    assert_false(file_lock_held(path, NULL));
    assert_false(file_exists(path));
    struct file_lock *lock = file_lock(path, NULL);
    assert_true(file_lock_held(path, &holder));
    assert_int_equal(holder.kind, PROBLEM_CONFLICT);
    assert_non_null(strstr(holder.what, "is held by process"));
    file_unlock(lock);
    assert_false(file_lock_held(path, NULL));
    lock = file_lock(path, NULL);
    assert_non_null(lock);
    file_unlock(lock);
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(taken_and_given_back),
        IN_DIR(the_holder_is_named),
        IN_DIR(a_dead_holder_holds_nothing),
        IN_DIR(a_reused_process_id_does_not_lock),
        IN_DIR(twice_in_one_process_is_a_conflict),
        IN_DIR(hostile_content_is_cleaned),
        IN_DIR(odd_lock_files_are_refused),
        IN_DIR(is_not_inherited),
        IN_DIR(looking_leaves_all_as_it_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
