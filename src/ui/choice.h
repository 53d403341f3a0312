/* A radio choice: one of a few options, in one row where all fit beside each other, otherwise one a
 * row with their notes. An option with a refusal can be looked at, not chosen.
 *
 * Keys: Left/Right in a row, Up/Down in a column (at its ends they are the owner's), Space chooses,
 * 1-9 choose at once. Enter is the owner's, who lets it take what was moved to. */
#ifndef SLUICE_UI_CHOICE_H
#define SLUICE_UI_CHOICE_H

#include <stdbool.h>
#include <stddef.h>

#include "ui/canvas.h"
#include "ui/key.h"
#include "ui/result.h"

struct choice_option {
    const char *label;
    const char *note;    /* beside it in a column, may be NULL */
    const char *refusal; /* why it cannot be chosen, NULL: it can */
};

#define CHOICE_NONE ((size_t)-1)

struct choice {
    const struct choice_option *options; /* borrowed */
    size_t count;
    size_t chosen; /* CHOICE_NONE: none yet */
    size_t cursor;
    bool moved;  /* the cursor, and nothing was chosen since */
    bool column; /* of the last drawing */
};

#define CHOICE_INIT ((struct choice){.chosen = CHOICE_NONE})

/* Other options; the cursor moves to the chosen one. */
void choice_set(struct choice *ch, const struct choice_option *options, size_t count,
                size_t chosen);
unsigned choice_key(struct choice *ch, const struct key *k);
/* Chooses the option that the cursor was moved to; ignored when it was not moved. */
unsigned choice_take(struct choice *ch);
int choice_height(const struct choice *ch, int cols); /* rows it takes in that width */
void choice_draw(struct choice *ch, struct canvas *c, struct rect r, bool focused);
#endif
