/* From what the terminal library delivers (characters and named keys, one at a time) to key events:
 * collects a bracketed paste into one event, and keeps the pieces of escape sequences, which a slow
 * line may tear apart, from being taken for typed text.
 *
 * Esc alone is a key; so a sequence torn after its Esc has already sent K_ESC when the rest ("[A")
 * comes. The rest is swallowed while it follows within DECODE_GAP_MS. Esc therefore must never be
 * destructive, anywhere. Pure: time is given, no terminal is touched. */
#ifndef SLUICE_UI_DECODE_H
#define SLUICE_UI_DECODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ui/key.h"

#define DECODE_GAP_MS 200 /* rest of a torn sequence */
#define DECODE_PASTE_MS                                                                            \
    1000 /* silence after which a paste without end marker is taken as ended                       \
          */

enum decode_state {
    DECODE_PLAIN,
    DECODE_ESC,
    DECODE_ESC_SENT,
    DECODE_CSI,
    DECODE_SS3,
    DECODE_PASTE
};

struct decode {
    enum decode_state state;
    int64_t at;      /* of the last input, ms */
    char params[16]; /* of the sequence being swallowed */
    size_t n_params;
    char *paste; /* KEY_PASTE_MAX + 1 bytes while DECODE_PASTE; never moved, so never copied */
    size_t paste_len;
    bool paste_cut, after_cr;
    struct key out[3]; /* events ready, oldest first */
    size_t n_out;
};

#define DECODE_INIT ((struct decode){.state = DECODE_PLAIN})

void decode_release(struct decode *d);
/* A character (also a control character) or a named key. */
void decode_char(struct decode *d, uint32_t code_point, int64_t now_ms);
void decode_key(struct decode *d, enum key_code code, int64_t now_ms);
void decode_paste_begin(struct decode *d, int64_t now_ms);
void decode_paste_end(struct decode *d, int64_t now_ms);
/* No input is there now: what was held back because more might have followed is decided. */
void decode_idle(struct decode *d, int64_t now_ms);
/* Milliseconds until decode_idle should be called without input; -1: never. */
int decode_timeout(const struct decode *d, int64_t now_ms);
/* The next event into *k (to be released by the caller); false when there is none. To be called
 * after each of the above until it says false. */
bool decode_next(struct decode *d, struct key *k);
#endif
