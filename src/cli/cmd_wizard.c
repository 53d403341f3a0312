/* wizard: which set-up, and which front end: the screens where a cursor can move, plain prompts
 * where it cannot or where that is asked for; without a terminal the reason why not and the way on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/export_folder.h"
#include "cli/session.h"
#include "core/mem.h"
#include "steps/steps.h"
#include "ui/app.h"
#include "ui/home.h"
#include "ui/plain.h"

enum front { FRONT_SCREENS, FRONT_PLAIN, FRONT_NONE };

/* No terminal: names the first answer that is missing, so that a script can give it. */
static int no_terminal(struct session *s, const struct problem *why)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    bool steps[64] = {0};
    for (size_t i = 0; i < s->rows.step_count && i < 64; i++)
        steps[i] = true;
    fprintf(stderr, "sluice: cannot ask: %s\n", why->what);
    if (session_first_missing(s, steps, &p) == 0)
        complain(&p);
    fputs("  you: run it in a terminal, or give --answers FILE to `sluice check`, `plan` and "
          "`apply`\n",
          stderr);
    return EXIT_CANNOT_ASK;
}

/* ACCESSIBLE: as other programs read it, any value but an empty one or 0. */
static bool plain_is_asked_for(const struct args *a)
{
    const char *v = getenv("ACCESSIBLE");
    return a->plain || (v != NULL && v[0] != '\0' && strcmp(v, "0") != 0);
}

/* FRONT_NONE: why says what is no terminal. */
static enum front choose_front(const struct args *a, struct problem *why)
{
    bool usable = term_usable(STDIN_FILENO, STDOUT_FILENO, why) == 0;
    if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1)
        return FRONT_NONE;
    if (plain_is_asked_for(a))
        return FRONT_PLAIN;
    if (usable)
        return FRONT_SCREENS;
    fprintf(stderr, "sluice: %s; so everything is asked line by line.\n", why->what);
    return FRONT_PLAIN;
}

/* The opening screen, when nothing on the command line says which set-up is meant and there are
 * some to continue; otherwise --state or ./sluice.yaml. *path NULL and the exit code: the operator
 * left. */
static int choose_state(const struct args *a, enum front front, char **path)
{
    struct rows rows;
    struct home home;
    AUTO_PROBLEM p = PROBLEM_INIT;
    *path = a->state != NULL ? xstrdup(a->state) : state_default_path();
    if (a->state != NULL || a->answers != NULL || a->set_count > 0 || front == FRONT_NONE)
        return 0;
    if (rows_init(&rows, steps_all(), &p) != 0) {
        complain(&p);
        return EXIT_BUG;
    }
    int code = 0;
    home_load(&home, &rows);
    if (home.count > 0) {
        xfree(*path);
        code = front == FRONT_PLAIN ? plain_home(&home, path, &p)
                                    : home_run(&home, &rows, a->no_color, path, &p);
    }
    if (code < 0) {
        complain(&p);
        code = EXIT_CANNOT_ASK;
    }
    home_release(&home);
    rows_release(&rows);
    return code;
}

static int run_front(struct session *s, const struct args *a, enum front front,
                     const struct problem *why)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (front == FRONT_NONE)
        return no_terminal(s, why);
    session_signals(false);
    struct front_hooks hooks = export_hooks(s);
    int code = front == FRONT_PLAIN
                   ? plain_run(s->wizard, s->state, s->engine, &hooks, &p)
                   : app_run(s->wizard, s->state, s->engine, &hooks, a->no_color, &p);
    if (code < 0) {
        complain(&p);
        return EXIT_CANNOT_ASK;
    }
    return code;
}

int command_wizard(const struct args *a)
{
    struct session s;
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO(xfree) char *path = NULL;
    enum front front = choose_front(a, &why);
    int code = choose_state(a, front, &path);
    if (path == NULL)
        return code;
    struct args chosen = *a;
    chosen.state = path;
    code = session_open(&s, &chosen, SESSION_SHARE);
    if (code != 0)
        return code;
    code = run_front(&s, a, front, &why);
    s.saves = state_worth_saving(s.state, s.wizard);
    code = session_close(&s, code);
    if (front != FRONT_NONE)
        recent_add(path);
    return code;
}
