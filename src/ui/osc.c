/* base64 (RFC 4648 section 4) is all there is to it. */
#include "ui/osc.h"

static void add_base64(struct text *out, const unsigned char *s, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < n; i += 3) {
        size_t left = n - i;
        unsigned v = (unsigned)s[i] << 16 | (left > 1 ? (unsigned)s[i + 1] << 8 : 0) |
                     (left > 2 ? (unsigned)s[i + 2] : 0);
        text_addc(out, digits[v >> 18]);
        text_addc(out, digits[v >> 12 & 63]);
        text_addc(out, left > 1 ? digits[v >> 6 & 63] : '=');
        text_addc(out, left > 2 ? digits[v & 63] : '=');
    }
}

void osc_copy(struct text *out, const char *s, size_t n)
{
    text_add(out, "\033]52;c;");
    add_base64(out, (const unsigned char *)s, n);
    text_addc(out, '\a');
}
