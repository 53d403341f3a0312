/* Reading pgoutput's messages, protocol version 1 (PostgreSQL manual, "Logical Replication Message
 * Formats"), only as far as needed to recognise a change of one table. */
#include <string.h>

#include "postgres/round_trip.h"

static bool take32(const char **p, const char *end, uint32_t *value)
{
    if (end - *p < 4)
        return false;
    *value = 0;
    for (int i = 0; i < 4; i++)
        *value = *value << 8 | (unsigned char)*(*p)++;
    return true;
}

static const char *take_string(const char **p, const char *end)
{
    const char *s = *p;
    const char *nul = end > s ? memchr(s, '\0', (size_t)(end - s)) : NULL;
    if (nul == NULL)
        return NULL;
    *p = nul + 1;
    return s;
}

static void take_relation(struct postgres_stream *s, const char *p, const char *end)
{
    uint32_t id;
    if (!take32(&p, end, &id))
        return;
    const char *schema = take_string(&p, end);
    const char *table = schema != NULL ? take_string(&p, end) : NULL;
    if (table == NULL || strcmp(schema, s->schema) != 0 || strcmp(table, s->table) != 0)
        return;
    s->known = true;
    s->relation = id;
}

bool postgres_stream_take(struct postgres_stream *s, const char *message, size_t n)
{
    if (n == 0)
        return false;
    const char *p = message + 1, *end = message + n;
    uint32_t id;
    switch (message[0]) {
    case 'B':
        s->began = true;
        s->in_change = false;
        break;
    case 'R':
        take_relation(s, p, end);
        break;
    case 'I':
    case 'U':
        if (take32(&p, end, &id) && s->known && id == s->relation)
            s->in_change = s->changed = true;
        break;
    case 'C':
        s->committed = true;
        return s->in_change;
    default: /* truncates, origins, types, deletes: not what was written */
        break;
    }
    return false;
}
