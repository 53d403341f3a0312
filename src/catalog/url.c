/* Addresses of a catalog. Syntax is libcurl's matter (net/http.h); paths are handled as they are
 * written, still percent-encoded, because a segment that was encoded once must not change on its
 * way. */
#include "catalog/url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "core/text.h"
#include "net/http.h"

/* Where the path of an absolute URL begins ("/…" or ""); NULL when it has no scheme and host. */
static const char *path_of(const char *url)
{
    const char *host = strstr(url, "://");
    if (host == NULL || host == url || host[3] == '\0' || host[3] == '/')
        return NULL;
    host += 3;
    return host + strcspn(host, "/?#");
}

static bool ends_with(const char *s, size_t n, const char *end)
{
    size_t m = strlen(end);
    return n >= m && memcmp(s + n - m, end, m) == 0;
}

static char *trimmed(const char *typed)
{
    static const char blanks[] = " \t\r\n";
    typed += strspn(typed, blanks);
    size_t n = strlen(typed);
    while (n > 0 && strchr(blanks, typed[n - 1]) != NULL)
        n--;
    return xstrndup(typed, n);
}

static void cut_slashes(char *s)
{
    size_t n = strlen(s);
    while (n > 0 && s[n - 1] == '/' && !ends_with(s, n, "://"))
        s[--n] = '\0';
}

char *catalog_url_normalise(const char *typed)
{
    static const char *const tails[] = {"/v1/config", "/v1/oauth/tokens", "/v1"};
    char *s = trimmed(typed);
    if (*s != '\0' && strstr(s, "://") == NULL) {
        char *with = xasprintf("https://%s", s);
        xfree(s);
        s = with;
    }
    cut_slashes(s);
    for (size_t i = 0; i < ARRAY_LEN(tails); i++) {
        size_t n = strlen(s);
        if (ends_with(s, n, tails[i])) {
            s[n - strlen(tails[i])] = '\0';
            cut_slashes(s);
            break;
        }
    }
    return s;
}

char *catalog_token_uri_normalise(const char *typed)
{
    char *s = trimmed(typed);
    cut_slashes(s);
    return s;
}

/* --- judging ---------------------------------------------------------------------------------- */

static int wrong(struct problem *err, const char *what, const char *fix)
{
    problem_fail(err, PROBLEM_INPUT, "form", "%s", what);
    problem_fix(err, WHO_YOU, "%s", fix);
    return -1;
}

/* Blanks, control characters, quotes, placeholders: traces of a copy that went wrong. */
static int damaged(const char *text, struct problem *err)
{
    for (const unsigned char *p = (const unsigned char *)text; *p != 0; p++) {
        if (*p < 0x20 || *p == 0x7f)
            return wrong(err, "there is a control character or a line end in it",
                         "Copy it once more, only the value itself.");
        if (*p == ' ')
            return wrong(err, "there is a blank in it",
                         "Copy it once more, only the value itself.");
        if (*p == '"' || *p == '\'' || *p == '\\')
            return wrong(err, "there is a quote or a backslash in it",
                         "Copy it once more, without quotes around it.");
        if (*p == '<' || *p == '>')
            return wrong(err, "there is a placeholder of the guide in it",
                         "Put your own value where <…> stands.");
    }
    return 0;
}

static bool loopback(const char *host)
{
    return strcasecmp(host, "localhost") == 0 || strncmp(host, "127.", 4) == 0 ||
           strcmp(host, "::1") == 0;
}

static bool percent_whole(const char *s)
{
    for (; *s != '\0'; s++)
        if (*s == '%' && !(isxdigit((unsigned char)s[1]) && isxdigit((unsigned char)s[2])))
            return false;
    return true;
}

static int absolute_valid(const char *text, struct problem *err)
{
    struct url_parts u = {0};
    if (url_split(text, &u, err) != 0)
        return -1;
    const char *authority = strstr(text, "://") + 3;
    size_t authority_len = strcspn(authority, "/?#");
    int result = 0;
    if (strcmp(u.scheme, "https") != 0 && !(strcmp(u.scheme, "http") == 0 && loopback(u.host)))
        result = wrong(err, "only https:// is used",
                       "Write https://; http:// is accepted for this machine (localhost) alone.");
    else if (memchr(authority, '@', authority_len) != NULL)
        result =
            wrong(err, "there is a login in the URL",
                  "Take the part up to the @ out; client id and secret have fields of their own.");
    else if (strpbrk(text, "?#") != NULL)
        result = wrong(err, "there is a ? or # in the URL", "Cut it off from there on.");
    else if (!percent_whole(text))
        result = wrong(err, "a % stands in it that encodes nothing", "Copy the URL once more.");
    url_release(&u);
    return result;
}

int catalog_url_valid(const char *text, struct problem *err)
{
    if (damaged(text, err) != 0)
        return -1;
    if (path_of(text) == NULL)
        return wrong(err, "this is not a URL", "It looks like " CATALOG_URL_DEFAULT ".");
    if (absolute_valid(text, err) != 0)
        return -1;
    size_t n = strlen(text);
    if (ends_with(text, n, "/v1") || ends_with(text, n, "/v1/config"))
        return wrong(err, "the URL goes too deep: clients add /v1/config themselves",
                     "End it before /v1, mostly with /iceberg.");
    const char *path = path_of(text);
    if (strstr(path, "/../") != NULL || strstr(path, "/./") != NULL || ends_with(text, n, "/.."))
        return wrong(err, "there are dots in the path", "Write the path without . and .. parts.");
    return 0;
}

int catalog_branch_valid(const char *text, struct problem *err)
{
    if (*text == '\0')
        return 0;
    if (damaged(text, err) != 0)
        return -1;
    if (strchr(text, '/') != NULL)
        return wrong(err, "a branch has no / in it",
                     "Give only the name of the branch, such as alice.ingest; the URL has a field "
                     "of its own.");
    if (strchr(text, '@') != NULL)
        return wrong(err, "only a branch can be written to, not a commit (@…) or a tag",
                     "Give the name of the branch without the part from @ on.");
    if (strpbrk(text, "?#%") != NULL)
        return wrong(err, "a branch has no ?, # or % in it",
                     "Give the name as `bauplan branch ls` shows it.");
    if (strcmp(text, ".") == 0 || strcmp(text, "..") == 0 || strlen(text) > CATALOG_BRANCH_MAX)
        return wrong(err, "this cannot be the name of a branch",
                     "Give the name as `bauplan branch ls` shows it.");
    return 0;
}

int catalog_token_uri_valid(const char *text, struct problem *err)
{
    if (damaged(text, err) != 0)
        return -1;
    if (strstr(text, "://") != NULL) {
        if (path_of(text) == NULL)
            return wrong(err, "there is no host in the URL",
                         "It looks like " CATALOG_TOKEN_URI ".");
        if (absolute_valid(text, err) != 0)
            return -1;
        return 0;
    }
    if (strpbrk(text, "?#") != NULL)
        return wrong(err, "there is a ? or # in it", "Cut it off from there on.");
    if (!percent_whole(text))
        return wrong(err, "a % stands in it that encodes nothing",
                     "It looks like " CATALOG_TOKEN_URI ".");
    for (const char *p = text; *p != '\0';) {
        size_t n = strcspn(p, "/");
        if (n == 2 && p[0] == '.' && p[1] == '.')
            return wrong(err, "there are dots (..) in the path",
                         "It looks like " CATALOG_TOKEN_URI ".");
        p += n + (p[n] == '/');
    }
    return 0;
}

int catalog_client_id_valid(const char *text, struct problem *err)
{
    if (damaged(text, err) != 0)
        return -1;
    if (strchr(text, ':') != NULL)
        return wrong(
            err, "a client id has no colon in it",
            "Id and secret were copied together: what stands before the first colon is the id, the "
            "rest belongs into Client secret.");
    return 0;
}

/* --- addresses -------------------------------------------------------------------------------- */

static char *decoded(const char *s, size_t n)
{
    char *out = xmalloc(n + 1);
    size_t w = 0;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '%' && i + 2 < n && isxdigit((unsigned char)s[i + 1]) &&
            isxdigit((unsigned char)s[i + 2])) {
            char hex[3] = {s[i + 1], s[i + 2], '\0'};
            out[w++] = (char)strtol(hex, NULL, 16);
            i += 2;
        } else {
            out[w++] = s[i];
        }
    }
    out[w] = '\0';
    return out;
}

/* The last segment of …/iceberg/<segment>; NULL when the path is not of that form. */
static const char *carried_segment(const char *url)
{
    const char *path = path_of(url);
    if (path == NULL)
        return NULL;
    const char *last = strrchr(path, '/');
    if (last == NULL || last[1] == '\0' || !ends_with(path, (size_t)(last - path), "/iceberg"))
        return NULL;
    return last + 1;
}

char *catalog_url_branch(const char *url)
{
    const char *segment = carried_segment(url);
    return segment != NULL ? decoded(segment, strlen(segment)) : NULL;
}

bool catalog_branch_usual(const char *branch)
{
    const char *dot = strchr(branch, '.');
    if (dot == NULL || dot == branch || dot[1] == '\0')
        return false;
    for (const char *p = branch; *p != '\0'; p++)
        if (!isalnum((unsigned char)*p) && strchr("._-", *p) == NULL)
            return false;
    return true;
}

static bool under_bauplan(const char *host)
{
    static const char domain[] = ".bauplanlabs.com";
    size_t n = strlen(host), m = sizeof domain - 1;
    return n > m && strcasecmp(host + n - m, domain) == 0;
}

int catalog_address(const char *url, const char *branch, struct catalog_address *out,
                    struct problem *err)
{
    struct url_parts u = {0};
    if (url_split(url, &u, err) != 0)
        return -1;
    const char *segment = carried_segment(url);
    AUTO(xfree) char *carried = catalog_url_branch(url);
    const char *wanted = strcmp(branch, "main") == 0 ? "" : branch;
    if (carried != NULL && *branch != '\0' && strcmp(carried, branch) != 0) {
        url_release(&u);
        problem_fail(err, PROBLEM_INPUT, "branch", "the URL names branch %s, the field Branch %s",
                     carried, branch);
        problem_fix(err, WHO_YOU, "Take the branch out of the URL: it ends in /iceberg.");
        return -1;
    }
    if (carried != NULL)
        wanted = strcmp(carried, "main") == 0 ? "" : carried;
    char *base = segment != NULL ? xstrndup(url, (size_t)(segment - url)) : xstrdup(url);
    cut_slashes(base);
    AUTO(xfree) char *encoded = url_encode(wanted);
    *out = (struct catalog_address){
        .base = base,
        .branch = xstrdup(wanted),
        .url = *wanted != '\0' ? xasprintf("%s/%s", base, encoded) : xstrdup(base),
        .host = xstrdup(u.host),
        .carried = carried != NULL,
        .iceberg = ends_with(base, strlen(base), "/iceberg"),
        .bauplan = under_bauplan(u.host),
        .loopback = loopback(u.host),
    };
    url_release(&u);
    return 0;
}

void catalog_address_release(struct catalog_address *a)
{
    xfree(a->base);
    xfree(a->branch);
    xfree(a->url);
    xfree(a->host);
    *a = (struct catalog_address){0};
}

/* Appends the cleaned segments of `path` to out; ".." takes one away, never past `floor`. */
static void join_path(struct text *out, size_t floor, const char *path)
{
    while (*path != '\0') {
        size_t n = strcspn(path, "/");
        if (n == 2 && path[0] == '.' && path[1] == '.') {
            while (out->len > floor && out->s[out->len - 1] != '/')
                out->s[--out->len] = '\0';
            if (out->len > floor)
                out->s[--out->len] = '\0';
        } else if (n > 0 && !(n == 1 && path[0] == '.')) {
            text_addc(out, '/');
            text_addn(out, path, n);
        }
        path += n + (path[n] == '/');
    }
}

char *catalog_join(const char *base, const char *relative)
{
    struct text out = TEXT_INIT;
    const char *path = path_of(base);
    size_t floor = path != NULL ? (size_t)(path - base) : 0;
    text_addn(&out, base, floor);
    join_path(&out, floor, path != NULL ? path : base);
    join_path(&out, floor, relative);
    size_t n = strlen(relative);
    if ((n > 0 && relative[n - 1] == '/') || out.len == floor)
        text_addc(&out, '/');
    return text_take(&out);
}

char *catalog_token_url(const char *catalog_url, const char *token_uri)
{
    if (path_of(token_uri) != NULL)
        return xstrdup(token_uri);
    return catalog_join(catalog_url, token_uri);
}

size_t catalog_token_candidates(const struct catalog_address *a, const char *typed,
                                struct token_candidate out[TOKEN_CANDIDATES])
{
    static const char *const uris[] = {CATALOG_TOKEN_URI, CATALOG_TOKEN_URI_OLD};
    AUTO(xfree) char *typed_url = catalog_token_url(a->url, typed);
    size_t count = 0;
    for (size_t round = 0; round < 2; round++) {
        bool above =
            round ==
            1; /* at the catalog itself, past the branch: only an absolute URI gets there */
        if (above && *a->branch == '\0')
            break;
        for (size_t i = 0; i < ARRAY_LEN(uris); i++) {
            char *url = catalog_join(above ? a->base : a->url, uris[i]);
            if (strcmp(url, typed_url) == 0) {
                xfree(url);
                continue;
            }
            out[count].uri = xstrdup(above ? url : uris[i]);
            out[count++].url = url;
        }
    }
    return count;
}

void catalog_candidates_release(struct token_candidate c[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        xfree(c[i].uri);
        xfree(c[i].url);
    }
}
