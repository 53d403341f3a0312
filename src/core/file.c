/* Reading and atomic replacement. Checks are made on the open descriptor, never on a name
 * beforehand, so that nothing can be swapped in between. */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

#define CHUNK 65536
#define TEMP_TRIES 16

static int refuse(struct problem *err, const char *path, const char *what, const char *fix)
{
    problem_fail(err, PROBLEM_INPUT, "file", "%s %s", path, what);
    problem_fix(err, WHO_YOU, "%s", fix);
    return -1;
}

/* A second link is our own when it is "<path>.previous", left by a replacement that was killed
 * between its link and its rename. */
static bool linked_as_previous(const char *path, const struct stat *st)
{
    char *previous = xasprintf("%s.previous", path);
    struct stat other;
    bool ours = st->st_nlink == 2 && lstat(previous, &other) == 0 && other.st_dev == st->st_dev &&
                other.st_ino == st->st_ino;
    xfree(previous);
    return ours;
}

static int check_private(const char *path, const struct stat *st, struct problem *err)
{
    if (st->st_uid != geteuid())
        return refuse(err, path, "belongs to another user", "Use a file that you own.");
    if ((st->st_mode & 077) != 0) {
        problem_fail(err, PROBLEM_INPUT, "file", "%s can be used by others (mode %03o)", path,
                     (unsigned)st->st_mode & 0777);
        problem_fix(err, WHO_YOU,
                    "Make it private; if others could read a secret in it, renew that.");
        problem_copy_command(err, "chmod 600 '%s'", path);
        return -1;
    }
    if (st->st_nlink > 1 && !linked_as_previous(path, st))
        return refuse(err, path, "has a second name (a hard link)",
                      "Copy it, remove the original and use the copy.");
    return 0;
}

static int read_whole(int fd, const char *path, size_t max, struct text *out, struct problem *err)
{
    char *chunk = xmalloc(CHUNK);
    int rc = 0;
    for (;;) {
        ssize_t got = read(fd, chunk, CHUNK);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            rc = problem_errno(err, errno, "cannot read %s", path);
        if (got <= 0)
            break;
        text_addn(out, chunk, (size_t)got);
        if (out->len > max || out->cut) {
            problem_fail(err, PROBLEM_INPUT, "file", "%s is over %zu bytes", path, max);
            problem_fix(err, WHO_YOU, "Check that this is the right file.");
            rc = -1;
            break;
        }
    }
    explicit_bzero(chunk, CHUNK);
    xfree(chunk);
    return rc;
}

int file_read(const char *path, size_t max, bool private_only, struct text *out,
              struct problem *err)
{
    /* O_NONBLOCK: opening a FIFO without a writer must not hang. */
    int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (private_only ? O_NOFOLLOW : 0);
    text_reset(out);
    int fd = open(path, flags);
    if (fd < 0 && errno == ELOOP && private_only)
        return refuse(err, path, "is a symbolic link", "Name the file that it points to.");
    if (fd < 0 && errno == ENXIO)
        return refuse(err, path, "is not a regular file", "Name a file.");
    if (fd < 0)
        return problem_errno(err, errno, "cannot open %s", path);
    struct stat st;
    int rc;
    if (fstat(fd, &st) != 0)
        rc = problem_errno(err, errno, "cannot examine %s", path);
    else if (S_ISDIR(st.st_mode))
        rc = refuse(err, path, "is a directory", "Name a file.");
    else if (!S_ISREG(st.st_mode))
        rc = refuse(err, path, "is not a regular file", "Name a file.");
    else
        rc = private_only ? check_private(path, &st, err) : 0;
    if (rc == 0)
        rc = read_whole(fd, path, max, out, err);
    close(fd);
    if (rc != 0)
        text_wipe(out);
    return rc;
}

char *file_dirname(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (slash == NULL)
        return xstrdup(".");
    return slash == path ? xstrdup("/") : xstrndup(path, (size_t)(slash - path));
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash != NULL ? slash + 1 : path;
}

bool file_exists(const char *path)
{
    struct stat st;
    return lstat(path, &st) == 0;
}

int file_make_dirs(const char *path, struct problem *err)
{
    char *copy = xstrdup(path);
    int rc = 0;
    for (char *p = copy + 1; rc == 0 && copy[0] != '\0'; p++) {
        if (*p != '/' && *p != '\0')
            continue;
        char end = *p;
        *p = '\0';
        struct stat st;
        if (mkdir(copy, 0700) != 0 && errno != EEXIST)
            rc = stat(copy, &st) == 0
                     ? 0
                     : problem_errno(err, errno, "cannot make the folder %s", copy);
        else if (stat(copy, &st) != 0 || !S_ISDIR(st.st_mode))
            rc = refuse(err, copy, "is not a folder", "Choose another place.");
        *p = end;
        if (end == '\0')
            break;
    }
    xfree(copy);
    return rc;
}

/* ---- replacing ---- */

/* All names are relative to the held directory, so that a renamed parent cannot divert anything. */
struct replacement {
    const char *path; /* for messages */
    const char *base;
    int dir;
    int fd;
    char *temp;
};

static int open_temp(struct replacement *r, struct problem *err)
{
    for (int i = 0; i < TEMP_TRIES; i++) {
        unsigned long long salt;
        if (getrandom(&salt, sizeof salt, 0) != (ssize_t)sizeof salt)
            return problem_errno(err, errno, "cannot save %s: no random bytes", r->path);
        xfree(r->temp);
        r->temp = xasprintf(".%s.%016llx.tmp", r->base, salt);
        r->fd = openat(r->dir, r->temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (r->fd >= 0)
            return 0;
        if (errno != EEXIST)
            break;
    }
    int errnum = errno;
    xfree(r->temp);
    r->temp = NULL; /* nothing was made, nothing is to be removed */
    return problem_errno(err, errnum, "cannot save %s", r->path);
}

static int write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, bytes, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return -1;
        bytes += put;
        n -= (size_t)put;
    }
    return 0;
}

static int fill_temp(struct replacement *r, const char *bytes, size_t n, struct problem *err)
{
    if (fchmod(r->fd, 0600) != 0 || write_all(r->fd, bytes, n) != 0 || fsync(r->fd) != 0)
        return problem_errno(err, errno, "cannot save %s", r->path);
    int rc = close(r->fd); /* network file systems report a full disk here */
    r->fd = -1;
    return rc == 0 ? 0 : problem_errno(err, errno, "cannot save %s", r->path);
}

/* Gives the present file its second name. A file system without hard links has no previous copy:
 * better than no state at all. */
static void keep_as_previous(const struct replacement *r)
{
    char *previous = xasprintf("%s.previous", r->base);
    (void)unlinkat(r->dir, previous, 0);
    int ignored = linkat(r->dir, r->base, r->dir, previous, 0);
    (void)ignored;
    xfree(previous);
}

static int put_in_place(struct replacement *r, bool keep_previous, struct problem *err)
{
    struct stat st;
    bool exists = fstatat(r->dir, r->base, &st, AT_SYMLINK_NOFOLLOW) == 0;
    if (exists && !S_ISREG(st.st_mode))
        return refuse(err, r->path, "is not a regular file and is not replaced",
                      "Move it away, or choose another name.");
    if (exists && keep_previous)
        keep_as_previous(r);
    if (renameat(r->dir, r->temp, r->dir, r->base) != 0)
        return problem_errno(err, errno, "cannot save %s", r->path);
    xfree(r->temp);
    r->temp = NULL;
    /* Some file systems cannot sync a directory and say EINVAL; the rename stands then. */
    if (fsync(r->dir) != 0 && errno != EINVAL && errno != ENOTSUP)
        return problem_errno(err, errno, "cannot be sure that %s is on disk", r->path);
    return 0;
}

int file_replace(const char *path, const char *bytes, size_t n, bool keep_previous,
                 struct problem *err)
{
    struct replacement r = {.path = path, .base = base_of(path), .dir = -1, .fd = -1};
    if (r.base[0] == '\0')
        return refuse(err, path, "is a folder", "Name a file.");
    char *dir = file_dirname(path);
    r.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = r.dir >= 0 ? 0 : problem_errno(err, errno, "cannot save %s: folder %s", path, dir);
    if (rc == 0)
        rc = open_temp(&r, err);
    if (rc == 0)
        rc = fill_temp(&r, bytes, n, err);
    if (rc == 0)
        rc = put_in_place(&r, keep_previous, err);
    if (r.fd >= 0)
        close(r.fd);
    if (r.temp != NULL)
        (void)unlinkat(r.dir, r.temp, 0);
    if (r.dir >= 0)
        close(r.dir);
    xfree(r.temp);
    xfree(dir);
    return rc;
}
