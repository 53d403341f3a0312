/* Making the access key. AWS tells its secret once, in the answer, so the call is never repeated
 * blindly: when an answer was lost, in this process or in one that died, the key it made is found
 * by what stood there before, deleted, and another is made. */
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/text.h"
#include "steps/iam/changes.h"
#include "steps/iam/keys.h"

#define DEADLINE_MS 60000
#define SLACK_S 600 /* our clock against AWS's, and a call on its way when we were killed */
#define TRIES 2     /* of making one, each time after the lost one was deleted */

char *iam_key_id_of(const struct secret *key)
{
    const char *bytes = key != NULL ? secret_bytes(key) : "";
    const char *colon = strchr(bytes, ':');
    return colon != NULL ? xstrndup(bytes, (size_t)(colon - bytes)) : NULL;
}

static bool is_recent_orphan(const struct iam_held_key *k)
{
    return k->used <= 0 && clock_wall() - k->created < 86400;
}

enum iam_key_state iam_key_judge(const struct iam_side *user, const struct secret *key,
                                 bool answered, bool made, bool forgotten)
{
    AUTO(xfree) char *id = iam_key_id_of(key);
    const struct iam_held_key *k = id != NULL ? iam_key_of(user, id) : NULL;
    if (k != NULL)
        return k->active ? IAM_KEY_RIGHT : IAM_KEY_INACTIVE;
    if (id != NULL && !made)
        return IAM_KEY_FOREIGN;
    if (id == NULL && answered && !(made && forgotten))
        return IAM_KEY_LOCKED;
    if (user->key_count < IAM_KEYS_MAX)
        return IAM_KEY_MAKE;
    for (size_t i = 0; i < user->key_count; i++)
        if (is_recent_orphan(&user->keys[i]))
            return IAM_KEY_MAKE_AFTER;
    return IAM_KEY_FULL;
}

/* --- looking ---------------------------------------------------------------------------------- */

static int list(struct run *run, const struct aws_here *here, const struct change *c,
                struct iam_keys *out, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (iam_list_keys(run, &here->client, iam_argument(c, "name"), out, &why) == 0)
        return 0;
    if (why.kind == PROBLEM_MISSING)
        return 0; /* no user, no keys */
    problem_move(err, &why);
    return -1;
}

static const struct iam_key *key_of(const struct iam_keys *keys, const char *id)
{
    for (size_t i = 0; id != NULL && i < keys->count; i++)
        if (strcmp(keys->list[i].id, id) == 0)
            return &keys->list[i];
    return NULL;
}

static char *held_id(struct run *run)
{
    return iam_key_id_of(run_secret(run, "iam.access_key"));
}

static int find(struct run *run, const struct change *c, struct found *out, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_IAM_KEYS keys = {0};
    AUTO(xfree) char *id = held_id(run);
    AUTO_TEXT saw = TEXT_INIT;
    if (iam_open_shown(run, c, &here, err) != 0 || list(run, &here, c, &keys, err) != 0)
        return -1;
    const struct iam_key *held = key_of(&keys, id);
    out->as_wanted = held != NULL && held->active;
    out->present = held != NULL || key_of(&keys, c->past_made) != NULL;
    out->id = held != NULL ? xstrdup(held->id) : NULL;
    text_add(&saw, keys.count == 0 ? "no keys" : "keys");
    for (size_t i = 0; i < keys.count; i++)
        text_addf(&saw, " %s", keys.list[i].id);
    out->saw = text_take(&saw);
    return 0;
}

/* --- making ----------------------------------------------------------------------------------- */

/* Nobody knows the secret of a key that an earlier intent of ours made and that is not at hand. One
 * that was used since is known to somebody. */
static bool is_orphan(struct run *run, const struct aws_here *here, const struct change *c,
                      const struct iam_key *k, const char *held)
{
    struct iam_key_use use = {0};
    bool ours = c->past_made != NULL && strcmp(c->past_made, k->id) == 0;
    bool lost = c->past_saw != NULL && strstr(c->past_saw, k->id) == NULL &&
                k->created <= c->past_at + SLACK_S;
    if ((held != NULL && strcmp(held, k->id) == 0) || (!ours && !lost))
        return false;
    bool known = iam_key_last_used(run, &here->client, k->id, &use, NULL) == 0;
    bool used = known && use.when != 0;
    iam_key_use_release(&use);
    return !used && (known || lost);
}

static int delete_orphans(struct run *run, const struct aws_here *here, const struct change *c,
                          struct iam_keys *keys, struct problem *err)
{
    AUTO(xfree) char *held = held_id(run);
    bool gone = false;
    for (size_t i = 0; i < keys->count; i++) {
        const struct iam_key *k = &keys->list[i];
        if (!is_orphan(run, here, c, k, held))
            continue;
        run_log(run, "key %s is of an earlier run whose answer was lost: it is deleted", k->id);
        if (iam_delete_key(run, &here->client, iam_argument(c, "name"), k->id, err) != 0)
            return -1;
        gone = true;
    }
    if (!gone)
        return 0;
    iam_keys_release(keys);
    return list(run, here, c, keys, err);
}

static int no_room(const struct change *c, const struct iam_keys *keys, struct problem *err)
{
    problem_fail(err, PROBLEM_CONFLICT, "LimitExceeded",
                 "user %s has %zu access keys, and AWS allows no more", iam_argument(c, "name"),
                 keys->count);
    problem_why(err, "Inactive keys count too. None of them was made by this set-up.");
    problem_fix(err, WHO_YOU, "delete one that is no longer used, or choose another user");
    problem_copy_command(err, "aws iam delete-access-key --user-name %s --access-key-id %s",
                         iam_argument(c, "name"), keys->list[0].id);
    return -1;
}

/* The answer to our call was lost: what appeared since is deleted. 0 = all is as before. */
static int settle(struct run *run, const struct aws_here *here, const struct change *c,
                  const struct iam_keys *before, struct problem *err)
{
    AUTO_IAM_KEYS now = {0};
    if (list(run, here, c, &now, err) != 0)
        return -1;
    for (size_t i = 0; i < now.count; i++) {
        const struct iam_key *k = &now.list[i];
        if (key_of(before, k->id) != NULL)
            continue;
        run_log(run, "the answer with the secret of key %s was lost: it is deleted", k->id);
        if (iam_delete_key(run, &here->client, iam_argument(c, "name"), k->id, err) != 0)
            return -1;
    }
    return 0;
}

static void give(const char *id, const struct secret *secret, struct made *out)
{
    struct text both = TEXT_INIT;
    text_addf(&both, "%s:", id);
    text_addn(&both, secret_bytes(secret), secret_len(secret));
    out->id = xstrdup(id);
    out->give_secret = secret_new(both.s, both.len);
    text_wipe(&both);
    text_release(&both);
}

/* Nothing that AWS said: it may have been done or not. */
static bool may_repeat(const struct problem *why)
{
    return why->kind == PROBLEM_UNREACHABLE || why->kind == PROBLEM_PROTOCOL;
}

static int create(struct run *run, const struct aws_here *here, const struct change *c,
                  const struct iam_keys *before, struct made *out, struct problem *err)
{
    for (int i = 1;; i++) {
        AUTO_PROBLEM why = PROBLEM_INIT;
        AUTO(xfree) char *id = NULL;
        struct secret *secret = NULL;
        if (iam_create_key(run, &here->client, iam_argument(c, "name"), &id, &secret, &why) == 0) {
            give(id, secret, out);
            secret_unref(secret);
            return 0;
        }
        bool settled = may_repeat(&why) && settle(run, here, c, before, NULL) == 0;
        if (!settled || i >= TRIES) {
            problem_move(err, &why);
            return -1;
        }
        run_progress(run, i, TRIES, "the answer was lost; once more");
    }
}

static int send(struct run *run, const struct change *c, struct made *out, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_IAM_KEYS keys = {0};
    if (iam_open_shown(run, c, &here, err) != 0 || list(run, &here, c, &keys, err) != 0 ||
        delete_orphans(run, &here, c, &keys, err) != 0)
        return -1;
    if (keys.count >= IAM_KEYS_MAX)
        return no_room(c, &keys, err);
    return create(run, &here, c, &keys, out, err);
}

/* --- taking back ------------------------------------------------------------------------------ */

static int undo(struct run *run, const struct change *c, struct problem *err)
{
    AUTO_AWS_HERE here = {0};
    AUTO_IAM_KEYS keys = {0};
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO(xfree) char *held = held_id(run);
    const char *id = c->past_made != NULL ? c->past_made : held;
    if (iam_open_shown(run, c, &here, err) != 0 || list(run, &here, c, &keys, err) != 0 ||
        delete_orphans(run, &here, c, &keys, err) != 0)
        return -1;
    if (key_of(&keys, id) == NULL ||
        iam_delete_key(run, &here.client, iam_argument(c, "name"), id, &why) == 0 ||
        why.kind == PROBLEM_MISSING)
        return 0;
    problem_move(err, &why);
    return -1;
}

static char *undo_text(const struct change *c)
{
    return xasprintf("aws iam delete-access-key --user-name %s --access-key-id %s",
                     iam_argument(c, "name"),
                     c->past_made != NULL ? c->past_made : "(the one that was made)");
}

const struct change_kind iam_kind_access_key = {
    .id = "iam.access_key",
    .label = "access key",
    .deadline_ms = DEADLINE_MS,
    .find = find,
    .send = send,
    .undo = undo,
    .undo_text = undo_text,
};
