/* OSC 52: text to the clipboard of the terminal, also through ssh. Terminals without it ignore it.
 */
#ifndef SLUICE_UI_OSC_H
#define SLUICE_UI_OSC_H

#include <stddef.h>

#include "core/text.h"

void osc_copy(struct text *out, const char *s, size_t n);
#endif
