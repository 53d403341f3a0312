/* For what must end the program: runs a function in a child and hands back its exit code and
 * stderr. */
#ifndef SLUICE_TEST_DEATH_H
#define SLUICE_TEST_DEATH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Fails the test unless fn(arg) ends the process with `code` and says something that contains
 * `said`. */
static inline void assert_dies(void (*fn)(void *arg), void *arg, int code, const char *said)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        fn(arg);
        _exit(0);
    }
    close(ends[1]);
    char seen[2048] = "";
    size_t n = 0;
    for (ssize_t got;
         n < sizeof seen - 1 && (got = read(ends[0], seen + n, sizeof seen - 1 - n)) > 0;)
        n += (size_t)got;
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != code || strstr(seen, said) == NULL)
        fail_msg("status %#x, said “%s”, wanted code %d and “%s”", (unsigned)status, seen, code,
                 said);
}
#endif
