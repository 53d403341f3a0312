/* What the step learns of EMR Serverless, hashed by what its readers depend on: not by states that
 * come and go with each job. */
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "core/mem.h"
#include "steps/emr/emr.h"

static void list_free(void *data)
{
    emr_applications_release(data);
    xfree(data);
}

void emr_hash_names(struct hasher *h, const struct aws_names *n)
{
    hasher_number(h, (int64_t)n->count);
    for (size_t i = 0; i < n->count; i++)
        hasher_text(h, n->list[i]);
}

static void hash_form(const struct emr_application *a, struct hasher *h)
{
    hasher_text(h, a->id);
    hasher_text(h, a->name);
    hasher_text(h, a->release);
    hasher_text(h, a->type);
    hasher_text(h, a->architecture);
    hasher_text(h, a->tag_run);
    /* all others are steps of one life */
    hasher_number(h, strcmp(a->state, "TERMINATED") == 0);
    hasher_number(h, strcmp(a->state, "CREATING") == 0);
}

static void list_hash(const void *data, struct hasher *h)
{
    const struct emr_applications *a = data;
    hasher_number(h, (int64_t)a->count);
    for (size_t i = 0; i < a->count; i++)
        hash_form(&a->list[i], h);
}

const struct fact_type emr_list_type = {
    .name = "emr applications", .release = list_free, .hash = list_hash};

static void chosen_free(void *data)
{
    emr_application_release(data);
    xfree(data);
}

static void chosen_hash(const void *data, struct hasher *h)
{
    const struct emr_application *a = data;
    hash_form(a, h);
    hasher_number(h, a->auto_start);
    hasher_number(h, a->auto_stop);
    hasher_number(h, a->idle_minutes);
    hasher_text(h, a->max_cpu);
    hasher_text(h, a->max_memory);
    emr_hash_names(h, &a->subnets);
    emr_hash_names(h, &a->groups);
}

const struct fact_type emr_chosen_type = {
    .name = "emr application", .release = chosen_free, .hash = chosen_hash};

struct fact *emr_list_fact(struct emr_applications *a)
{
    struct emr_applications *data = xmalloc(sizeof *data);
    *data = *a;
    *a = (struct emr_applications){0};
    return fact_new(&emr_list_type, data);
}

struct fact *emr_chosen_fact(struct emr_application *a)
{
    struct emr_application *data = xmalloc(sizeof *data);
    *data = *a;
    *a = (struct emr_application){0};
    return fact_new(&emr_chosen_type, data);
}

int emr_release_number(const char *label)
{
    int major, minor, patch, end = 0;
    const char *from = strncmp(label, "emr-", 4) == 0 ? label + 4 : "";
    if (strncmp(from, "spark-", 6) == 0)
        from += 6;
    if (sscanf(from, "%3d.%3d.%3d%n", &major, &minor, &patch, &end) != 3 || major < 0 ||
        minor < 0 || patch < 0 || (from[end] != '\0' && from[end] != '-'))
        return -1;
    return major * 1000 + minor;
}

const char *emr_refusal(const struct emr_application *a)
{
    int release = emr_release_number(a->release);
    if (strcasecmp(a->type, "Spark") != 0)
        return "not Spark";
    if (strcmp(a->architecture, "X86_64") != 0)
        return "x86_64 needed";
    if (release >= 0 && release < EMR_RELEASE_LEAST)
        return "too old for vended keys";
    return NULL;
}
