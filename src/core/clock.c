/* Time in the only forms the program uses. UTC throughout: no locale, no time zone. */
#include "core/clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <time.h>

#include "core/mem.h"

#define LAST_SECOND INT64_C(253402300799) /* 9999-12-31T23:59:59Z, the last of four digits */

int64_t clock_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

int64_t clock_wall(void)
{
    return (int64_t)time(NULL);
}

char *clock_iso(int64_t wall)
{
    time_t t = (time_t)(wall < 0 ? 0 : wall > LAST_SECOND ? LAST_SECOND : wall);
    struct tm tm;
    gmtime_r(&t, &tm);
    return xasprintf("%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday,
                     tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static int number_at(const char *s, int digits)
{
    int v = 0;
    for (int i = 0; i < digits; i++)
        v = v * 10 + (s[i] - '0');
    return v;
}

int64_t clock_parse_iso(const char *s)
{
    static const char form[] = "0000-00-00T00:00:00Z";
    if (s == NULL || strlen(s) != sizeof form - 1)
        return -1;
    for (size_t i = 0; form[i] != '\0'; i++) {
        bool digit = s[i] >= '0' && s[i] <= '9';
        if (form[i] == '0' ? !digit : s[i] != form[i])
            return -1;
    }
    struct tm tm = {.tm_year = number_at(s, 4) - 1900,
                    .tm_mon = number_at(s + 5, 2) - 1,
                    .tm_mday = number_at(s + 8, 2),
                    .tm_hour = number_at(s + 11, 2),
                    .tm_min = number_at(s + 14, 2),
                    .tm_sec = number_at(s + 17, 2)};
    int64_t wall = (int64_t)timegm(&tm);
    if (wall < 0)
        return -1;
    /* timegm accepts the 31st of February; what it made of it does not read the same. */
    char *again = clock_iso(wall);
    bool same = strcmp(again, s) == 0;
    xfree(again);
    return same ? wall : -1;
}
