/* What holds before anything is sent: that it is still what was consented to, and that no secret is
 * made which nothing would keep. */
#include <string.h>

#include "core/engine_parts.h"
#include "core/mem.h"

/* --- previews --------------------------------------------------------------------------------- */

#define ANNOUNCED "(known after: "

/* Behind the bracket that closes the one at s; NULL when none does. */
static const char *closed(const char *s)
{
    int depth = 0;
    for (; *s != '\0'; s++) {
        depth += *s == '(';
        depth -= *s == ')';
        if (depth == 0)
            return s + 1;
    }
    return NULL;
}

/* A value that was announced: something, on one line. */
static bool is_value(const char *from, const char *to)
{
    return to > from && memchr(from, '\n', (size_t)(to - from)) == NULL;
}

bool previews_agree(const char *shown, const char *now)
{
    for (;;) {
        const char *mark = strstr(shown, ANNOUNCED);
        const char *rest = mark != NULL ? closed(mark) : NULL;
        if (rest == NULL)
            return strcmp(shown, now) == 0;
        size_t before = (size_t)(mark - shown);
        if (strncmp(shown, now, before) != 0)
            return false;
        now += before;
        const char *next = strstr(rest, ANNOUNCED);
        size_t n = next != NULL ? (size_t)(next - rest) : strlen(rest);
        const char *at;
        if (next == NULL) { /* the last piece stands at the end */
            size_t left = strlen(now);
            return left >= n && strcmp(now + left - n, rest) == 0 && is_value(now, now + left - n);
        }
        if (n == 0 || (at = memmem(now, strlen(now), rest, n)) == NULL || !is_value(now, at))
            return false;
        now = at;
        shown = rest;
    }
}

int apply_same_as_shown(struct engine *e, size_t change, struct problem *err)
{
    const struct change *c = e->plan.changes[change];
    const struct change *now = plan_find(wizard_plan(e->wizard), c->id);
    if (now == NULL && !e->slots[change].planned)
        return 0; /* not of the model's plan: an undo, say */
    if (now != NULL && previews_agree(c->preview, now->preview))
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, "preview",
                 now != NULL ? "%s would no longer be what was shown" : "%s is no longer planned",
                 c->title);
    problem_fix(err, WHO_YOU, "look at the plan again, then apply it");
    if (now != NULL)
        problem_evidence(err, "%s", now->preview);
    return -1;
}

void apply_refresh(struct engine *e, size_t change)
{
    struct change *c = e->plan.changes[change];
    const struct change *now = plan_find(wizard_plan(e->wizard), c->id);
    if (now == NULL || !previews_agree(c->preview, now->preview))
        return; /* what is no longer as shown is not sent: apply_same_as_shown says so */
    node_free(c->args);
    c->args = now->args != NULL ? node_copy(now->args) : NULL;
    xreplace(&c->preview, now->preview);
}

/* --- secrets ---------------------------------------------------------------------------------- */

static int field_of(struct engine *e, const char *id)
{
    return id != NULL ? rows_field(wizard_rows(e->wizard), id) : -1;
}

/* A made secret that nothing outliving the process keeps would be lost with it. */
static int can_keep(struct engine *e, const struct change *c, int field, bool memory_ok,
                    struct problem *err)
{
    const char *id = wizard_rows(e->wizard)->fields[field]->id;
    if (memory_ok || state_can_keep(e->state, e->wizard, field))
        return 0;
    problem_fail(err, PROBLEM_INPUT, "cannot keep", "%s makes %s, and there is no place to keep it",
                 c->title, id);
    problem_fix(
        err, WHO_YOU,
        "give --passphrase-file FILE for the secrets file, or set %s to env:NAME or file:/PATH",
        id);
    return -1;
}

/* True when the secret is to be made: nothing was given, or one was made that died with the process
 * it was made in. One that is locked away or was entered must not be replaced behind its owner. */
static bool must_make(struct engine *e, int field)
{
    const struct value *v = wizard_answer(e->wizard, field);
    bool lost = v != NULL && v->secret == NULL && v->reference == NULL &&
                wizard_origin(e->wizard, field) == ORIGIN_MADE &&
                state_vault(e->state) != VAULT_LOCKED;
    return v == NULL || lost;
}

static int can_use(struct engine *e, const struct change *c, int field, bool memory_ok,
                   struct problem *err)
{
    const struct field *f = wizard_rows(e->wizard)->fields[field];
    if (!must_make(e, field))
        return wizard_field_problem(e->wizard, field, err);
    if (f->make == 0) {
        problem_fail(err, PROBLEM_INPUT, "missing", "%s needs %s", c->title, f->label);
        problem_fix(err, WHO_YOU, "answer %s", f->id);
        return -1;
    }
    return can_keep(e, c, field, memory_ok, err);
}

static int can_apply(struct engine *e, const struct change *c, bool memory_ok, struct problem *err)
{
    int gives = field_of(e, c->gives);
    if (gives >= 0 && wizard_rows(e->wizard)->fields[gives]->kind == FIELD_SECRET &&
        can_keep(e, c, gives, memory_ok, err) != 0)
        return -1;
    int uses = field_of(e, c->uses);
    return uses >= 0 ? can_use(e, c, uses, memory_ok, err) : 0;
}

int apply_make_secrets(struct engine *e, const struct plan *plan, bool memory_ok,
                       struct problem *err)
{
    for (size_t i = 0; i < plan->count; i++)
        if (!plan->changes[i]->left_out && can_apply(e, plan->changes[i], memory_ok, err) != 0)
            return -1;
    for (size_t i = 0; i < plan->count; i++) {
        int field = plan->changes[i]->left_out ? -1 : field_of(e, plan->changes[i]->uses);
        if (field < 0 || !must_make(e, field))
            continue;
        struct secret *s = secret_generate(wizard_rows(e->wizard)->fields[field]->make);
        wizard_set(e->wizard, field, value_secret(s, NULL, NULL), ORIGIN_MADE, NULL);
        secret_unref(s);
    }
    return 0;
}
