/* What is derived from answers, facts and outcomes for a check: what it waits for, and whether its
 * outcome is current. Nothing here is stored but the outcomes themselves. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/shown.h"
#include "core/snapshot_make.h"
#include "core/wizard_parts.h"

#define FRESH_DEFAULT_S 3600
#define CLOCK_SLACK_S 300 /* an outcome may be so much in the future: another machine's clock */

static const char *bare(const char *read)
{
    return read[0] == '?' ? read + 1 : read;
}

static bool is_verdict(const struct check *c)
{
    return c->service == NULL;
}

struct digest wizard_check_digest(struct wizard *w, int check)
{
    struct check_slot *slot = &w->checks[check];
    const struct check *c = w->rows->checks[check];
    if (slot->digest_at != w->inputs_version) {
        slot->digest = snap_digest(wizard_present(w), c->id, c->reads);
        slot->digest_at = w->inputs_version;
    }
    return slot->digest;
}

/* --- current ---------------------------------------------------------------------------------- */

/* A fact this read makes use of now: required, or there to be used. Index, or -1. */
static int used_fact(struct wizard *w, const char *read)
{
    int fact = rows_fact(w->rows, bare(read));
    bool used = fact >= 0 &&
                (read[0] != '?' || w->facts[fact] != NULL || !digest_none(&w->fact_digests[fact]));
    return used ? fact : -1;
}

static int missing_field(struct wizard *w, const struct check *c);
static const struct change *planned_need(struct wizard *w, const struct check *c);

/* A fact at hand whose giver's outcome is of other inputs: index of the giver, or -1. What need not
 * be there is not waited for when its giver cannot run. */
static int outdated_giver(struct wizard *w, const struct check *c)
{
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = used_fact(w, c->reads[i]);
        int giver = fact >= 0 ? w->rows->givers[fact] : -1;
        if (giver < 0 || wizard_check_applies(w, giver))
            continue;
        const struct check *g = w->rows->checks[giver];
        if (c->reads[i][0] == '?' && w->facts[fact] != NULL &&
            (missing_field(w, g) >= 0 || planned_need(w, g) != NULL))
            continue;
        return giver;
    }
    return -1;
}

static bool applies(struct wizard *w, int check)
{
    const struct check_slot *slot = &w->checks[check];
    if (slot->outcome == NULL || slot->expired)
        return false;
    struct digest now = wizard_check_digest(w, check);
    return digest_equal(&now, &slot->outcome->digest) &&
           outdated_giver(w, w->rows->checks[check]) < 0;
}

bool wizard_check_applies(struct wizard *w, int check)
{
    struct check_slot *slot = &w->checks[check];
    if (slot->applies_at != w->version) {
        slot->applies = applies(w, check);
        slot->applies_at = w->version;
    }
    return slot->applies;
}

bool wizard_check_stands(struct wizard *w, int check)
{
    const struct check_slot *slot = &w->checks[check];
    const struct check *c = w->rows->checks[check];
    if (slot->outcome == NULL || slot->expired)
        return false;
    if (digest_none(&slot->outcome->plain)) /* of a file that did not keep it yet */
        return wizard_check_applies(w, check);
    struct digest now = snap_digest_plain(wizard_present(w), c->id, c->reads);
    if (!digest_equal(&now, &slot->outcome->plain))
        return false;
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = used_fact(w, c->reads[i]);
        if (fact >= 0 && !wizard_check_stands(w, w->rows->givers[fact]))
            return false;
    }
    return true;
}

bool wizard_check_current(struct wizard *w, int check)
{
    const struct check *c = w->rows->checks[check];
    if (!wizard_check_applies(w, check))
        return false;
    const struct outcome *o = w->checks[check].outcome;
    if (is_verdict(c) || o->kind == PROBLEM_REFUSED)
        return true;
    int64_t age = clock_wall() - o->at;
    return age >= -CLOCK_SLACK_S && age <= (c->fresh_s > 0 ? c->fresh_s : FRESH_DEFAULT_S);
}

/* An exception covers a finding, not a service that gave no answer. */
static bool good(const struct check_slot *slot)
{
    enum status s = slot->outcome->status;
    return s == STATUS_PASSED || s == STATUS_WARNED || s == STATUS_SKIPPED ||
           (s == STATUS_FAILED && slot->accepted != NULL);
}

/* --- waiting ---------------------------------------------------------------------------------- */

/* The first planned change among `needs`, or NULL. */
static const struct change *planned_need(struct wizard *w, const struct check *c)
{
    if (c->needs == NULL)
        return NULL;
    const struct plan *p = wizard_plan(w);
    for (size_t i = 0; c->needs[i] != NULL; i++) {
        const struct change *change = plan_find(p, c->needs[i]);
        if (change != NULL)
            return change;
    }
    return NULL;
}

/* Waiting for an answer: index of the field, or -1. */
static int missing_field(struct wizard *w, const struct check *c)
{
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int field = rows_field(w->rows, bare(c->reads[i]));
        if (field < 0 || !wizard_visible(w, field))
            continue;
        const struct value *v = wizard_effective(w, field);
        /* a secret that was answered is meant, also while it is locked away or to be asked again */
        bool nothing = value_empty(v) && (v == NULL || v->kind != VALUE_SECRET);
        if (c->reads[i][0] == '?' && nothing)
            continue;
        if (wizard_field_problem(w, field, NULL) != 0)
            return field;
    }
    return -1;
}

/* Waiting for a fact: index of its giver, or -1. A fact that need not be there but is known by its
 * digest is waited for as well: an outcome without it would pass for one with it. */
static int missing_giver(struct wizard *w, const struct check *c)
{
    for (size_t i = 0; c->reads != NULL && c->reads[i] != NULL; i++) {
        int fact = used_fact(w, c->reads[i]);
        if (fact >= 0 && w->facts[fact] == NULL)
            return w->rows->givers[fact];
    }
    return -1;
}

static int missing_after(struct wizard *w, const struct check *c)
{
    for (size_t i = 0; c->after != NULL && c->after[i] != NULL; i++) {
        int before = rows_check(w->rows, c->after[i]);
        if (!wizard_check_current(w, before) || !good(&w->checks[before]))
            return before;
    }
    return -1;
}

/* Cut between characters when it is too long. */
static void say(char *out, size_t size, const char *what, const char *more)
{
    AUTO_TEXT t = TEXT_LIMITED(size - 1);
    text_add(&t, what);
    text_add(&t, more);
    memcpy(out, t.s, t.len + 1);
}

void wizard_check_waits(struct wizard *w, int check, char *out, size_t size)
{
    const struct check *c = w->rows->checks[check];
    out[0] = '\0';
    int field = missing_field(w, c);
    if (field >= 0) {
        say(out, size, w->rows->fields[field]->label, "");
        return;
    }
    int before = missing_giver(w, c);
    if (before < 0)
        before = missing_after(w, c);
    if (before >= 0) {
        say(out, size, w->rows->checks[before]->title, "");
        return;
    }
    const struct change *change = planned_need(w, c);
    if (change != NULL)
        say(out, size, change->title, " (planned)");
}

int wizard_check_first(struct wizard *w, int check)
{
    const struct check *c = w->rows->checks[check];
    int giver = missing_giver(w, c);
    if (giver >= 0) {
        const struct check_slot *slot = &w->checks[giver];
        if (!wizard_check_current(w, giver))
            return giver;
        return slot->restored && good(slot) ? giver : -1; /* its facts did not come with the file */
    }
    giver = outdated_giver(w, c);
    if (giver >= 0)
        return giver;
    for (size_t i = 0; c->after != NULL && c->after[i] != NULL; i++) {
        int before = rows_check(w->rows, c->after[i]);
        if (!wizard_check_current(w, before))
            return before;
    }
    return -1;
}

void wizard_check_view(struct wizard *w, int check, struct check_view *out)
{
    const struct check_slot *slot = &w->checks[check];
    const struct check *c = w->rows->checks[check];
    bool current = wizard_check_current(w, check);
    *out = (struct check_view){.outcome = slot->outcome,
                               .stale = slot->outcome != NULL && !current,
                               .running = slot->running,
                               .running_since = slot->since,
                               .done = slot->done,
                               .total = slot->total,
                               .doing = slot->doing,
                               .accepted = slot->accepted};
    const struct change *change = current && good(slot) ? NULL : planned_need(w, c);
    if (change != NULL)
        say(out->waits, sizeof(out->waits), change->title, " (planned)");
    else if (!current)
        wizard_check_waits(w, check, out->waits, sizeof(out->waits));
    if (out->waits[0] != '\0')
        out->status = STATUS_WAITING;
    else
        out->status = slot->outcome != NULL ? slot->outcome->status : STATUS_NONE;
    if (slot->accepted != NULL && (out->status == STATUS_FAILED || out->status == STATUS_WARNED))
        out->status = STATUS_ACCEPTED;
}

/* --- storing ---------------------------------------------------------------------------------- */

/* An equal fact replaces the old one too: it may carry newer data that is not hashed (sizes, ages).
 */
static void put_fact(struct wizard *w, int fact, struct fact *f)
{
    fact_unref(w->facts[fact]);
    w->facts[fact] = f != NULL ? fact_ref(f) : NULL;
    w->fact_digests[fact] = f != NULL ? fact_digest(f) : (struct digest){{0}};
    wizard_changed(w);
}

/* Defaults that were in force before, and are no longer, become answers where the row says so. */
static void keep_defaults(struct wizard *w, const struct snapshot *before)
{
    for (size_t i = 0; i < w->rows->field_count; i++) {
        const struct value *was = snapshot_value(before, (int)i);
        if (!w->rows->fields[i]->stays || w->answers[i] != NULL || value_empty(was) ||
            !value_empty(wizard_effective(w, (int)i)))
            continue;
        w->answers[i] = value_ref(was);
        w->origins[i] = ORIGIN_STATE;
        wizard_changed(w);
        w->answers_version++;
    }
}

bool wizard_put_outcome(struct wizard *w, int check, struct outcome *o)
{
    struct digest now = wizard_check_digest(w, check);
    struct check_slot *slot = &w->checks[check];
    if (!digest_equal(&now, &o->digest) || slot->outlived)
        return false;
    const struct check *c = w->rows->checks[check];
    o->plain = snap_digest_plain(wizard_present(w), c->id, c->reads);
    outcome_ref(o);
    outcome_unref(slot->outcome);
    slot->outcome = o;
    slot->expired = false;
    slot->restored = false;
    w->version++;
    bool gives = false;
    struct snapshot *before = wizard_snapshot(w);
    for (size_t fact = 0; fact < w->rows->fact_count; fact++) {
        if (w->rows->givers[fact] != check)
            continue;
        struct fact *given = NULL;
        for (size_t i = 0; i < o->given_count; i++)
            if (strcmp(o->given[i].id, w->rows->facts[fact]) == 0)
                given = o->given[i].fact;
        put_fact(w, (int)fact, given);
        gives = true;
    }
    if (gives) { /* what is derived from facts may read otherwise now */
        keep_defaults(w, before);
        wizard_unpin_defaults(w);
        wizard_bind_secrets(w);
    }
    snapshot_unref(before);
    return true;
}

void wizard_restore_outcome(struct wizard *w, int check, struct outcome *o)
{
    outcome_ref(o);
    outcome_unref(w->checks[check].outcome);
    w->checks[check].outcome = o;
    w->checks[check].restored = true;
    w->version++;
}

void wizard_restore_fact(struct wizard *w, int fact, struct digest digest, struct fact *kept)
{
    fact_unref(w->facts[fact]);
    w->facts[fact] = kept != NULL ? fact_ref(kept) : NULL;
    w->fact_digests[fact] = kept != NULL ? fact_digest(kept) : digest;
    wizard_changed(w);
}

void wizard_expire_check(struct wizard *w, int check)
{
    w->checks[check].expired = true;
    w->checks[check].outlived = w->checks[check].running;
    w->version++;
}

void wizard_running(struct wizard *w, int check, bool running, int64_t since)
{
    struct check_slot *slot = &w->checks[check];
    slot->running = running;
    if (running)
        slot->outlived = false;
    slot->since = since;
    slot->done = 0;
    slot->total = 0;
    xfree(slot->doing);
    slot->doing = NULL;
}

void wizard_progress(struct wizard *w, int check, int64_t done, int64_t total, const char *doing)
{
    struct check_slot *slot = &w->checks[check];
    slot->done = done;
    slot->total = total;
    xreplace(&slot->doing, doing);
}

void wizard_accept(struct wizard *w, int check, const char *reason)
{
    AUTO(xfree) char *shown = shown_copy(reason, CLEAN_LINE);
    xreplace(&w->checks[check].accepted, shown);
    w->version++;
}

const struct outcome *wizard_outcome(const struct wizard *w, int check)
{
    return w->checks[check].outcome;
}

const char *wizard_accepted(const struct wizard *w, int check)
{
    return w->checks[check].accepted;
}

const struct fact *wizard_fact(const struct wizard *w, int fact)
{
    return w->facts[fact];
}

struct digest wizard_fact_digest(const struct wizard *w, int fact)
{
    return w->fact_digests[fact];
}
