/* Making a snapshot: the model's side of core/snapshot.h, for core/wizard.c and for unit tests of
 * verdicts and plans. */
#ifndef SLUICE_CORE_SNAPSHOT_MAKE_H
#define SLUICE_CORE_SNAPSHOT_MAKE_H

#include "core/snapshot.h"
#include "core/wizard.h"

/* Takes references of everything; the rows must outlive it. Arrays are as long as rows->field_count
 * and rows->fact_count; each may be NULL: all its entries are none.
 *
 * answers: as given, NULL = none. origins: of the answers. facts: NULL = not there. fact_digests:
 * of each, all zero = that of the fact itself; one without a fact is of a fact that is known but
 * not at hand.
 *
 * Effective answers come about in the order of the fields: hidden by `when` = none; else the one
 * given; else, when that is empty, default_from, then initial. A row's function that reads a field
 * behind its own is a bug. A secret that is bound to another host than its row's host_of field
 * names now is there, but not at hand. */
struct snapshot *snapshot_make(const struct rows *rows, struct value *const *answers,
                               const enum origin *origins, struct fact *const *facts,
                               const struct digest *fact_digests);

/* By index. */
bool snapshot_visible(const struct snapshot *s, int field);
enum origin snapshot_origin(const struct snapshot *s, int field); /* of the effective answer */
const struct value *snapshot_value(const struct snapshot *s, int field);
struct digest snapshot_fact_digest(const struct snapshot *s, int fact);
/* What the field falls back to when nothing is answered; a new reference, NULL when there is none.
 */
struct value *snapshot_default(const struct snapshot *s, int field);
#endif
