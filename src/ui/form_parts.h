/* Shared by form.c and form_draw.c only. */
#ifndef SLUICE_UI_FORM_PARTS_H
#define SLUICE_UI_FORM_PARTS_H

#include "ui/form.h"

void form_layout(struct form *f, struct app *a);
void form_start_editing(struct form *f, struct app *a);
#endif
