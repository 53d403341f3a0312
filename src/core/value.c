/* Answers as values. See value.h; the texts about hosts at the end decide where a secret may go. */
#include "core/value.h"

#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/clean.h"
#include "core/mem.h"
#include "core/text.h"

static struct value *made(enum value_kind kind, size_t count)
{
    struct value *v = xcalloc(1, sizeof *v);
    atomic_init(&v->refs, 1);
    v->kind = kind;
    v->count = count;
    return v;
}

static char **copies(const char *const *items, size_t count)
{
    char **out = xcalloc(count, sizeof *out);
    for (size_t i = 0; i < count; i++)
        out[i] = xstrdup(items[i] != NULL ? items[i] : "");
    return out;
}

struct value *value_text(const char *text)
{
    struct value *v = made(VALUE_TEXT, 0);
    v->text = xstrdup(text != NULL ? text : "");
    return v;
}

struct value *value_list(const char *const *items, size_t count)
{
    struct value *v = made(VALUE_LIST, count);
    v->items = copies(items, count);
    return v;
}

struct value *value_map(const char *const *keys, const char *const *items, size_t count)
{
    struct value *v = made(VALUE_MAP, count);
    v->keys = copies(keys, count);
    v->items = copies(items, count);
    return v;
}

struct value *value_secret(struct secret *secret, const char *reference, const char *host)
{
    struct value *v = made(VALUE_SECRET, 0);
    v->secret = secret_ref(secret);
    v->reference = xstrdup(reference);
    v->host = xstrdup(host);
    return v;
}

struct value *value_ref(const struct value *v)
{
    if (v == NULL)
        return NULL;
    /* Counting references is no change of the value. */
    struct value *counted = (struct value *)(uintptr_t)v;
    atomic_fetch_add_explicit(&counted->refs, 1, memory_order_relaxed);
    return counted;
}

void value_unref(struct value *v)
{
    if (v == NULL || atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) != 1)
        return;
    for (size_t i = 0; i < v->count; i++) {
        if (v->keys != NULL)
            xfree(v->keys[i]);
        xfree(v->items[i]);
    }
    xfree(v->keys);
    xfree(v->items);
    xfree(v->text);
    secret_unref(v->secret);
    xfree(v->reference);
    xfree(v->host);
    xfree(v);
}

/* Blanks around an item are not part of it; quotes stay, as names are written by quote_ident. */
struct value *value_list_parse(const char *text)
{
    char **items = NULL;
    size_t count = 0;
    for (const char *at = text != NULL ? text : ""; *at != '\0';) {
        const char *end = at;
        for (bool quoted = false; *end != '\0'; end++) {
            if (*end == '"')
                quoted = !quoted;
            else if (!quoted && (*end == ',' || *end == '\n'))
                break;
        }
        const char *from = at, *to = end;
        while (from < to && isspace((unsigned char)*from))
            from++;
        while (to > from && isspace((unsigned char)to[-1]))
            to--;
        if (to > from) {
            items = xrealloc(items, count + 1, sizeof *items);
            items[count++] = xstrndup(from, (size_t)(to - from));
        }
        at = *end != '\0' ? end + 1 : end;
    }
    struct value *v = made(VALUE_LIST, count);
    v->items = items != NULL ? items : xcalloc(1, sizeof *items);
    return v;
}

bool value_empty(const struct value *v)
{
    if (v == NULL)
        return true;
    switch (v->kind) {
    case VALUE_TEXT:
        return v->text[0] == '\0';
    case VALUE_SECRET:
        return v->secret == NULL;
    default:
        return v->count == 0;
    }
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static int by_key(const void *a, const void *b, void *keys)
{
    char *const *names = keys;
    size_t i = *(const size_t *)a, j = *(const size_t *)b;
    int order = strcmp(names[i], names[j]);
    return order != 0 ? order : (i > j) - (i < j);
}

/* The order in which a map was written says nothing: it is compared and hashed by its keys. xfree.
 */
static size_t *item_order(const struct value *v)
{
    size_t *order = xcalloc(v->count, sizeof *order);
    for (size_t i = 0; i < v->count; i++)
        order[i] = i;
    if (v->kind == VALUE_MAP)
        qsort_r(order, v->count, sizeof *order, by_key, v->keys);
    return order;
}

static bool same_items(const struct value *a, const struct value *b)
{
    if (a->count != b->count)
        return false;
    size_t *left = item_order(a), *right = item_order(b);
    bool same = true;
    for (size_t i = 0; i < a->count && same; i++) {
        same = strcmp(a->items[left[i]], b->items[right[i]]) == 0 &&
               (a->kind != VALUE_MAP || strcmp(a->keys[left[i]], b->keys[right[i]]) == 0);
    }
    xfree(left);
    xfree(right);
    return same;
}

bool value_equal(const struct value *a, const struct value *b)
{
    if (a == b)
        return true;
    if (a == NULL || b == NULL || a->kind != b->kind)
        return false;
    switch (a->kind) {
    case VALUE_TEXT:
        return strcmp(a->text, b->text) == 0;
    case VALUE_SECRET:
        return same_text(a->reference, b->reference) && secret_equal(a->secret, b->secret);
    default:
        return same_items(a, b);
    }
}

void value_hash(const struct value *v, struct hasher *h)
{
    if (v == NULL) {
        hasher_text(h, NULL);
        return;
    }
    hasher_number(h, v->kind);
    switch (v->kind) {
    case VALUE_TEXT:
        hasher_text(h, v->text);
        return;
    case VALUE_SECRET:
        hasher_text(h, v->reference);
        hasher_number(h, v->secret != NULL);
        if (v->secret != NULL)
            hasher_number(h, (int64_t)secret_revision(v->secret));
        return;
    default:
        break;
    }
    size_t *order = item_order(v);
    hasher_number(h, (int64_t)v->count);
    for (size_t i = 0; i < v->count; i++) {
        if (v->kind == VALUE_MAP)
            hasher_text(h, v->keys[order[i]]);
        hasher_text(h, v->items[order[i]]);
    }
    xfree(order);
}

char *value_show(const struct value *v)
{
    if (v == NULL)
        return xstrdup("");
    if (v->kind == VALUE_TEXT)
        return clean_copy(v->text, CLEAN_LINE);
    if (v->kind == VALUE_SECRET) {
        if (v->reference != NULL)
            return clean_copy(v->reference, CLEAN_LINE);
        return v->secret != NULL ? secret_mask(v->secret) : xstrdup("");
    }
    AUTO_TEXT line = TEXT_INIT;
    for (size_t i = 0; i < v->count; i++) {
        text_sep(&line, ", ");
        if (v->kind == VALUE_MAP) {
            clean_add(&line, v->keys[i], strlen(v->keys[i]), CLEAN_LINE);
            text_add(&line, ": ");
        }
        clean_add(&line, v->items[i], strlen(v->items[i]), CLEAN_LINE);
    }
    return text_take(&line);
}

struct node *value_to_node(const struct value *v)
{
    if (v == NULL)
        return NULL;
    if (v->kind == VALUE_TEXT)
        return node_scalar(v->text);
    if (v->kind == VALUE_SECRET) {
        struct node *n = node_map();
        const char *kept = v->secret != NULL ? "stored" : "asked";
        node_set_text(n, "secret", v->reference != NULL ? v->reference : kept);
        return n;
    }
    struct node *n = v->kind == VALUE_MAP ? node_map() : node_list();
    for (size_t i = 0; i < v->count; i++) {
        if (v->kind == VALUE_MAP)
            node_set(n, v->keys[i], node_scalar(v->items[i]));
        else
            node_add(n, node_scalar(v->items[i]));
    }
    return n;
}

static char *lower_copy(const char *s, size_t n)
{
    char *out = xstrndup(s, n);
    for (char *c = out; *c != '\0'; c++) {
        if (*c >= 'A' && *c <= 'Z')
            *c = (char)(*c + ('a' - 'A'));
    }
    return out;
}

/* The colon before the port, or NULL: an IPv6 address has colons of its own. */
static char *port_colon(char *host)
{
    char *bracket = strrchr(host, ']');
    if (bracket != NULL)
        return bracket[1] == ':' ? bracket + 1 : NULL;
    char *colon = strchr(host, ':');
    return colon != NULL && strchr(colon + 1, ':') == NULL ? colon : NULL;
}

/* Cuts what says the same with and without it: the scheme's own port, the root's dot. */
static void cut_redundant(const char *scheme, char *host)
{
    static const struct {
        const char *scheme;
        const char *port;
    } own[] = {{"https", "443"}, {"http", "80"}};

    char *colon = port_colon(host);
    bool redundant = colon != NULL && colon[1] == '\0';
    for (size_t i = 0; i < ARRAY_LEN(own) && colon != NULL && scheme != NULL; i++) {
        if (strcmp(scheme, own[i].scheme) == 0 && strcmp(colon + 1, own[i].port) == 0)
            redundant = true;
    }
    if (redundant) {
        *colon = '\0';
        colon = NULL;
    }
    char *end = colon != NULL ? colon : host + strlen(host);
    if (end > host + 1 && end[-1] == '.')
        memmove(end - 1, end, strlen(end) + 1);
}

char *host_of_text(const char *url_or_host)
{
    const char *from = url_or_host != NULL ? url_or_host : "";
    while (isspace((unsigned char)*from))
        from++;
    size_t n = strlen(from);
    while (n > 0 && isspace((unsigned char)from[n - 1]))
        n--;
    char *all = xstrndup(from, n);
    char *mark = strstr(all, "://");
    char *scheme = NULL, *authority = all;
    if (mark != NULL) {
        scheme = lower_copy(all, (size_t)(mark - all));
        authority = mark + 3;
        authority += strspn(authority, "/"); /* libcurl takes up to three slashes for two */
        authority[strcspn(authority, "/?#")] = '\0';
        char *at = strrchr(authority, '@'); /* the last one, as libcurl does */
        if (at != NULL)
            authority = at + 1;
    }
    char *host = lower_copy(authority, strlen(authority));
    cut_redundant(scheme, host);
    char *out = NULL;
    if (host[0] != '\0')
        out = scheme != NULL ? xasprintf("%s://%s", scheme, host) : xstrdup(host);
    xfree(host);
    xfree(scheme);
    xfree(all);
    return out;
}
