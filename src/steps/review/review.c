/* Checks in groups. See review.h. */
#include "steps/review/review.h"

#include "core/mem.h"

static bool bad(enum status s)
{
    return s == STATUS_FAILED || s == STATUS_UNREACHABLE || s == STATUS_CANCELLED ||
           s == STATUS_NONE;
}

static enum review_group group_of(struct wizard *w, int check, bool ageing)
{
    const struct outcome *o = wizard_outcome(w, check);
    bool accepted = wizard_accepted(w, check) != NULL;
    if (o == NULL)
        return REVIEW_OPEN;
    if (ageing ? !wizard_check_current(w, check) : !wizard_check_stands(w, check))
        return REVIEW_STALE;
    if (accepted && (o->status == STATUS_FAILED || o->status == STATUS_WARNED))
        return REVIEW_ACCEPTED;
    if (o->status == STATUS_SKIPPED)
        return REVIEW_APART;
    return bad(o->status) ? REVIEW_OPEN : REVIEW_PROVED;
}

static void note_time(struct review *r, int64_t at)
{
    if (r->oldest == 0 || at < r->oldest)
        r->oldest = at;
    if (at > r->newest)
        r->newest = at;
}

void review_make(struct wizard *w, bool ageing, struct review *out)
{
    const struct rows *rows = wizard_rows(w);
    *out = (struct review){.rows = xcalloc(rows->check_count + 1, sizeof *out->rows)};
    for (size_t i = 0; i < rows->check_count; i++) {
        struct review_row *r = &out->rows[out->count++];
        *r = (struct review_row){.check = (int)i,
                                 .group = group_of(w, (int)i, ageing),
                                 .outcome = wizard_outcome(w, (int)i)};
        out->of[r->group]++;
        if (r->group == REVIEW_PROVED)
            note_time(out, r->outcome->at);
    }
}

void review_release(struct review *r)
{
    xfree(r->rows);
    *r = (struct review){0};
}

bool review_matters(const struct check *c)
{
    return c->severity == SEV_BLOCKS || c->severity == SEV_DANGER;
}

const struct review_beyond review_beyond[] = {
    {"Estuary reaches the database",
     "only Estuary can tell: it connects from the addresses of its data plane, which the check of "
     "the data plane in Start lists with a token, else its dashboard under Admin, Settings, Data "
     "Planes; let them in at the database",
     "capture.discovery"},
    {"Estuary's own validation",
     "the dry run, or flowctl catalog test, builds both tasks and connects, and publishes nothing",
     "materialization.dry_run"},
    {"rows arrive in Bauplan", "after the publication: the first sync carries all rows of a table",
     NULL},
    {NULL, NULL, NULL},
};

bool review_is_beyond(struct wizard *w, const struct review_beyond *b)
{
    int check = b->proved_by != NULL ? rows_check(wizard_rows(w), b->proved_by) : -1;
    const struct outcome *o = check >= 0 ? wizard_outcome(w, check) : NULL;
    return o == NULL || o->status != STATUS_PASSED || !wizard_check_stands(w, check);
}
