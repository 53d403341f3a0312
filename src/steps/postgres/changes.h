/* The sorts of changes of the step postgres, and what the plan hands to them. */
#ifndef SLUICE_STEPS_POSTGRES_CHANGES_H
#define SLUICE_STEPS_POSTGRES_CHANGES_H

#include "core/change.h"
#include "postgres/diff.h"

extern const struct change_kind postgres_kind_role;
extern const struct change_kind postgres_kind_password;
extern const struct change_kind postgres_kind_grants;
extern const struct change_kind postgres_kind_watermarks;
extern const struct change_kind postgres_kind_repair;
extern const struct change_kind postgres_kind_publication;

/* Arguments of all kinds: `items` (what was announced, as postgres_diff lists it), `user`,
 * `publication`, `watermarks`, `place`; of a repair `table`, `repair`, `before` (relreplident).
 * They suffice to undo the change. */
struct node *postgres_change_args(const struct postgres_wanted *w, const struct postgres_diff *d);

/* Where a change was made, which must be where it is undone: "host:port/database". xfree. */
char *postgres_place(const char *host, const char *port, const char *database);

bool postgres_announced(const struct change *c, const char *item);

/* undo.c */
int postgres_undo_role(struct run *run, const struct change *c, struct problem *err);
int postgres_undo_grants(struct run *run, const struct change *c, struct problem *err);
int postgres_undo_watermarks(struct run *run, const struct change *c, struct problem *err);
int postgres_undo_repair(struct run *run, const struct change *c, struct problem *err);
int postgres_undo_publication(struct run *run, const struct change *c, struct problem *err);
#endif
