/* The end of the program when it finds itself to be wrong. No destructor and no other thread runs
 * any more (_exit), so that nothing is written on the strength of a broken model. */
#include "core/bug.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/shown.h"

#define EXIT_BUG 70 /* EX_SOFTWARE of sysexits.h */

static void (*_Atomic bug_hook)(void);
static atomic_flag ending = ATOMIC_FLAG_INIT;

void bug_on(void (*hook)(void))
{
    atomic_store(&bug_hook, hook);
}

void bug(const char *fmt, ...)
{
    while (atomic_flag_test_and_set(&ending))
        pause(); /* another thread ends the program */
    void (*hook)(void) = atomic_load(&bug_hook);
    if (hook != NULL)
        hook();
    va_list ap;
    va_start(ap, fmt);
    char *what = shown_format(CLEAN_LINE, fmt, ap);
    va_end(ap);
    char *message = xasprintf("sluice: a bug in sluice: %s. What was saved is whole.\n", what);
    ssize_t ignored = write(STDERR_FILENO, message, strlen(message));
    (void)ignored;
    _exit(EXIT_BUG);
}
