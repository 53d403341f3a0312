/* The one sanitiser: whatever comes from network, file or environment passes here before it reaches
 * screen, log or export (terminal escape injection, CWE-150; bidi spoofing).
 *
 * C0 and DEL become ^[ form, C1 and other unprintables \u{XX}, bidi overrides and zero-width
 * controls \u{202E} form, invalid bytes \xHH. CLEAN_LINES keeps '\n' and turns a tab into spaces;
 * without it they are shown as ^J and ^I. */
#ifndef SLUICE_CORE_CLEAN_H
#define SLUICE_CORE_CLEAN_H

#include <stddef.h>

#include "core/text.h"

enum clean_mode { CLEAN_LINE, CLEAN_LINES };

void clean_add(struct text *out, const char *s, size_t n, enum clean_mode mode);
char *clean_copy(const char *s, enum clean_mode mode); /* NULL gives ""; xfree */
/* First `max` bytes at most of s, cleaned to one line, with "…" when cut: for evidence. */
char *clean_excerpt(const char *s, size_t n, size_t max);
#endif
