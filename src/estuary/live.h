/* What is there in Estuary's catalog: connectors by image, specifications by name. */
#ifndef SLUICE_ESTUARY_LIVE_H
#define SLUICE_ESTUARY_LIVE_H

#include "estuary/api.h"

struct estuary_connector {
    char *id;            /* of its tag, for discovers; NULL = the image is not known at all */
    char *image, *tag;   /* as asked: "ghcr.io/estuary/source-postgres"; as answered: ":v3" */
    bool exact;          /* the tag asked for; else the control plane fell back to its default */
    struct node *schema; /* of its config (JSON Schema); NULL when not given */
};
/* image with its tag: "ghcr.io/estuary/source-postgres:v3". An unknown image is no error. */
int estuary_connector_read(struct run *run, struct secret *token, const char *image,
                           struct estuary_connector *out, struct problem *err);
void estuary_connector_release(struct estuary_connector *c);
#define AUTO_CONNECTOR __attribute__((cleanup(estuary_connector_release))) struct estuary_connector

struct estuary_live {
    char *name;
    char *sort; /* "capture" "collection" "materialization" "test" */
};
struct estuary_lives {
    size_t count;
    struct estuary_live *list;
};
/* Which of the names exist, in batches. */
int estuary_live_read(struct run *run, struct secret *token, const char *const *names, size_t count,
                      struct estuary_lives *out, struct problem *err);
void estuary_lives_release(struct estuary_lives *l);
#define AUTO_LIVES __attribute__((cleanup(estuary_lives_release))) struct estuary_lives
#endif
