/* Byte sequences a terminal may send for a key whatever its terminfo entry says: xterm's (ECMA-48
 * with modifiers) in both cursor key modes, rxvt's and PuTTY's variants, and the two ends of a
 * bracketed paste. */
#ifndef SLUICE_UI_SEQUENCE_H
#define SLUICE_UI_SEQUENCE_H

#include <stddef.h>

#include "ui/key.h"

enum sequence_kind { SEQUENCE_KEY, SEQUENCE_PASTE_BEGIN, SEQUENCE_PASTE_END };

struct sequence {
    const char *bytes;
    enum sequence_kind kind;
    enum key_code key;
};

size_t sequence_count(void);
const struct sequence *sequence_row(size_t i);
#endif
