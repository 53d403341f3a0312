/* Verdict on the user's access keys: the one at hand is among them and active, there is room for a
 * new one, and how old they are. No I/O. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/iam/keys.h"

#define OLD_DAYS 90
#define DAY_S 86400

static long long days_since(int64_t when)
{
    int64_t age = clock_wall() - when;
    return age > 0 ? (long long)(age / DAY_S) : 0;
}

static void add_ago(struct text *out, int64_t when)
{
    long long days = days_since(when);
    if (days < 2)
        text_add(out, days == 0 ? "today" : "yesterday");
    else
        text_addf(out, "%lld days ago", days);
}

static void key_item(struct outcome *out, const struct iam_held_key *k, bool ours)
{
    AUTO_TEXT line = TEXT_INIT;
    text_addf(&line, "%s, made ", k->active ? "active" : "inactive");
    add_ago(&line, k->created);
    if (k->used == 0)
        text_add(&line, ", never used");
    if (k->used > 0) {
        text_add(&line, ", used last ");
        add_ago(&line, k->used);
        if (k->service != NULL)
            text_addf(&line, " with %s", k->service);
    }
    if (ours)
        text_add(&line, "; the one at hand");
    outcome_item(out, ours && !k->active ? STATUS_FAILED : STATUS_PASSED, k->id, line.s, NULL);
}

/* The one that can go first: inactive before active, never used before used, older before newer. */
static const struct iam_held_key *least_needed(const struct iam_side *u)
{
    const struct iam_held_key *best = &u->keys[0];
    for (size_t i = 1; i < u->key_count; i++) {
        const struct iam_held_key *k = &u->keys[i];
        int64_t a = k->active ? k->used : -2, b = best->active ? best->used : -2;
        if (a < b || (a == b && k->created < best->created))
            best = k;
    }
    return best;
}

static void no_room(struct outcome *out, const struct iam_side *u)
{
    const struct iam_held_key *k = least_needed(u);
    outcome_fail(out, "AccessKeysPerUser", "user %s has two access keys, and neither is at hand",
                 u->entity.name);
    outcome_why(out, "A user has at most two; inactive ones count too. AWS tells a secret only "
                     "once, so a new key is needed.");
    outcome_fix(out, WHO_YOU,
                "delete the one that is no longer used (%s seems to be), answer iam.access_key, or "
                "choose another user",
                k->id);
    outcome_copy_command(out, "aws iam delete-access-key --user-name %s --access-key-id %s",
                         u->entity.name, k->id);
}

static void not_among(struct outcome *out, const struct iam_side *u, const char *id)
{
    outcome_fail(out, "NoSuchKey", "%s is no access key of user %s", id, u->entity.name);
    outcome_why(out, "It was deleted, or belongs to another user or account.");
    outcome_fix(out, WHO_YOU,
                "clear the answer iam.access_key, so that a new one is planned; or "
                "name the user it belongs to");
}

static void judge_held(struct outcome *out, const struct iam_side *u, const struct iam_held_key *k)
{
    if (!k->active) {
        outcome_fail(out, "inactive", "%s is inactive", k->id);
        outcome_fix(out, WHO_AWS_ADMIN, "make it active again, or have it replaced");
        outcome_copy_command(
            out, "aws iam update-access-key --user-name %s --access-key-id %s --status Active",
            u->entity.name, k->id);
    } else if (days_since(k->created) > OLD_DAYS) {
        outcome_warn(out, "%s is %lld days old", k->id, days_since(k->created));
        outcome_fix(out, WHO_YOU, "have it replaced: sluice rotate iam.key");
    } else {
        outcome_pass(out, "%s, %zu of 2", k->id, u->key_count);
    }
}

static void run_access_keys(struct run *run, struct outcome *out)
{
    const struct iam_side *u = run_fact(run, FACT_USER, &iam_user_type);
    AUTO(xfree) char *id = iam_key_id_of(run_secret(run, "iam.access_key"));
    const struct iam_held_key *ours = id != NULL ? iam_key_of(u, id) : NULL;
    for (size_t i = 0; i < u->key_count; i++)
        key_item(out, &u->keys[i], &u->keys[i] == ours);
    if (!u->exists)
        outcome_skip(out, "there is no user yet");
    else if (ours != NULL)
        judge_held(out, u, ours);
    else if (id != NULL)
        not_among(out, u, id);
    else if (u->key_count >= IAM_KEYS_MAX)
        no_room(out, u);
    else
        outcome_pass(out, "no key is at hand; %zu of 2 are taken", u->key_count);
}

const struct check iam_check_access_keys = {
    .id = "iam.access_keys",
    .title = "the access key is the user's, or there is room for one",
    .reads = (const char *const[]){"iam.user", "?iam.access_key", FACT_USER, NULL},
    .needs = (const char *const[]){"iam.user", "iam.access_key", NULL},
    .severity = SEV_BLOCKS,
    .cause = "The user has two keys already, or the key that is known here was deleted or switched "
             "off.",
    .fix = "Delete a key that is no longer used, or name another user.",
    .run = run_access_keys,
};
