/* Names and life of keys. To add a key: a value in enum key_code, a row here, and where the
 * terminal library tells of it, a row in ui/term.c. */
#include "ui/key.h"

#include <string.h>

#include "core/mem.h"
#include "core/utf8.h"

static const char *const names[K_COUNT] = {
    [K_NONE] = "",
    [K_TEXT] = "text",
    [K_PASTE] = "paste",
    [K_RESIZE] = "resize",
    [K_ENTER] = "Enter",
    [K_ESC] = "Esc",
    [K_TAB] = "Tab",
    [K_BACKTAB] = "Shift-Tab",
    [K_BACKSPACE] = "Backspace",
    [K_DELETE] = "Delete",
    [K_INSERT] = "Insert",
    [K_UP] = "Up",
    [K_DOWN] = "Down",
    [K_LEFT] = "Left",
    [K_RIGHT] = "Right",
    [K_WORD_LEFT] = "Ctrl-Left",
    [K_WORD_RIGHT] = "Ctrl-Right",
    [K_HOME] = "Home",
    [K_END] = "End",
    [K_PGUP] = "PgUp",
    [K_PGDN] = "PgDn",
    [K_F(1)] = "F1",
    [K_F(2)] = "F2",
    [K_F(3)] = "F3",
    [K_F(4)] = "F4",
    [K_F(5)] = "F5",
    [K_F(6)] = "F6",
    [K_F(7)] = "F7",
    [K_F(8)] = "F8",
    [K_F(9)] = "F9",
    [K_F(10)] = "F10",
    [K_F(11)] = "F11",
    [K_F(12)] = "F12",
    [K_CTRL('A')] = "Ctrl-A",
    [K_CTRL('B')] = "Ctrl-B",
    [K_CTRL('C')] = "Ctrl-C",
    [K_CTRL('D')] = "Ctrl-D",
    [K_CTRL('E')] = "Ctrl-E",
    [K_CTRL('F')] = "Ctrl-F",
    [K_CTRL('G')] = "Ctrl-G",
    [K_CTRL('H')] = "Ctrl-H",
    [K_CTRL('I')] = "Ctrl-I",
    [K_CTRL('J')] = "Ctrl-J",
    [K_CTRL('K')] = "Ctrl-K",
    [K_CTRL('L')] = "Ctrl-L",
    [K_CTRL('M')] = "Ctrl-M",
    [K_CTRL('N')] = "Ctrl-N",
    [K_CTRL('O')] = "Ctrl-O",
    [K_CTRL('P')] = "Ctrl-P",
    [K_CTRL('Q')] = "Ctrl-Q",
    [K_CTRL('R')] = "Ctrl-R",
    [K_CTRL('S')] = "Ctrl-S",
    [K_CTRL('T')] = "Ctrl-T",
    [K_CTRL('U')] = "Ctrl-U",
    [K_CTRL('V')] = "Ctrl-V",
    [K_CTRL('W')] = "Ctrl-W",
    [K_CTRL('X')] = "Ctrl-X",
    [K_CTRL('Y')] = "Ctrl-Y",
    [K_CTRL('Z')] = "Ctrl-Z",
};

void key_release(struct key *k)
{
    if (k->paste != NULL)
        explicit_bzero(k->paste, k->paste_len);
    xfree(k->paste);
    *k = KEY_INIT;
}

struct key key_of(enum key_code code)
{
    return (struct key){.code = code};
}

static size_t encode(uint32_t c, char *out)
{
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    size_t n = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    static const unsigned char lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
    for (size_t i = n; i-- > 1; c >>= 6)
        out[i] = (char)(0x80 | (c & 0x3F));
    out[0] = (char)(lead[n] | c);
    return n;
}

size_t key_encode(uint32_t code_point, char out[8])
{
    memset(out, 0, 8);
    if (code_point > 0x10FFFF || (code_point >= 0xD800 && code_point < 0xE000))
        return 0;
    return encode(code_point, out);
}

struct key key_char(uint32_t code_point)
{
    struct key k = KEY_INIT;
    bool control = code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0);
    if (!control && key_encode(code_point, k.text) > 0)
        k.code = K_TEXT;
    return k;
}

bool key_is(const struct key *k, const char *text)
{
    return k->code == K_TEXT && strcmp(k->text, text) == 0;
}

const char *key_label(const struct key *k)
{
    if (k->code == K_TEXT)
        return strcmp(k->text, " ") == 0 ? "Space" : k->text;
    return names[k->code];
}

bool key_parse(const char *name, struct key *k)
{
    *k = KEY_INIT;
    if (strcmp(name, "Space") == 0)
        name = " ";
    for (int i = K_ENTER; i < K_COUNT; i++) {
        if (strcmp(names[i], name) == 0) {
            k->code = (enum key_code)i;
            return true;
        }
    }
    size_t n = strlen(name);
    if (n == 0 || n >= sizeof(k->text) || !utf8_valid(name, n) || (unsigned char)name[0] < 0x20)
        return false;
    size_t first = 1; /* one code point */
    while (first < n && ((unsigned char)name[first] & 0xC0) == 0x80)
        first++;
    if (first != n)
        return false;
    memcpy(k->text, name, n);
    k->code = K_TEXT;
    return true;
}
