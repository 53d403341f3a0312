/* The opening screen as lines. See plain.h and home.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "ui/plain_parts.h"

static void say_entry(struct console *c, const struct home_entry *e, size_t number)
{
    AUTO_TEXT status = TEXT_INIT;
    AUTO_TEXT age = TEXT_INIT;
    home_status(e, &status);
    if (e->at != 0)
        home_age(clock_wall() - e->at, &age);
    console_say(c, "%zu %s, %s%s%s (%s)", number, e->name, status.s, age.len > 0 ? ", " : "", age.s,
                e->path);
    if (e->fault != NULL)
        console_say(c, "  %s", e->fault);
    if (e->holder != NULL)
        console_say(c, "  %s. Opened here it is read-only.", e->holder);
    for (size_t i = 0; i < e->need_count; i++)
        console_say(c, "  Do: %s: %s: %s", e->needs[i].who, e->needs[i].title, e->needs[i].fix);
}

/* True when the answer chooses something. */
static bool choose(const struct home *h, struct console *c, const char *answer, char **path)
{
    char *end;
    long n = answer[0] == '\0' ? 1 : strtol(answer, &end, 10);
    if (strcasecmp(answer, "n") == 0 || strcasecmp(answer, "new") == 0) {
        *path = xstrdup(h->new_path);
    } else if ((answer[0] == '\0' || *end == '\0') && n >= 1 && (size_t)n <= h->count) {
        const struct home_entry *e = &h->entries[n - 1];
        if (e->fault == NULL)
            *path = xstrdup(e->path);
        else
            console_say(c, "It cannot be opened: %s", e->fault);
    } else {
        console_say(c, "Type the number of a set-up, n for a new one, or q.");
    }
    return *path != NULL;
}

int plain_home(struct home *h, char **path, struct problem *err)
{
    struct console c;
    AUTO_TEXT answer = TEXT_INIT;
    *path = NULL;
    if (console_open(&c, STDIN_FILENO, STDOUT_FILENO, err) != 0)
        return -1;
    int code = 0;
    console_say(&c, "sluice %s. Set-ups to continue:", SLUICE_VERSION);
    for (size_t i = 0; i < h->count; i++)
        say_entry(&c, &h->entries[i], i + 1);
    for (bool done = false; !done;) {
        int signal = 0;
        enum console_event got = console_ask(
            &c, "Which? A number, [n]ew pipeline, [q]uit [1]:", false, &answer, &signal);
        if (got != CONSOLE_LINE) {
            code = got == CONSOLE_EOF ? 0 : 128 + signal;
            console_say(&c, "%s", "");
        }
        done = got != CONSOLE_LINE || strcasecmp(answer.s, "q") == 0 ||
               strcasecmp(answer.s, "quit") == 0 || choose(h, &c, answer.s, path);
    }
    console_close(&c);
    return code;
}
