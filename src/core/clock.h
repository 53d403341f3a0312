/* Time: monotonic milliseconds for deadlines, wall-clock seconds for people and files. */
#ifndef SLUICE_CORE_CLOCK_H
#define SLUICE_CORE_CLOCK_H

#include <stdint.h>

int64_t clock_ms(void);                 /* monotonic */
int64_t clock_wall(void);               /* seconds since 1970, UTC */
char *clock_iso(int64_t wall);          /* "2026-11-30T10:00:00Z"; xfree */
int64_t clock_parse_iso(const char *s); /* -1 when it is not of that form */
#endif
