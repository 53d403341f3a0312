/* Data only. To add one: a row; the terminal library is told of all of them when it is opened. */
#include "ui/sequence.h"

#include "core/mem.h"

static const struct sequence rows[] = {
    {"\033[200~", SEQUENCE_PASTE_BEGIN, K_NONE},
    {"\033[201~", SEQUENCE_PASTE_END, K_NONE},
    {"\033[1;5D", SEQUENCE_KEY, K_WORD_LEFT},
    {"\033[1;5C", SEQUENCE_KEY, K_WORD_RIGHT},
    {"\033[1;3D", SEQUENCE_KEY, K_WORD_LEFT},
    {"\033[1;3C", SEQUENCE_KEY, K_WORD_RIGHT},
    {"\033[A", SEQUENCE_KEY, K_UP},
    {"\033[B", SEQUENCE_KEY, K_DOWN},
    {"\033[C", SEQUENCE_KEY, K_RIGHT},
    {"\033[D", SEQUENCE_KEY, K_LEFT},
    {"\033OA", SEQUENCE_KEY, K_UP},
    {"\033OB", SEQUENCE_KEY, K_DOWN},
    {"\033OC", SEQUENCE_KEY, K_RIGHT},
    {"\033OD", SEQUENCE_KEY, K_LEFT},
    {"\033[H", SEQUENCE_KEY, K_HOME},
    {"\033[F", SEQUENCE_KEY, K_END},
    {"\033OH", SEQUENCE_KEY, K_HOME},
    {"\033OF", SEQUENCE_KEY, K_END},
    {"\033[1~", SEQUENCE_KEY, K_HOME},
    {"\033[4~", SEQUENCE_KEY, K_END},
    {"\033[7~", SEQUENCE_KEY, K_HOME},
    {"\033[8~", SEQUENCE_KEY, K_END},
    {"\033[3~", SEQUENCE_KEY, K_DELETE},
    {"\033[5~", SEQUENCE_KEY, K_PGUP},
    {"\033[6~", SEQUENCE_KEY, K_PGDN},
    {"\033[Z", SEQUENCE_KEY, K_BACKTAB},
    {"\033OP", SEQUENCE_KEY, K_F(1)},
    {"\033OQ", SEQUENCE_KEY, K_F(2)},
    {"\033OR", SEQUENCE_KEY, K_F(3)},
    {"\033OS", SEQUENCE_KEY, K_F(4)},
    {"\033[11~", SEQUENCE_KEY, K_F(1)},
    {"\033[12~", SEQUENCE_KEY, K_F(2)},
    {"\033[13~", SEQUENCE_KEY, K_F(3)},
    {"\033[14~", SEQUENCE_KEY, K_F(4)},
    {"\033[15~", SEQUENCE_KEY, K_F(5)},
    {"\033[17~", SEQUENCE_KEY, K_F(6)},
};

size_t sequence_count(void)
{
    return ARRAY_LEN(rows);
}

const struct sequence *sequence_row(size_t i)
{
    return &rows[i];
}
