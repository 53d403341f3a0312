/* The lock: flock, which the kernel gives back when its holder dies, however it dies. The content
 * only serves the message; a number in a file proves nothing, as process ids are used again. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/mem.h"

#define HOLDER_BYTES 300

struct file_lock {
    int fd;
};

static void name_holder(int fd, const char *path, struct problem *err)
{
    char line[HOLDER_BYTES + 1], host[HOLDER_BYTES + 1], since[HOLDER_BYTES + 1];
    ssize_t got = pread(fd, line, HOLDER_BYTES, 0);
    line[got > 0 ? got : 0] = '\0';
    long pid;
    if (sscanf(line, "%ld %300s %300s", &pid, host, since) == 3) {
        problem_fail(err, PROBLEM_CONFLICT, "locked", "%s is held by process %ld on %s since %s",
                     path, pid, host, since);
        problem_fix(err, WHO_YOU, "Go on there, or end that sluice and try again.");
        return;
    }
    problem_fail(err, PROBLEM_CONFLICT, "locked", "%s is held by another process", path);
    problem_fix(err, WHO_YOU, "End the other sluice, then try again.");
}

static void write_holder(int fd)
{
    char host[256] = "";
    if (gethostname(host, sizeof host - 1) != 0 || host[0] == '\0')
        memcpy(host, "unknown", sizeof "unknown");
    char *since = clock_iso(clock_wall());
    char *line = xasprintf("%ld %s %s\n", (long)getpid(), host, since);
    /* The lock holds without it, so a full disk is no reason to refuse. */
    if (ftruncate(fd, 0) == 0) {
        ssize_t ignored = pwrite(fd, line, strlen(line), 0);
        (void)ignored;
    }
    xfree(line);
    xfree(since);
}

static int open_lock(const char *path, struct problem *err)
{
    int flags = O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd = open(path, flags, 0600);
    struct stat st;
    if (fd < 0 && errno != ELOOP) {
        problem_errno(err, errno, "cannot open the lock file %s", path);
        problem_fix(err, WHO_YOU, "Choose a folder that is there and that you may write to.");
        return -1;
    }
    if (fd < 0 || fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        if (fd >= 0)
            close(fd);
        problem_fail(err, PROBLEM_INPUT, "file", "the lock file %s is not a regular file", path);
        problem_fix(err, WHO_YOU, "Remove it.");
        return -1;
    }
    return fd;
}

struct file_lock *file_lock(const char *path, struct problem *err)
{
    int fd = open_lock(path, err);
    if (fd < 0)
        return NULL;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        if (errno == EWOULDBLOCK)
            name_holder(fd, path, err);
        else
            problem_errno(err, errno, "cannot lock %s", path);
        close(fd);
        return NULL;
    }
    struct file_lock *lock = xcalloc(1, sizeof *lock);
    lock->fd = fd;
    write_holder(fd);
    return lock;
}

void file_unlock(struct file_lock *lock)
{
    if (lock == NULL)
        return;
    /* The file stays: removing it would race with who opens it at this moment. */
    if (ftruncate(lock->fd, 0) != 0) {
        /* it then names a holder that is gone; the lock itself is free */
    }
    close(lock->fd);
    xfree(lock);
}

/* There is no asking without taking: shared, so that two who only look do not see each other. */
bool file_lock_held(const char *path, struct problem *holder)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return false;
    bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (held)
        name_holder(fd, path, holder);
    close(fd);
    return held;
}
