/* What a widget says about a key it was given. No widget runs a loop of its own: each has
 * draw(canvas, rect, …) and key(…), and effects are these bits, which the owner of the loop
 * applies. */
#ifndef SLUICE_UI_RESULT_H
#define SLUICE_UI_RESULT_H

enum ui_result {
    UI_IGNORED = 0,   /* not mine: the owner may act on the key */
    UI_HANDLED = 1,   /* the key is used up, even where nothing changed */
    UI_REDRAW = 2,    /* what is shown has changed */
    UI_CHANGED = 4,   /* the value (text, choice, row under the cursor) has changed */
    UI_DONE = 8,      /* Enter: the owner takes the value */
    UI_CANCELLED = 16 /* Esc inside the widget, e.g. out of a filter */
};
#endif
