/* Policies put together of others. See policy_edit.h. */
#include "aws/policy_edit.h"

#include <string.h>
#include <strings.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/text.h"

static char *printed(const cJSON *json)
{
    char *text = cJSON_PrintUnformatted(json);
    if (text == NULL)
        mem_exhausted();
    char *copy = xstrdup(text);
    cJSON_free(text);
    return copy;
}

char *policy_pretty(const char *json)
{
    AUTO(cJSON_Delete) cJSON *o = json_parse(json, strlen(json), "a policy", NULL);
    char *text = o != NULL ? cJSON_Print(o) : NULL;
    if (text == NULL)
        return xstrdup(json);
    AUTO_TEXT out = TEXT_INIT;
    for (const char *s = text; *s != '\0'; s++) { /* cJSON indents by tabs */
        if (*s == '\t' && (s == text || s[-1] == '\n' || s[-1] == '\t'))
            text_add(&out, "  ");
        else
            text_addc(&out, *s == '\t' ? ' ' : *s);
    }
    cJSON_free(text);
    return text_take(&out);
}

static bool is_missing(const struct policy_diff *d, const char *action)
{
    for (size_t i = 0; i < d->count; i++)
        if (d->rows[i].mark == POLICY_MISSING && strcasecmp(d->rows[i].action, action) == 0)
            return true;
    return false;
}

/* False when nothing of the statement is missing. */
static bool keep_missing(cJSON *statement, const struct policy_diff *d)
{
    cJSON *actions = cJSON_GetObjectItemCaseSensitive(statement, "Action");
    if (cJSON_IsString(actions))
        return is_missing(d, actions->valuestring);
    for (cJSON *a = actions != NULL ? actions->child : NULL; a != NULL;) {
        cJSON *next = a->next;
        if (!cJSON_IsString(a) || !is_missing(d, a->valuestring))
            cJSON_Delete(cJSON_DetachItemViaPointer(actions, a));
        a = next;
    }
    return actions != NULL && actions->child != NULL;
}

char *policy_only_missing(const char *want, const struct policy_diff *d)
{
    AUTO(cJSON_Delete) cJSON *o = json_parse(want, strlen(want), "a policy", NULL);
    cJSON *list = cJSON_GetObjectItemCaseSensitive(o, "Statement");
    for (cJSON *s = list != NULL ? list->child : NULL; s != NULL;) {
        cJSON *next = s->next;
        if (!keep_missing(s, d))
            cJSON_Delete(cJSON_DetachItemViaPointer(list, s));
        s = next;
    }
    return list != NULL && list->child != NULL ? printed(o) : NULL;
}

char *policy_added(const char *have, const char *want)
{
    AUTO(cJSON_Delete) cJSON *o = json_parse(have, strlen(have), "the trust policy", NULL);
    AUTO(cJSON_Delete) cJSON *w = json_parse(want, strlen(want), "a policy", NULL);
    cJSON *to = cJSON_GetObjectItemCaseSensitive(o, "Statement");
    cJSON *from = cJSON_GetObjectItemCaseSensitive(w, "Statement");
    if (cJSON_IsObject(to)) { /* one statement may stand without a list */
        cJSON *list = cJSON_CreateArray();
        cJSON_AddItemToArray(list, cJSON_DetachItemViaPointer(o, to));
        cJSON_AddItemToObject(o, "Statement", list);
        to = list;
    }
    if (!cJSON_IsArray(to) || !cJSON_IsArray(from))
        return xstrdup(want);
    while (from->child != NULL)
        cJSON_AddItemToArray(to, cJSON_DetachItemFromArray(from, 0));
    return printed(o);
}
