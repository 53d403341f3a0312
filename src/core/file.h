/* Files that matter: opened without following links, checked by fstat, replaced atomically. */
#ifndef SLUICE_CORE_FILE_H
#define SLUICE_CORE_FILE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"
#include "core/text.h"

/* Reads a regular file of at most `max` bytes. private_only refuses one that is group- or
 * world-accessible, a symlink, hard-linked twice or owned by another (ssh's StrictModes rule).
 * PROBLEM_MISSING when there is none, PROBLEM_INPUT when refused. `out` is wiped by the caller when
 * it held secrets. */
int file_read(const char *path, size_t max, bool private_only, struct text *out,
              struct problem *err);
/* Temp file in the same directory (0600, O_EXCL), fsync, rename over path, fsync of the directory.
 * With keep_previous the old content stays as "<path>.previous" (a link made before the rename; a
 * file system without hard links keeps none). What is not a regular file, such as a symlink, is not
 * replaced.
 *
 * On any failure the old file stands untouched and the temp file is removed; only when at last the
 * directory cannot be synced, the new file stands and -1 says that it may not be on disk. After a
 * failed fsync nothing is retried on the same file (the pages may be lost and marked clean). The
 * program must ignore SIGXFSZ, else a limit on file sizes ends it here. */
int file_replace(const char *path, const char *bytes, size_t n, bool keep_previous,
                 struct problem *err);
/* Makes a directory and its parents with mode 0700. */
int file_make_dirs(const char *path, struct problem *err);
char *file_dirname(const char *path); /* "." when it has none; xfree */
bool file_exists(const char *path);

/* An advisory lock (flock) on `path`, made when missing, holding "pid host since" for the message.
 */
struct file_lock;
/* NULL and PROBLEM_CONFLICT naming the holder when another process has it. */
struct file_lock *file_lock(const char *path, struct problem *err);
void file_unlock(struct file_lock *lock); /* NULL is fine */
/* Whether another has the lock; *holder (may be NULL) then names it as file_lock does. Makes no
 * file. */
bool file_lock_held(const char *path, struct problem *holder);
#endif
