/* A step that stands in the step line with a page that says what will be done there. It has no
 * fields and no checks, so that headless commands need no answers for it. */
#include "steps/steps.h"

static const char *const review_later[] = {
    "Here will stand what is proved, and when; what you accepted, and why; what is not proved, and "
    "who",
    "must still act.",
    "An export writes the finished Estuary specification with sealed secrets, the SQL, the "
    "policies, a",
    "runbook and a report into one folder that a colleague can review and publish.",
    NULL,
};

const struct step step_review = {
    .id = "review",
    .number = "",
    .name = "Review",
    .title = "Review and export",
    .intro = "All of it on one page, to hand over or to publish.",
    .later = review_later,
};
