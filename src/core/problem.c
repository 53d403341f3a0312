/* Problems: every text is rendered first, then put in place of the old one, so that a problem may
 * be wrapped in words that quote it ("cannot save: %s", err->what). */
#include "core/problem.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "core/clean.h"
#include "core/mem.h"
#include "core/redact.h"

/* What errno means for people. Those not here are PROBLEM_LOCAL without a remedy. */
static const struct errno_row {
    int errnum;
    enum problem_kind kind;
    const char *fix;
} errno_rows[] = {
    {ENOENT, PROBLEM_MISSING, NULL},
    {ENOTDIR, PROBLEM_MISSING, NULL},
    {ENOSPC, PROBLEM_LOCAL, "Free some space on that disk, then try again."},
    {EDQUOT, PROBLEM_LOCAL, "Free some space or have your disk quota raised, then try again."},
    {EFBIG, PROBLEM_LOCAL, "Raise the file size limit (ulimit -f), then try again."},
    {EROFS, PROBLEM_LOCAL, "Choose a folder on a file system that can be written."},
    {EACCES, PROBLEM_LOCAL, "Check the owner and the mode of the file and of its folders."},
    {EPERM, PROBLEM_LOCAL, "Check the owner and the mode of the file and of its folders."},
    {EIO, PROBLEM_LOCAL, "The disk reports an error: keep the file elsewhere."},
    {EMFILE, PROBLEM_LOCAL, "Raise the limit of open files (ulimit -n)."},
    {ESTALE, PROBLEM_LOCAL, "The network file system lost the file: mount it again."},
    {ECONNREFUSED, PROBLEM_UNREACHABLE, NULL},
    {ECONNRESET, PROBLEM_UNREACHABLE, NULL},
    {EPIPE, PROBLEM_UNREACHABLE, NULL},
    {EHOSTUNREACH, PROBLEM_UNREACHABLE, NULL},
    {ENETUNREACH, PROBLEM_UNREACHABLE, NULL},
    {ETIMEDOUT, PROBLEM_UNREACHABLE, NULL},
    {ECANCELED, PROBLEM_CANCELLED, NULL},
};

/* Redacted before it is cleaned: cleaning would change the bytes of a secret with odd characters.
 */
static char *entering(const char *s, enum clean_mode mode)
{
    char *redacted = redact_copy(s);
    char *clean = clean_copy(redacted, mode);
    xfree(redacted);
    return clean;
}

static char *rendered(enum clean_mode mode, const char *fmt, va_list ap)
    __attribute__((format(printf, 2, 0)));

static char *rendered(enum clean_mode mode, const char *fmt, va_list ap)
{
    char *raw = xvasprintf(fmt, ap);
    char *s = entering(raw, mode);
    explicit_bzero(raw, strlen(raw));
    xfree(raw);
    return s;
}

/* Takes `what`; `code` may be part of the old content. */
static void fill(struct problem *err, enum problem_kind kind, const char *code, char *what)
{
    char *kept_code = code != NULL ? entering(code, CLEAN_LINE) : NULL;
    problem_release(err);
    err->kind = kind;
    err->code = kept_code;
    err->what = what;
}

int problem_fail(struct problem *err, enum problem_kind kind, const char *code, const char *what,
                 ...)
{
    if (err == NULL)
        return -1;
    va_list ap;
    va_start(ap, what);
    char *s = rendered(CLEAN_LINE, what, ap);
    va_end(ap);
    fill(err, kind, code, s);
    return -1;
}

int problem_errno(struct problem *err, int errnum, const char *what, ...)
{
    if (err == NULL)
        return -1;
    va_list ap;
    va_start(ap, what);
    char *s = rendered(CLEAN_LINE, what, ap);
    va_end(ap);
    const char *words = strerrordesc_np(errnum); /* thread-safe and never translated */
    char *whole =
        words != NULL ? xasprintf("%s: %s", s, words) : xasprintf("%s: error %d", s, errnum);
    char *code = xasprintf("errno %d", errnum);
    xfree(s);

    const struct errno_row *row = NULL;
    for (size_t i = 0; i < ARRAY_LEN(errno_rows) && row == NULL; i++) {
        if (errno_rows[i].errnum == errnum)
            row = &errno_rows[i];
    }
    fill(err, row != NULL ? row->kind : PROBLEM_LOCAL, code, whole);
    if (row != NULL && row->fix != NULL)
        problem_fix(err, WHO_YOU, "%s", row->fix);
    xfree(code);
    return -1;
}

static void put(char **slot, char *s)
{
    xfree(*slot);
    *slot = s;
}

/* The four below only differ in the member they fill. */
#define FILL_MEMBER(member, mode)                                                                  \
    do {                                                                                           \
        if (err == NULL)                                                                           \
            return;                                                                                \
        va_list ap;                                                                                \
        va_start(ap, fmt);                                                                         \
        char *s_ = rendered(mode, fmt, ap);                                                        \
        va_end(ap);                                                                                \
        put(&err->member, s_);                                                                     \
    } while (0)

void problem_why(struct problem *err, const char *fmt, ...)
{
    FILL_MEMBER(why, CLEAN_LINES);
}

void problem_fix(struct problem *err, enum who who, const char *fmt, ...)
{
    FILL_MEMBER(fix, CLEAN_LINES);
    err->who = who;
}

void problem_evidence(struct problem *err, const char *fmt, ...)
{
    FILL_MEMBER(evidence, CLEAN_LINES);
}

void problem_copy_command(struct problem *err, const char *fmt, ...)
{
    FILL_MEMBER(copy, CLEAN_LINES);
}

void problem_move(struct problem *to, struct problem *from)
{
    if (to == from)
        return;
    if (to == NULL) {
        problem_release(from);
        return;
    }
    problem_release(to);
    *to = *from;
    *from = PROBLEM_INIT;
}

void problem_release(struct problem *err)
{
    if (err == NULL)
        return;
    xfree(err->code);
    xfree(err->what);
    xfree(err->why);
    xfree(err->fix);
    xfree(err->evidence);
    xfree(err->copy);
    *err = PROBLEM_INIT;
}

const char *problem_who_name(enum who who)
{
    static const char *const names[WHO_COUNT] = {
        [WHO_YOU] = "you",         [WHO_DBA] = "DBA",         [WHO_AWS_ADMIN] = "AWS admin",
        [WHO_BAUPLAN] = "Bauplan", [WHO_ESTUARY] = "Estuary", [WHO_NETWORK] = "network",
    };
    return (unsigned)who < WHO_COUNT ? names[who] : "you";
}

const char *problem_kind_name(enum problem_kind kind)
{
    static const char *const names[] = {
        [PROBLEM_NONE] = "none",
        [PROBLEM_INPUT] = "input",
        [PROBLEM_UNREACHABLE] = "unreachable",
        [PROBLEM_REFUSED] = "refused",
        [PROBLEM_DENIED] = "denied",
        [PROBLEM_MISSING] = "missing",
        [PROBLEM_CONFLICT] = "conflict",
        [PROBLEM_PROTOCOL] = "protocol",
        [PROBLEM_CANCELLED] = "cancelled",
        [PROBLEM_LOCAL] = "local",
        [PROBLEM_BUG] = "bug",
    };
    return (unsigned)kind < ARRAY_LEN(names) ? names[kind] : "bug";
}
