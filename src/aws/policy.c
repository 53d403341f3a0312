/* Rendering the policies that the pipeline needs, and their size. See policy.h. */
#include "aws/policy.h"

#include <string.h>

#include "aws/service.h"
#include "aws/ssm.h"
#include "core/json.h"
#include "core/mem.h"

/* assets/policies/role.json, trust.json, user.json (cmake/embed.cmake) */
extern const char policy_template_role[], policy_template_trust[], policy_template_user[];

/* --- values by type --------------------------------------------------------------------------- */

#define LOWER "abcdefghijklmnopqrstuvwxyz"
#define UPPER "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS "0123456789"

static bool only(const char *s, const char *allowed, size_t least, size_t most)
{
    size_t n = strlen(s);
    return n >= least && n <= most && s[strspn(s, allowed)] == '\0';
}

static bool is_partition(const char *s)
{
    return strncmp(s, "aws", 3) == 0 && only(s, LOWER "-", 3, 16);
}

static bool is_region(const char *s)
{
    return aws_region_check(s, NULL) == 0;
}

static bool is_account(const char *s)
{
    return only(s, DIGITS, 12, 12);
}

static bool is_bucket(const char *s)
{
    return only(s, LOWER DIGITS "-", 3, 63);
}

/* Characters that mean themselves in a policy's resource: not * ? and $. */
static bool is_prefix(const char *s)
{
    size_t n = strlen(s);
    return only(s, LOWER UPPER DIGITS "!_.'()/=+@:-", 0, 512) &&
           (n == 0 || (s[0] != '/' && s[n - 1] != '/')) && strstr(s, "//") == NULL;
}

static bool is_application(const char *s)
{
    return only(s, LOWER DIGITS, 1, 64);
}

static bool is_role_arn(const char *s)
{
    return strncmp(s, "arn:aws", 7) == 0 && strstr(s, ":role/") != NULL &&
           only(s, LOWER UPPER DIGITS "+=,.@_/:-", 20, 2048);
}

static bool is_ssm_prefix(const char *s)
{
    return ssm_prefix_check(s, NULL) == 0;
}

struct hole {
    const char *name;
    const char *what; /* for the message */
    bool (*fits)(const char *s);
    size_t offset; /* of the value in struct policy_values */
    bool folder;   /* followed by a slash unless empty */
};

#define AT(member) offsetof(struct policy_values, member)

static const struct hole holes[] = {
    {"partition", "partition", is_partition, AT(partition), false},
    {"region", "region", is_region, AT(region), false},
    {"account", "account id (twelve digits)", is_account, AT(account), false},
    {"lake", "lake bucket", is_bucket, AT(lake), false},
    {"lake_prefix", "prefix in the lake", is_prefix, AT(lake_prefix), true},
    {"staging", "staging bucket", is_bucket, AT(staging), false},
    {"staging_prefix", "staging prefix", is_prefix, AT(staging_prefix), true},
    {"application", "application id", is_application, AT(application), false},
    {"role_arn", "role ARN", is_role_arn, AT(role_arn), false},
    {"ssm_prefix", "SSM prefix", is_ssm_prefix, AT(ssm_prefix), false},
};

static const char *value_of(const struct hole *h, const struct policy_values *v)
{
    const char *value;
    memcpy(&value, (const char *)v + h->offset, sizeof(value));
    return value != NULL ? value : "";
}

static int fill_hole(const char *name, size_t n, const struct policy_values *v, struct text *out,
                     struct problem *err)
{
    for (size_t i = 0; i < ARRAY_LEN(holes); i++) {
        const struct hole *h = &holes[i];
        if (strlen(h->name) != n || strncmp(h->name, name, n) != 0)
            continue;
        const char *value = value_of(h, v);
        bool later = v->preview && value[0] == '(' && strlen(value) < 200;
        if (!later && !h->fits(value)) {
            problem_fail(err, PROBLEM_INPUT, "policy", "“%s” cannot stand as the %s in a policy",
                         value, h->what);
            problem_fix(err, WHO_YOU, "correct the answer");
            return -1;
        }
        text_addf(out, "%s%s", value, h->folder && value[0] != '\0' ? "/" : "");
        return 0;
    }
    return problem_fail(err, PROBLEM_BUG, "policy", "the template has an unknown hole %.*s", (int)n,
                        name);
}

/* --- filling the document --------------------------------------------------------------------- */

static int fill_string(cJSON *node, const struct policy_values *v, struct problem *err)
{
    AUTO_TEXT out = TEXT_INIT;
    const char *s = node->valuestring;
    for (const char *open; (open = strchr(s, '<')) != NULL;) {
        const char *close = strchr(open, '>');
        if (close == NULL)
            break;
        text_addn(&out, s, (size_t)(open - s));
        if (fill_hole(open + 1, (size_t)(close - open - 1), v, &out, err) != 0)
            return -1;
        s = close + 1;
    }
    text_add(&out, s);
    cJSON_SetValuestring(node, out.s);
    return 0;
}

/* One bucket for both purposes would stand twice in a list of resources. */
static void drop_doubles(cJSON *array)
{
    for (cJSON *a = array->child; a != NULL; a = a->next)
        for (cJSON *b = a->next; b != NULL;) {
            cJSON *next = b->next;
            if (cJSON_IsString(a) && cJSON_IsString(b) &&
                strcmp(a->valuestring, b->valuestring) == 0)
                cJSON_Delete(cJSON_DetachItemViaPointer(array, b));
            b = next;
        }
}

static int fill(cJSON *node, const struct policy_values *v, struct problem *err)
{
    if (cJSON_IsString(node))
        return fill_string(node, v, err);
    for (cJSON *child = node->child; child != NULL; child = child->next)
        if (fill(child, v, err) != 0)
            return -1;
    if (cJSON_IsArray(node))
        drop_doubles(node);
    return 0;
}

static void write(struct json_writer *w, const cJSON *node)
{
    const cJSON *child;
    if (cJSON_IsString(node)) {
        json_add_text(w, node->valuestring);
        return;
    }
    char bracket = cJSON_IsArray(node) ? '[' : '{';
    json_begin(w, bracket);
    cJSON_ArrayForEach(child, node)
    {
        if (cJSON_IsObject(node))
            json_key(w, child->string);
        write(w, child);
    }
    json_end(w, bracket == '[' ? ']' : '}');
}

int policy_render(enum policy_kind kind, const struct policy_values *v, char **document,
                  struct problem *err)
{
    static const char *const templates[] = {[POLICY_ROLE] = policy_template_role,
                                            [POLICY_TRUST] = policy_template_trust,
                                            [POLICY_USER] = policy_template_user};
    const char *t = templates[kind];
    AUTO(cJSON_Delete) cJSON *o = json_parse(t, strlen(t), "the template of a policy", err);
    if (o == NULL || fill(o, v, err) != 0)
        return -1;
    AUTO_TEXT out = TEXT_INIT;
    struct json_writer w = {.out = &out};
    write(&w, o);
    *document = text_take(&out);
    return 0;
}

/* --- size ------------------------------------------------------------------------------------- */

size_t policy_size(const char *document)
{
    size_t size = 0;
    bool in_string = false;
    for (const char *s = document; *s != '\0'; s++) {
        if (in_string && *s == '\\' && s[1] != '\0') {
            size += 2;
            s++;
            continue;
        }
        if (*s == '"')
            in_string = !in_string;
        size += in_string || strchr(" \t\r\n", *s) == NULL;
    }
    return size;
}

size_t policy_limit(enum policy_kind kind)
{
    return kind == POLICY_ROLE ? 10240 : 2048;
}

int policy_fits(enum policy_kind kind, const char *document, size_t others, struct problem *err)
{
    static const char *const whose[] = {[POLICY_ROLE] = "a role's inline policies",
                                        [POLICY_TRUST] = "a role's trust policy",
                                        [POLICY_USER] = "a user's inline policies"};
    size_t size = policy_size(document), limit = policy_limit(kind);
    if (size + others <= limit)
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, "policy size", "the policy does not fit: %zu characters",
                 size);
    problem_why(err, "%s hold %zu characters together, of which %zu are taken", whose[kind], limit,
                others);
    problem_fix(err, WHO_YOU,
                others > 0 ? "remove an inline policy that is no longer used, or take "
                             "another name"
                           : "shorten names and prefixes");
    return -1;
}
