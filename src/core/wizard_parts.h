/* Insides of struct wizard, shared by the files wizard*.c only. */
#ifndef SLUICE_CORE_WIZARD_PARTS_H
#define SLUICE_CORE_WIZARD_PARTS_H

#include "core/wizard.h"

struct check_slot {
    struct outcome *outcome; /* the last one, current or not */
    char *accepted;          /* reason of an exception */
    char *doing;
    int64_t since;
    int64_t done, total;
    bool running;
    bool expired; /* told to run again, whatever its digest says */
};

struct wizard {
    const struct rows *rows;
    struct value **answers; /* as given, by field */
    enum origin *origins;
    struct fact **facts;         /* by fact; NULL while only its digest is known */
    struct digest *fact_digests; /* zero = not known */
    struct check_slot *checks;
    struct snapshot *snapshot; /* of answers and facts as they are, or NULL */
    struct plan plan;
    bool planned; /* plan is of the present snapshot */
    uint64_t version;
    uint64_t answers_version;
    size_t journal_count;
    struct journal_entry *journal;
};

/* An answer or fact changed: what is derived from them is made anew when next asked for. */
void wizard_changed(struct wizard *w);
#endif
