/* Sealed configs as facts: what Estuary's encryption service gave back, kept in the state, so that
 * one state gives one export. Its consumers depend on what went in, not on the document, which is
 * another one with each sealing. */
#ifndef SLUICE_STEPS_SPEC_SEALED_H
#define SLUICE_STEPS_SPEC_SEALED_H

#include "core/digest.h"
#include "core/fact.h"
#include "core/outcome.h"
#include "core/run.h"
#include "core/value.h"

#define SPEC_FACT_SOURCE_SEALED "capture.sealed_config"
#define SPEC_FACT_TARGET_SEALED "materialization.sealed_config"
#define SPEC_SEAL_FRESH_S                                                                          \
    315360000 /* ten years: a sealed config does not age, its inputs change                        \
               */
#define SPEC_SERVICE "estuary"

struct spec_sealed {
    struct node *document;
    char of[DIGEST_HEX];    /* of the config and the revisions of its secrets */
    struct node *revisions; /* of each secret, by its field: by them an export, which cannot ask the
                               service, knows a secret that was changed since */
};
extern const struct fact_type spec_sealed_type;

struct spec_secret {
    const char *field;
    const char *placeholder;
    struct secret *secret;
    size_t skip; /* bytes of it that do not belong there: an access key's id */
};
/* As written in `revisions`: of a secret by reference, which has another revision in each process,
 * the reference. xfree; NULL = it is not at hand. */
char *spec_revision(const struct value *v);
/* Seals the config and gives it as the fact; takes the config. */
void spec_run_seal(struct run *run, struct node *config, const struct spec_secret *secrets,
                   size_t count, const char *fact, struct outcome *out);
#endif
