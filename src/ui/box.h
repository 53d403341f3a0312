/* A popup's box in the middle of the body. */
#ifndef SLUICE_UI_BOX_H
#define SLUICE_UI_BOX_H

#include "ui/app.h"

/* Clears and frames a box of at most cols x rows in the middle of body, with a title; gives its
 * inside. */
struct rect box_draw(struct app *a, struct rect body, int cols, int rows, const char *title);
#endif
