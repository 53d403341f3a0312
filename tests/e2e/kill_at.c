/* Preloaded into a program under test: kills it, as a power cut would, at the n-th time that a file
 * of a certain name is put in its place by renameat. SLUICE_TEST_KILL is "before:3:sluice.yaml" or
 * "after:3:sluice.yaml", counted from when the file SLUICE_TEST_ARMED exists, if that is set;
 * SLUICE_TEST_RENAMES names a file to which each such name is appended. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef int (*renamer)(int, const char *, int, const char *);

static void note(const char *name)
{
    const char *path = getenv("SLUICE_TEST_RENAMES");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    char line[512];
    int n = snprintf(line, sizeof line, "%s\n", name);
    if (n > 0 && write(fd, line, (size_t)n) < 0)
        _exit(99);
    close(fd);
}

/* Whether it is this one's turn; counts. */
static int now(const char *name, char side[8])
{
    static atomic_int seen;
    const char *rule = getenv("SLUICE_TEST_KILL");
    const char *armed = getenv("SLUICE_TEST_ARMED");
    char wanted[256];
    int n;
    if (!rule || sscanf(rule, "%7[^:]:%d:%255s", side, &n, wanted) != 3)
        return 0;
    if (armed && access(armed, F_OK) != 0)
        return 0;
    return strcmp(wanted, name) == 0 && atomic_fetch_add(&seen, 1) + 1 == n;
}

int renameat(int from_dir, const char *from, int to_dir, const char *to)
{
    static renamer next;
    const char *slash = strrchr(to, '/');
    char side[8] = "";
    int die = now(slash ? slash + 1 : to, side);
    if (!next)
        *(void **)&next = dlsym(RTLD_NEXT, "renameat");
    if (die && side[0] == 'b')
        kill(getpid(), SIGKILL);
    int rc = next(from_dir, from, to_dir, to);
    note(slash ? slash + 1 : to);
    if (die)
        kill(getpid(), SIGKILL);
    return rc;
}
