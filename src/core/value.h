/* struct value: one answer. Immutable and reference-counted, so that a snapshot shares it with
 * threads. */
#ifndef SLUICE_CORE_VALUE_H
#define SLUICE_CORE_VALUE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "core/digest.h"
#include "core/node.h"
#include "core/secret.h"

enum value_kind { VALUE_TEXT, VALUE_LIST, VALUE_MAP, VALUE_SECRET };

struct value {
    atomic_int refs;
    enum value_kind kind;
    char *text;   /* VALUE_TEXT */
    size_t count; /* VALUE_LIST, VALUE_MAP */
    char **keys;  /* VALUE_MAP */
    char **items; /* VALUE_LIST, VALUE_MAP */
    struct secret
        *secret;     /* VALUE_SECRET; NULL when known to exist but not at hand (asked again) */
    char *reference; /* VALUE_SECRET: "env:NAME", "file:/path"; NULL = typed or made */
    char *host;      /* VALUE_SECRET: where it may be sent; NULL = not bound yet */
};

/* All return a new reference owned by the caller; arguments are copied (the secret is referenced).
 */
struct value *value_text(const char *text);
struct value *value_list(const char *const *items, size_t count);
struct value *value_map(const char *const *keys, const char *const *items, size_t count);
struct value *value_secret(struct secret *secret, const char *reference, const char *host);
struct value *value_ref(const struct value *v);
void value_unref(struct value *v); /* NULL is fine */

/* A list from text: an item a line or between commas, outside double quotes, as quote_ident writes
 * names; no items is an empty list. */
struct value *value_list_parse(const char *text);

bool value_empty(const struct value *v); /* NULL, "", no items, a secret that is not at hand */
/* Secrets by value in constant time and by reference, whatever host they are bound to. The order of
 * a map does not matter, here and in the hash. */
bool value_equal(const struct value *a, const struct value *b);
/* Secrets enter by revision, references by text and revision. NULL is fine. */
void value_hash(const struct value *v, struct hasher *h);
/* One line for people: lists joined by ", ", secrets masked. xfree. */
char *value_show(const struct value *v);
/* As stored: scalar, list, map; a secret becomes {secret: stored | asked | env:… | file:…}. Never a
 * value. */
struct node *value_to_node(const struct value *v);

/* The host a secret is bound to, from a URL or a plain host name:
 * "https://catalog.example.com:8443" (scheme, host, and the port unless it is the scheme's own), or
 * "db.example.com". Lower case, without user, path and the root's dot, so that two texts are equal
 * when they lead to the same host. NULL when there is none; xfree. */
char *host_of_text(const char *url_or_host);
#endif
