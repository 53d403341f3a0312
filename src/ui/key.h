/* Keys, independent of who decodes them: the terminal (ui/term.c), a script, a test. */
#ifndef SLUICE_UI_KEY_H
#define SLUICE_UI_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KEY_PASTE_MAX 65536 /* bytes of one paste; the rest is dropped and said (paste_cut) */

/* Ctrl-H, I, J and M cannot be told from Backspace, Tab and Enter and never appear. */
enum key_code {
    K_NONE,
    K_TEXT,   /* text: one character as typed */
    K_PASTE,  /* paste: what was pasted, as one event */
    K_RESIZE, /* the terminal has another size, or its contents were lost: draw anew */
    K_ENTER,
    K_ESC,
    K_TAB,
    K_BACKTAB,
    K_BACKSPACE,
    K_DELETE,
    K_INSERT,
    K_UP,
    K_DOWN,
    K_LEFT,
    K_RIGHT,
    K_WORD_LEFT, /* Ctrl-Left, Alt-Left */
    K_WORD_RIGHT,
    K_HOME,
    K_END,
    K_PGUP,
    K_PGDN,
    K_F1, /* K_F1 + n */
    K_F12 = K_F1 + 11,
    K_CTRL_A, /* K_CTRL_A + n */
    K_CTRL_C = K_CTRL_A + 2,
    K_CTRL_D = K_CTRL_A + 3,
    K_CTRL_E = K_CTRL_A + 4,
    K_CTRL_K = K_CTRL_A + 10,
    K_CTRL_L = K_CTRL_A + 11,
    K_CTRL_N = K_CTRL_A + 13,
    K_CTRL_P = K_CTRL_A + 15,
    K_CTRL_R = K_CTRL_A + 17,
    K_CTRL_U = K_CTRL_A + 20,
    K_CTRL_W = K_CTRL_A + 22,
    K_CTRL_Y = K_CTRL_A + 24,
    K_CTRL_Z = K_CTRL_A + 25,
    K_COUNT
};

#define K_F(n) (K_F1 + (n)-1)
#define K_CTRL(letter) (K_CTRL_A + (letter) - 'A')

struct key {
    enum key_code code;
    char text[8]; /* K_TEXT: UTF-8 of one code point */
    char *paste;  /* K_PASTE: owned, NUL-terminated UTF-8 with '\n' as line end */
    size_t paste_len;
    bool paste_cut; /* it was longer than KEY_PASTE_MAX */
};

#define KEY_INIT ((struct key){.code = K_NONE})

void key_release(struct key *k); /* wipes the paste (it may be a secret); leaves KEY_INIT */
struct key key_of(enum key_code code);
struct key key_char(uint32_t code_point); /* K_TEXT; K_NONE for what cannot be typed as text */
/* UTF-8 of any scalar value into out, NUL-filled; bytes, 0 when it is none. */
size_t key_encode(uint32_t code_point, char out[8]);
bool key_is(const struct key *k, const char *text); /* K_TEXT with that text */
/* "Enter", "Ctrl-Y", "F2", "Space", "a"; "" for K_NONE. Borrowed from k or static. */
const char *key_label(const struct key *k);
/* The key with that name (case counts), for scripts and the footer's clicks; false when unknown. */
bool key_parse(const char *name, struct key *k);

#define AUTO_KEY __attribute__((cleanup(key_release))) struct key
#endif
