/* The folder that a colleague can review and publish: Estuary's specification as a tree of files,
 * the SQL, the policies and a runbook. Made of the state alone, so that one state gives one folder,
 * byte by byte; nothing is asked of any service, and no secret stands in it. */
#ifndef SLUICE_STEPS_REVIEW_EXPORT_H
#define SLUICE_STEPS_REVIEW_EXPORT_H

#include "core/folder.h"
#include "core/state.h"

#define EXPORT_MISSING "missing" /* code: something must be answered, made or looked at first */

/* Adds the files. PROBLEM_INPUT with code EXPORT_MISSING names what is missing; other problems say
 * why a specification of these answers cannot be. */
int review_export(struct wizard *w, const struct state *s, struct folder *out, struct problem *err);
#endif
