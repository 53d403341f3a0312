/* Releasing and hashing of what surveys learn, and sizes, counts and ages in words. */
#include "postgres/facts.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"

/* --- server ---------------------------------------------------------------------------------- */

void postgres_server_free(void *data)
{
    struct postgres_server *s = data;
    if (s == NULL)
        return;
    xfree(s->release);
    xfree(s->host);
    xfree(s->database);
    xfree(s->encoding);
    xfree(s->tls);
    xfree(s->wal_level);
    xfree(s->wal_switch);
    xfree(s->admin);
    xfree(s);
}

static bool few_left(int max, int used, int wanted)
{
    return max - used < wanted;
}

static void server_hash(const void *data, struct hasher *h)
{
    const struct postgres_server *s = data;
    hasher_number(h, s->version);
    hasher_number(h, s->platform);
    hasher_text(h, s->host);
    hasher_text(h, s->database);
    hasher_text(h, s->encoding);
    hasher_text(h, s->tls);
    hasher_text(h, s->wal_level);
    hasher_text(h, s->wal_switch);
    hasher_text(h, s->admin);
    /* Counts move all the time; what is judged is whether enough is left. */
    const bool bits[] = {s->wal_level_pending,
                         s->recovering,
                         s->read_only,
                         few_left(s->max_slots, s->used_slots, 1),
                         few_left(s->max_senders, s->used_senders, 1),
                         few_left(s->max_connections, s->used_connections, 5),
                         s->admin_super,
                         s->admin_roles,
                         s->admin_replication,
                         s->admin_creates,
                         s->admin_sees_all};
    hasher_bytes(h, bits, sizeof bits);
    hasher_number(h, s->max_slots);
    hasher_number(h, s->max_senders);
    hasher_number(h, s->max_connections);
    hasher_number(h, s->wal_keep_mb);
    hasher_number(h, s->idle_slot_s);
    hasher_number(h, s->sender_timeout_ms);
}

/* --- slots ----------------------------------------------------------------------------------- */

void postgres_slots_free(void *data)
{
    struct postgres_slots *s = data;
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->count; i++) {
        struct postgres_slot *r = &s->rows[i];
        xfree(r->name);
        xfree(r->plugin);
        xfree(r->database);
        xfree(r->wal_status);
        xfree(r->since);
        xfree(r->user);
        xfree(r->application);
    }
    xfree(s->rows);
    xfree(s);
}

static void slots_hash(const void *data, struct hasher *h)
{
    const struct postgres_slots *s = data;
    for (size_t i = 0; i < s->count; i++) {
        const struct postgres_slot *r = &s->rows[i];
        if (r->temporary)
            continue; /* comes and goes with a connection */
        hasher_text(h, r->name);
        hasher_text(h, r->plugin);
        hasher_text(h, r->database);
        hasher_text(h, r->wal_status);
        hasher_text(h, r->user);
        hasher_number(h, r->logical | r->active << 1);
        hasher_number(h, r->retained >> 30); /* whole GiB */
    }
}

const struct postgres_slot *postgres_slots_find(const struct postgres_slots *s, const char *name)
{
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->rows[i].name, name) == 0)
            return &s->rows[i];
    return NULL;
}

/* --- sessions -------------------------------------------------------------------------------- */

void postgres_sessions_free(void *data)
{
    struct postgres_sessions *s = data;
    if (s == NULL)
        return;
    for (size_t i = 0; i < s->count; i++) {
        struct postgres_session *r = &s->rows[i];
        xfree(r->user);
        xfree(r->application);
        xfree(r->database);
        xfree(r->client);
        xfree(r->state);
        xfree(r->what);
    }
    xfree(s->rows);
    xfree(s);
}

static void sessions_hash(const void *data, struct hasher *h)
{
    const struct postgres_sessions *s = data;
    for (size_t i = 0; i < s->count; i++) {
        hasher_number(h, s->rows[i].pid);
        hasher_text(h, s->rows[i].pid == 0 ? s->rows[i].what : s->rows[i].user);
    }
}

/* --- role ------------------------------------------------------------------------------------ */

void postgres_role_free(void *data)
{
    struct postgres_role *r = data;
    if (r == NULL)
        return;
    xfree(r->name);
    xfree(r->member_of);
    xfree(r);
}

static void role_hash(const void *data, struct hasher *h)
{
    const struct postgres_role *r = data;
    hasher_text(h, r->name);
    hasher_text(h, r->member_of);
    const bool bits[] = {r->exists,   r->login,     r->replication, r->super,      r->createrole,
                         r->createdb, r->bypassrls, r->expired,     r->rds_member, r->rds_role,
                         r->is_admin, r->connects,  r->reads_all};
    hasher_bytes(h, bits, sizeof bits);
    hasher_number(h, r->connections);
}

/* --- publication ----------------------------------------------------------------------------- */

void postgres_publication_free(void *data)
{
    struct postgres_publication *p = data;
    if (p == NULL)
        return;
    for (size_t i = 0; i < p->broken_count; i++)
        xfree(p->broken[i]);
    for (size_t i = 0; i < p->other_count; i++)
        xfree(p->others[i]);
    xfree(p->broken);
    xfree(p->others);
    xfree(p->name);
    xfree(p->owner);
    xfree(p->all_elsewhere);
    xfree(p);
}

static void publication_hash(const void *data, struct hasher *h)
{
    const struct postgres_publication *p = data;
    hasher_text(h, p->name);
    hasher_text(h, p->owner);
    hasher_text(h, p->all_elsewhere);
    const bool bits[] = {p->exists,   p->all_tables, p->inserts,    p->updates,          p->deletes,
                         p->via_root, p->admin_owns, p->watermarks, p->watermarks_listed};
    hasher_bytes(h, bits, sizeof bits);
    hasher_number(h, p->schemas);
    hasher_number(h, p->members);
    hasher_number(h, p->broken_total);
    for (size_t i = 0; i < p->broken_count; i++)
        hasher_text(h, p->broken[i]);
    hasher_number(h, p->other_total);
    for (size_t i = 0; i < p->other_count; i++)
        hasher_text(h, p->others[i]);
}

/* --- watermarks ------------------------------------------------------------------------------ */

void postgres_watermarks_free(void *data)
{
    struct postgres_watermarks *w = data;
    if (w == NULL)
        return;
    xfree(w->name);
    xfree(w->owner);
    xfree(w);
}

static void watermarks_hash(const void *data, struct hasher *h)
{
    const struct postgres_watermarks *w = data;
    hasher_text(h, w->name);
    hasher_text(h, w->owner);
    const bool bits[] = {w->schema_exists, w->exists, w->columns, w->unique,  w->admin_owns,
                         w->admin_makes,   w->usage,  w->selects, w->inserts, w->updates};
    hasher_bytes(h, bits, sizeof bits);
    hasher_number(h, w->kind);
    hasher_number(h, w->persistence);
}

/* --- login ------------------------------------------------------------------------------------ */

struct postgres_login_state *postgres_login_state_new(bool works, bool refused)
{
    struct postgres_login_state *s = xcalloc(1, sizeof *s);
    *s = (struct postgres_login_state){.works = works, .refused = refused};
    return s;
}

static void postgres_login_free(void *data)
{
    xfree(data);
}

static void login_hash(const void *data, struct hasher *h)
{
    const struct postgres_login_state *s = data;
    hasher_number(h, s->works | s->refused << 1);
}

#define TYPE(what)                                                                                 \
    const struct fact_type postgres_##what##_type = {                                              \
        .name = "postgres " #what, .release = postgres_##what##_free, .hash = what##_hash}

TYPE(login);
TYPE(server);
TYPE(slots);
TYPE(sessions);
TYPE(role);
TYPE(publication);
TYPE(watermarks);

/* --- words ----------------------------------------------------------------------------------- */

/* Three figures at most: 3.1, 12.4, 310. */
static char *scaled(double value, double base, const char *const *units, size_t count)
{
    size_t unit = 0;
    while (value >= base && unit + 1 < count) {
        value /= base;
        unit++;
    }
    int digits = unit > 0 && value < 100 ? 1 : 0;
    return xasprintf("%.*f%s%s", digits, value, units[unit][0] != '\0' ? " " : "", units[unit]);
}

char *postgres_size_text(int64_t bytes)
{
    static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB"};
    if (bytes < 0)
        return xstrdup("unknown");
    return scaled((double)bytes, 1024, units, ARRAY_LEN(units));
}

char *postgres_rows_text(double rows)
{
    static const char *const units[] = {"", "k", "M", "G", "T"};
    if (!(rows >= 0) || isinf(rows)) /* NaN too */
        return xstrdup("unknown");
    return scaled(rows, 1000, units, ARRAY_LEN(units));
}

char *postgres_age_text(int64_t seconds)
{
    if (seconds < 120)
        return xasprintf("%lld s", (long long)(seconds < 0 ? 0 : seconds));
    if (seconds < 2 * 3600)
        return xasprintf("%lld min", (long long)(seconds / 60));
    if (seconds < 48 * 3600)
        return xasprintf("%lld h", (long long)(seconds / 3600));
    return xasprintf("%lld days", (long long)(seconds / 86400));
}
