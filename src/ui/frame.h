/* The frame around every view: where you are, the way (all steps with their marks), what you can do
 * now. */
#ifndef SLUICE_UI_FRAME_H
#define SLUICE_UI_FRAME_H

#include "ui/app.h"

#define FRAME_MIN_ROWS 12
#define FRAME_MIN_COLS 40

/* Draws header, step line or side list, and notice; gives the rectangle that is left for the view.
 * An empty one when the terminal is too small: then the frame has said so. */
struct rect frame_draw(struct app *a);
/* The keys, once the view is drawn: what they do may depend on how much of it was seen. */
void frame_draw_footer(struct app *a);
#endif
