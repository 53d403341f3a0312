/* The form of a step: its visible fields, one a row, the focused one edited in place. What is typed
 * is committed when the field is left, valid or not; nothing is ever lost, and one can always go on
 * or back. */
#ifndef SLUICE_UI_FORM_H
#define SLUICE_UI_FORM_H

#include "ui/app.h"
#include "ui/choice.h"
#include "ui/edit.h"

#define FORM_ROWS_MAX 64

struct form {
    const struct step *step;
    int fields[FORM_ROWS_MAX]; /* indexes of the rows shown; FORM_FOLD stands for the folded ones */
    int count;
    int focus;     /* index into fields */
    int top;       /* first row shown */
    bool unfolded; /* advanced fields are shown */
    bool editing;  /* edit/choice hold the focused field's value */
    bool dirty;    /* and the operator changed it */
    uint64_t of;   /* wizard_version that was taken into the editor */
    struct edit edit;
    struct choice choice;
    struct choice_option *options;
    struct choices values;
};

#define FORM_FOLD (-1)

void form_init(struct form *f, const struct step *step);
void form_release(struct form *f);
/* Commits the focused field; -1 when what is there is not valid (it is kept). */
int form_commit(struct form *f, struct app *a);
int form_field(const struct form *f); /* focused field, or FORM_FOLD */

enum form_result { FORM_IGNORED, FORM_USED, FORM_PAST_END, FORM_PAST_START };
enum form_result form_key(struct form *f, struct app *a, const struct key *k);
/* Rows it would like in all, the options of the focused choice among them. */
int form_height(struct form *f, struct app *a, bool focused, int cols);
void form_draw(struct form *f, struct app *a, struct rect r, bool focused);
/* The help or the fault of the focused field, one or two lines. */
void form_draw_hint(struct form *f, struct app *a, struct rect r);
#endif
