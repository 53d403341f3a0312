/* All rows of the program, proved consistent. The proof runs at every start and costs well under a
 * millisecond; it is what lets everything else treat an unknown id as a bug. */
#include "core/rows.h"

#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/rows_prove.h"

enum { BY_FIELD, BY_FACT, BY_CHECK };

static void count_rows(struct rows *r, const struct step *const *steps)
{
    r->steps = steps;
    for (; steps[r->step_count] != NULL; r->step_count++) {
        const struct step *s = steps[r->step_count];
        for (const struct field *const *f = s->fields; f != NULL && *f != NULL; f++)
            r->field_count++;
        for (const struct check *const *c = s->checks; c != NULL && *c != NULL; c++) {
            r->check_count++;
            for (const char *const *id = (*c)->gives; id != NULL && *id != NULL; id++)
                r->fact_count++;
        }
    }
}

static void flatten(struct rows *r)
{
    r->fields = xcalloc(r->field_count, sizeof(const struct field *));
    r->checks = xcalloc(r->check_count, sizeof(const struct check *));
    r->facts = xcalloc(r->fact_count, sizeof(const char *));
    r->givers = xcalloc(r->fact_count, sizeof *r->givers);
    r->order = xcalloc(r->check_count, sizeof *r->order);
    size_t fields = 0, checks = 0, facts = 0;
    for (size_t i = 0; i < r->step_count; i++) {
        const struct step *s = r->steps[i];
        for (const struct field *const *f = s->fields; f != NULL && *f != NULL; f++)
            r->fields[fields++] = *f;
        for (const struct check *const *c = s->checks; c != NULL && *c != NULL; c++) {
            for (const char *const *id = (*c)->gives; id != NULL && *id != NULL; id++) {
                r->facts[facts] = *id;
                r->givers[facts++] = (int)checks;
            }
            r->checks[checks++] = *c;
        }
    }
}

static const char *id_at(const struct rows *r, int which, int i)
{
    const char *id = which == BY_FIELD  ? r->fields[i]->id
                     : which == BY_FACT ? r->facts[i]
                                        : r->checks[i]->id;
    return id != NULL ? id : "";
}

struct sorting {
    const struct rows *rows;
    int which;
};

static int compare_ids(const void *a, const void *b, void *ctx)
{
    const struct sorting *s = ctx;
    return strcmp(id_at(s->rows, s->which, *(const int *)a),
                  id_at(s->rows, s->which, *(const int *)b));
}

static size_t count_of(const struct rows *r, int which)
{
    return which == BY_FIELD ? r->field_count : which == BY_FACT ? r->fact_count : r->check_count;
}

static void sort_ids(struct rows *r, int which)
{
    size_t count = count_of(r, which);
    r->by_id[which] = xcalloc(count, sizeof(int));
    for (size_t i = 0; i < count; i++)
        r->by_id[which][i] = (int)i;
    struct sorting s = {.rows = r, .which = which};
    qsort_r(r->by_id[which], count, sizeof(int), compare_ids, &s);
}

int rows_init(struct rows *r, const struct step *const *steps, struct problem *err)
{
    *r = (struct rows){0};
    count_rows(r, steps);
    flatten(r);
    for (int which = BY_FIELD; which <= BY_CHECK; which++)
        sort_ids(r, which);
    if (rows_prove(r, err) == 0)
        return 0;
    rows_release(r);
    return -1;
}

void rows_release(struct rows *r)
{
    xfree(r->fields);
    xfree(r->checks);
    xfree(r->facts);
    xfree(r->givers);
    xfree(r->order);
    for (size_t i = 0; i < ARRAY_LEN(r->by_id); i++)
        xfree(r->by_id[i]);
    *r = (struct rows){0};
}

static int find(const struct rows *r, int which, const char *id)
{
    size_t low = 0, high = count_of(r, which);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int i = r->by_id[which][middle];
        int order = strcmp(id, id_at(r, which, i));
        if (order == 0)
            return i;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

int rows_field(const struct rows *r, const char *id)
{
    return find(r, BY_FIELD, id);
}

int rows_check(const struct rows *r, const char *id)
{
    return find(r, BY_CHECK, id);
}

int rows_fact(const struct rows *r, const char *id)
{
    return find(r, BY_FACT, id);
}

static int step_named(const struct rows *r, const char *id, size_t n)
{
    for (size_t i = 0; i < r->step_count; i++) {
        if (strncmp(r->steps[i]->id, id, n) == 0 && r->steps[i]->id[n] == '\0')
            return (int)i;
    }
    return -1;
}

int rows_step(const struct rows *r, const char *id)
{
    return step_named(r, id, strlen(id));
}

const struct step *rows_step_of(const struct rows *r, const char *row_id)
{
    int i = step_named(r, row_id, strcspn(row_id, "."));
    return i >= 0 ? r->steps[i] : NULL;
}

char *rows_step_label(const struct step *s)
{
    return xasprintf("%s%s%s", s->number, s->number[0] != '\0' ? " " : "", s->name);
}

bool rows_step_begun(const struct step *s, const struct snapshot *now)
{
    return s->begun == NULL || s->begun(now);
}
