/* Sealing: Estuary's encryption service gives a config back with its secrets encrypted for
 * Estuary's data planes alone (a sops document). No login is needed. The JSON schema that says
 * which values are secret is made here, of the config itself and the places it is given.
 *
 * A document is accepted only when every value that is no secret came back unchanged, every secret
 * as an encrypted one, nothing was added but `sops`, and no secret occurs anywhere in it in clear.
 * From then on it must not be edited: its checksum covers all of it, in its order.
 */
#ifndef SLUICE_ESTUARY_SEAL_H
#define SLUICE_ESTUARY_SEAL_H

#include "core/node.h"
#include "core/run.h"
#include "core/secret.h"

/* A placeholder in the config, and what belongs there. */
struct estuary_secret {
    const char *placeholder; /* occurs in exactly one value, alone or as a part of it */
    const char *bytes;       /* borrowed; NUL-terminated */
};

/* *sealed is the document, node_free it. -1: PROBLEM_UNREACHABLE; PROBLEM_PROTOCOL, code
 * "unsealed", for a document that is not accepted (why: what differs); PROBLEM_INPUT for a config
 * that the service refuses (keyword and place only: its answer can hold the secret and is never
 * shown). */
int estuary_seal(struct run *run, const struct node *config, const struct estuary_secret *secrets,
                 size_t count, struct node **sealed, struct problem *err);
/* The judgement alone. */
int estuary_seal_judge(const struct node *config, const struct estuary_secret *secrets,
                       size_t count, const struct node *sealed, struct problem *err);
#endif
