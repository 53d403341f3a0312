/* Insides of struct wizard, shared by the files wizard*.c only. */
#ifndef SLUICE_CORE_WIZARD_PARTS_H
#define SLUICE_CORE_WIZARD_PARTS_H

#include "core/wizard.h"

/* What is derived is remembered with the counter it was derived at (0 = never), so that a screen of
 * a hundred checks costs a hundred digests once, not at each look. */
struct field_slot {
    bool bad;
    uint64_t bad_at; /* of inputs_version */
};

struct check_slot {
    struct outcome *outcome; /* the last one, current or not */
    char *accepted;          /* reason of an exception */
    char *doing;
    int64_t since;
    int64_t done, total;
    bool running;
    bool expired;         /* told to run again, whatever its digest says */
    bool outlived;        /* told so while it ran: what it brings is of before */
    bool restored;        /* its outcome is of the state file: facts were not brought here */
    struct digest digest; /* of what it would read now */
    uint64_t digest_at;   /* of inputs_version */
    bool applies;
    uint64_t applies_at; /* of version */
};

struct resolved {
    char *reference;
    struct secret *secret;
};

struct wizard {
    const struct rows *rows;
    struct value **answers; /* as given, by field */
    enum origin *origins;
    struct field_slot *fields;
    struct fact **facts;         /* by fact; NULL while only its digest is known */
    struct digest *fact_digests; /* zero = not known */
    struct check_slot *checks;
    struct snapshot *snapshot; /* of answers and facts as they are, or NULL */
    struct plan plan;
    bool planned; /* plan is of the present snapshot */
    uint64_t version;
    uint64_t inputs_version; /* of answers and facts */
    uint64_t answers_version;
    size_t journal_count;
    struct journal_entry *journal;
    size_t resolved_count;
    struct resolved *resolved; /* variables that were read, as they can be read only once */
};

/* An answer or fact changed: what is derived from them is made anew when next asked for. */
void wizard_changed(struct wizard *w);
/* The snapshot of the model, borrowed until the next change. */
struct snapshot *wizard_present(struct wizard *w);
/* The outcome is of the present inputs and not told to run again, whatever its age. */
bool wizard_check_applies(struct wizard *w, int check);
/* Binds each secret that has no host yet to the one that stands in its form now. */
void wizard_bind_secrets(struct wizard *w);
#endif
