/* The look: what things are (roles), how each scheme shows them, the marks of a status, and the
 * ASCII twin of every glyph we draw. Colour repeats a mark and never replaces it.
 *
 * To add a role: a line in enum role, one row in theme.c. To add a glyph that we draw: a row in the
 * table of twins. A test walks all rows. */
#ifndef SLUICE_UI_THEME_H
#define SLUICE_UI_THEME_H

#include <stdbool.h>

#include "core/text.h"

enum role {
    ROLE_TEXT,
    ROLE_TITLE,
    ROLE_LABEL,
    ROLE_VALUE,
    ROLE_HINT,
    ROLE_FOCUS, /* the field or row that keys go to */
    ROLE_PASS,
    ROLE_FAIL,
    ROLE_WARN,
    ROLE_WAIT, /* running, waiting */
    ROLE_STALE,
    ROLE_ACCEPTED,
    ROLE_MUTED, /* skipped, not yet, disabled */
    ROLE_KEY,   /* the name of a key in the footer */
    ROLE_BORDER,
    ROLE_CODE, /* SQL, commands */
    ROLE_ADD,  /* + ~ - of a plan */
    ROLE_CHANGE,
    ROLE_REMOVE,
    ROLE_BANNER, /* read-only, not saved */
    ROLE_COUNT
};

enum scheme { SCHEME_MONO, SCHEME_COLOUR, SCHEME_LIGHT, SCHEME_COUNT };

enum style_attr { STYLE_BOLD = 1, STYLE_DIM = 2, STYLE_REVERSE = 4, STYLE_UNDERLINE = 8 };

struct style {
    short fg, bg;   /* 0-7 as ANSI numbers them, -1 the terminal's own */
    unsigned attrs; /* enum style_attr */
};

const struct style *theme_style(enum scheme scheme, enum role role);
const char *theme_role_name(enum role role);

/* From what the terminal can (its number of colours) and the environment's NO_COLOR (any non-empty
 * value switches colours off, no-color.org) and COLORFGBG ("0;15": a light background), each may be
 * NULL. */
enum scheme theme_choose(int colours, const char *no_color, const char *colorfgbg);

/* Marks: one for each status a check, change or step can have. */
enum mark {
    MARK_PASSED,
    MARK_FAILED,
    MARK_WARNED,
    MARK_RUNNING,
    MARK_WAITING,
    MARK_PENDING, /* not yet */
    MARK_STALE,
    MARK_SKIPPED,
    MARK_ACCEPTED,
    MARK_CANCELLED,
    MARK_UNREACHABLE,
    MARK_CURRENT, /* the step one is in */
    MARK_COUNT
};

struct mark_row {
    const char *name;  /* "passed", as in state and JSON */
    const char *glyph; /* one column */
    char ascii;
    enum role role;
    const char *words; /* for the help and for plain mode */
};

const struct mark_row *theme_mark(enum mark mark);
enum mark theme_mark_by_name(const char *name);          /* MARK_COUNT when unknown */
const char *theme_mark_glyph(enum mark mark, bool utf8); /* a string in both cases */

/* Sets LC_CTYPE from the environment (never LC_NUMERIC: numbers in files keep the point) and says
 * whether it is UTF-8. To be called once, before there are threads. */
bool theme_set_locale(void);
/* The ASCII twin of one cluster: its base character if that is ASCII, '?' when it has none. */
char theme_ascii(const char *cluster);
/* s with every cluster replaced by its twin, for plain mode outside UTF-8. */
void theme_add_ascii(struct text *out, const char *s);
#endif
