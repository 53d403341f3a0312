/* struct field: one question to the operator, a row of data. Forms, headless answers, help, docs,
 * completion and the schema of the state file all come from the rows. */
#ifndef SLUICE_CORE_FIELD_H
#define SLUICE_CORE_FIELD_H

#include <stdbool.h>

#include "core/picker.h"
#include "core/problem.h"
#include "core/value.h"

struct snapshot;

enum field_kind {
    FIELD_TEXT,
    FIELD_SECRET,
    FIELD_CHOICE, /* one of choices / choices_from; free text when the row has neither */
    FIELD_LIST,   /* several texts; `picker` names the view that chooses them */
    FIELD_MAP,    /* item -> answer, e.g. repairs per table */
    FIELD_SWITCH, /* "yes" or "no" */
    FIELD_PATH
};

enum field_keep {
    KEEP_STATE, /* written to the state file; a secret to the secrets file as start.keep_secrets
                   says */
    KEEP_NEVER  /* an admin's secret: only in memory, asked again after a restart */
};

struct field_choice {
    const char *value;
    const char *label; /* NULL: the value itself */
};

struct choices { /* filled by choices_from; strings owned by the list */
    size_t count;
    struct choice_row {
        char *value;
        char *label;
    } * rows;
};
void choices_add(struct choices *c, const char *value, const char *label); /* copies */
void choices_release(struct choices *c);

struct field {
    const char *id; /* "oauth.client_id": step.name, as in answers files */
    enum field_kind kind;
    const char *label; /* in the form, up to 15 columns */
    const char *help;  /* sentences for ? and the docs: what it is, where to find it */
    const char *example;
    bool required; /* without it (and without a default) the step cannot be proved */
    bool advanced; /* shown after the others, folded */
    enum field_keep keep;
    const char *picker;        /* FIELD_LIST: id of the fact whose items are chosen from */
    const struct picker *pick; /* FIELD_LIST: how; NULL = typed, separated by commas */
    const char
        *host_of;  /* FIELD_SECRET: id of the field that names the host or URL it is bound to */
    unsigned make; /* FIELD_SECRET: characters to make when it is empty at apply; 0 = never made */
    const char *initial;                /* static default; NULL none */
    const struct field_choice *choices; /* ends with value NULL */
    bool (*when)(
        const struct snapshot *s); /* hidden when false: kept, but neither read nor exported */
    /* Default from other answers and facts; xfree'd text or NULL. Sees fields that stand before it.
     */
    char *(*default_from)(const struct snapshot *s);
    bool stays; /* a default that was in force becomes the answer when the facts it came from are
                   gone: a service that does not answer must not take it away */
    void (*choices_from)(const struct snapshot *s, struct choices *out);
    char *(*normalise)(const char *typed); /* e.g. trims a URL; xfree'd; NULL function = as typed */
    /* Judged as you type and for each item of a list; 0 or -1 with err (what and fix). */
    int (*valid)(const char *text, struct problem *err);
};

/* Static choices, then those of choices_from (when s is not NULL). choices_release it. */
void field_choices(const struct field *f, const struct snapshot *s, struct choices *out);

/* Judges a whole value by its row: kind, UTF-8, choices (while there are any), valid on the text,
 * the secret or each item. None, an empty one and a secret that is not at hand are fine here;
 * PROBLEM_INPUT. */
int field_check_value(const struct field *f, const struct snapshot *s, const struct value *v,
                      struct problem *err);
#endif
