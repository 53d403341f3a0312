/* What an export is made of, gathered from state and answers. Shared by the files of this folder
 * only. */
#ifndef SLUICE_STEPS_REVIEW_MATERIAL_H
#define SLUICE_STEPS_REVIEW_MATERIAL_H

#include "aws/policy.h"
#include "core/state.h"
#include "core/text.h"
#include "steps/review/export.h"
#include "steps/spec/inputs.h"

struct material {
    struct wizard *wizard;
    const struct state *state;
    struct snapshot *snapshot;
    enum export_secrets form;
    struct spec_from from; /* reads the snapshot */
    struct node *chosen;   /* kept facts */
    struct node *identity, *role;
    struct node *discovered; /* models by collection; NULL = none with the present answers */
    struct node *account;    /* NULL = no login */
    const char *image;       /* of the materialization */
    struct node *image_kept;
    char *key_id; /* NULL = not known */
    struct spec_tables tables;
    struct estuary_binding *bindings; /* one a table */
    struct estuary_column **columns;  /* of each */
};

int material_gather(struct wizard *w, const struct state *s, enum export_secrets form,
                    struct material *out, struct problem *err);
void material_release(struct material *m);
#define AUTO_MATERIAL __attribute__((cleanup(material_release))) struct material

const char *material_text(const struct material *m, const char *id); /* an answer */
/* Of a table: what is kept of it, by the name as written. */
const struct node *material_table(const struct material *m, const char *written);

/* As Estuary wrote it; NULL = it was not discovered. */
const struct node *material_discovered(const struct material *m, const char *collection);
bool material_draft(const struct material *m); /* a collection of it was not */
/* sealed.c: the two configs in the form asked for. Take what they are given. */
int material_config(const struct material *m, const char *sealed_fact, struct node *config,
                    struct node **out, struct problem *err);
void material_wipe(struct node *config); /* of the plain form, once it is written */

/* sql.c: what the database needs, from nothing, for psql. */
void export_sql(const struct material *m, struct text *out);
/* runbook.c */
void export_runbook(const struct material *m, struct text *out);
#endif
