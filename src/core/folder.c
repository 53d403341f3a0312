/* Writing a folder as a whole. See folder.h. */
#include "core/folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/digest.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/text.h"

#define FILE_MAX ((size_t)64 << 20) /* bytes of one that is compared */
#define DEPTH_MAX 64
#define HEX 65
#define TEMP ".sluice-" /* then six of mkdtemp's letters: beside the folder while it is written */
static const char heading[] =
    "# Sums of what sluice wrote here; a file that was changed is not overwritten.\n";

/* --- the list --------------------------------------------------------------------------------- */

void folder_add(struct folder *f, const char *path, const char *bytes, size_t n)
{
    f->files = xrealloc(f->files, f->count + 1, sizeof *f->files);
    struct folder_file *file = &f->files[f->count++];
    *file = (struct folder_file){.path = xstrdup(path), .bytes = xmalloc(n + 1), .n = n};
    if (n > 0)
        memcpy(file->bytes, bytes, n);
    file->bytes[n] = '\0';
}

void folder_release(struct folder *f)
{
    for (size_t i = 0; i < f->count; i++) {
        xfree(f->files[i].path);
        xfree(f->files[i].bytes);
    }
    xfree(f->files);
    *f = (struct folder){0};
}

static int by_path(const void *a, const void *b)
{
    const struct folder_file *x = a, *y = b;
    return strcmp(x->path, y->path);
}

static const struct folder_file *find(const struct folder *f, const char *path)
{
    const struct folder_file key = {.path = (char *)(uintptr_t)path};
    return f->count > 0 ? bsearch(&key, f->files, f->count, sizeof *f->files, by_path) : NULL;
}

static bool proper(const char *path)
{
    for (const char *at = path;; at++) {
        size_t n = strcspn(at, "/");
        bool dots = (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.');
        if (n == 0 || dots || at[strcspn(at, "\n\\")] != '\0')
            return false;
        at += n;
        if (*at == '\0')
            return true;
    }
}

/* Sorted; no path twice, none that is a folder of another. */
static int prove(struct folder *f, struct problem *err)
{
    if (f->count >= FOLDER_FILES_MAX)
        return problem_fail(err, PROBLEM_INPUT, "files", "%zu files are too many for one folder",
                            f->count);
    if (f->count > 0)
        qsort(f->files, f->count, sizeof *f->files, by_path);
    for (size_t i = 0; i < f->count; i++) {
        const char *path = f->files[i].path;
        if (!proper(path) || strcmp(path, FOLDER_SUMS) == 0)
            return problem_fail(err, PROBLEM_INPUT, "path", "“%s” cannot be the name of a file",
                                path);
        for (const char *slash = path; (slash = strchr(slash, '/')) != NULL; slash++) {
            AUTO(xfree) char *parent = xstrndup(path, (size_t)(slash - path));
            if (find(f, parent) != NULL)
                return problem_fail(err, PROBLEM_INPUT, "path", "%s is a file and a folder",
                                    parent);
        }
        if (i > 0 && strcmp(f->files[i - 1].path, path) == 0)
            return problem_fail(err, PROBLEM_INPUT, "path", "there are two files %s", path);
    }
    return 0;
}

static void hex_of(const char *bytes, size_t n, char out[HEX])
{
    struct digest d = digest_of(bytes, n);
    for (size_t i = 0; i < sizeof d.b; i++)
        snprintf(out + 2 * i, 3, "%02x", d.b[i]);
}

static void add_sums(struct folder *f)
{
    AUTO_TEXT sums = TEXT_LIMITED(FILE_MAX);
    text_add(&sums, heading);
    for (size_t i = 0; i < f->count; i++) {
        char hex[HEX];
        hex_of(f->files[i].bytes, f->files[i].n, hex);
        text_addf(&sums, "%s  %s\n", hex, f->files[i].path);
    }
    folder_add(f, FOLDER_SUMS, sums.s, sums.len);
    qsort(f->files, f->count, sizeof *f->files, by_path);
}

/* --- what stands there ------------------------------------------------------------------------ */

/* Paths of files below a folder, into a folder whose files have no bytes; `most` of them, as a
 * whole disk may lie there. */
static int list(const char *root, const char *below, int depth, size_t most, struct folder *out,
                struct problem *err)
{
    AUTO(xfree) char *path = below[0] != '\0' ? xasprintf("%s/%s", root, below) : xstrdup(root);
    DIR *dir = opendir(path);
    if (dir == NULL)
        return problem_errno(err, errno, "cannot look into %s", path);
    int rc = 0;
    for (struct dirent *e; rc == 0 && out->count < most && (e = readdir(dir)) != NULL;) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        AUTO(xfree)
        char *name = below[0] != '\0' ? xasprintf("%s/%s", below, e->d_name) : xstrdup(e->d_name);
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            rc = problem_errno(err, errno, "cannot look at %s/%s", root, name);
        else if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX)
            rc = list(root, name, depth + 1, most, out, err);
        else
            folder_add(out, name, "", 0);
    }
    closedir(dir);
    return rc;
}

static int foreign(const char *path, const char *what, const char *name, struct problem *err)
{
    problem_fail(err, PROBLEM_CONFLICT, "folder", "%s is not overwritten: %s%s%s", path, name,
                 name[0] != '\0' ? " " : "", what);
    problem_why(err, "Only a folder that holds what sluice wrote there, unchanged, is replaced.");
    problem_fix(err, WHO_YOU, "Name another folder with -o, or move this one away.");
    return -1;
}

/* The list as files whose bytes are their sums, sorted. */
static void read_sums(const char *sums, struct folder *out)
{
    for (const char *line = sums; *line != '\0';) {
        size_t length = strcspn(line, "\n");
        if (length > HEX + 1 && line[0] != '#' && strncmp(line + HEX - 1, "  ", 2) == 0) {
            AUTO(xfree) char *path = xstrndup(line + HEX + 1, length - HEX - 1);
            folder_add(out, path, line, HEX - 1);
        }
        line += length + (line[length] == '\n');
    }
    if (out->count > 0)
        qsort(out->files, out->count, sizeof *out->files, by_path);
}

/* The file is as the list says. */
static int unchanged(const char *root, const char *name, const struct folder *sums,
                     struct problem *err)
{
    AUTO_TEXT bytes = TEXT_LIMITED(FILE_MAX);
    AUTO(xfree) char *path = xasprintf("%s/%s", root, name);
    const struct folder_file *sum = find(sums, name);
    char hex[HEX];
    if (sum == NULL)
        return foreign(root, "was not written by sluice", name, err);
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
        file_read(path, FILE_MAX, false, &bytes, NULL) != 0)
        return foreign(root, "cannot be read", name, err);
    hex_of(bytes.s, bytes.len, hex);
    return strcmp(hex, sum->bytes) == 0 ? 0 : foreign(root, "was changed since", name, err);
}

/* 0 = the folder is empty, or all of it is as sluice wrote it; *sums gets its list. */
static int judge(const char *root, struct text *sums, struct problem *err)
{
    AUTO_FOLDER files = {0};
    AUTO_FOLDER was = {0};
    AUTO(xfree) char *path = xasprintf("%s/" FOLDER_SUMS, root);
    bool ours = file_read(path, FILE_MAX, false, sums, NULL) == 0 &&
                strncmp(sums->s, heading, strlen(heading)) == 0;
    if (ours)
        read_sums(sums->s, &was);
    if (list(root, "", 0, was.count + 2, &files, err) != 0) /* with the sums, and one too many */
        return -1;
    if (files.count == 0)
        return 0;
    if (!ours)
        return foreign(root, "other files lie there", "", err);
    for (size_t i = 0; i < files.count; i++)
        if (strcmp(files.files[i].path, FOLDER_SUMS) != 0 &&
            unchanged(root, files.files[i].path, &was, err) != 0)
            return -1;
    if (was.count + 1 != files.count)
        return foreign(root, "a file was removed since", "", err);
    return 0;
}

/* --- writing ---------------------------------------------------------------------------------- */

static int sync_folder(const char *path, struct problem *err)
{
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 || fsync(fd) != 0 ? -1 : 0;
    int kept = errno;
    if (fd >= 0)
        close(fd);
    return rc == 0 ? 0 : problem_errno(err, kept, "cannot write %s to disk", path);
}

static int write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = write(fd, bytes, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return -1;
        bytes += done;
        n -= (size_t)done;
    }
    return fsync(fd);
}

static int write_file(const char *root, const struct folder_file *f, struct problem *err)
{
    AUTO(xfree) char *path = xasprintf("%s/%s", root, f->path);
    AUTO(xfree) char *parent = file_dirname(path);
    if (file_make_dirs(parent, err) != 0)
        return -1;
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return problem_errno(err, errno, "cannot make %s", path);
    int rc = write_all(fd, f->bytes, f->n);
    int kept = errno;
    if (close(fd) != 0 && rc == 0) {
        rc = -1;
        kept = errno;
    }
    if (rc != 0)
        return problem_errno(err, kept, "cannot write %s", path);
    return sync_folder(parent, err);
}

/* Of a folder of our own making; best effort. */
static void remove_all(const char *path, int depth)
{
    DIR *dir = opendir(path);
    for (struct dirent *e; dir != NULL && depth < DEPTH_MAX && (e = readdir(dir)) != NULL;) {
        struct stat st;
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        AUTO(xfree) char *name = xasprintf("%s/%s", path, e->d_name);
        if (lstat(name, &st) == 0 && S_ISDIR(st.st_mode))
            remove_all(name, depth + 1);
        else
            unlink(name);
    }
    if (dir != NULL)
        closedir(dir);
    rmdir(path);
}

/* Into its place in one step. What stood there is then at `temp`. */
static int place(const char *temp, const char *path, bool stands, struct problem *err)
{
    unsigned how = stands ? RENAME_EXCHANGE : RENAME_NOREPLACE;
    if (renameat2(AT_FDCWD, temp, AT_FDCWD, path, how) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return problem_errno(err, errno, "cannot put the folder at %s", path);
    /* a file system that knows neither: in two steps, the old one kept beside until the end */
    AUTO(xfree) char *aside = xasprintf("%s.old", temp);
    if (stands && rename(path, aside) != 0)
        return problem_errno(err, errno, "cannot move %s aside", path);
    if (rename(temp, path) == 0)
        return stands && rename(aside, temp) != 0
                   ? problem_errno(err, errno, "the former folder stays at %s", aside)
                   : 0;
    int kept = errno;
    if (stands)
        (void)rename(aside, path);
    return problem_errno(err, kept, "cannot put the folder at %s", path);
}

/* --- what a killed one left ------------------------------------------------------------------- */

/* The sums are written last: without them it is half a folder; with them what was exchanged, which
 * somebody may have changed. Who still writes holds a lock on it. */
static void sweep_one(const char *path)
{
    struct stat st;
    AUTO_TEXT sums = TEXT_INIT;
    AUTO(xfree) char *list = xasprintf("%s/" FOLDER_SUMS, path);
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return;
    bool free = fstat(fd, &st) == 0 && st.st_uid == geteuid() && flock(fd, LOCK_EX | LOCK_NB) == 0;
    if (free && (!file_exists(list) || judge(path, &sums, NULL) == 0))
        remove_all(path, 0);
    close(fd);
}

static void sweep(const char *parent, const char *path)
{
    const char *slash = strrchr(path, '/');
    AUTO(xfree) char *head = xasprintf("%s" TEMP, slash != NULL ? slash + 1 : path);
    DIR *dir = opendir(parent);
    for (struct dirent *e; dir != NULL && (e = readdir(dir)) != NULL;) {
        if (strncmp(e->d_name, head, strlen(head)) != 0 ||
            strlen(e->d_name) != strlen(head) + strlen("XXXXXX"))
            continue;
        AUTO(xfree) char *left = xasprintf("%s/%s", parent, e->d_name);
        sweep_one(left);
    }
    if (dir != NULL)
        closedir(dir);
}

/* --- all of it -------------------------------------------------------------------------------- */

static int write_files(const struct folder *f, const char *root, bool sums, struct problem *err)
{
    for (size_t i = 0; i < f->count; i++)
        if ((strcmp(f->files[i].path, FOLDER_SUMS) == 0) == sums &&
            write_file(root, &f->files[i], err) != 0)
            return -1;
    return 0;
}

static int write_new(const struct folder *f, const char *path, bool stands, struct problem *err)
{
    AUTO(xfree) char *parent = file_dirname(path);
    AUTO(xfree) char *temp = xasprintf("%s" TEMP "XXXXXX", path);
    AUTO_TEXT before = TEXT_INIT;
    if (file_make_dirs(parent, err) != 0)
        return -1;
    sweep(parent, path);
    if (mkdtemp(temp) == NULL)
        return problem_errno(err, errno, "cannot make a folder beside %s", path);
    int lock = open(temp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock >= 0)
        (void)flock(lock, LOCK_EX);
    int rc = write_files(f, temp, false, err);
    if (rc == 0)
        rc = write_files(f, temp, true, err);
    if (rc == 0)
        rc = place(temp, path, stands, err);
    if (rc == 0)
        rc = sync_folder(parent, err);
    else
        stands = false; /* temp is ours, whatever failed */
    /* what was exchanged is looked at once more: it may have been changed since it was judged */
    if (!stands || judge(temp, &before, NULL) == 0)
        remove_all(temp, 0);
    if (lock >= 0)
        close(lock);
    return rc;
}

int folder_write(struct folder *f, const char *path, bool *same, struct problem *err)
{
    struct stat st;
    AUTO_TEXT sums = TEXT_LIMITED(FILE_MAX);
    AUTO(xfree) char *where = xstrdup(path);
    for (size_t n = strlen(where); n > 1 && where[n - 1] == '/'; n--)
        where[n - 1] = '\0';
    if (same != NULL)
        *same = false;
    if (prove(f, err) != 0)
        return -1;
    add_sums(f);
    bool stands = lstat(where, &st) == 0;
    if (!stands && errno != ENOENT)
        return problem_errno(err, errno, "cannot look at %s", where);
    if (stands && (!S_ISDIR(st.st_mode) || st.st_uid != geteuid()))
        return foreign(where, S_ISDIR(st.st_mode) ? "it belongs to another" : "it is no folder", "",
                       err);
    if (stands && judge(where, &sums, err) != 0)
        return -1;
    if (stands && strcmp(sums.s, find(f, FOLDER_SUMS)->bytes) == 0) {
        if (same != NULL)
            *same = true;
        return 0;
    }
    return write_new(f, where, stands, err);
}
