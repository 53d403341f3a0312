/* One state at a time; see the header for why the pieces of torn sequences are swallowed. */
#include "ui/decode.h"

#include <string.h>

#include "core/mem.h"

enum { BS = 8, TAB = 9, LF = 10, CR = 13, ESC = 27, DEL = 127 };

void decode_release(struct decode *d)
{
    if (d->paste != NULL)
        explicit_bzero(d->paste, d->paste_len);
    xfree(d->paste);
    for (size_t i = 0; i < d->n_out; i++)
        key_release(&d->out[i]);
    *d = DECODE_INIT;
}

static void push(struct decode *d, struct key k)
{
    if (k.code == K_NONE)
        return;
    if (d->n_out < ARRAY_LEN(d->out))
        d->out[d->n_out++] = k;
    else
        key_release(&k);
}

bool decode_next(struct decode *d, struct key *k)
{
    if (d->n_out == 0)
        return false;
    *k = d->out[0];
    d->n_out--;
    memmove(&d->out[0], &d->out[1], d->n_out * sizeof(d->out[0]));
    return true;
}

/* ---- paste ---- */

void decode_paste_begin(struct decode *d, int64_t now_ms)
{
    if (d->state == DECODE_ESC)
        push(d, key_of(K_ESC));
    d->at = now_ms;
    d->after_cr = false;
    if (d->state != DECODE_PASTE) {
        d->paste = xmalloc(KEY_PASTE_MAX + 1);
        d->paste_len = 0;
        d->paste_cut = false;
    }
    d->state = DECODE_PASTE;
}

void decode_paste_end(struct decode *d, int64_t now_ms)
{
    d->at = now_ms;
    if (d->state != DECODE_PASTE)
        return;
    d->state = DECODE_PLAIN;
    d->paste[d->paste_len] = '\0';
    push(d, (struct key){.code = K_PASTE,
                         .paste = d->paste,
                         .paste_len = d->paste_len,
                         .paste_cut = d->paste_cut});
    d->paste = NULL;
    d->paste_len = 0;
}

static void paste_char(struct decode *d, uint32_t c)
{
    bool lf_of_crlf = c == LF && d->after_cr;
    d->after_cr = c == CR;
    if (lf_of_crlf || c == 0)
        return;
    char bytes[8];
    size_t n = key_encode(c == CR ? LF : c, bytes);
    if (d->paste_cut || n > KEY_PASTE_MAX - d->paste_len) {
        d->paste_cut = true; /* nothing more: a piece left out in the middle would not be seen */
    } else {
        memcpy(d->paste + d->paste_len, bytes, n);
        d->paste_len += n;
    }
}

/* The end marker, torn by a slow line so that the library did not know it. */
static const char end_marker[] = "\033[201~";

static bool paste_ends_torn(struct decode *d, uint32_t c)
{
    size_t n = sizeof(end_marker) - 1;
    if (c != '~' || d->paste_len < n || memcmp(d->paste + d->paste_len - n, end_marker, n) != 0)
        return false;
    d->paste_len -= n;
    return true;
}

/* ---- characters ---- */

static struct key plain_key(uint32_t c)
{
    switch (c) {
    case BS:
    case DEL:
        return key_of(K_BACKSPACE);
    case TAB:
        return key_of(K_TAB);
    case LF:
    case CR:
        return key_of(K_ENTER);
    default:
        if (c >= 1 && c <= 26)
            return key_of((enum key_code)(K_CTRL_A + (int)c - 1));
        return key_char(c);
    }
}

static void plain_char(struct decode *d, uint32_t c)
{
    d->state = c == ESC ? DECODE_ESC : DECODE_PLAIN;
    if (c != ESC)
        push(d, plain_key(c));
}

static void csi_char(struct decode *d, uint32_t c, int64_t now_ms)
{
    if (c >= 0x20 && c < 0x40) {
        if (d->n_params < sizeof(d->params))
            d->params[d->n_params++] = (char)c;
        return;
    }
    d->state = DECODE_PLAIN;
    if (c < 0x40 || c > 0x7E)
        plain_char(d, c); /* not a sequence after all */
    else if (c == '~' && d->n_params == 3 && memcmp(d->params, "200", 3) == 0)
        decode_paste_begin(d, now_ms);
}

void decode_char(struct decode *d, uint32_t c, int64_t now_ms)
{
    bool late = now_ms - d->at > DECODE_GAP_MS;
    d->at = now_ms;
    switch (d->state) {
    case DECODE_PASTE:
        paste_char(d, c);
        if (paste_ends_torn(d, c))
            decode_paste_end(d, now_ms);
        return;
    case DECODE_ESC:
    case DECODE_ESC_SENT:
        if ((c == '[' || c == 'O') && !late) {
            d->state = c == '[' ? DECODE_CSI : DECODE_SS3;
            d->n_params = 0;
            return;
        }
        if (d->state == DECODE_ESC)
            push(d, key_of(K_ESC));
        break;
    case DECODE_CSI:
        if (!late) {
            csi_char(d, c, now_ms);
            return;
        }
        break;
    case DECODE_SS3:
        if (!late && c > 0x20 && c < 0x7F) {
            d->state = DECODE_PLAIN;
            return;
        }
        break;
    case DECODE_PLAIN:
        break;
    }
    plain_char(d, c);
}

void decode_key(struct decode *d, enum key_code code, int64_t now_ms)
{
    d->at = now_ms;
    if (d->state == DECODE_PASTE)
        return; /* a function key's bytes inside a paste are no text */
    if (d->state == DECODE_ESC)
        push(d, key_of(K_ESC));
    d->state = DECODE_PLAIN;
    push(d, key_of(code));
}

void decode_idle(struct decode *d, int64_t now_ms)
{
    if (d->state == DECODE_ESC) {
        push(d, key_of(K_ESC));
        d->state = DECODE_ESC_SENT;
        d->at = now_ms;
    } else if (d->state == DECODE_PASTE && now_ms - d->at >= DECODE_PASTE_MS) {
        decode_paste_end(d, now_ms);
    }
}

int decode_timeout(const struct decode *d, int64_t now_ms)
{
    if (d->state == DECODE_ESC)
        return 0;
    if (d->state != DECODE_PASTE)
        return -1;
    int64_t left = d->at + DECODE_PASTE_MS - now_ms;
    return left > 0 ? (int)left : 0;
}
