/* The state file as a file: opening under the lock, saving, and the secrets file beside it. What
 * stands in it is filled by state_write.c and read by state_load.c. */
#include "core/state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/state_parts.h"

static char *beside(const char *path, const char *ending)
{
    size_t n = strlen(path);
    if (n > 5 && strcmp(path + n - 5, ".yaml") == 0)
        n -= 5;
    return xasprintf("%.*s%s", (int)n, path, ending);
}

void state_say_previous(const struct state *s, struct problem *err)
{
    AUTO(xfree) char *previous = xasprintf("%s.previous", s->path);
    if (err == NULL || !file_exists(previous) || strchr(s->path, '\'') != NULL)
        return;
    problem_why(err, "The copy before the last save is %s.", previous);
    problem_copy_command(err, "cp '%s' '%s'", previous, s->path);
}

static int read_document(struct state *s, struct problem *err)
{
    AUTO_TEXT bytes = TEXT_INIT;
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (file_read(s->path, STATE_FILE_MAX, true, &bytes, &why) != 0) {
        if (why.kind != PROBLEM_MISSING) {
            problem_move(err, &why);
            return -1;
        }
        s->is_new = true;
        s->doc = node_map();
        node_set(s->doc, "sluice",
                 node_number(STATE_SCHEMA)); /* the first line says what the file is */
        return 0;
    }
    s->doc = node_parse_yaml(bytes.s, bytes.len, s->path, err);
    if (s->doc == NULL) {
        state_say_previous(s, err);
        return -1;
    }
    long long schema = node_get_number(s->doc, "sluice", -1);
    if (schema == STATE_SCHEMA)
        return 0;
    const struct node *n = node_get(s->doc, "sluice");
    if (schema > STATE_SCHEMA) {
        problem_fail(err, PROBLEM_INPUT, "schema",
                     "%s: line %d: written by a newer sluice (schema %lld)", s->path, n->line,
                     schema);
        problem_fix(err, WHO_YOU, "use that version; this one reads schema %d", STATE_SCHEMA);
        return -1;
    }
    problem_fail(err, PROBLEM_INPUT, "schema",
                 "%s: line %d: not a state file of sluice (no “sluice: %d”)", s->path,
                 n != NULL ? n->line : 1, STATE_SCHEMA);
    problem_fix(err, WHO_YOU, "name another file with --state; this one is left as it is");
    state_say_previous(s, err);
    return -1;
}

struct state *state_open(const char *path, bool need_lock, struct problem *err)
{
    struct state *s = xcalloc(1, sizeof(*s));
    s->path = xstrdup(path);
    s->vault_path = beside(path, ".secrets");
    AUTO(xfree) char *lock_path = xasprintf("%s.lock", path);
    AUTO(xfree) char *directory = file_dirname(path);
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (file_make_dirs(directory, err) != 0) {
        state_close(s);
        return NULL;
    }
    s->lock = file_lock(lock_path, &why);
    if (s->lock == NULL) {
        /* who only looks may do so on a disk that cannot be written; an unsafe lock is refused */
        if (need_lock || (why.kind != PROBLEM_CONFLICT && why.kind != PROBLEM_LOCAL)) {
            problem_move(err, &why);
            state_close(s);
            return NULL;
        }
        s->holder = xstrdup(why.why != NULL ? why.why : why.what);
    }
    if (read_document(s, err) != 0) {
        state_close(s);
        return NULL;
    }
    if (node_get_text(s->doc, "run") == NULL) {
        struct secret *random = secret_generate(24);
        struct digest d = digest_of(secret_bytes(random), secret_len(random));
        char hex[DIGEST_HEX];
        digest_hex(&d, hex);
        hex[16] = '\0';
        node_set_text(s->doc, "run", hex);
        secret_unref(random);
    }
    return s;
}

void state_close(struct state *s)
{
    if (s == NULL)
        return;
    vault_close(s->vault);
    file_unlock(s->lock);
    node_free(s->doc);
    problem_release(&s->save_problem);
    xfree(s->path);
    xfree(s->vault_path);
    xfree(s->holder);
    xfree(s);
}

const char *state_path(const struct state *s)
{
    return s->path;
}

const char *state_holder(const struct state *s)
{
    return s->holder;
}

bool state_is_new(const struct state *s)
{
    return s->is_new;
}

const char *state_run(const struct state *s)
{
    return node_get_text(s->doc, "run");
}

const struct problem *state_save_problem(const struct state *s)
{
    return s->save_problem.kind == PROBLEM_NONE ? NULL : &s->save_problem;
}

int64_t state_saved_at(const struct state *s)
{
    return s->saved_at;
}

/* --- saving ----------------------------------------------------------------------------------- */

bool state_keeps_secrets(struct wizard *w)
{
    int field = rows_field(wizard_rows(w), "start.keep_secrets");
    const struct value *v = field >= 0 ? wizard_effective(w, field) : NULL;
    return v != NULL && v->kind == VALUE_TEXT && strcmp(v->text, "file") == 0;
}

bool state_secret_is_kept(const struct field *f, const struct value *v)
{
    return f->kind == FIELD_SECRET && f->keep == KEEP_STATE && v != NULL && v->secret != NULL &&
           v->reference == NULL;
}

bool state_can_keep(const struct state *s, struct wizard *w, int field)
{
    const struct field *f = wizard_rows(w)->fields[field];
    return s->lock != NULL && s->vault != NULL && f->keep == KEEP_STATE && state_keeps_secrets(w);
}

/* Before the state that names them, so that a state never points to a secret that is not there. */
static int save_secrets(struct state *s, struct wizard *w, struct problem *err)
{
    if (s->vault == NULL || !state_keeps_secrets(w))
        return 0;
    const struct rows *rows = wizard_rows(w);
    for (size_t i = 0; i < rows->field_count; i++) {
        const struct value *v = wizard_answer(w, (int)i);
        if (rows->fields[i]->kind != FIELD_SECRET)
            continue;
        if (state_secret_is_kept(rows->fields[i], v))
            vault_put(s->vault, rows->fields[i]->id, v->secret);
        else if (v == NULL || v->reference != NULL)
            vault_put(s->vault, rows->fields[i]->id, NULL);
    }
    return vault_save(s->vault, err);
}

static int save(struct state *s, struct wizard *w, struct problem *err)
{
    if (s->lock == NULL) {
        problem_fail(err, PROBLEM_CONFLICT, "locked", "%s is read-only here", s->path);
        problem_why(err, "%s", s->holder);
        return -1;
    }
    if (save_secrets(s, w, err) != 0)
        return -1;
    state_fill(s, w);
    AUTO_TEXT bytes = TEXT_INIT;
    node_write_yaml(s->doc, &bytes);
    if (bytes.cut)
        return problem_fail(err, PROBLEM_LOCAL, "size", "%s would be over %zu MiB", s->path,
                            STATE_FILE_MAX >> 20);
    return file_replace(s->path, bytes.s, bytes.len, true, err);
}

int state_save(struct state *s, struct wizard *w, struct problem *err)
{
    uint64_t version = wizard_version(w);
    if (version == s->saved_version && s->save_problem.kind == PROBLEM_NONE)
        return 0;
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (save(s, w, &why) != 0) {
        if (err != NULL) {
            problem_fail(err, why.kind, why.code, "%s", why.what);
            if (why.why != NULL)
                problem_why(err, "%s", why.why);
            if (why.fix != NULL)
                problem_fix(err, why.who, "%s", why.fix);
        }
        problem_move(&s->save_problem, &why);
        return -1;
    }
    problem_release(&s->save_problem);
    s->saved_version = version;
    s->saved_at = clock_wall();
    s->is_new = false;
    return 0;
}

bool state_worth_saving(const struct state *s, const struct wizard *w)
{
    return !s->is_new || wizard_answers_version(w) > 1;
}

/* --- secrets ---------------------------------------------------------------------------------- */

enum vault_status state_vault(const struct state *s)
{
    if (s->vault != NULL)
        return VAULT_OPEN;
    return file_exists(s->vault_path) ? VAULT_LOCKED : VAULT_NONE;
}

bool state_wants_passphrase(const struct state *s, struct wizard *w)
{
    if (s->vault != NULL || !state_keeps_secrets(w))
        return false;
    if (file_exists(s->vault_path))
        return true;
    const struct rows *rows = wizard_rows(w);
    for (size_t i = 0; i < rows->field_count; i++)
        if (state_secret_is_kept(rows->fields[i], wizard_answer(w, (int)i)))
            return true;
    return false;
}

/* Secrets that the state says are stored and that were not entered anew meanwhile. What came from
 * the environment only stood in for them. */
static void take_in(struct state *s, struct wizard *w)
{
    const struct rows *rows = wizard_rows(w);
    for (size_t i = 0; i < rows->field_count; i++) {
        const struct value *v = wizard_answer(w, (int)i);
        const struct node *n = state_stored_node(s, rows, rows->fields[i]);
        bool stands_in = wizard_origin(w, (int)i) == ORIGIN_ENVIRONMENT;
        if (n == NULL || v == NULL || v->reference != NULL || (v->secret != NULL && !stands_in))
            continue;
        struct secret *kept = vault_get(s->vault, rows->fields[i]->id);
        if (kept == NULL)
            continue;
        const char *made = node_get_text(n, "made");
        enum origin origin = made != NULL && strcmp(made, "true") == 0 ? ORIGIN_MADE : ORIGIN_STATE;
        const char *host = v->secret == NULL ? v->host : node_get_text(n, "host");
        wizard_set(w, (int)i, value_secret(kept, NULL, host), origin, NULL);
        secret_unref(kept);
    }
}

int state_unlock(struct state *s, struct wizard *w, const struct secret *passphrase,
                 struct problem *err)
{
    if (s->vault != NULL)
        return 0;
    s->vault = file_exists(s->vault_path) ? vault_open(s->vault_path, passphrase, err)
                                          : vault_create(s->vault_path, passphrase, err);
    if (s->vault == NULL)
        return -1;
    take_in(s, w);
    wizard_touch(w); /* what was only in memory is saved from now on */
    return 0;
}

int state_forget_secrets(struct state *s, struct wizard *w, struct problem *err)
{
    if (s->lock == NULL)
        return problem_fail(err, PROBLEM_CONFLICT, "locked", "%s is read-only here", s->path);
    const struct rows *rows = wizard_rows(w);
    for (size_t i = 0; i < rows->field_count; i++) {
        const struct value *v = wizard_answer(w, (int)i);
        if (v != NULL && v->kind == VALUE_SECRET && v->reference == NULL)
            wizard_set(w, (int)i, NULL, ORIGIN_NONE, NULL);
    }
    vault_close(s->vault);
    s->vault = NULL;
    wizard_touch(w);
    int rc = state_save(s, w, err); /* first: a state never names a secret that is not there */
    if (unlink(s->vault_path) != 0 && errno != ENOENT)
        return problem_errno(err, errno, "cannot remove %s", s->vault_path);
    return rc;
}
