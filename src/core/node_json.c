/* Trees from and to JSON. See node_json.h. */
#include "core/node_json.h"

#include <string.h>

#include "core/json.h"
#include "core/mem.h"

/* --- reading ---------------------------------------------------------------------------------- */

static struct node *plain(const char *letters)
{
    struct node *n = node_scalar(letters);
    n->plain = true;
    return n;
}

static struct node *text_of(const char *s)
{
    size_t mark = strlen(JSON_NUMBER);
    return strncmp(s, JSON_NUMBER, mark) == 0 ? plain(s + mark) : node_scalar(s);
}

/* As deep as json_parse allows, 64. */
static struct node *from_cjson(const cJSON *item)
{
    if (cJSON_IsString(item))
        return text_of(item->valuestring);
    if (cJSON_IsBool(item))
        return plain(cJSON_IsTrue(item) ? "true" : "false");
    if (!cJSON_IsObject(item) && !cJSON_IsArray(item))
        return plain("null");
    struct node *n = cJSON_IsObject(item) ? node_map() : node_list();
    for (const cJSON *m = item->child; m != NULL; m = m->next)
        if (n->kind == NODE_MAP)
            node_append(n, m->string, from_cjson(m));
        else
            node_add(n, from_cjson(m));
    return n;
}

struct node *node_parse_json(const char *bytes, size_t n, const char *name, struct problem *err)
{
    cJSON *root = json_parse_letters(bytes, n, name, err);
    struct node *tree = root != NULL ? from_cjson(root) : NULL;
    cJSON_Delete(root);
    return tree;
}

/* --- writing ---------------------------------------------------------------------------------- */

static const char *skip_digits(const char *s)
{
    return s + strspn(s, "0123456789");
}

/* RFC 8259, section 6. */
static bool is_number(const char *s)
{
    s += *s == '-';
    const char *whole = s;
    s = skip_digits(s);
    if (s == whole || (*whole == '0' && s - whole > 1))
        return false;
    if (*s == '.') {
        const char *point = ++s;
        s = skip_digits(s);
        if (s == point)
            return false;
    }
    if (*s == 'e' || *s == 'E') {
        s += s[1] == '-' || s[1] == '+' ? 2 : 1;
        const char *exponent = s;
        s = skip_digits(s);
        if (s == exponent)
            return false;
    }
    return *s == '\0';
}

static bool stands_plain(const struct node *n)
{
    return n->plain && (strcmp(n->text, "true") == 0 || strcmp(n->text, "false") == 0 ||
                        strcmp(n->text, "null") == 0 || is_number(n->text));
}

static void add(struct json_writer *w, const struct node *n)
{
    if (n->kind == NODE_SCALAR && !stands_plain(n)) {
        json_add_text(w, n->text);
    } else if (n->kind == NODE_SCALAR) {
        json_add_letters(w, n->text);
    } else {
        char bracket = n->kind == NODE_MAP ? '{' : '[';
        json_begin(w, bracket);
        for (size_t i = 0; i < n->count; i++) {
            if (n->kind == NODE_MAP)
                json_key(w, n->keys[i]);
            add(w, n->items[i]);
        }
        json_end(w, n->kind == NODE_MAP ? '}' : ']');
    }
}

void node_write_json(const struct node *n, struct text *out)
{
    struct json_writer w = {.out = out};
    add(&w, n);
}
