/* struct check: one proof, a row. Its function is straight blocking code over an immutable snapshot
 * (core/run.h): a survey reads a service and gives facts, a verdict judges facts and answers and
 * does no I/O. It prints nothing and knows no screen. */
#ifndef SLUICE_CORE_CHECK_H
#define SLUICE_CORE_CHECK_H

#include "core/outcome.h"

struct run;

enum severity { SEV_BLOCKS, SEV_DANGER, SEV_WARNS, SEV_INFORMS };
const char *severity_name(enum severity s);

enum effect {
    EFFECT_READS,
    EFFECT_PROBES, /* writes something temporary and removes it: consent once a service; `touches`
                      is shown */
    EFFECT_COSTS   /* asked each time */
};
const char *effect_name(enum effect e);

struct check {
    const char *id;    /* "postgres.wal_level": stable */
    const char *title; /* what is proved, as it stands in the list: "wal_level is logical" */
    /* Ids of fields and facts it may read, NULL-terminated. A required field that is empty or a
     * fact that is not there makes the check wait; "?id" may be missing. */
    const char *const *reads;
    const char *const *gives; /* fact ids; NULL for a verdict */
    /* Type of the one fact it gives, whose kept value is taken up from the state file: what cannot
     * be asked again without consent, or would come back otherwise. NULL: only its digest is, and
     * the survey runs again for who needs it. */
    const struct fact_type *kept;
    const char *const *after; /* check ids that must have passed (or warned) first */
    const char *const
        *needs; /* change ids: while one of them is planned and not made, the check waits */
    /* Change ids: while one of them is planned, a failure of this check does not hold the plan
     * back, since the change is what settles it; for what is looked at although a change would mend
     * it. */
    const char *const *settled_by;
    enum severity severity;
    enum effect effect;
    const char *service; /* "postgres", "catalog", "aws", …: 16 at once; NULL for a verdict */
    const char *touches; /* EFFECT_PROBES: what is written and removed */
    int deadline_ms;     /* from its start; 0 = 15000 */
    int fresh_s; /* age after which it is stale; 0 = one hour; verdicts live as long as their facts
                  */
    const char *cause; /* for docs/checks.md: why it fails, usually */
    const char *fix;   /* for docs/checks.md: what is done then */
    void (*run)(struct run *run, struct outcome *out);
};
#endif
