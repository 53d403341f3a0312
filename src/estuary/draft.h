/* Drafts of Estuary: specifications staged, discovered, built for trial. Nothing goes live by any
 * of this; a draft is visible to its maker alone and is to be deleted in the end.
 *
 * Jobs are polled about every 0.75 s; their log lines are the run's progress (run_progress,
 * cleaned, without colours). */
#ifndef SLUICE_ESTUARY_DRAFT_H
#define SLUICE_ESTUARY_DRAFT_H

#include "estuary/api.h"

struct estuary_staged {
    char *name;
    char *sort;         /* "capture" "collection" "materialization" */
    struct node *model; /* owned; configs in it are sealed */
};
struct estuary_staging {
    size_t count;
    struct estuary_staged *list;
};
void estuary_staging_add(struct estuary_staging *s, const char *name, const char *sort,
                         struct node *model); /* takes the model */
void estuary_staging_release(struct estuary_staging *s);
#define AUTO_STAGING __attribute__((cleanup(estuary_staging_release))) struct estuary_staging

/* What Estuary says against a draft. */
struct estuary_complaint {
    char *sort, *name; /* from its scope "flow://capture/acmeCo/shop/source-postgres#/…"; "" */
    char *where;       /* the fragment: "/bindings/0" ; "" */
    char *detail;      /* free text, several lines */
};
struct estuary_complaints {
    size_t count;
    struct estuary_complaint *list;
};
void estuary_complaints_release(struct estuary_complaints *c);
#define AUTO_COMPLAINTS                                                                            \
    __attribute__((cleanup(estuary_complaints_release))) struct estuary_complaints

/* *id is xfree'd by the caller. detail says in the dashboard what it is for; a random number is
 * added by which a draft is found, and deleted, whose answer did not arrive. */
int estuary_draft_new(struct run *run, struct secret *token, const char *detail, char **id,
                      struct problem *err);
/* In batches below 100 specs and 1 MiB. `fresh`: each must not exist yet in the catalog
 * (publication id of zeros), so that nothing live is written over by mistake. */
int estuary_draft_stage(struct run *run, struct secret *token, const char *id,
                        const struct estuary_staging *s, bool fresh, struct problem *err);
/* All that the draft has now. */
int estuary_draft_read(struct run *run, struct secret *token, const char *id,
                       struct estuary_staging *out, struct problem *err);
/* Estuary runs the connector: it looks for tables and writes their collections into the draft. The
 * capture is to be staged before. tag_id: of its connector (estuary/live.h); config: sealed; plane
 * "" = the default one. -1 with what Estuary said: its job status as code ("discoverFailed",
 * "noDataPlane", …), the connector's own words as evidence; complaints (may be NULL) get them all.
 */
int estuary_draft_discover(struct run *run, struct secret *token, const char *id,
                           const char *capture, const char *tag_id, const struct node *config,
                           const char *plane, struct estuary_complaints *out, struct problem *err);
/* A publication for trial (dry_run): the whole build with both connectors' validation against the
 * real services; nothing is committed. -1 likewise ("buildFailed", "emptyDraft",
 * "expectPubIdMismatch", …). */
int estuary_draft_try(struct run *run, struct secret *token, const char *id, const char *plane,
                      struct estuary_complaints *out, struct problem *err);
/* In a time of its own, also when the run was cancelled or is over. */
int estuary_draft_delete(struct run *run, struct secret *token, const char *id,
                         struct problem *err);
#endif
