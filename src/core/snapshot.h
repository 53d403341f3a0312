/* struct snapshot: answers and facts as they stood at one moment. Immutable, reference-counted,
 * shared with threads. Answers are effective ones: typed, made or default; a hidden field has none.
 */
#ifndef SLUICE_CORE_SNAPSHOT_H
#define SLUICE_CORE_SNAPSHOT_H

#include <stdbool.h>

#include "core/fact.h"
#include "core/rows.h"
#include "core/value.h"

struct snapshot;

struct snapshot *snapshot_ref(const struct snapshot *s);
void snapshot_unref(struct snapshot *s);
const struct rows *snapshot_rows(const struct snapshot *s);

/* An unknown id is a bug and ends the program (70). NULL when there is no answer. Borrowed. */
const struct value *snap_value(const struct snapshot *s, const char *id);
/* Text of a text, choice, switch or path field; "" when there is none. Borrowed. */
const char *snap_text(const struct snapshot *s, const char *id);
bool snap_is(const struct snapshot *s, const char *id, const char *text);
bool snap_on(const struct snapshot *s, const char *id); /* a switch that is "yes" */
struct secret *snap_secret(const struct snapshot *s,
                           const char *id); /* borrowed, NULL when not at hand */
/* The data of a fact, NULL when it is not there. Borrowed. */
const void *snap_fact(const struct snapshot *s, const char *id, const struct fact_type *type);

/* Digest of the named fields and facts ("?" prefixes are fine): what an outcome depends on. Facts
 * that are only known by a kept digest count with it. */
struct digest snap_digest(const struct snapshot *s, const char *salt, const char *const *ids);
/* The same without secrets: what another process can work out, which has not all of them at hand.
 */
struct digest snap_digest_plain(const struct snapshot *s, const char *salt, const char *const *ids);
#endif
