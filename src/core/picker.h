/* struct picker: how the items of a list field are chosen from what was found, without the screen
 * knowing what they are. Rows are produced one at a time when they are visible, so that 100,000
 * tables cost nothing. */
#ifndef SLUICE_CORE_PICKER_H
#define SLUICE_CORE_PICKER_H

#include <stdbool.h>
#include <stddef.h>

struct snapshot;

#define PICK_COLUMNS 5
#define PICK_ANSWERS 4

struct pick_answer {
    char *value; /* what the map field gets for this item; "" = nothing, "-" = leave the item out */
    char *label; /* "REPLICA IDENTITY FULL (more WAL)" */
};

struct pick_row {
    char *item;                  /* as stored in the list: quote_ident's form */
    char *columns[PICK_COLUMNS]; /* texts, NULL = empty */
    char *refusal;               /* why it cannot be chosen; NULL = it can */
    char *warning;               /* a few words behind the columns; NULL none */
    char *note;                  /* sentences shown below while the cursor is here; NULL none */
    struct pick_answer answers[PICK_ANSWERS]; /* keys 1-4; value NULL ends */
};
void pick_row_release(struct pick_row *r);

struct picker {
    const char *title; /* "Tables to capture" */
    const char *headings[PICK_COLUMNS];
    int widths[PICK_COLUMNS];  /* columns at 80; the first two share what is left in wider terminals
                                */
    const char *answers_field; /* FIELD_MAP id that keeps the answers; NULL none */
    size_t (*count)(
        const struct snapshot *s); /* 0 and no fact yet: the picker says what it waits for */
    bool (*ready)(const struct snapshot *s);
    void (*row)(const struct snapshot *s, size_t i, struct pick_row *out);
    /* Cheap forms for filtering and marking, without building the row. */
    bool (*matches)(const struct snapshot *s, size_t i, const char *folded);
    bool (*refused)(const struct snapshot *s, size_t i);
    char *(*item)(const struct snapshot *s, size_t i); /* xfree */
    const char *(*group)(const struct snapshot *s,
                         size_t i); /* its schema, for choosing a whole one */
};
#endif
