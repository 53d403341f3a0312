/* A small product of its own for the tests of the model and its files: two steps whose rows have
 * every sort of field, a survey, verdicts, a probe, and a plan that is steered by answers. */
#ifndef SLUICE_FAKE_WORLD_H
#define SLUICE_FAKE_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/mem.h"
#include "core/run.h"
#include "core/wizard.h"

#define IDS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* --- a fact that is a number ------------------------------------------------------------------ */

static inline void number_hash(const void *data, struct hasher *h)
{
    hasher_number(h, *(const int *)data);
}

static inline struct node *number_save(const void *data)
{
    return node_number(*(const int *)data);
}

static const struct fact_type number_type = {
    .name = "number", .release = xfree, .hash = number_hash, .save = number_save};

static inline struct fact *number(int n)
{
    int *data = xmalloc(sizeof *data);
    *data = n;
    return fact_new(&number_type, data);
}

/* --- fields ----------------------------------------------------------------------------------- */

static inline char *fake_trim(const char *s)
{
    while (*s == ' ')
        s++;
    size_t n = strlen(s);
    while (n > 0 && (s[n - 1] == ' ' || s[n - 1] == '\n'))
        n--;
    return xstrndup(s, n);
}

/* As many validators do, it calls a wrong value "form". */
static inline int fake_valid(const char *text, struct problem *err)
{
    if (strchr(text, '!') == NULL)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "form", "it shouts");
    problem_fix(err, WHO_YOU, "lower your voice");
    return -1;
}

static inline bool with_key(const struct snapshot *s)
{
    return snap_on(s, "a.use_key");
}

static inline char *branch_default(const struct snapshot *s)
{
    const char *name = snap_text(s, "start.name");
    return name[0] != '\0' ? xasprintf("%s.ingest", name) : NULL;
}

static inline char *size_default(const struct snapshot *s)
{
    const int *n = snap_fact(s, "a.version", &number_type);
    return n != NULL ? xasprintf("%d", *n * 10) : NULL;
}

static const struct field_choice fake_keeps[] = {
    {"file", NULL}, {"memory", NULL}, {"none", NULL}, {NULL, NULL}};

enum {
    F_NAME,
    F_KEEP,
    F_URL,
    F_BRANCH,
    F_USE_KEY,
    F_KEY,
    F_ADMIN,
    F_LIST,
    F_MAP,
    F_SIZE,
    F_DIARY,
    F_TOKEN,
    F_APP,
    F_COUNT
};

static const struct field fake_fields[F_COUNT] = {
    [F_NAME] = {.id = "start.name",
                .label = "Name",
                .required = true,
                .normalise = fake_trim,
                .valid = fake_valid},
    [F_KEEP] = {.id = "start.keep_secrets",
                .kind = FIELD_CHOICE,
                .label = "Keep",
                .initial = "memory",
                .choices = fake_keeps},
    [F_URL] = {.id = "a.url", .label = "URL", .required = true},
    [F_BRANCH] = {.id = "a.branch", .label = "Branch", .default_from = branch_default},
    [F_USE_KEY] = {.id = "a.use_key", .kind = FIELD_SWITCH, .label = "Use key", .initial = "no"},
    [F_KEY] = {.id = "a.key",
               .kind = FIELD_SECRET,
               .label = "Key",
               .required = true,
               .host_of = "a.url",
               .when = with_key,
               .normalise = fake_trim,
               .valid = fake_valid},
    [F_ADMIN] = {.id = "a.admin", .kind = FIELD_SECRET, .label = "Admin", .keep = KEEP_NEVER},
    [F_LIST] = {.id = "a.list", .kind = FIELD_LIST, .label = "List", .valid = fake_valid},
    [F_MAP] = {.id = "a.map", .kind = FIELD_MAP, .label = "Map"},
    [F_SIZE] = {.id = "a.size", .label = "Size", .default_from = size_default},
    [F_DIARY] = {.id = "a.diary", .label = "Diary", .keep = KEEP_NEVER},
    [F_TOKEN] = {.id = "b.token", .kind = FIELD_SECRET, .label = "Token", .make = 24},
    [F_APP] = {.id = "b.app", .label = "Application"},
};

/* --- checks ----------------------------------------------------------------------------------- */

static inline void fake_run(struct run *run, struct outcome *out)
{
    (void)run;
    outcome_pass(out, "fine");
}

enum { C_SURVEY, C_VERDICT, C_MAYBE, C_ITEMS, C_AFTER, C_PROBE, C_COSTS, C_PLANNED, C_COUNT };

static const struct check fake_checks[C_COUNT] = {
    [C_SURVEY] = {.id = "a.survey",
                  .title = "looks at a",
                  .reads = IDS("a.url", "?a.key"),
                  .gives = IDS("a.version", "a.tables"),
                  .service = "a",
                  .run = fake_run},
    [C_VERDICT] = {.id = "a.verdict",
                   .title = "version is right",
                   .reads = IDS("a.version", "a.branch"),
                   .run = fake_run},
    [C_MAYBE] = {.id = "a.maybe",
                 .title = "tables, if any",
                 .reads = IDS("?a.tables", "a.branch"),
                 .run = fake_run},
    [C_ITEMS] = {.id = "b.items",
                 .title = "looks at b",
                 .reads = IDS("a.version"),
                 .gives = IDS("b.items_found"),
                 .service = "b",
                 .fresh_s = 60,
                 .run = fake_run},
    [C_AFTER] = {.id = "b.after",
                 .title = "goes on",
                 .reads = IDS("b.items_found"),
                 .after = IDS("a.verdict"),
                 .run = fake_run},
    [C_PROBE] = {.id = "b.probe",
                 .title = "tries b",
                 .reads = IDS("a.url"),
                 .effect = EFFECT_PROBES,
                 .touches = "a thing",
                 .service = "b",
                 .run = fake_run},
    [C_COSTS] = {.id = "b.costs",
                 .title = "job",
                 .reads = IDS("a.url"),
                 .effect = EFFECT_COSTS,
                 .service = "b",
                 .run = fake_run},
    [C_PLANNED] = {.id = "b.planned",
                   .title = "application answers",
                   .reads = IDS("a.url"),
                   .needs = IDS("b.application"),
                   .severity = SEV_WARNS,
                   .service = "b",
                   .run = fake_run},
};

static const struct change_kind fake_kind = {.id = "b.thing", .label = "thing"};

/* The application is planned while no answer names one. */
static inline void fake_plan(const struct snapshot *s, struct plan *out)
{
    if (snap_text(s, "b.app")[0] != '\0')
        return;
    struct change *c = plan_add(out, &fake_kind, "b", "b.application", CHANGE_CREATE, node_map());
    change_text(&c->title, "application sluice-%s", snap_text(s, "start.name"));
}

static const struct step fake_start = {
    .id = "start",
    .fields = (const struct field *const[]){&fake_fields[F_NAME], &fake_fields[F_KEEP], NULL}};
static const struct step fake_a = {
    .id = "a",
    .fields = (const struct field *const[]){&fake_fields[F_URL], &fake_fields[F_BRANCH],
                                            &fake_fields[F_USE_KEY], &fake_fields[F_KEY],
                                            &fake_fields[F_ADMIN], &fake_fields[F_LIST],
                                            &fake_fields[F_MAP], &fake_fields[F_SIZE],
                                            &fake_fields[F_DIARY], NULL},
    .checks = (const struct check *const[]){&fake_checks[C_SURVEY], &fake_checks[C_VERDICT],
                                            &fake_checks[C_MAYBE], NULL}};
static const struct step fake_b = {
    .id = "b",
    .fields = (const struct field *const[]){&fake_fields[F_TOKEN], &fake_fields[F_APP], NULL},
    .checks = (const struct check *const[]){&fake_checks[C_ITEMS], &fake_checks[C_AFTER],
                                            &fake_checks[C_PROBE], &fake_checks[C_COSTS],
                                            &fake_checks[C_PLANNED], NULL},
    .plan = fake_plan};
static const struct step *const fake_steps[] = {&fake_start, &fake_a, &fake_b, NULL};

static inline struct wizard *fake_wizard(struct rows *rows)
{
    assert_int_equal(rows_init(rows, fake_steps, NULL), 0);
    return wizard_new(rows);
}

/* --- short words for tests -------------------------------------------------------------------- */

static inline int set_text(struct wizard *w, int field, const char *text)
{
    return wizard_set_text(w, field, text, ORIGIN_TYPED, NULL);
}

static inline const char *effective_text(struct wizard *w, int field)
{
    const struct value *v = wizard_effective(w, field);
    return v != NULL && v->kind == VALUE_TEXT ? v->text : "";
}

/* What the secret of an answer is; "" when it is not at hand. */
static inline const char *secret_text(struct wizard *w, int field)
{
    const struct value *v = wizard_answer(w, field);
    return v != NULL && v->secret != NULL ? secret_bytes(v->secret) : "";
}

/* An outcome as the engine would bring it, of the inputs of now. */
static inline struct outcome *brought(struct wizard *w, int check, enum status status)
{
    struct outcome *o = outcome_new();
    if (status == STATUS_PASSED)
        outcome_pass(o, "fine");
    else if (status == STATUS_WARNED)
        outcome_warn(o, "odd");
    else
        outcome_fail(o, "E1", "wrong");
    o->status = status;
    o->digest = wizard_check_digest(w, check);
    o->at = clock_wall();
    return o;
}

static inline bool put_taken(struct wizard *w, int check, struct outcome *o)
{
    bool taken = wizard_put_outcome(w, check, o);
    outcome_unref(o);
    return taken;
}

static inline void put(struct wizard *w, int check, enum status status)
{
    assert_true(put_taken(w, check, brought(w, check, status)));
}

/* The survey of step a; negative = the fact is not given. */
static inline void put_survey(struct wizard *w, int version, int tables)
{
    struct outcome *o = brought(w, C_SURVEY, STATUS_PASSED);
    if (version >= 0)
        outcome_give(o, "a.version", number(version));
    if (tables >= 0)
        outcome_give(o, "a.tables", number(tables));
    assert_true(put_taken(w, C_SURVEY, o));
}

static inline struct check_view seen(struct wizard *w, int check)
{
    struct check_view v;
    wizard_check_view(w, check, &v);
    return v;
}

static inline bool stands(struct wizard *w, int check, enum status status)
{
    struct check_view v = seen(w, check);
    return v.status == status && !v.stale;
}
#endif
