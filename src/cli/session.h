/* One command's session: rows, state, wizard, network and engine, opened in the order that
 * precedence asks (state, then environment, answers file, --set) and closed in reverse. */
#ifndef SLUICE_CLI_SESSION_H
#define SLUICE_CLI_SESSION_H

#include "cli/args.h"
#include "core/engine.h"

struct session {
    struct rows rows;
    struct wizard *wizard;
    struct state *state;
    struct net *net;
    struct engine *engine;
    bool saves; /* SESSION_READ leaves the file as it is */
};

enum session_need {
    SESSION_READ,  /* only looks: another holder of the lock does not matter */
    SESSION_WRITE, /* must hold the lock */
    SESSION_SHARE  /* the wizard: read-only beside another holder */
};

/* 0, or an exit code, the reason being printed. */
int session_open(struct session *s, const struct args *a, enum session_need need);
/* Saves (when the lock is held) and releases. Gives the worse of code and what saving came to. */
int session_close(struct session *s, int code);

/* Signals that ask to end are blocked from session_open on, so that no thread of ours takes them;
 * the wizard, which catches them itself, lets them through to the main thread again. */
void session_signals(bool blocked);

/* Runs what is wanted to its end: events go to observe (may be NULL). SIGINT and SIGTERM cancel;
 * the time given by
 * --timeout too. Gives 0, or 128 + n, or EXIT_UNREACHABLE when time ran out. */
int session_run(struct session *s, const struct args *a,
                void (*observe)(void *ctx, const struct event *ev), void *ctx);

/* The first required answer among the fields of the given steps (NULL-terminated list of indexes,
 * -1 ends) that is missing or cannot be used: 0 and err, or -1 when there is none. */
int session_first_missing(struct session *s, const bool *steps, struct problem *err);

/* Prints "sluice: what / why / who: fix" to stderr. */
void complain(const struct problem *p);
#endif
