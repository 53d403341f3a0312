/* wizard: the screens, where there is a terminal; otherwise the reason why not and the way on. */
#include <stdio.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/session.h"
#include "ui/app.h"

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

int command_wizard(const struct args *a)
{
    struct session s;
    AUTO_PROBLEM why = PROBLEM_INIT;
    int code = session_open(&s, a, SESSION_SHARE);
    if (code != 0)
        return code;
    if (term_usable(STDIN_FILENO, STDOUT_FILENO, &why) != 0)
        return session_close(&s, no_terminal(&s, &why));
    session_signals(false);
    code = app_run(s.wizard, s.state, s.engine, a->no_color, &why);
    if (code < 0) {
        complain(&why);
        code = EXIT_CANNOT_ASK;
    }
    recent_add(state_path(s.state));
    return session_close(&s, code);
}
