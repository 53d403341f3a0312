/* Command line grammar. To add a command: one row in cli.c's `commands`; to add an option: one row
 * here and a member in struct args. */
#include "cli/args.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

struct option_row {
    const char *name;
    enum option_id id;
    char letter;          /* 0 none */
    const char *argument; /* NULL none; in brackets when it may be left out */
    bool common;
    const char *help;
};

static const struct option_row rows[] = {
    {"state", OPT_STATE, 0, "FILE", true, "state file (default: ./sluice.yaml)"},
    {"answers", OPT_ANSWERS, 0, "FILE", true,
     "answers, as the mapping under `answers:` of a state file"},
    {"set", OPT_SET, 0, "FIELD=VALUE", true, "one answer; a secret as env:NAME or file:/absolute"},
    {"passphrase-file", OPT_PASSPHRASE_FILE, 0, "FILE", true, "passphrase of the secrets file"},
    {"ca-file", OPT_CA_FILE, 0, "FILE", true,
     "PEM certificates trusted besides the system's (SLUICE_CA_FILE)"},
    {"log", OPT_LOG, 0, "FILE", true, "append what is done to FILE, without secrets"},
    {"timeout", OPT_TIMEOUT, 0, "S", true, "give up after S seconds"},
    {"no-color", OPT_NO_COLOR, 0, NULL, true, "no colours (also: NO_COLOR)"},
    {"json", OPT_JSON, 0, NULL, false, "the result as JSON"},
    {"junit", OPT_JUNIT, 0, "FILE", false, "a JUnit report besides"},
    {"deep", OPT_DEEP, 0, "[costs]", false,
     "also probes that write and remove something; =costs: also those that cost"},
    {"yes", OPT_YES, 0, NULL, false, "consent to the plan"},
    {"reason", OPT_REASON, 0, "TEXT", false, "why the exception is right"},
    {"plain", OPT_PLAIN, 0, NULL, false, "line by line, for screen readers and dumb terminals"},
    {"output", OPT_OUTPUT, 'o', "DIR", false, "the folder to write (default: the pipeline's name)"},
    {"secrets", OPT_SECRETS, 0, "FORM", false,
     "sealed (where it can be had), placeholder, or plain"},
    {"dry-run", OPT_DRY_RUN, 0, NULL, false, "for trial: nothing goes live"},
    {"help", OPT_HELP, 'h', NULL, true, "this help"},
    {"version", OPT_VERSION, 0, NULL, true, "the version"},
};

int exit_worse(int a, int b)
{
    static const int order[] = {EXIT_STATE, EXIT_CANNOT_ASK, EXIT_FAILED, EXIT_UNREACHABLE,
                                EXIT_CHANGES};
    for (size_t i = 0; i < ARRAY_LEN(order); i++)
        if (a == order[i] || b == order[i])
            return order[i];
    return a != 0 ? a : b;
}

static bool belongs(const struct option_row *row, const struct command *c)
{
    if (row->common)
        return true;
    size_t n = strlen(row->name);
    for (const char *at = c->options; at != NULL && (at = strstr(at, row->name)) != NULL; at += n)
        if ((at == c->options || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0'))
            return true;
    return false;
}

static int wrong(struct problem *err, const char *command, const char *fmt, const char *what)
{
    AUTO(xfree) char *why = xasprintf("%s%s", fmt, what);
    problem_fail(err, PROBLEM_INPUT, "usage", "%s", why);
    problem_fix(err, WHO_YOU, "see `sluice %s%s--help`", command != NULL ? command : "",
                command != NULL ? " " : "");
    return -1;
}

static int take_number(const char *text, int *out, struct problem *err)
{
    char *end;
    long v = strtol(text, &end, 10);
    if (*end != '\0' || end == text || v < 1 || v > 86400)
        return wrong(err, NULL, "--timeout wants seconds from 1 to 86400, not ", text);
    *out = (int)v;
    return 0;
}

static int take(struct args *a, int id, const char *value, struct problem *err)
{
    switch (id) {
    case OPT_STATE:
        a->state = value;
        break;
    case OPT_ANSWERS:
        a->answers = value;
        break;
    case OPT_PASSPHRASE_FILE:
        a->passphrase_file = value;
        break;
    case OPT_CA_FILE:
        a->ca_file = value;
        break;
    case OPT_LOG:
        a->log = value;
        break;
    case OPT_JUNIT:
        a->junit = value;
        break;
    case OPT_REASON:
        a->reason = value;
        break;
    case OPT_OUTPUT:
        a->output = value;
        break;
    case OPT_SECRETS:
        a->secrets = value;
        break;
    case OPT_NO_COLOR:
        a->no_color = true;
        break;
    case OPT_JSON:
        a->json = true;
        break;
    case OPT_YES:
        a->yes = true;
        break;
    case OPT_PLAIN:
        a->plain = true;
        break;
    case OPT_DRY_RUN:
        a->dry_run = true;
        break;
    case OPT_HELP:
        a->help = true;
        break;
    case OPT_VERSION:
        a->version = true;
        break;
    case OPT_TIMEOUT:
        return take_number(value, &a->timeout_s, err);
    case OPT_SET:
        a->sets = xrealloc(a->sets, a->set_count + 1, sizeof(char *));
        a->sets[a->set_count++] = value;
        break;
    case OPT_DEEP:
        if (value != NULL && strcmp(value, "costs") != 0)
            return wrong(err, NULL, "--deep takes nothing or =costs, not =", value);
        a->deep = true;
        a->deep_costs = value != NULL;
        break;
    }
    return 0;
}

static const struct command *find_command(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0)
            return c;
    return NULL;
}

static const struct option_row *row_of(int id)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if ((int)rows[i].id == id || (id != 0 && rows[i].letter == id))
            return &rows[i];
    return NULL;
}

int args_parse(int argc, char **argv, struct args *out, struct problem *err)
{
    struct option long_options[ARRAY_LEN(rows) + 1] = {0};
    const struct option_row *given[64];
    size_t given_count = 0;
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        int has = rows[i].argument == NULL     ? no_argument
                  : rows[i].argument[0] == '[' ? optional_argument
                                               : required_argument;
        long_options[i] = (struct option){rows[i].name, has, NULL, (int)rows[i].id};
    }
    *out = (struct args){.command = &commands[0]};
    opterr = 0;
    optind = 0; /* glibc: start anew, so that tests may parse twice */
    for (;;) {
        int at = optind > 0 ? optind : 1;
        int id = getopt_long(argc, argv, ":ho:", long_options, NULL);
        if (id == -1)
            break;
        if (id == ':')
            return wrong(err, NULL, "a value is missing after ", argv[at]);
        const struct option_row *row = row_of(id);
        if (id == '?' || row == NULL) {
            /* of "-xh" the x is unknown, and optind stands still */
            bool whole = strncmp(argv[optind - 1], "--", 2) == 0;
            const char letter[] = {'-', (char)optopt, '\0'};
            return wrong(err, NULL, "unknown option ", whole ? argv[optind - 1] : letter);
        }
        if (take(out, (int)row->id, optarg, err) != 0)
            return -1;
        if (given_count < ARRAY_LEN(given))
            given[given_count++] = row;
    }
    if (optind < argc) {
        out->command = find_command(argv[optind]);
        if (out->command == NULL)
            return wrong(err, NULL, "unknown command ", argv[optind]);
        out->command_given = true;
        out->words = argv + optind + 1;
        out->word_count = argc - optind - 1;
    }
    for (size_t i = 0; i < given_count; i++)
        if (!belongs(given[i], out->command))
            return wrong(err, out->command->name, "this command does not take --", given[i]->name);
    return 0;
}

void args_release(struct args *a)
{
    xfree(a->sets);
    a->sets = NULL;
}

void args_each_option(void (*each)(void *ctx, const char *name, const char *argument,
                                   const char *help),
                      void *ctx)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        each(ctx, rows[i].name, rows[i].argument, rows[i].help);
}

void args_options(struct text *out)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        text_addf(out, "--%s ", rows[i].name);
}

static void help_option(const struct option_row *r, struct text *out)
{
    AUTO_TEXT left = TEXT_INIT;
    if (r->letter != 0)
        text_addf(&left, "-%c, ", r->letter);
    text_addf(&left, "--%s", r->name);
    if (r->argument != NULL)
        text_addf(&left, "%s%s", r->argument[0] == '[' ? "" : " ",
                  r->argument[0] == '[' ? "[=costs]" : r->argument);
    text_addf(out, "  %-26s %s\n", left.s, r->help);
}

void args_help(const struct command *c, struct text *out)
{
    bool all = c == NULL;
    text_addf(out, "Usage: sluice %s%s[OPTION…]%s%s\n", all ? "[COMMAND] " : c->name,
              all ? "" : " ", all || c->words[0] == '\0' ? "" : " ", all ? "" : c->words);
    text_addf(out, "%s\n",
              all ? "Sets up PostgreSQL (CDC) → Estuary → Apache Iceberg tables in Bauplan."
                  : c->summary);
    if (all) {
        text_add(out, "\nCommands (without one: wizard)\n");
        for (const struct command *k = commands; k->name != NULL; k++) {
            AUTO(xfree) char *left = xasprintf("%s %s", k->name, k->words);
            text_addf(out, "  %-26s %s\n", left, k->summary);
        }
    } else if (c->options != NULL && c->options[0] != '\0') {
        text_add(out, "\nOptions\n");
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            if (!rows[i].common && belongs(&rows[i], c))
                help_option(&rows[i], out);
    }
    text_add(out, "\nCommon options\n");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].common)
            help_option(&rows[i], out);
    text_add(out, "\nExit codes: 0 done · 1 a check or change failed · 2 there are changes to "
                  "apply · 3 an answer or the\n"
                  "consent is missing · 4 a service cannot be reached · 5 state or answers file "
                  "cannot be used ·\n"
                  "64 wrong usage · 70 a bug in sluice · 128+n ended by signal n, state saved\n");
}
