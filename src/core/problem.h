/* struct problem: an error made for people: what failed, why, what to do, who acts, evidence, and a
 * machine code beside.
 *
 * Convention: a function that can fail returns int, 0 or -1, and takes `struct problem *err` last.
 * err is filled on failure only and untouched on success; NULL is allowed where the caller does not
 * care. A problem must be PROBLEM_INIT first; filling a filled one replaces it. Texts are cleaned
 * (core/clean.h) and redacted (core/redact.h) as they enter. Library layers never print or log. */
#ifndef SLUICE_CORE_PROBLEM_H
#define SLUICE_CORE_PROBLEM_H

#include <stdarg.h>

enum problem_kind {
    PROBLEM_NONE,
    PROBLEM_INPUT,       /* an answer or file is wrong: exit 5 for files, shown at the field */
    PROBLEM_UNREACHABLE, /* DNS, connect, TLS, deadline: nothing was answered; exit 4 */
    PROBLEM_REFUSED,     /* the service answered: login refused */
    PROBLEM_DENIED,      /* logged in, no right */
    PROBLEM_MISSING,     /* not found */
    PROBLEM_CONFLICT,    /* exists otherwise, or is in use */
    PROBLEM_PROTOCOL,    /* the answer is not what the protocol says */
    PROBLEM_CANCELLED,   /* by the operator */
    PROBLEM_LOCAL,       /* disk, permissions, memory caps on this machine */
    PROBLEM_BUG          /* exit 70 */
};

/* Who must act; problem_who_name gives the word shown. */
enum who { WHO_YOU, WHO_DBA, WHO_AWS_ADMIN, WHO_BAUPLAN, WHO_ESTUARY, WHO_NETWORK, WHO_COUNT };

struct problem {
    enum problem_kind kind;
    enum who who;
    char *code; /* "28P01", "curl 60", "http 401 invalid_client", "errno 28" */
    char *what; /* one line */
    char *why;  /* may be NULL, as the rest */
    char *fix;
    char *evidence; /* what was seen, cleaned and redacted; may have lines */
    char *copy;     /* a command to copy, one that would act */
};

#define PROBLEM_INIT ((struct problem){.kind = PROBLEM_NONE})

/* Fills err (when not NULL) and returns -1, so that `return problem_fail(err, …)` reads well. */
int problem_fail(struct problem *err, enum problem_kind kind, const char *code, const char *what,
                 ...) __attribute__((format(printf, 4, 5)));
void problem_why(struct problem *err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void problem_fix(struct problem *err, enum who who, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void problem_evidence(struct problem *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
void problem_copy_command(struct problem *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* errno turned into words: "cannot open FILE: No space left on device", code "errno 28". */
int problem_errno(struct problem *err, int errnum, const char *what, ...)
    __attribute__((format(printf, 3, 4)));
/* Moves *from (then PROBLEM_INIT again) into *to; to may be NULL, then from is released. */
void problem_move(struct problem *to, struct problem *from);
void problem_release(struct problem *err);  /* leaves PROBLEM_INIT */
const char *problem_who_name(enum who who); /* "you", "DBA", "AWS admin", "Bauplan", … */
const char *problem_kind_name(enum problem_kind kind);

#define AUTO_PROBLEM __attribute__((cleanup(problem_release))) struct problem
#endif
