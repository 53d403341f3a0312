/* A hand-made account for verdicts and plans of the AWS steps: answers and facts as surveys would
 * give them. Nothing is asked of AWS. */
#ifndef SLUICE_TESTS_AWS_WORLD_H
#define SLUICE_TESTS_AWS_WORLD_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/outcome.h"
#include "core/run_make.h"
#include "core/snapshot_make.h"
#include "steps/aws/common.h"
#include "steps/steps.h"

struct world {
    struct rows rows;
    struct value **answers;
    enum origin *origins;
    struct fact **facts;
    struct snapshot *snapshot; /* of answers and facts as they were when it was first asked for */
};

/* All steps that the AWS steps read of. Nothing of this machine's own AWS set-up is seen. */
static inline void world_open(struct world *w)
{
    static const struct step *const steps[] = {
        &step_start, &step_oauth, &step_postgres, &step_emr, &step_bucket, &step_iam, NULL};
    static const char *const gone[] = {"AWS_REGION",
                                       "AWS_DEFAULT_REGION",
                                       "AWS_PROFILE",
                                       "AWS_DEFAULT_PROFILE",
                                       "AWS_ACCESS_KEY_ID",
                                       "AWS_CONFIG_FILE",
                                       "AWS_SHARED_CREDENTIALS_FILE"};
    for (size_t i = 0; i < ARRAY_LEN(gone); i++)
        unsetenv(gone[i]);
    setenv("HOME", "/nonexistent", 1);
    AUTO_PROBLEM err = PROBLEM_INIT;
    memset(w, 0, sizeof *w);
    if (rows_init(&w->rows, steps, &err) != 0)
        fail_msg("%s", err.what);
    w->answers = xcalloc(w->rows.field_count, sizeof *w->answers);
    w->origins = xcalloc(w->rows.field_count, sizeof *w->origins);
    w->facts = xcalloc(w->rows.fact_count, sizeof *w->facts);
}

static inline void world_close(struct world *w)
{
    snapshot_unref(w->snapshot);
    for (size_t i = 0; i < w->rows.field_count; i++)
        value_unref(w->answers[i]);
    for (size_t i = 0; i < w->rows.fact_count; i++)
        fact_unref(w->facts[i]);
    xfree(w->answers);
    xfree(w->origins);
    xfree(w->facts);
    rows_release(&w->rows);
}
#define AUTO_WORLD __attribute__((cleanup(world_close))) struct world

static inline void world_answer(struct world *w, const char *id, struct value *v)
{
    int i = rows_field(&w->rows, id);
    assert_true(i >= 0);
    value_unref(w->answers[i]);
    w->answers[i] = v;
    w->origins[i] = ORIGIN_TYPED;
    snapshot_unref(w->snapshot);
    w->snapshot = NULL;
}

static inline void world_text(struct world *w, const char *id, const char *text)
{
    world_answer(w, id, value_text(text));
}

static inline void world_list(struct world *w, const char *id, const char *items)
{
    world_answer(w, id, value_list_parse(items));
}

/* Takes the reference; NULL takes the fact away. */
static inline void world_fact(struct world *w, const char *id, struct fact *f)
{
    int i = rows_fact(&w->rows, id);
    assert_true(i >= 0);
    fact_unref(w->facts[i]);
    w->facts[i] = f;
    snapshot_unref(w->snapshot);
    w->snapshot = NULL;
}

static inline const struct snapshot *world_snapshot(struct world *w)
{
    if (w->snapshot == NULL)
        w->snapshot = snapshot_make(&w->rows, w->answers, w->origins, w->facts, NULL);
    return w->snapshot;
}

static inline void world_identity(struct world *w)
{
    char account[] = "123456789012", partition[] = "aws", region[] = "us-east-1";
    char arn[] = "arn:aws:iam::123456789012:user/alice", source[] = "environment";
    struct aws_identity who = {
        .account = account, .partition = partition, .arn = arn, .region = region, .source = source};
    world_fact(w, "emr.identity", aws_identity_fact(&who));
}

/* Runs a verdict as the engine would: what its row does not list cannot be read. */
static inline struct outcome *world_judge(struct world *w, const struct check *c)
{
    struct run_spec spec = {.snapshot = world_snapshot(w), .check = c};
    struct run *run = run_make(&spec, NULL);
    struct outcome *o = outcome_new();
    assert_non_null(run);
    c->run(run, o);
    run_free(run);
    assert_int_not_equal(o->status, STATUS_NONE);
    return o;
}

static inline void outcome_done(struct outcome **o)
{
    outcome_unref(*o);
}
#define AUTO_OUTCOME __attribute__((cleanup(outcome_done))) struct outcome

static inline void assert_has(const char *text, const char *part)
{
    if (text == NULL || strstr(text, part) == NULL)
        fail_msg("“%s” is not in “%s”", part, text != NULL ? text : "(nothing)");
}

static inline void assert_line(char *const *lines, size_t count, const char *part)
{
    for (size_t i = 0; i < count; i++)
        if (strstr(lines[i], part) != NULL)
            return;
    fail_msg("no line with “%s”", part);
}

/* What every finding must have: a line, why it matters, and what to do. */
static inline void assert_helps(const struct outcome *o)
{
    assert_non_null(o->line);
    assert_non_null(o->why);
    assert_non_null(o->fix);
}
#endif
