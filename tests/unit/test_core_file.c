/* Files: what is refused, and that a failed save leaves the old content and nothing else behind. */
#include <dirent.h>
#include <fcntl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "core/file.h"
#include "core/mem.h"

#define NOBODY 65534

static char dir[64];
static char path[96];
static char other[96];

static int make_dir(void **state)
{
    (void)state;
    snprintf(dir, sizeof dir, "/tmp/sluice-file-XXXXXX");
    if (mkdtemp(dir) == NULL)
        return -1;
    snprintf(path, sizeof path, "%s/sluice.yaml", dir);
    snprintf(other, sizeof other, "%s/other", dir);
    return 0;
}

/* Empties the directory (one level) and removes it. */
static int remove_dir(void **state)
{
    (void)state;
    DIR *d = opendir(dir);
    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        if (unlinkat(dirfd(d), e->d_name, 0) != 0)
            (void)unlinkat(dirfd(d), e->d_name, AT_REMOVEDIR);
    }
    if (d != NULL)
        closedir(d);
    return rmdir(dir);
}

static size_t entries(void)
{
    size_t n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d)) != NULL;)
        n += e->d_name[0] != '.' || strlen(e->d_name) > 2;
    closedir(d);
    return n;
}

static void save(const char *s)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (file_replace(path, s, strlen(s), true, &err) != 0)
        print_error("%s\n", err.what);
    assert_int_equal(err.kind, PROBLEM_NONE);
}

static void holds(const char *file, const char *s)
{
    AUTO_TEXT t = TEXT_INIT;
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (file_read(file, 1 << 20, true, &t, &err) != 0)
        print_error("%s\n", err.what);
    assert_int_equal(err.kind, PROBLEM_NONE);
    assert_string_equal(t.s, s);
}

static void refused(const char *file, bool private_only, const char *says)
{
    AUTO_TEXT t = TEXT_INIT;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(file_read(file, 1 << 20, private_only, &t, &err), -1);
    if (strstr(err.what, says) == NULL)
        print_error("%s\n", err.what);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_non_null(strstr(err.what, says));
    assert_int_equal(t.len, 0);
    assert_int_equal(file_read(file, 1 << 20, private_only, &t, NULL), -1);
}

static void replaces_and_keeps_the_previous(void **state)
{
    (void)state;
    AUTO(xfree) char *previous = xasprintf("%s.previous", path);
    umask(0);
    save("one");
    assert_int_equal(entries(), 1);
    assert_false(file_exists(previous));
    save("two");
    holds(path, "two");
    holds(previous, "one");
    save("three");
    holds(path, "three");
    holds(previous, "two");
    assert_int_equal(entries(), 2);
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
    assert_int_equal(file_replace(path, "four", 4, false, NULL), 0);
    holds(previous, "two");
    umask(0777); /* even this umask leaves it readable to us */
    save("five");
    umask(022);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0600);
}

static void any_bytes_and_sizes(void **state)
{
    (void)state;
    size_t n = 3 << 20;
    char *big = xmalloc(n);
    for (size_t i = 0; i < n; i++)
        big[i] = (char)(i * 7);
    assert_int_equal(file_replace(path, big, n, false, NULL), 0);
    AUTO_TEXT t = TEXT_INIT;
    assert_int_equal(file_read(path, n, true, &t, NULL), 0);
    assert_int_equal(t.len, n);
    assert_memory_equal(t.s, big, n);
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(file_read(path, n - 1, true, &t, &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_non_null(strstr(err.what, "over 3145727 bytes"));
    AUTO_TEXT small = TEXT_LIMITED(100); /* a text that could not hold it is no success */
    assert_int_equal(file_read(path, n, true, &small, &err), -1);
    assert_int_equal(file_replace(path, "", 0, false, NULL), 0);
    holds(path, "");
    xfree(big);
}

static void a_sparse_giant_is_refused(void **state)
{
    (void)state;
    save("x");
    assert_int_equal(truncate(path, 1L << 30), 0);
    refused(path, true, "over 1048576 bytes");
}

static void what_is_not_a_plain_private_file_is_refused(void **state)
{
    (void)state;
    save("content");
    static const mode_t open_to_others[] = {0640, 0620, 0610, 0604, 0602, 0601, 0666, 0777};
    for (size_t i = 0; i < ARRAY_LEN(open_to_others); i++) {
        assert_int_equal(chmod(path, open_to_others[i]), 0);
        refused(path, true, "can be used by others");
    }
    AUTO_TEXT t = TEXT_INIT;
    assert_int_equal(file_read(path, 100, false, &t, NULL), 0); /* where privacy does not matter */
    assert_int_equal(chmod(path, 0600), 0);

    assert_int_equal(symlink(path, other), 0);
    refused(other, true, "symbolic link");
    assert_int_equal(file_read(other, 100, false, &t, NULL), 0); /* ~/.aws/config may be a link */
    unlink(other);
    assert_int_equal(link(path, other), 0);
    refused(path, true, "hard link");
    unlink(other);
    assert_int_equal(mkfifo(other, 0600), 0);
    refused(other, true, "not a regular file"); /* and does not hang */
    refused(other, false, "not a regular file");
    unlink(other);
    assert_int_equal(mkdir(other, 0700), 0);
    refused(other, true, "is a directory");
    rmdir(other);
    refused("/dev/zero", false, "not a regular file");
    int s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    snprintf(address.sun_path, sizeof address.sun_path, "%s", other);
    assert_int_equal(bind(s, (struct sockaddr *)&address, sizeof address), 0);
    refused(other, true, "not a regular file");
    close(s);
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(file_read("/nonexistent/x", 10, true, &t, &err), -1);
    assert_int_equal(err.kind, PROBLEM_MISSING);
    holds(path, "content");
}

static void a_foreign_file_is_refused(void **state)
{
    (void)state;
    if (geteuid() != 0)
        skip();
    save("content");
    assert_int_equal(chown(path, NOBODY, (gid_t)-1), 0);
    refused(path, true, "belongs to another user");
}

/* What a replacement leaves that was killed between its link and its rename. */
static void a_kill_after_the_link_leaves_a_usable_file(void **state)
{
    (void)state;
    AUTO(xfree) char *previous = xasprintf("%s.previous", path);
    save("one");
    assert_int_equal(link(path, previous), 0);
    holds(path, "one");
    save("two");
    holds(path, "two");
    holds(previous, "one");
}

static void only_regular_files_are_replaced(void **state)
{
    (void)state;
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(file_replace(other, "victim", 6, false, NULL), 0);
    assert_int_equal(symlink(other, path), 0);
    assert_int_equal(file_replace(path, "new", 3, true, &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    holds(other, "victim");
    assert_int_equal(entries(), 2); /* no temp file */
    unlink(path);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_int_equal(file_replace(path, "new", 3, true, &err), -1);
    assert_int_equal(file_replace("/tmp/", "new", 3, true, &err), -1);
    assert_int_equal(file_replace("/nonexistent/dir/x", "new", 3, true, &err), -1);
    assert_int_equal(err.kind, PROBLEM_MISSING);
    assert_int_equal(entries(), 2);
}

/* A write that fails half way, as on a full disk: a limit on the size of files does the same. */
static void a_failed_write_leaves_the_old_file(void **state)
{
    (void)state;
    save("old");
    pid_t pid = fork();
    if (pid == 0) {
        signal(SIGXFSZ, SIG_IGN);
        struct rlimit limit = {8192, 8192};
        setrlimit(RLIMIT_FSIZE, &limit);
        static char big[100000];
        struct problem err = PROBLEM_INIT;
        int rc = file_replace(path, big, sizeof big, true, &err);
        bool told = rc == -1 && err.kind == PROBLEM_LOCAL && strcmp(err.code, "errno 27") == 0 &&
                    err.fix != NULL;
        problem_release(&err);
        _exit(told ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    holds(path, "old");
    assert_int_equal(entries(), 1); /* neither temp nor previous */
}

#define CANNOT 77 /* the child's answer when it may not mount */

static bool fails_with(const char *bytes, size_t n, const char *code)
{
    struct problem err = PROBLEM_INIT;
    struct text t = TEXT_INIT;
    size_t before = entries();
    bool ok = file_replace(path, bytes, n, true, &err) == -1 && err.kind == PROBLEM_LOCAL &&
              strcmp(err.code, code) == 0 && err.fix != NULL;
    ok = ok && file_read(path, 100, true, &t, NULL) == 0 && strcmp(t.s, "old") == 0;
    problem_release(&err);
    text_release(&t);
    return ok && entries() == before;
}

static int on_a_small_disk(void)
{
    static char big[200000];
    if (unshare(CLONE_NEWNS | (geteuid() != 0 ? CLONE_NEWUSER : 0)) != 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("tmpfs", dir, "tmpfs", 0, "size=64k") != 0)
        return CANNOT;
    if (file_replace(path, "old", 3, true, NULL) != 0)
        return 1;
    if (!fails_with(big, sizeof big, "errno 28"))
        return 2;
    int fd = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(fd, big, 4096) > 0) {
    }
    close(fd);
    if (!fails_with("new", 3, "errno 28"))
        return 3;
    unlink(other);
    if (mount(NULL, dir, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
        return CANNOT;
    if (!fails_with("new", 3, "errno 30"))
        return 4;
    if (mount(NULL, dir, NULL, MS_REMOUNT, NULL) != 0)
        return CANNOT;
    return file_replace(path, "new", 3, true, NULL) == 0 ? 0 : 5;
}

static void a_full_or_read_only_disk_leaves_the_old_file(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0)
        _exit(on_a_small_disk());
    int status;
    waitpid(pid, &status, 0);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == CANNOT)
        skip();
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void want_of_descriptors_leaves_the_old_file(void **state)
{
    (void)state;
    save("old");
    pid_t pid = fork();
    if (pid == 0) {
        while (open("/dev/null", O_RDONLY | O_CLOEXEC) < 3) {
        }
        struct rlimit limit = {4, 4};
        setrlimit(RLIMIT_NOFILE, &limit);
        struct problem err = PROBLEM_INIT;
        int rc = file_replace(path, "new", 3, true, &err);
        bool told = rc == -1 && err.kind == PROBLEM_LOCAL && strcmp(err.code, "errno 24") == 0;
        problem_release(&err);
        _exit(told ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
    holds(path, "old");
    assert_int_equal(entries(), 1);
}

/* Runs as another user when we are root, whom no mode stops. */
static void in_a_read_only_folder(void **state)
{
    (void)state;
    save("old");
    if (geteuid() == 0)
        assert_int_equal(chown(path, NOBODY, (gid_t)-1), 0);
    assert_int_equal(chmod(dir, 0555), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (geteuid() == 0 && setresuid(NOBODY, NOBODY, NOBODY) != 0)
            _exit(2);
        struct problem err = PROBLEM_INIT;
        struct text t = TEXT_INIT;
        int rc = file_replace(path, "new", 3, true, &err);
        bool told = rc == -1 && err.kind == PROBLEM_LOCAL && strcmp(err.code, "errno 13") == 0;
        bool kept = file_read(path, 10, true, &t, NULL) == 0 && strcmp(t.s, "old") == 0;
        bool dirs = file_make_dirs("/proc/self/nothing/x", NULL) == -1;
        problem_release(&err);
        text_release(&t);
        _exit(told && kept && dirs ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(chmod(dir, 0700), 0);
    assert_int_equal(status, 0);
    assert_int_equal(entries(), 1);
}

static void a_missing_right_to_read_is_told(void **state)
{
    (void)state;
    save("old");
    pid_t pid = fork();
    if (pid == 0) {
        chmod(path, 0);
        if (geteuid() == 0 && (chmod(dir, 0755) != 0 || setresuid(NOBODY, NOBODY, NOBODY) != 0))
            _exit(2);
        struct problem err = PROBLEM_INIT;
        struct text t = TEXT_INIT;
        bool told = file_read(path, 10, true, &t, &err) == -1 && err.kind == PROBLEM_LOCAL &&
                    err.fix != NULL;
        problem_release(&err);
        _exit(told ? 0 : 1);
    }
    int status;
    waitpid(pid, &status, 0);
    assert_int_equal(status, 0);
}

static void folders_are_made_private(void **state)
{
    (void)state;
    umask(022);
    AUTO(xfree) char *deep = xasprintf("%s/a//b/c/", dir);
    AUTO(xfree) char *a = xasprintf("%s/a", dir);
    AUTO(xfree) char *b = xasprintf("%s/a/b", dir);
    AUTO(xfree) char *c = xasprintf("%s/a/b/c", dir);
    assert_int_equal(file_make_dirs(deep, NULL), 0);
    assert_int_equal(file_make_dirs(deep, NULL), 0);
    struct stat st;
    assert_int_equal(stat(c, &st), 0);
    assert_int_equal(st.st_mode & 07777, 0700);
    rmdir(c);
    save("x");
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO(xfree) char *below_file = xasprintf("%s/y", path);
    assert_int_equal(file_make_dirs(below_file, &err), -1);
    assert_int_equal(err.kind, PROBLEM_INPUT);
    assert_int_equal(file_make_dirs(path, &err), -1);
    assert_int_equal(file_make_dirs("/", &err), 0);
    rmdir(b);
    rmdir(a);
}

static void names_of_folders(void **state)
{
    (void)state;
    static const char *const rows[][2] = {{"x", "."},         {"/x", "/"},  {"a/b", "a"},
                                          {"/a/b/c", "/a/b"}, {"./x", "."}, {"../x", ".."},
                                          {"", "."}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(xfree) char *d = file_dirname(rows[i][0]);
        assert_string_equal(d, rows[i][1]);
    }
}

static void existence_does_not_follow_links(void **state)
{
    (void)state;
    assert_false(file_exists(path));
    assert_int_equal(symlink("/nonexistent", path), 0);
    assert_true(
        file_exists(path)); /* so that it is refused on reading, not taken for a fresh start */
}

#define IN_DIR(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_DIR(replaces_and_keeps_the_previous),
        IN_DIR(any_bytes_and_sizes),
        IN_DIR(a_sparse_giant_is_refused),
        IN_DIR(what_is_not_a_plain_private_file_is_refused),
        IN_DIR(a_foreign_file_is_refused),
        IN_DIR(a_kill_after_the_link_leaves_a_usable_file),
        IN_DIR(only_regular_files_are_replaced),
        IN_DIR(a_failed_write_leaves_the_old_file),
        IN_DIR(a_full_or_read_only_disk_leaves_the_old_file),
        IN_DIR(want_of_descriptors_leaves_the_old_file),
        IN_DIR(in_a_read_only_folder),
        IN_DIR(a_missing_right_to_read_is_told),
        IN_DIR(folders_are_made_private),
        IN_DIR(names_of_folders),
        IN_DIR(existence_does_not_follow_links),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
