/* Unicode through utf8proc: columns, grapheme clusters, validity, case folding for filters. */
#ifndef SLUICE_CORE_UTF8_H
#define SLUICE_CORE_UTF8_H

#include <stdbool.h>
#include <stddef.h>

#include "core/text.h"

bool utf8_valid(const char *s, size_t n);
/* Appends s with each byte that is not UTF-8 replaced by U+FFFD. */
void utf8_repair(struct text *out, const char *s, size_t n);
/* Bytes of the grapheme cluster at s (n bytes left, n > 0; at least 1, an invalid byte counts one);
 * *columns (may be NULL) gets its width on the screen: 0, 1 or 2. */
size_t utf8_cluster(const char *s, size_t n, int *columns);
/* Bytes of the cluster that ends at s + at (at > 0). */
size_t utf8_cluster_before(const char *s, size_t at);
int utf8_columns(const char *s); /* width of a whole string */
/* Longest prefix of s that fits in columns: its length in bytes; *used (may be NULL) its width. */
size_t utf8_fit(const char *s, int columns, int *used);
/* Lower-case, decomposed-compatible copy for case-insensitive search; xfree. Invalid bytes are
 * kept. */
char *utf8_fold(const char *s);
/* True when needle (already folded) occurs in hay folded; "" occurs everywhere. */
bool utf8_contains_folded(const char *hay, const char *folded_needle);
#endif
