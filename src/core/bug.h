/* What must never happen: a row that reads what it did not declare, an id nobody knows, a fact of
 * another type. Going on would judge a pipeline by wrong inputs, so the program ends with code 70.
 */
#ifndef SLUICE_CORE_BUG_H
#define SLUICE_CORE_BUG_H

/* Runs the hook, says on stderr what is wrong, and ends the process with code 70; saved state is
 * whole. From any thread; of two at once the first one speaks. */
void bug(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
/* Called before the message, on the thread that found the bug: restores the terminal. NULL = none.
 */
void bug_on(void (*hook)(void));
#endif
