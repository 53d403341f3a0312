/* The folder that a colleague can review and publish: Estuary's specification as a tree of files,
 * the SQL, the policies and a runbook. Made of the state alone, so that one state gives one folder,
 * byte by byte; nothing is asked of any service. */
#ifndef SLUICE_STEPS_REVIEW_EXPORT_H
#define SLUICE_STEPS_REVIEW_EXPORT_H

#include "core/folder.h"
#include "core/page.h"
#include "core/state.h"

/* Code: something must be answered, made or looked at first. That of pages, as an export is reached
 * from one. */
#define EXPORT_MISSING PAGE_MISSING

enum export_secrets {
    SECRETS_SEALED,      /* configs as Estuary's encryption service gave them back */
    SECRETS_PLACEHOLDER, /* a word where each secret belongs: to be filled in by hand */
    SECRETS_PLAIN,       /* the secrets themselves, on the operator's explicit word */
    SECRETS_FORMS
};

/* Can the form be had of this state? PROBLEM_INPUT, code EXPORT_MISSING, says what is missing: for
 * the sealed one the configs sealed with the present answers, for the plain one the secrets. */
int review_export_can(struct wizard *w, const struct state *s, enum export_secrets form,
                      struct problem *err);
/* Adds the files. *draft: the collections are drafts by hand, as Estuary did not discover them.
 * PROBLEM_INPUT with code EXPORT_MISSING names what is missing; other problems say why a
 * specification of these answers cannot be. */
int review_export(struct wizard *w, const struct state *s, enum export_secrets form,
                  struct folder *out, bool *draft, struct problem *err);
#endif
