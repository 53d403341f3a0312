/* The step review: all of it on one page. */
#include "steps/review/review.h"
#include "steps/steps.h"

const struct step step_review = {
    .id = "review",
    .number = "",
    .name = "Review",
    .title = "Review and export",
    .intro = "All of it on one page, to hand over or to publish.",
    .page = review_page,
};
