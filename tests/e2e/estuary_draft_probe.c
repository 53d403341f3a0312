/* Drafts of Estuary by src/estuary, for tests that watch them from outside: test_estuary_drafts.py.
 *
 * Reads commands from stdin, one a line, words separated by tabs ("-" = empty), and answers each
 * with a line of JSON: {"ok":true,"result":…,"complaints":[…],"progress":[…]} or {"ok":false,
 * "kind":…,"code":…,…}. The draft of `new` is that of all that follow.
 *
 * estuary_draft_probe TOKEN_FILE [--deadline MS] [--cancel-on TEXT] [--ca FILE]
 *
 * All commands share one run, as those of a check do. --cancel-on: it is cancelled from its own
 * progress, once a line with TEXT comes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/node_json.h"
#include "core/run_make.h"
#include "core/secret.h"
#include "estuary/draft.h"
#include "net/net.h"
#include "probe.h"

struct probe {
    struct run *run;
    struct secret *token;
    const char *cancel_on;
    char *draft;
    char **word; /* of the command, without its name; "" = "-" or missing */
    struct json_writer w;
    struct text progress;
    struct estuary_complaints complaints;
    struct problem *err;
};

static char *read_file(const char *path, size_t *n)
{
    char *bytes = xcalloc(1, (size_t)64 << 20);
    FILE *f = fopen(path, "rb");
    *n = f != NULL ? fread(bytes, 1, ((size_t)64 << 20) - 1, f) : 0;
    if (f != NULL)
        fclose(f);
    return bytes;
}

static struct node *read_json(const char *path, struct problem *err)
{
    size_t n;
    char *bytes = read_file(path, &n);
    struct node *root = node_parse_json(bytes, n, path, err);
    xfree(bytes);
    return root;
}

/* --- commands --------------------------------------------------------------------------------- */

static int make(struct probe *p)
{
    if (estuary_draft_new(p->run, p->token, p->word[0], &p->draft, p->err) != 0)
        return -1;
    json_pair_text(&p->w, "id", p->draft);
    return 0;
}

static int use(struct probe *p)
{
    xreplace(&p->draft, p->word[0]);
    return 0;
}

/* stage FILE [fresh]: {name: [sort, model]} */
static int stage(struct probe *p)
{
    AUTO_STAGING s = {0};
    struct node *specs = read_json(p->word[0], p->err);
    for (size_t i = 0; specs != NULL && i < specs->count; i++)
        estuary_staging_add(&s, specs->keys[i], node_text(specs->items[i]->items[0]),
                            node_copy(specs->items[i]->items[1]));
    node_free(specs);
    return estuary_draft_stage(p->run, p->token, p->draft, &s, *p->word[1] != '\0', p->err);
}

static int read_back(struct probe *p)
{
    AUTO_STAGING s = {0};
    if (estuary_draft_read(p->run, p->token, p->draft, &s, p->err) != 0)
        return -1;
    for (size_t i = 0; i < s.count; i++) {
        AUTO_TEXT model = TEXT_INIT;
        node_write_json(s.list[i].model, &model);
        json_key(&p->w, s.list[i].name);
        json_begin(&p->w, '[');
        json_add_text(&p->w, s.list[i].sort);
        json_add_text(&p->w, model.s);
        json_end(&p->w, ']');
    }
    return 0;
}

/* discover CAPTURE TAG_ID CONFIG_FILE PLANE */
static int discover(struct probe *p)
{
    struct node *config = read_json(p->word[2], p->err);
    int rc = config != NULL
                 ? estuary_draft_discover(p->run, p->token, p->draft, p->word[0], p->word[1],
                                          config, p->word[3], &p->complaints, p->err)
                 : -1;
    node_free(config);
    return rc;
}

static int try(struct probe *p)
{
    return estuary_draft_try(p->run, p->token, p->draft, p->word[0], &p->complaints, p->err);
}

static int delete (struct probe *p)
{
    return estuary_draft_delete(p->run, p->token, p->draft, p->err);
}

static const struct command {
    const char *name;
    int (*run)(struct probe *p);
} commands[] = {{"new", make},          {"use", use}, {"stage", stage},  {"read", read_back},
                {"discover", discover}, {"try", try}, {"delete", delete}};

/* --- answers ---------------------------------------------------------------------------------- */

static void progressed(void *ctx, int64_t done, int64_t total, const char *what)
{
    struct probe *p = ctx;
    (void)done;
    (void)total;
    AUTO_TEXT word = TEXT_INIT;
    struct json_writer w = {.out = &word};
    json_add_text(&w, what);
    text_sep(&p->progress, ",");
    text_add(&p->progress, word.s);
    if (p->cancel_on != NULL && strstr(what, p->cancel_on) != NULL)
        run_cancel(p->run);
}

static void write_complaints(struct json_writer *w, const struct estuary_complaints *c)
{
    json_key(w, "complaints");
    json_begin(w, '[');
    for (size_t i = 0; i < c->count; i++) {
        json_begin(w, '[');
        json_add_text(w, c->list[i].sort);
        json_add_text(w, c->list[i].name);
        json_add_text(w, c->list[i].where);
        json_add_text(w, c->list[i].detail);
        json_end(w, ']');
    }
    json_end(w, ']');
}

static void answer(struct probe *p, const struct command *command)
{
    AUTO_TEXT result = TEXT_LIMITED((size_t)64 << 20), line = TEXT_LIMITED((size_t)64 << 20);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct json_writer w = {.out = &line};
    p->w = (struct json_writer){.out = &result};
    p->err = &err;
    json_begin(&p->w, '{');
    int rc = command->run(p);
    json_end(&p->w, '}');
    json_begin(&w, '{');
    json_pair_bool(&w, "ok", rc == 0);
    if (rc != 0)
        probe_problem(&w, &err);
    write_complaints(&w, &p->complaints);
    json_key(&w, "result");
    json_add_letters(&w, result.s);
    json_end(&w, '}');
    printf("%.*s,\"progress\":[%s]}\n", (int)line.len - 1, line.s, p->progress.s);
    fflush(stdout);
    text_reset(&p->progress);
    estuary_complaints_release(&p->complaints);
}

static void serve(struct probe *p)
{
    char *line = NULL, empty[] = "";
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        char *word[6];
        probe_words(line, word, ARRAY_LEN(word), empty);
        p->word = word + 1;
        for (size_t i = 0; i < ARRAY_LEN(commands); i++)
            if (strcmp(commands[i].name, word[0]) == 0)
                answer(p, &commands[i]);
    }
    free(line);
}

int main(int argc, char **argv)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct probe p = {.progress = TEXT_LIMITED((size_t)64 << 20)};
    struct net_options options = {0};
    struct run_spec spec = {.id = "probe", .progress = progressed, .ctx = &p, .deadline_ms = 60000};
    for (int i = 2; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--deadline") == 0)
            spec.deadline_ms = (int)strtol(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--cancel-on") == 0)
            p.cancel_on = argv[i + 1];
        else if (strcmp(argv[i], "--ca") == 0)
            options.ca_file = argv[i + 1];
    }
    spec.net = net_new(&options, &err);
    p.run = spec.net != NULL && argc > 1 ? run_make(&spec, &err) : NULL;
    if (p.run == NULL) {
        fprintf(stderr, "%s\n", err.what != NULL ? err.what : "usage: see the source");
        return 1;
    }
    size_t n;
    char *token = read_file(argv[1], &n);
    p.token = secret_new(token, strcspn(token, "\n"));
    xfree(token);
    serve(&p);
    run_free(p.run);
    net_free(spec.net);
    secret_unref(p.token);
    text_release(&p.progress);
    xfree(p.draft);
    return 0;
}
