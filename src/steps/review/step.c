/* The step review: all of it on one page, and what is done with it. */
#include "steps/review/export.h"
#include "steps/review/review.h"
#include "steps/steps.h"

/* Sealed by Estuary's encryption service first, so that the folder can be published as it is. */
static const char *const sealed[] = {"capture.sealed", "materialization.sealed", NULL};
static const char *const dry_run[] = {"materialization.dry_run", NULL};

static int is_sealed(struct wizard *w, const struct state *s, struct problem *err)
{
    return review_export_can(w, s, SECRETS_SEALED, err);
}

static const struct page_action actions[] = {
    {PAGE_EXPORT, "x", "export",
     "the folder to review and publish, beside the state file: flow.yaml tree, postgres.sql, "
     "policies, RUNBOOK.md, report.json",
     sealed, is_sealed},
    {PAGE_CHECK, "y", "dry run", "Estuary builds both tasks and validates them; nothing goes live",
     dry_run, NULL},
    {PAGE_UNDO, "u", "undo…", "what was made here and can be taken back, newest first", NULL, NULL},
    {0},
};

const struct step step_review = {
    .id = "review",
    .number = "",
    .name = "Review",
    .title = "Review and export",
    .intro = "All of it on one page, to hand over or to publish.",
    .page = review_page,
    .actions = actions,
};
