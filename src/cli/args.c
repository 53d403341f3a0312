/* Command line grammar. To add a command: one row in cli.c's `commands`; to add an option: one row
 * here and a member in struct args. */
#include "cli/args.h"

#include <getopt.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"

#define FIRST_ID 256 /* of getopt: the row's index follows; below are letters */

static int wrong(struct problem *err, const char *command, const char *fmt, const char *what)
{
    AUTO(xfree) char *why = xasprintf("%s%s", fmt, what);
    problem_fail(err, PROBLEM_INPUT, "usage", "%s", why);
    problem_fix(err, WHO_YOU, "see `sluice %s%s--help`", command != NULL ? command : "",
                command != NULL ? " " : "");
    return -1;
}

static int take_set(struct args *a, const char *value, struct problem *err)
{
    (void)err;
    a->sets = xrealloc(a->sets, a->set_count + 1, sizeof(char *));
    a->sets[a->set_count++] = value;
    return 0;
}

static int take_timeout(struct args *a, const char *value, struct problem *err)
{
    char *end;
    long v = strtol(value, &end, 10);
    if (*end != '\0' || end == value || v < 1 || v > 86400)
        return wrong(err, NULL, "--timeout wants seconds from 1 to 86400, not ", value);
    a->timeout_s = (int)v;
    return 0;
}

static int take_deep(struct args *a, const char *value, struct problem *err)
{
    if (value != NULL && strcmp(value, "costs") != 0)
        return wrong(err, NULL, "--deep takes nothing or =costs, not =", value);
    a->deep = true;
    a->deep_costs = value != NULL;
    return 0;
}

struct option_row {
    const char *name;
    char letter;          /* 0 none */
    const char *argument; /* NULL none; in brackets when it may be left out */
    bool common;
    const char *help;
    size_t member; /* where it goes in struct args: a text, or a bool when there is no argument */
    int (*take)(struct args *a, const char *value, struct problem *err); /* instead of that */
};

#define TO(name) offsetof(struct args, name), NULL
#define BY(function) 0, function

static const struct option_row rows[] = {
    {"state", 0, "FILE", true, "state file (default: ./sluice.yaml)", TO(state)},
    {"answers", 0, "FILE", true, "answers, as the mapping under `answers:` of a state file",
     TO(answers)},
    {"set", 0, "FIELD=VALUE", true, "one answer; a secret as env:NAME or file:/absolute",
     BY(take_set)},
    {"passphrase-file", 0, "FILE", true, "passphrase of the secrets file", TO(passphrase_file)},
    {"ca-file", 0, "FILE", true, "PEM certificates trusted besides the system's (SLUICE_CA_FILE)",
     TO(ca_file)},
    {"log", 0, "FILE", true, "append what is done to FILE, without secrets", TO(log)},
    {"timeout", 0, "S", true, "give up after S seconds", BY(take_timeout)},
    {"no-color", 0, NULL, true, "no colours (also: NO_COLOR)", TO(no_color)},
    {"json", 0, NULL, false, "the result as JSON", TO(json)},
    {"junit", 0, "FILE", false, "a JUnit report besides", TO(junit)},
    {"deep", 0, "[costs]", false,
     "also probes that write and remove something; =costs: also those that cost", BY(take_deep)},
    {"yes", 0, NULL, false, "consent to the plan", TO(yes)},
    {"reason", 0, "TEXT", false, "why the exception is right", TO(reason)},
    {"plain", 0, NULL, false, "line by line, for screen readers and dumb terminals", TO(plain)},
    {"output", 'o', "DIR", false, "the folder to write (default: the pipeline's name)", TO(output)},
    {"secrets", 0, "FORM", false, "sealed (where it can be had), placeholder, or plain",
     TO(secrets)},
    {"dry-run", 0, NULL, false, "for trial: nothing goes live", TO(dry_run)},
    {"help", 'h', NULL, true, "this help", TO(help)},
    {"version", 0, NULL, true, "the version", TO(version)},
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

static int take(struct args *a, const struct option_row *row, const char *value,
                struct problem *err)
{
    char *member = (char *)a + row->member;
    if (value != NULL && value[0] == '\0') /* mostly a variable that is not set */
        return wrong(err, NULL, "an empty value is given to --", row->name);
    if (row->take != NULL)
        return row->take(a, value, err);
    if (row->argument != NULL)
        memcpy(member, &value, sizeof value);
    else
        memcpy(member, &(bool){true}, sizeof(bool));
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
    if (id >= FIRST_ID)
        return &rows[id - FIRST_ID];
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (rows[i].letter != 0 && rows[i].letter == id)
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
        long_options[i] = (struct option){rows[i].name, has, NULL, FIRST_ID + (int)i};
    }
    *out = (struct args){.command = &commands[0]};
    opterr = 0;
    optind = 0; /* glibc: start anew, so that tests may parse twice */
    for (;;) {
        int id = getopt_long(argc, argv, ":ho:", long_options, NULL);
        if (id == -1)
            break;
        if (id == ':')
            return wrong(err, NULL, "a value is missing after --", row_of(optopt)->name);
        const struct option_row *row = row_of(id);
        if (id == '?' || row == NULL) {
            /* of "-xh" the x is unknown, and optind stands still */
            bool whole = strncmp(argv[optind - 1], "--", 2) == 0;
            const char letter[] = {'-', (char)optopt, '\0'};
            return wrong(err, NULL, "unknown option ", whole ? argv[optind - 1] : letter);
        }
        if (take(out, row, optarg, err) != 0)
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
