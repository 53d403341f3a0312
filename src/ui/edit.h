/* A line of text being edited: the model and how it is drawn. The cursor stands between grapheme
 * clusters, so that é typed as two code points is one thing to delete.
 *
 * A secret is drawn as dots and its memory is wiped whenever it is freed or moved. Enter, Tab, Esc,
 * Up and Down are the owner's.
 *
 * Keys: Left, Right, Home/Ctrl-A, End/Ctrl-E, Ctrl-Left/Right (words), Backspace, Delete/Ctrl-D,
 * Ctrl-W (word before), Ctrl-U (to the start), Ctrl-K (to the end), Ctrl-R (shows and hides a
 * secret). */
#ifndef SLUICE_UI_EDIT_H
#define SLUICE_UI_EDIT_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/canvas.h"
#include "ui/key.h"
#include "ui/result.h"

#define EDIT_MAX 65536 /* bytes */
#define EDIT_BLANKS 32 /* trimmed blanks that can be put back, each end */

enum edit_kind {
    EDIT_TEXT,   /* line breaks of a paste become blanks */
    EDIT_SECRET, /* one line: a paste with a line break inside is refused, as it would surely be
                    wrong */
    EDIT_PEM     /* a secret of several lines: line breaks are kept */
};

/* What the last insertion did to what was given; all zero when nothing needs saying. */
struct edit_report {
    size_t trimmed; /* blanks and line breaks cut off at the ends */
    size_t breaks;  /* line breaks that became blanks */
    size_t dropped; /* control characters and invalid bytes left out */
    bool refused;   /* nothing was inserted: a line break inside a secret */
    bool full;      /* EDIT_MAX reached; what fits was inserted */
};

struct edit {
    enum edit_kind kind;
    char *s; /* never NULL after edit_init */
    size_t len, room;
    size_t at;  /* cursor, in bytes */
    int scroll; /* columns hidden at the left */
    bool reveal;
    struct edit_report report;
    char lead[EDIT_BLANKS], trail[EDIT_BLANKS]; /* blanks the last paste lost */
    size_t n_lead, n_trail, paste_at, paste_len;
};

void edit_init(struct edit *e, enum edit_kind kind);
void edit_release(struct edit *e); /* wiped */
/* Replaces the text (NULL: empty), cursor at the end. Control characters are left out, as typed
 * ones. */
void edit_set(struct edit *e, const char *s);
void edit_insert(struct edit *e, const char *s, size_t n); /* as typed, at the cursor */
/* As edit_insert, with the rules for pasted text; says what it did in e->report. */
void edit_paste(struct edit *e, const char *s, size_t n, bool cut);
/* Puts the blanks back that the last paste lost; false when there are none or the text has changed.
 */
bool edit_untrim(struct edit *e);
/* e->report in words, one line: "removed 2 blanks around the pasted text"; false when empty. */
bool edit_say(const struct edit *e, struct text *out);

unsigned edit_key(struct edit *e, const struct key *k); /* enum ui_result */

struct edit_look {
    bool focused;
    const char *placeholder; /* shown while empty, may be NULL */
    /* How a secret looks while it has no focus, xfree; NULL: eight dots. */
    char *(*mask)(const char *s, size_t n);
};

/* One row, scrolled so that the cursor is seen; places the canvas's cursor when focused. */
void edit_draw(struct edit *e, struct canvas *c, struct rect r, const struct edit_look *look);
#endif
