/* check: runs the chosen checks and reports. What is missing is named (3), what waits for a planned
 * change is 2. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/commands.h"
#include "cli/report.h"
#include "core/clock.h"
#include "core/file.h"
#include "core/mem.h"

/* One line on stderr that is overwritten, for people who wait; nothing unless it is a terminal. */
static void show_running(void *ctx, const struct event *ev)
{
    struct session *s = ctx;
    if (ev->kind == EVENT_CHECK_STARTED)
        fprintf(stderr, "\r\033[K… %s", s->rows.checks[ev->check]->title);
}

static int write_junit(struct session *s, const struct selection *sel, const char *path)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    AUTO_TEXT xml = TEXT_INIT;
    report_checks_junit(s, sel, &xml);
    if (file_replace(path, xml.s, xml.len, false, &p) == 0)
        return 0;
    complain(&p);
    return EXIT_FAILED;
}

static int missing_code(struct session *s, const struct selection *sel)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (session_first_missing(s, sel->steps, &p) != 0)
        return 0;
    complain(&p);
    return EXIT_CANNOT_ASK;
}

int command_check(const struct args *a)
{
    struct session s;
    struct selection sel = {0};
    AUTO_PROBLEM p = PROBLEM_INIT;
    int code = session_open(&s, a, SESSION_WRITE);
    if (code != 0)
        return code;
    if (selection_make(&s, a, &sel, &p) != 0) {
        complain(&p);
        return session_close(&s, EXIT_USAGE);
    }
    int64_t started = clock_ms();
    bool show = isatty(STDERR_FILENO) == 1;
    for (size_t i = 0; i < s.rows.check_count; i++)
        if (sel.checks[i])
            engine_want(s.engine, (int)i, sel.effect, true);
    code = session_run(&s, a, show ? show_running : NULL, &s);
    if (show)
        fputs("\r\033[K", stderr);
    if (code <= 128) {
        code = exit_worse(code, report_code(&s, &sel));
        code = exit_worse(code, missing_code(&s, &sel));
    }
    AUTO_TEXT out = TEXT_INIT;
    if (a->json)
        report_checks_json(&s, &sel, code == 0, &out);
    else
        report_checks_text(&s, &sel, paint_of(a), clock_ms() - started, &out);
    fputs(out.s, stdout);
    if (a->junit != NULL)
        code = exit_worse(code, write_junit(&s, &sel, a->junit));
    selection_release(&sel);
    return session_close(&s, code);
}
