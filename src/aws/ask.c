/* What the typed calls share. See ask.h. */
#include "aws/ask.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/mem.h"

void *aws_grow(void *list, size_t count, size_t size)
{
    if ((count & (count - 1)) == 0)
        list = xrealloc(list, count > 0 ? 2 * count : 1, size);
    memset((char *)list + count * size, 0, size);
    return list;
}

void aws_names_add(struct aws_names *n, const char *name)
{
    if (name == NULL)
        return;
    n->list = aws_grow(n->list, n->count, sizeof(char *));
    n->list[n->count++] = xstrdup(name);
}

bool aws_names_have(const struct aws_names *n, const char *name)
{
    for (size_t i = 0; i < n->count; i++)
        if (strcmp(n->list[i], name) == 0)
            return true;
    return false;
}

void aws_names_release(struct aws_names *n)
{
    for (size_t i = 0; i < n->count; i++)
        xfree(n->list[i]);
    xfree(n->list);
    *n = (struct aws_names){0};
}

int aws_ask(struct run *run, const struct aws_client *client, const struct aws_service *service,
            const char *action, bool reads, const struct aws_pair *pairs, struct aws_answer *out,
            struct problem *err)
{
    AUTO_AWS_CALL call;
    aws_call_init(&call, service, action);
    call.idempotent = reads;
    for (; pairs != NULL && pairs->name != NULL; pairs++)
        if (pairs->value != NULL)
            aws_form(&call, pairs->name, pairs->value);
    return aws_send(run, client, &call, out, err);
}

void aws_pages_release(struct aws_pages *p)
{
    xfree(p->token);
    p->token = NULL;
}

int aws_pages_more(struct aws_pages *p, const char *token, const char *action, struct problem *err)
{
    bool last = token == NULL || token[0] == '\0';
    bool same = !last && p->token != NULL && strcmp(p->token, token) == 0;
    xreplace(&p->token, last ? NULL : token);
    if (last)
        return 0;
    if (same)
        return problem_fail(err, PROBLEM_PROTOCOL, "pages",
                            "%s: AWS gives the same page again, so the list is not complete",
                            action);
    if (++p->count >= AWS_PAGES_MAX)
        return problem_fail(err, PROBLEM_PROTOCOL, "pages", "%s: the list has more than %d pages",
                            action, AWS_PAGES_MAX);
    return 1;
}

int aws_lacks(const char *action, const char *what, struct problem *err)
{
    return problem_fail(err, PROBLEM_PROTOCOL, "answer", "%s: AWS's answer has no %s", action,
                        what);
}

int64_t aws_time(const char *iso)
{
    if (iso == NULL || strlen(iso) < 19)
        return 0;
    const char *rest = iso + 19;
    if (*rest == '.')
        rest += 1 + strspn(rest + 1, "0123456789");
    if (strcmp(rest, "Z") != 0 && strcmp(rest, "+00:00") != 0)
        return 0;
    AUTO(xfree) char *whole = xasprintf("%.19sZ", iso);
    int64_t t = clock_parse_iso(whole);
    return t > 0 ? t : 0;
}

long long aws_number(const struct xml_node *n, const char *path, long long otherwise)
{
    const char *s = xml_text(n, path);
    if (s == NULL || s[0] == '\0')
        return otherwise;
    char *end = NULL;
    errno = 0;
    long long v = strtoll(s, &end, 10);
    return errno == 0 && *end == '\0' ? v : otherwise;
}
