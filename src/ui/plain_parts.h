/* Shared by plain*.c only. */
#ifndef SLUICE_UI_PLAIN_PARTS_H
#define SLUICE_UI_PLAIN_PARTS_H

#include "ui/console.h"
#include "ui/plain.h"

struct plain {
    struct console console;
    struct wizard *wizard;
    struct state *state;
    struct engine *engine;
    const struct rows *rows;
    const struct front_hooks *hooks;
    int step;
    int told;        /* checks told since the last "Checking" began */
    int64_t told_at; /* clock_ms of the last line while something runs */
    bool *just_told; /* by check: its result was told since then */
    bool *consents;  /* by check: its probe may write; given once a service */
    bool *declined;  /* by check: asked, and not allowed */
    char **doing;    /* by change of the present apply: what was last told of it */
    bool passphrase_declined;
    bool leave;
    int code;
};

/* --- plain_ask.c: questions. Each is false when the operator leaves: p->leave is set then. */

/* The answer, trimmed unless hidden; the caller wipes a hidden one. */
bool plain_ask(struct plain *p, bool hidden, struct text *answer, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* Takes y, yes, n, no; Enter is `otherwise`. */
bool plain_yes(struct plain *p, bool otherwise, bool *yes, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
/* A number from 1 to count as index, -1 for Enter. */
bool plain_number(struct plain *p, size_t count, long *index, const char *prompt);
/* Saves, and asks for a passphrase first when there is a secret to keep and no place for it. */
bool plain_save(struct plain *p);
bool plain_passphrase(struct plain *p);
/* All fields of the step, in their order. */
bool plain_fields(struct plain *p);
/* plain_list.c: a list field whose items are chosen from what was found. */
bool plain_ask_list(struct plain *p, int field);

/* --- plain_show.c: what is told. */

#define plain_say(p, ...) console_say(&(p)->console, __VA_ARGS__)
#define plain_say_code(p, ...) console_say_code(&(p)->console, __VA_ARGS__)
void plain_say_problem(struct plain *p, const struct problem *what);
void plain_heading(struct plain *p);
/* One check: "Checking. 2 failed: wal_level is replica, replica found. Blocks." and what to do. */
void plain_tell_check(struct plain *p, int check);
void plain_summary(struct plain *p);
void plain_details(struct plain *p, int check);
/* "passed", "failed", …: the word for how a check stands. */
const char *plain_word(const struct check_view *v);
bool plain_in_step(const struct plain *p, int check);

/* --- plain_plan.c */
bool plain_plan(struct plain *p, bool *applied);
void plain_tell_change(struct plain *p, const struct event *ev);

/* --- plain_page.c: what can be done on the page of this step. */

/* The action that a word of the operator means: its key, or its verb; NULL none. */
const struct page_action *plain_action(const struct plain *p, const char *word);
/* False when the operator leaves. */
bool plain_act(struct plain *p, const struct page_action *a);
/* "e[x]port, dr[y] run, " of the menu. */
void plain_add_actions(const struct plain *p, struct text *out);
/* A line each: key, verb and what it does. */
void plain_say_actions(struct plain *p);

/* --- plain.c */

/* Asks whether a check that writes or costs may run, and wants it then (anew: `again`). A probe is
 * allowed or declined for its service. */
bool plain_ask_for_probe(struct plain *p, int check, bool again, bool *yes);
/* Begins to number what is told. */
void plain_begin_telling(struct plain *p);

/* Runs what is wanted to its end, telling it; Ctrl-C cancels, twice leaves. */
bool plain_run_wanted(struct plain *p);
#endif
