/* Sealing a config and keeping it. See sealed.h. */
#include "steps/spec/sealed.h"

#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/node_json.h"
#include "core/utf8.h"
#include "estuary/endpoints.h"
#include "estuary/seal.h"

#define SECRETS_MAX 4 /* of one config */

/* --- the fact
 * ------------------------------------------------------------------------------------ */

static void sealed_free(void *data)
{
    struct spec_sealed *s = data;
    node_free(s->document);
    node_free(s->revisions);
    xfree(s);
}

static void sealed_hash(const void *data, struct hasher *h)
{
    const struct spec_sealed *s = data;
    hasher_text(h, s->of);
}

static struct node *sealed_save(const void *data)
{
    const struct spec_sealed *s = data;
    struct node *n = node_map();
    node_set_text(n, "of", s->of);
    node_set(n, "revisions", node_copy(s->revisions));
    node_set(n, "document", node_copy(s->document));
    return n;
}

static void *sealed_load(const struct node *n)
{
    const char *of = node_get_text(n, "of");
    const struct node *document = node_get(n, "document");
    struct digest d;
    const struct node *revisions = node_get(n, "revisions");
    if (of == NULL || document == NULL || document->kind != NODE_MAP || revisions == NULL ||
        revisions->kind != NODE_MAP || !digest_parse(of, &d))
        return NULL;
    struct spec_sealed *s = xcalloc(1, sizeof *s);
    snprintf(s->of, sizeof s->of, "%s", of);
    s->document = node_copy(document);
    s->revisions = node_copy(revisions);
    return s;
}

const struct fact_type spec_sealed_type = {.name = "sealed config",
                                           .release = sealed_free,
                                           .hash = sealed_hash,
                                           .save = sealed_save,
                                           .load = sealed_load};

/* --- sealing
 * ------------------------------------------------------------------------------------- */

char *spec_revision(const struct value *v)
{
    if (v == NULL || (v->reference == NULL && v->secret == NULL))
        return NULL;
    return v->reference != NULL
               ? xstrdup(v->reference)
               : xasprintf("r%016llx", (unsigned long long)secret_revision(v->secret));
}

static struct node *revisions_of(const struct run *run, const struct spec_secret *secrets,
                                 size_t count)
{
    struct node *n = node_map();
    for (size_t i = 0; i < count; i++) {
        AUTO(xfree) char *revision = spec_revision(run_value(run, secrets[i].field));
        node_append(n, secrets[i].field, node_scalar(revision));
    }
    return n;
}

/* The request is JSON, and so is what Estuary hands to its connectors. */
static bool is_text(const struct spec_secret *s, struct outcome *out)
{
    if (utf8_valid(secret_bytes(s->secret), secret_len(s->secret)))
        return true;
    outcome_fail(out, "encoding", "%s is not UTF-8", s->field);
    outcome_why(out, "Estuary takes configs as JSON, which cannot hold other bytes.");
    outcome_fix(out, WHO_YOU, "Give it another value, best of ASCII alone.");
    return false;
}

static bool all_at_hand(const struct spec_secret *secrets, size_t count, struct outcome *out)
{
    for (size_t i = 0; i < count; i++) {
        if (secrets[i].secret != NULL) {
            if (!is_text(&secrets[i], out))
                return false;
            continue;
        }
        outcome_fail(out, "secret", "%s is not answered", secrets[i].field);
        outcome_fix(out, WHO_YOU, "Answer %s, or have it made.", secrets[i].field);
        return false;
    }
    return true;
}

/* Of references the text, as in `revisions`: what was found with the config stands in the next
 * process, too. */
static void digest_inputs(const struct node *config, const struct node *revisions,
                          char out[DIGEST_HEX])
{
    AUTO_TEXT json = TEXT_INIT;
    AUTO_TEXT secrets = TEXT_INIT;
    struct hasher *h = hasher_new();
    node_write_json(config, &json);
    node_write_json(revisions, &secrets);
    hasher_text(h, json.s);
    hasher_text(h, secrets.s);
    struct digest d = hasher_end(h);
    digest_hex(&d, out);
}

void spec_run_seal(struct run *run, struct node *config, const struct spec_secret *secrets,
                   size_t count, const char *fact, struct outcome *out)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    AUTO_ENDPOINTS e = {0};
    struct estuary_secret list[SECRETS_MAX];
    if (!all_at_hand(secrets, count, out)) {
        node_free(config);
        return;
    }
    struct spec_sealed *sealed = xcalloc(1, sizeof *sealed);
    for (size_t i = 0; i < count && i < SECRETS_MAX; i++)
        list[i] =
            (struct estuary_secret){.placeholder = secrets[i].placeholder,
                                    .bytes = secret_bytes(secrets[i].secret) + secrets[i].skip};
    estuary_endpoints(&e);
    outcome_tried(out, "POST %s/v1/encrypt-config", e.encryption);
    sealed->revisions = revisions_of(run, secrets, count);
    digest_inputs(config, sealed->revisions, sealed->of);
    if (estuary_seal(run, config, list, count, &sealed->document, &err) != 0) {
        outcome_problem(out, &err);
        sealed_free(sealed);
    } else {
        outcome_pass(out, "%zu secret%s sealed, all else unchanged", count, count == 1 ? "" : "s");
        outcome_give(out, fact, fact_new(&spec_sealed_type, sealed));
    }
    node_free(config);
}
