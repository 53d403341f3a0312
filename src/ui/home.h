/* The opening screen: set-ups to continue, each with how it stands and who must act, and a new one.
 *
 * It is read from the state files alone, without locks, network or passphrase, and writes nothing.
 * The model (home_load and below) serves the screen (home_run) and the plain prompts (ui/plain.h).
 */
#ifndef SLUICE_UI_HOME_H
#define SLUICE_UI_HOME_H

#include <stdbool.h>
#include <stdint.h>

#include "core/node.h"
#include "core/rows.h"

/* A check that failed when it last ran, and what was to be done. */
struct home_need {
    char *who;
    char *title;
    char *fix;
};

struct home_entry {
    char *path; /* of the state file, as it is to be opened */
    char *name;
    int proved, total; /* steps that have, or will have, something to prove */
    char *next;        /* first one that is not proved: "2 PostgreSQL source"; NULL none */
    int64_t at;        /* wall: last saved; 0 unknown */
    char *holder;      /* another sluice that has it open; NULL none */
    char *fault;       /* why it cannot be opened; NULL it can */
    size_t need_count;
    struct home_need *needs;
};

struct home {
    size_t count;
    struct home_entry *entries; /* ./sluice.yaml first, then as they were last used */
    char *new_path; /* for a new pipeline: the first of ./sluice.yaml, ./sluice-2.yaml … that is
                       free */
};

void home_load(struct home *h, const struct rows *rows);
void home_release(struct home *h);

/* Fills in name, counts, next and needs from the document of a state file; its texts are cleaned,
 * as anybody may have edited it. */
void home_read(const struct rows *rows, const struct node *doc, struct home_entry *out);
void home_entry_release(struct home_entry *e);
/* "7 of 9 steps proved · waits for: AWS admin", "cannot be opened", … */
void home_status(const struct home_entry *e, struct text *out);
/* What stands above its needs: "shop waits for others:"; or where it goes on when it has none. */
void home_heading(const struct home_entry *e, struct text *out);
/* "2 hours ago"; seconds may be negative (a clock that was set back). */
void home_age(int64_t seconds, struct text *out);

/* Shows the screen until something is chosen: *path (xfree) is to be opened and 0 returned; or NULL
 * and the exit code (0, 130, 128 + n). -1 and err when there is no such terminal. */
int home_run(struct home *h, const struct rows *rows, bool no_color, char **path,
             struct problem *err);
#endif
