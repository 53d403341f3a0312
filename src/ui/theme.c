/* Tables of the look. To add a scheme: a column in `styles`, a value in enum scheme. */
#include "ui/theme.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "ui/canvas.h"

enum { BLACK, RED, GREEN, YELLOW, BLUE, MAGENTA, CYAN, WHITE, OWN = -1 };

static const struct {
    const char *name;
    struct style style[SCHEME_COUNT];
} styles[ROLE_COUNT] = {
    /* mono, colour on dark, colour on light: no yellow, cyan or green text on white */
    [ROLE_TEXT] = {"text", {{OWN, OWN, 0}, {OWN, OWN, 0}, {OWN, OWN, 0}}},
    [ROLE_TITLE] = {"title",
                    {{OWN, OWN, STYLE_BOLD}, {OWN, OWN, STYLE_BOLD}, {OWN, OWN, STYLE_BOLD}}},
    [ROLE_LABEL] = {"label", {{OWN, OWN, 0}, {CYAN, OWN, 0}, {BLUE, OWN, 0}}},
    [ROLE_VALUE] = {"value", {{OWN, OWN, 0}, {OWN, OWN, 0}, {OWN, OWN, 0}}},
    [ROLE_HINT] = {"hint", {{OWN, OWN, STYLE_DIM}, {OWN, OWN, STYLE_DIM}, {OWN, OWN, STYLE_DIM}}},
    [ROLE_FOCUS] = {"focus",
                    {{OWN, OWN, STYLE_REVERSE},
                     {OWN, OWN, STYLE_REVERSE},
                     {OWN, OWN, STYLE_REVERSE}}},
    [ROLE_PASS] = {"pass", {{OWN, OWN, 0}, {GREEN, OWN, 0}, {GREEN, OWN, STYLE_BOLD}}},
    [ROLE_FAIL] = {"fail",
                   {{OWN, OWN, STYLE_BOLD}, {RED, OWN, STYLE_BOLD}, {RED, OWN, STYLE_BOLD}}},
    [ROLE_WARN] = {"warn", {{OWN, OWN, STYLE_BOLD}, {YELLOW, OWN, 0}, {MAGENTA, OWN, 0}}},
    [ROLE_WAIT] = {"wait", {{OWN, OWN, 0}, {CYAN, OWN, 0}, {BLUE, OWN, 0}}},
    [ROLE_STALE] = {"stale", {{OWN, OWN, STYLE_DIM}, {OWN, OWN, STYLE_DIM}, {OWN, OWN, STYLE_DIM}}},
    [ROLE_ACCEPTED] = {"accepted", {{OWN, OWN, 0}, {MAGENTA, OWN, 0}, {MAGENTA, OWN, 0}}},
    [ROLE_MUTED] = {"muted", {{OWN, OWN, STYLE_DIM}, {OWN, OWN, STYLE_DIM}, {OWN, OWN, STYLE_DIM}}},
    [ROLE_KEY] = {"key", {{OWN, OWN, STYLE_BOLD}, {OWN, OWN, STYLE_BOLD}, {OWN, OWN, STYLE_BOLD}}},
    [ROLE_BORDER] = {"border", {{OWN, OWN, STYLE_DIM}, {BLUE, OWN, 0}, {BLUE, OWN, 0}}},
    [ROLE_CODE] = {"code", {{OWN, OWN, 0}, {CYAN, OWN, 0}, {BLUE, OWN, 0}}},
    [ROLE_ADD] = {"add", {{OWN, OWN, STYLE_BOLD}, {GREEN, OWN, 0}, {GREEN, OWN, STYLE_BOLD}}},
    [ROLE_CHANGE] = {"change", {{OWN, OWN, STYLE_BOLD}, {YELLOW, OWN, 0}, {MAGENTA, OWN, 0}}},
    [ROLE_REMOVE] = {"remove", {{OWN, OWN, STYLE_BOLD}, {RED, OWN, 0}, {RED, OWN, 0}}},
    [ROLE_BANNER] = {"banner",
                     {{OWN, OWN, STYLE_REVERSE | STYLE_BOLD},
                      {WHITE, RED, STYLE_BOLD},
                      {WHITE, RED, STYLE_BOLD}}},
};

const struct style *theme_style(enum scheme scheme, enum role role)
{
    return &styles[role].style[scheme];
}

const char *theme_role_name(enum role role)
{
    return styles[role].name;
}

enum scheme theme_choose(int colours, const char *no_color, const char *colorfgbg)
{
    if (colours < 8 || (no_color != NULL && no_color[0] != '\0'))
        return SCHEME_MONO;
    const char *bg = colorfgbg != NULL ? strrchr(colorfgbg, ';') : NULL;
    /* rxvt and those after it: 7 and 15 are the light backgrounds. */
    if (bg != NULL && (strcmp(bg, ";7") == 0 || strcmp(bg, ";15") == 0))
        return SCHEME_LIGHT;
    return SCHEME_COLOUR;
}

static const struct mark_row marks[MARK_COUNT] = {
    [MARK_PASSED] = {"passed", "✓", '+', ROLE_PASS, "passed"},
    [MARK_FAILED] = {"failed", "✗", 'x', ROLE_FAIL, "failed"},
    [MARK_WARNED] = {"warned", "!", '!', ROLE_WARN, "passed with a warning"},
    [MARK_RUNNING] = {"running", "…", '.', ROLE_WAIT, "running"},
    [MARK_WAITING] = {"waiting", "…", '.', ROLE_WAIT, "waiting"},
    [MARK_PENDING] = {"pending", "·", '-', ROLE_MUTED, "not yet"},
    [MARK_STALE] = {"stale", "~", '~', ROLE_STALE, "stale"},
    [MARK_SKIPPED] = {"skipped", "○", 'o', ROLE_MUTED, "skipped"},
    [MARK_ACCEPTED] = {"accepted", "≈", 'a', ROLE_ACCEPTED, "accepted"},
    [MARK_CANCELLED] = {"cancelled", "·", '-', ROLE_MUTED, "cancelled"},
    [MARK_UNREACHABLE] = {"unreachable", "✗", 'x', ROLE_FAIL, "not reachable"},
    [MARK_CURRENT] = {"current", "●", '*', ROLE_FOCUS, "you are here"},
};

const struct mark_row *theme_mark(enum mark mark)
{
    return &marks[mark];
}

enum mark theme_mark_by_name(const char *name)
{
    for (int i = 0; i < MARK_COUNT; i++) {
        if (strcmp(marks[i].name, name) == 0)
            return (enum mark)i;
    }
    return MARK_COUNT;
}

bool theme_set_locale(void)
{
    if (setlocale(LC_CTYPE, "") == NULL)
        return false; /* a locale that is not installed: C stays */
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

/* Every glyph beyond ASCII that our own texts and widgets draw. */
static const struct {
    const char *glyph;
    char ascii;
} twins[] = {
    {"✓", '+'},  {"✗", 'x'}, {"…", '.'}, {"·", '-'}, {"○", 'o'}, {"≈", 'a'}, {"●", '*'},
    {"•", '*'},  {"▸", '>'}, {"▾", 'v'}, {"→", '>'}, {"←", '<'}, {"↑", '^'}, {"↓", 'v'},
    {"─", '-'},  {"│", '|'}, {"┌", '+'}, {"┐", '+'}, {"└", '+'}, {"┘", '+'}, {"├", '+'},
    {"┤", '+'},  {"█", '#'}, {"▕", '|'}, {"▏", '|'}, {"–", '-'}, {"—", '-'}, {"−", '-'},
    {"×", 'x'},  {"≠", '#'}, {"≤", '<'}, {"≥", '>'}, {"“", '"'}, {"”", '"'}, {"‘", '\''},
    {"’", '\''}, {"↵", '|'},
};

char theme_ascii(const char *cluster)
{
    if ((unsigned char)cluster[0] < 0x80)
        return cluster[0];
    for (size_t i = 0; i < ARRAY_LEN(twins); i++) {
        if (strcmp(twins[i].glyph, cluster) == 0)
            return twins[i].ascii;
    }
    return '?';
}

void theme_add_ascii(struct text *out, const char *s)
{
    for (size_t i = 0, n = strlen(s); i < n;) {
        char cluster[CELL_BYTES] = {0};
        int width;
        size_t len = canvas_cluster(s + i, n - i, &width);
        if (len < sizeof(cluster))
            memcpy(cluster, s + i, len);
        text_addc(out, len < sizeof(cluster) ? theme_ascii(cluster) : '?');
        i += len;
    }
}

const char *theme_mark_glyph(enum mark mark, bool utf8)
{
    static const char ascii[] = "+\0x\0!\0.\0.\0-\0~\0o\0a\0-\0x\0*";
    return utf8 ? marks[mark].glyph : &ascii[2 * mark];
}
