/* What headless commands print: checks and changes as text for people, or as JSON. */
#ifndef SLUICE_CLI_REPORT_H
#define SLUICE_CLI_REPORT_H

#include "cli/session.h"

struct paint { /* how text is decorated: no escape codes unless stdout is a terminal */
    bool colour;
    bool utf8;
};
struct paint paint_of(const struct args *a);
/* The mark of a status, painted. */
void paint_mark(struct text *out, struct paint p, enum status s, bool stale);

/* Does this check stand in the report: chosen, and (costing ones) run or asked for? */
struct selection {
    bool *checks;    /* by check */
    bool *steps;     /* by step: has a chosen check, or was named */
    bool *not_begun; /* by step: left out, as nothing of it is answered or at hand (core/step.h) */
    enum effect effect;
};
/* Words are step or check ids; none chooses every step that has rows and has begun. -1 and err
 * "usage" for an unknown one. */
int selection_make(struct session *s, const struct args *a, struct selection *out,
                   struct problem *err);
void selection_release(struct selection *sel);

/* Does this chosen check stand in the report: its effect was allowed, or it has an outcome. */
bool report_has(const struct session *s, const struct selection *sel, size_t check,
                const struct check_view *v);

/* The exit code that the chosen checks come to: 1, 4, 2 (something waits for a planned change) or
 * 0. */
int report_code(struct session *s, const struct selection *sel);
void report_checks_text(struct session *s, const struct selection *sel, struct paint p,
                        int64_t took_ms, struct text *out);
void report_checks_json(struct session *s, const struct selection *sel, bool ok, struct text *out);
/* All checks as the state knows them, whichever secrets are at hand and however old they are. */
void report_kept_json(struct session *s, struct text *out);
void report_checks_junit(struct session *s, const struct selection *sel, struct text *out);

/* A plan; engine not NULL: with the status each change came to. */
void report_plan_text(const struct plan *p, const struct engine *engine, struct paint paint,
                      struct text *out);
void report_plan_json(const struct plan *p, const struct engine *engine, struct text *out);
#endif
