/* A folder of files that is written whole or not at all, and only where nothing of others lies.
 *
 * The files stand in a folder of mode 0700, each 0600, with a list of their SHA-256 sums beside
 * them (SHA256SUMS, as sha256sum -c reads it). By that list a later writing knows the folder for
 * one of its own: it is exchanged as a whole when every file in it is still as it was written, and
 * left alone when one was changed, added or removed. What a killed writing left beside it (it may
 * hold secrets) the next one removes. */
#ifndef SLUICE_CORE_FOLDER_H
#define SLUICE_CORE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"

#define FOLDER_SUMS "SHA256SUMS"
#define FOLDER_FILES_MAX 100000

struct folder_file {
    char *path; /* "acmeCo/flow.yaml": relative, without . and .. */
    char *bytes;
    size_t n;
};

struct folder {
    size_t count;
    struct folder_file *files;
};

/* Copies both. */
void folder_add(struct folder *f, const char *path, const char *bytes, size_t n);
void folder_release(struct folder *f);
#define AUTO_FOLDER __attribute__((cleanup(folder_release))) struct folder

/* Writes the files as the folder at path, whose parents are made when missing. Temp folder beside
 * it, fsync, rename. *same (may be NULL) tells that it stood there already, byte by byte: then
 * nothing is written. PROBLEM_CONFLICT: something else lies there, or the folder was changed since:
 * named. Sorts the files. */
int folder_write(struct folder *f, const char *path, bool *same, struct problem *err);
#endif
