/* Asks Estuary's control plane through src/estuary, for tests that watch it from outside:
 * test_estuary_client.py.
 *
 * Reads commands from stdin, one a line, words separated by tabs ("-" = none), and answers each
 * with a line of JSON: {"ok":true,"ms":…,"result":…} or {"ok":false,"ms":…,"kind":…,"code":…,…}.
 * One process is one network, so that the shared login can be seen. `cancel COMMAND…` cancels a
 * command when SIGUSR1 comes; "ms" counts from then on.
 *
 * estuary_probe TOKEN_FILE CA_FILE [DEADLINE_MS] */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/node_json.h"
#include "estuary/account.h"
#include "estuary/live.h"
#include "net/net.h"
#include "probe.h"

struct probe {
    struct run *run;
    struct secret *token;
    char **word; /* of the command, without its name; NULL = "-" or missing */
    struct json_writer w;
    struct problem *err;
};

/* --- commands --------------------------------------------------------------------------------- */

static void write_who(struct probe *p, const struct estuary_who *who)
{
    json_pair_text(&p->w, "email", who->email);
    json_pair_bool(&p->w, "access", who->access);
    json_pair_bool(&p->w, "single_use", who->single_use);
    json_pair_number(&p->w, "until", who->until);
}

static int who(struct probe *p)
{
    struct estuary_who who;
    if (estuary_who(p->run, p->token, &who, p->err) != 0)
        return -1;
    write_who(p, &who);
    estuary_who_release(&who);
    return 0;
}

static void write_list(struct probe *p, char *const *list, size_t count)
{
    json_begin(&p->w, '[');
    for (size_t i = 0; i < count; i++)
        json_add_text(&p->w, list[i]);
    json_end(&p->w, ']');
}

static void write_plane(struct probe *p, const struct estuary_plane *plane)
{
    json_key(&p->w, plane->name);
    json_begin(&p->w, '{');
    json_pair_text(&p->w, "cloud", plane->cloud);
    json_pair_text(&p->w, "region", plane->region);
    json_pair_bool(&p->w, "public", plane->is_public);
    json_pair_bool(&p->w, "closed", plane->closed);
    json_key(&p->w, "cidrs");
    write_list(p, plane->cidrs, plane->cidr_count);
    json_end(&p->w, '}');
}

static int account(struct probe *p)
{
    AUTO_ESTUARY_ACCOUNT a;
    if (estuary_account_read(p->run, p->token, &a, p->err) != 0)
        return -1;
    write_who(p, &a.who);
    json_pair_bool(&p->w, "cut", a.cut);
    json_key(&p->w, "prefixes");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < a.prefix_count; i++)
        json_pair_text(&p->w, a.prefixes[i].prefix, a.prefixes[i].capability);
    json_end(&p->w, '}');
    json_key(&p->w, "planes");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < a.plane_count; i++)
        write_plane(p, &a.planes[i]);
    json_end(&p->w, '}');
    json_key(&p->w, "mappings");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < a.mapping_count; i++) {
        json_key(&p->w, a.mappings[i].prefix);
        write_list(p, a.mappings[i].planes, a.mappings[i].plane_count);
    }
    json_end(&p->w, '}');
    return 0;
}

static int connector(struct probe *p)
{
    AUTO_CONNECTOR c;
    if (estuary_connector_read(p->run, p->token, p->word[0], &c, p->err) != 0)
        return -1;
    json_pair_text(&p->w, "id", c.id);
    json_pair_text(&p->w, "image", c.image);
    json_pair_text(&p->w, "tag", c.tag);
    json_pair_bool(&p->w, "exact", c.exact);
    json_pair_text(&p->w, "title", node_get_text(c.schema, "title"));
    json_pair_number(&p->w, "properties",
                     c.schema != NULL ? (long long)node_get(c.schema, "properties")->count : -1);
    return 0;
}

static int live(struct probe *p)
{
    const char *names[512];
    size_t count = 0;
    for (char *at = p->word[0], *next; at != NULL && count < ARRAY_LEN(names); at = next) {
        next = strchr(at, ',');
        if (next != NULL)
            *next++ = '\0';
        names[count++] = at;
    }
    AUTO_LIVES lives;
    if (estuary_live_read(p->run, p->token, names, count, &lives, p->err) != 0)
        return -1;
    for (size_t i = 0; i < lives.count; i++)
        json_pair_text(&p->w, lives.list[i].name, lives.list[i].sort);
    return 0;
}

static void write_answer(struct probe *p, cJSON *answer)
{
    char *s = answer != NULL ? cJSON_PrintUnformatted(answer) : NULL;
    json_pair_text(&p->w, "json", s);
    free(s);
    cJSON_Delete(answer);
}

/* graphql QUERY [VARIABLES] */
static int graphql(struct probe *p)
{
    cJSON *data = NULL;
    struct node *variables = NULL;
    if (p->word[1] != NULL)
        variables = node_parse_json(p->word[1], strlen(p->word[1]), "variables", p->err);
    int rc = estuary_graphql(p->run, p->token, p->word[0], variables, &data, p->err);
    node_free(variables);
    if (rc == 0)
        write_answer(p, data);
    return rc;
}

/* pg METHOD PATH [QUERY [BODY]]; "1" after a method asks for exactly one row. */
static int pg(struct probe *p)
{
    AUTO(xfree) char *method = xstrdup(p->word[0]);
    size_t n = strlen(method);
    struct estuary_pg_call call = {
        .method = method, .path = p->word[1], .query = p->word[2], .body = p->word[3]};
    if (method[n - 1] == '1') {
        call.one = true;
        method[n - 1] = '\0';
    }
    if (call.body != NULL)
        call.prefer = "return=representation";
    cJSON *answer = NULL;
    if (estuary_pg(p->run, p->token, &call, &answer, p->err) != 0)
        return -1;
    write_answer(p, answer);
    return 0;
}

struct one {
    pthread_t thread;
    struct net *net;
    struct secret *token;
    const char *query;
    bool ok;
};

static void *ask_once(void *context)
{
    struct one *o = context;
    struct run *run = run_new_detached(NULL, o->net, 0);
    cJSON *data = NULL;
    o->ok = estuary_graphql(run, o->token, o->query, NULL, &data, NULL) == 0;
    cJSON_Delete(data);
    run_free(run);
    return NULL;
}

/* crowd QUERY: asked by many threads at once. */
static int crowd(struct probe *p)
{
    struct one ones[16];
    long long ok = 0;
    for (size_t i = 0; i < ARRAY_LEN(ones); i++) {
        ones[i] = (struct one){.net = run_net(p->run), .token = p->token, .query = p->word[0]};
        if (pthread_create(&ones[i].thread, NULL, ask_once, &ones[i]) != 0)
            exit(1);
    }
    for (size_t i = 0; i < ARRAY_LEN(ones); i++) {
        pthread_join(ones[i].thread, NULL);
        ok += ones[i].ok;
    }
    json_pair_number(&p->w, "ok", ok);
    return 0;
}

static const struct command {
    const char *name;
    int (*run)(struct probe *p);
} commands[] = {{"who", who},    {"account", account}, {"connector", connector},
                {"live", live},  {"graphql", graphql}, {"pg", pg},
                {"crowd", crowd}};

/* --- the loop --------------------------------------------------------------------------------- */

struct canceller {
    struct run *run;
    int64_t at;
};

static void *cancel_by_signal(void *context)
{
    struct canceller *c = context;
    sigset_t set;
    int number;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    sigwait(&set, &number);
    c->at = clock_ms();
    run_cancel_detached(c->run);
    return NULL;
}

static void answer(struct probe *p, const struct command *command, bool cancel)
{
    AUTO_TEXT result = TEXT_INIT;
    AUTO_TEXT line = TEXT_INIT;
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct json_writer w = {.out = &line};
    struct canceller canceller = {.run = p->run};
    pthread_t thread;
    p->w = (struct json_writer){.out = &result};
    p->err = &err;
    if (cancel && pthread_create(&thread, NULL, cancel_by_signal, &canceller) != 0)
        exit(1);
    int64_t began = clock_ms();
    json_begin(&p->w, '{');
    int rc = command->run(p);
    json_end(&p->w, '}');
    int64_t ended = clock_ms();
    if (cancel) {
        pthread_join(thread, NULL);
        began = canceller.at;
    }
    json_begin(&w, '{');
    json_pair_bool(&w, "ok", rc == 0);
    json_pair_number(&w, "ms", ended - began);
    if (rc != 0)
        probe_problem(&w, &err);
    json_end(&w, '}');
    printf("%.*s%s%s}\n", (int)line.len - 1, line.s, rc == 0 ? ",\"result\":" : "",
           rc == 0 ? result.s : "");
    fflush(stdout);
}

static const struct command *command_of(const char *name)
{
    for (size_t i = 0; name != NULL && i < ARRAY_LEN(commands); i++)
        if (strcmp(commands[i].name, name) == 0)
            return &commands[i];
    fprintf(stderr, "no command %s\n", name != NULL ? name : "");
    exit(1);
}

static void serve(struct net *net, struct probe *p, int deadline_ms)
{
    char *line = NULL;
    size_t room = 0;
    while (getline(&line, &room, stdin) > 0) {
        char *words[8];
        probe_words(line, words, ARRAY_LEN(words), NULL);
        bool cancel = words[0] != NULL && strcmp(words[0], "cancel") == 0;
        char **from = words + cancel;
        p->run = run_new_detached(NULL, net, deadline_ms);
        p->word = from + 1;
        answer(p, command_of(from[0]), cancel);
        run_free(p->run);
    }
    free(line);
}

static struct secret *read_token(const char *path)
{
    char bytes[20000];
    FILE *f = fopen(path, "r");
    size_t n = f != NULL ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f != NULL)
        fclose(f);
    return secret_new(bytes, n);
}

int main(int argc, char **argv)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    if (argc < 3)
        return 2;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGUSR1);
    pthread_sigmask(SIG_BLOCK, &set, NULL); /* for all threads: one waits for it */
    const struct net_options options = {.ca_file = argv[2]};
    struct net *net = net_new(&options, &err);
    if (net == NULL) {
        fprintf(stderr, "%s\n", err.what);
        return 1;
    }
    struct probe p = {.token = read_token(argv[1])};
    serve(net, &p, argc > 3 ? atoi(argv[3]) : 20000);
    net_free(net);
    secret_unref(p.token);
    return 0;
}
