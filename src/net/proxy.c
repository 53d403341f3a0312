/* Which proxy a request takes. libcurl would decide this by itself, but the resolver must know
 * whose name is looked up before libcurl starts, so the variables are read here and libcurl is told
 * the result. */
#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "net/net_impl.h"

static const char *first_set(const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const char *s = getenv(names[i]);
        if (s != NULL && s[0] != '\0')
            return s;
    }
    return NULL;
}

/* http_proxy is not read: http goes to loopback only, and that never through a proxy. */
void proxy_settings_read(struct proxy_settings *p)
{
    static const char *const https[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
    static const char *const except[] = {"no_proxy", "NO_PROXY"};
    p->https = xstrdup(first_set(https, ARRAY_LEN(https)));
    p->no_proxy = xstrdup(first_set(except, ARRAY_LEN(except)));
}

void proxy_settings_release(struct proxy_settings *p)
{
    if (p->https != NULL)
        explicit_bzero(p->https, strlen(p->https)); /* may hold a password */
    xfree(p->https);
    xfree(p->no_proxy);
    *p = (struct proxy_settings){0};
}

/* Whether the first `bits` bits are the same. */
static bool same_prefix(const unsigned char *a, const unsigned char *b, unsigned bits)
{
    unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a, b, whole) != 0)
        return false;
    return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

/* "10.0.0.0/8", "fd00::/8" or one address. */
static bool address_matches(const char *token, const char *host)
{
    char copy[64];
    if (strlen(token) >= sizeof copy)
        return false;
    memcpy(copy, token, strlen(token) + 1);
    char *slash = strchr(copy, '/');
    if (slash != NULL)
        *slash = '\0';
    unsigned char want[16], have[16];
    for (int i = 0; i < 2; i++) {
        int family = i == 0 ? AF_INET : AF_INET6;
        unsigned max = i == 0 ? 32 : 128;
        if (inet_pton(family, copy, want) != 1 || inet_pton(family, host, have) != 1)
            continue;
        char *end = NULL;
        unsigned long bits = slash != NULL ? strtoul(slash + 1, &end, 10) : max;
        return (end == NULL || *end == '\0') && bits <= max &&
               same_prefix(want, have, (unsigned)bits);
    }
    return false;
}

static bool name_matches(const char *token, const char *host)
{
    while (*token == '.')
        token++;
    size_t n = strlen(token), h = strlen(host);
    while (n > 0 && token[n - 1] == '.')
        n--;
    while (h > 0 && host[h - 1] == '.')
        h--;
    if (n == 0 || n > h || strncasecmp(host + (h - n), token, n) != 0)
        return false;
    return n == h || host[h - n - 1] == '.';
}

static void strip_brackets(char *s)
{
    size_t n = strlen(s);
    if (n >= 2 && s[0] == '[' && s[n - 1] == ']') {
        memmove(s, s + 1, n - 2);
        s[n - 2] = '\0';
    }
}

bool proxy_exempt(const char *no_proxy, const char *host)
{
    if (no_proxy == NULL)
        return false;
    if (strcmp(no_proxy, "*") == 0)
        return true;
    const char *p = no_proxy;
    while (*p != '\0') {
        p += strspn(p, ", \t");
        size_t n = strcspn(p, ", \t");
        AUTO(xfree) char *token = xstrndup(p, n);
        strip_brackets(token);
        if (n > 0 &&
            (net_is_address(host) ? address_matches(token, host) : name_matches(token, host)))
            return true;
        p += n;
    }
    return false;
}
