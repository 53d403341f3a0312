/* Plain mode's questions: one field, a yes or no, a passphrase. See plain_parts.h. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/clean.h"
#include "core/mem.h"
#include "ui/plain_parts.h"

/* --- any question ----------------------------------------------------------------------------- */

static void leave(struct plain *p, enum console_event how, int signal)
{
    p->leave = true;
    p->code = how == CONSOLE_EOF ? 0 : 128 + signal;
    plain_say(p, "%s", ""); /* what comes next does not stand behind the question */
}

static void trim(struct text *t)
{
    size_t from = strspn(t->s, " \t\r");
    size_t to = t->len;
    while (to > from && strchr(" \t\r", t->s[to - 1]) != NULL)
        to--;
    if (t->len == 0 || (from == 0 && to == t->len))
        return;
    memmove(t->s, t->s + from, to - from);
    t->s[to - from] = '\0';
    t->len = to - from;
}

bool plain_ask(struct plain *p, bool hidden, struct text *answer, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    AUTO(xfree) char *prompt = xvasprintf(fmt, ap);
    va_end(ap);
    int signal = 0;
    enum console_event got = console_ask(&p->console, prompt, hidden, answer, &signal);
    if (got != CONSOLE_LINE) {
        leave(p, got, signal);
        return false;
    }
    if (!hidden)
        trim(answer); /* blanks may belong to a secret; rows that cannot have them normalise */
    return true;
}

bool plain_yes(struct plain *p, bool otherwise, bool *yes, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    AUTO(xfree) char *question = xvasprintf(fmt, ap);
    va_end(ap);
    AUTO_TEXT answer = TEXT_INIT;
    for (;;) {
        if (!plain_ask(p, false, &answer, "%s [y]es, [n]o [%s]:", question,
                       otherwise ? "yes" : "no"))
            return false;
        if (answer.len == 0)
            *yes = otherwise;
        else if (strcasecmp(answer.s, "y") == 0 || strcasecmp(answer.s, "yes") == 0)
            *yes = true;
        else if (strcasecmp(answer.s, "n") == 0 || strcasecmp(answer.s, "no") == 0)
            *yes = false;
        else
            continue;
        return true;
    }
}

bool plain_number(struct plain *p, size_t count, long *index, const char *prompt)
{
    AUTO_TEXT answer = TEXT_INIT;
    for (;;) {
        if (!plain_ask(p, false, &answer, "%s", prompt))
            return false;
        char *end;
        long n = strtol(answer.s, &end, 10);
        *index = answer.len == 0 ? -1 : n - 1;
        if (answer.len == 0 || (*end == '\0' && n >= 1 && (size_t)n <= count))
            return true;
        plain_say(p, "Type a number from 1 to %zu, or only Enter.", count);
    }
}

/* --- saving ----------------------------------------------------------------------------------- */

static bool unlock(struct plain *p, const struct secret *typed)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (state_unlock(p->state, p->wizard, typed, &why) == 0) {
        plain_say(p, "Secrets are kept under your passphrase.");
        return true;
    }
    plain_say_problem(p, &why);
    return false;
}

/* NULL: nothing was typed, or (p->leave) the operator leaves. */
static struct secret *ask_secret(struct plain *p, const char *prompt)
{
    AUTO_TEXT typed = TEXT_INIT;
    struct secret *s = NULL;
    if (plain_ask(p, true, &typed, "%s", prompt) && typed.len > 0)
        s = secret_new(typed.s, typed.len);
    text_wipe(&typed);
    return s;
}

static bool try_passphrase(struct plain *p, bool opens, bool *done)
{
    struct secret *first = ask_secret(
        p, opens ? "Passphrase of the secrets file (not shown; Enter alone goes on without it):"
                 : "New passphrase (not shown; Enter alone leaves secrets in memory):");
    if (first == NULL) {
        if (p->leave)
            return false;
        p->passphrase_declined = true;
        *done = true;
        plain_say(p, opens
                         ? "Secrets stay locked: their fields are to be typed."
                         : "Secrets are only in memory now: after a restart they are typed again.");
        return true;
    }
    if (!opens) {
        struct secret *again = ask_secret(p, "The same once more (not shown):");
        bool same = again != NULL && secret_equal(first, again);
        secret_unref(again);
        if (!same) {
            secret_unref(first);
            if (!p->leave)
                plain_say(p, "The two differ.");
            return !p->leave;
        }
    }
    *done = unlock(p, first);
    secret_unref(first);
    return true;
}

bool plain_passphrase(struct plain *p)
{
    bool opens = state_vault(p->state) == VAULT_LOCKED;
    bool done = false;
    if (!opens)
        plain_say(p, "Secrets are kept beside the state file, encrypted under a passphrase of "
                     "yours. It is asked for when you resume; without it nobody can read them.");
    while (!done)
        if (!try_passphrase(p, opens, &done))
            return false;
    return true;
}

bool plain_save(struct plain *p)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (state_holder(p->state) != NULL || !state_worth_saving(p->state, p->wizard))
        return true;
    if (!p->passphrase_declined && state_wants_passphrase(p->state, p->wizard) &&
        !plain_passphrase(p))
        return false;
    if (state_save(p->state, p->wizard, &why) != 0) {
        plain_say(p, "Not saved.");
        plain_say_problem(p, &why);
    }
    return true;
}
