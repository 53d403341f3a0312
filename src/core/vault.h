/* The secrets file: one authenticated map id -> (revision, bytes) under a passphrase.
 *
 * Format: a versioned header (magic, version, scrypt N r p, salt, nonce), used as additional data,
 * then AES-256-GCM of a length-prefixed map and its tag; a fresh salt a file and a fresh nonce a
 * save. A wrong passphrase and a damaged file cannot be told apart by the cipher; the message says
 * both. scrypt parameters: N 2^15, r 8, p 1 (32 MiB). */
#ifndef SLUICE_CORE_VAULT_H
#define SLUICE_CORE_VAULT_H

#include <stdbool.h>

#include "core/problem.h"
#include "core/secret.h"

struct vault;

/* A new, empty vault for `path` (nothing is written yet). Derives the key: takes about 0.1 s. */
struct vault *vault_create(const char *path, const struct secret *passphrase, struct problem *err);
/* Opens an existing file; PROBLEM_MISSING, PROBLEM_REFUSED (passphrase or damage), PROBLEM_INPUT
 * (not a secrets file, newer version, unsafe permissions). */
struct vault *vault_open(const char *path, const struct secret *passphrase, struct problem *err);
void vault_close(struct vault *v);                                 /* wipes the key; NULL is fine */
struct secret *vault_get(struct vault *v, const char *id);         /* a new reference, or NULL */
void vault_put(struct vault *v, const char *id, struct secret *s); /* refs s; NULL removes */
bool vault_dirty(const struct vault *v);
int vault_save(struct vault *v, struct problem *err); /* file_replace; no-op when not dirty */
#endif
