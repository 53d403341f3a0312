/* A config in the form that was asked for: as Estuary sealed it, with placeholders, or with the
 * secrets themselves. */
#include <string.h>

#include "core/mem.h"
#include "core/snapshot_make.h"
#include "core/utf8.h"
#include "steps/review/material.h"
#include "steps/spec/sealed.h"

/* --- sealed
 * -------------------------------------------------------------------------------------- */

/* One that is not at hand cannot be compared; one of the environment is another in each process. */
static bool secrets_same(struct wizard *w, const struct node *revisions)
{
    if (revisions == NULL || revisions->kind != NODE_MAP)
        return false;
    for (size_t i = 0; i < revisions->count; i++) {
        int field = rows_field(wizard_rows(w), revisions->keys[i]);
        AUTO(xfree) char *now = field >= 0 ? spec_revision(wizard_answer(w, field)) : NULL;
        const char *then = node_text(revisions->items[i]);
        if (now == NULL || wizard_origin(w, field) == ORIGIN_ENVIRONMENT)
            continue;
        if (then == NULL || strcmp(now, then) != 0)
            return false;
    }
    return true;
}

/* The document of the present answers; NULL = there is none; node_free. */
static struct node *sealed_document(struct wizard *w, const struct state *s, const char *fact)
{
    const struct rows *rows = wizard_rows(w);
    int giver = rows->givers[rows_fact(rows, fact)];
    struct node *kept = wizard_check_stands(w, giver) ? state_kept_fact(s, w, fact) : NULL;
    const struct node *document = node_get(kept, "document");
    bool good = document != NULL && secrets_same(w, node_get(kept, "revisions"));
    struct node *copy = good ? node_copy(document) : NULL;
    node_free(kept);
    return copy;
}

/* Whether it is this config that was sealed, as far as that can be seen: an access key that was
 * made anew may be known by its id alone. */
static bool same_config(const struct node *config, const struct node *document)
{
    for (size_t i = 0; i < config->count; i++) {
        const struct node *value = config->items[i];
        const struct node *back = node_get(document, config->keys[i]);
        bool hole = value->kind == NODE_SCALAR && strstr(value->text, SPEC_PLACEHOLDER) != NULL;
        if (hole)
            continue;
        if (value->kind == NODE_MAP ? !same_config(value, back) : !node_equal(value, back))
            return false;
    }
    return true;
}

static int not_sealed(struct wizard *w, const char *fact, struct problem *err)
{
    const struct rows *rows = wizard_rows(w);
    const struct check *giver = rows->checks[rows->givers[rows_fact(rows, fact)]];
    problem_fail(err, PROBLEM_INPUT, EXPORT_MISSING, "%s: not sealed with these answers",
                 giver->id);
    problem_why(err,
                "Secrets leave this machine only as Estuary's encryption service sealed them.");
    problem_fix(err, WHO_YOU, "Run sluice check --deep %s, or export with --secrets placeholder.",
                giver->id);
    return -1;
}

/* --- plain
 * --------------------------------------------------------------------------------------- */

static const struct {
    const char *placeholder, *field;
    char after; /* the secret is what follows it; 0 = all of it */
} plain_secrets[] = {
    {SPEC_NO_PASSWORD, "postgres.password", 0},
    {SPEC_NO_CLIENT_SECRET, "oauth.client_secret", 0},
    {SPEC_NO_KEY_SECRET, "iam.access_key", ':'},
};

static const char *secret_at_hand(struct wizard *w, size_t i)
{
    const struct value *v = wizard_answer(w, rows_field(wizard_rows(w), plain_secrets[i].field));
    const char *bytes = v != NULL && v->secret != NULL ? secret_bytes(v->secret) : NULL;
    if (bytes == NULL || plain_secrets[i].after == 0)
        return bytes;
    const char *at = strchr(bytes, plain_secrets[i].after);
    return at != NULL ? at + 1 : NULL;
}

static int all_at_hand(struct wizard *w, struct problem *err)
{
    for (size_t i = 0; i < ARRAY_LEN(plain_secrets); i++) {
        const char *bytes = secret_at_hand(w, i);
        if (bytes != NULL && !utf8_valid(bytes, strlen(bytes)))
            return problem_fail(err, PROBLEM_INPUT, "encoding",
                                "%s is not UTF-8: no specification can hold it",
                                plain_secrets[i].field);
        if (bytes != NULL)
            continue;
        problem_fail(err, PROBLEM_INPUT, EXPORT_MISSING, "%s is not at hand",
                     plain_secrets[i].field);
        problem_fix(err, WHO_YOU, "Answer it, or give the passphrase of the secrets file.");
        return -1;
    }
    return 0;
}

static void put_secrets(struct wizard *w, struct node *n)
{
    for (size_t i = 0; i < n->count; i++)
        put_secrets(w, n->items[i]);
    for (size_t i = 0; n->kind == NODE_SCALAR && i < ARRAY_LEN(plain_secrets); i++) {
        const char *at = strstr(n->text, plain_secrets[i].placeholder);
        if (at == NULL)
            continue;
        char *with = xasprintf("%.*s%s%s", (int)(at - n->text), n->text, secret_at_hand(w, i),
                               at + strlen(plain_secrets[i].placeholder));
        xfree(n->text);
        n->text = with;
        break; /* what is a secret's own is no placeholder */
    }
}

void material_wipe(struct node *n)
{
    for (size_t i = 0; n != NULL && i < n->count; i++) {
        material_wipe(n->items[i]);
        n->items[i] = NULL;
    }
    if (n != NULL && n->text != NULL)
        explicit_bzero(n->text, strlen(n->text));
    node_free(n);
}

/* --- all forms
 * ----------------------------------------------------------------------------------- */

int material_config(const struct material *m, const char *sealed_fact, struct node *config,
                    struct node **out, struct problem *err)
{
    int rc = 0;
    *out = config;
    if (m->form == SECRETS_SEALED) {
        *out = sealed_document(m->wizard, m->state, sealed_fact);
        if (*out == NULL || !same_config(config, *out))
            rc = not_sealed(m->wizard, sealed_fact, err);
        node_free(config);
    } else if (m->form == SECRETS_PLAIN) {
        rc = all_at_hand(m->wizard, err);
        if (rc == 0)
            put_secrets(m->wizard, config);
    }
    return rc;
}

int review_export_can(struct wizard *w, const struct state *s, enum export_secrets form,
                      struct problem *err)
{
    static const char *const facts[] = {SPEC_FACT_SOURCE_SEALED, SPEC_FACT_TARGET_SEALED};
    if (form == SECRETS_PLAIN)
        return all_at_hand(w, err);
    for (size_t i = 0; form == SECRETS_SEALED && i < ARRAY_LEN(facts); i++) {
        struct node *document = sealed_document(w, s, facts[i]);
        bool there = document != NULL;
        node_free(document);
        if (!there)
            return not_sealed(w, facts[i], err);
    }
    return 0;
}
