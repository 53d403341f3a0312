/* Base64 and JWT payloads. See jwt.h. */
#include "estuary/jwt.h"

#include <openssl/evp.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"

static const char url_letters[] =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* As EVP_DecodeBlock wants it: the standard alphabet, padded to whole blocks. */
static bool to_standard(const char *s, size_t n, struct text *out)
{
    while (n > 0 && s[n - 1] == '=')
        n--;
    if (n == 0 || n % 4 == 1)
        return false;
    for (size_t i = 0; i < n; i++) {
        char c = s[i] == '-' ? '+' : s[i] == '_' ? '/' : s[i];
        if (c != '+' && c != '/' && (c == '\0' || strchr(url_letters, c) == NULL))
            return false;
        text_addc(out, c);
    }
    while (out->len % 4 != 0)
        text_addc(out, '=');
    return true;
}

bool estuary_base64(const char *s, size_t n, struct text *out)
{
    *out = TEXT_INIT;
    if (n > JWT_MAX)
        return false;
    struct text block = TEXT_INIT;
    bool ok = to_standard(s, n, &block);
    if (ok) {
        unsigned char *bytes = xmalloc(block.len / 4 * 3 + 1);
        int decoded = EVP_DecodeBlock(bytes, (const unsigned char *)block.s, (int)block.len);
        size_t padding = block.len - strcspn(block.s, "=");
        ok = decoded >= 0 && (size_t)decoded >= padding;
        if (ok)
            text_addn(out, (const char *)bytes, (size_t)decoded - padding);
        explicit_bzero(bytes, block.len / 4 * 3);
        xfree(bytes);
    }
    text_wipe(&block);
    return ok;
}

static int64_t seconds(const cJSON *payload, const char *key)
{
    double v = json_number(payload, key, 0);
    return v > 0 && v < 1e11 ? (int64_t)v : 0;
}

static bool read_payload(const char *s, size_t n, struct estuary_jwt *out)
{
    struct text json;
    bool ok = estuary_base64(s, n, &json);
    if (ok) {
        AUTO(cJSON_Delete) cJSON *payload = json_parse(json.s, json.len, "the token", NULL);
        ok = cJSON_IsObject(payload);
        out->since = seconds(payload, "iat");
        out->until = seconds(payload, "exp");
        out->email = xstrdup(json_text(payload, "email"));
        out->role = xstrdup(json_text(payload, "role"));
        json_wipe(payload);
    }
    text_wipe(&json);
    return ok;
}

bool estuary_jwt_read(const char *s, size_t n, struct estuary_jwt *out)
{
    *out = (struct estuary_jwt){0};
    size_t from[4] = {0}, parts = 1;
    for (size_t i = 0; i < n; i++) {
        if (s[i] == '.') {
            if (parts == 3)
                return false;
            from[parts++] = i + 1;
        } else if (s[i] == '\0' || strchr(url_letters, s[i]) == NULL) {
            return false;
        }
    }
    from[3] = n + 1;
    if (parts != 3 || n > JWT_MAX)
        return false;
    for (size_t i = 0; i < 3; i++)
        if (from[i + 1] - from[i] < 2)
            return false;
    return read_payload(s + from[1], from[2] - from[1] - 1, out);
}

void estuary_jwt_release(struct estuary_jwt *j)
{
    xfree(j->email);
    xfree(j->role);
    *j = (struct estuary_jwt){0};
}
