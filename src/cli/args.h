/* The grammar of the command line, as rows: commands with their words, options with the commands
 * they belong to. Help, usage errors and shell completion come from these rows. Parsing is
 * getopt_long's. */
#ifndef SLUICE_CLI_ARGS_H
#define SLUICE_CLI_ARGS_H

#include <stdbool.h>
#include <stddef.h>

#include "core/problem.h"
#include "core/text.h"

enum exit_code {
    EXIT_DONE = 0,
    EXIT_FAILED = 1,      /* a blocking or danger check, a change, or a publication failed */
    EXIT_CHANGES = 2,     /* there are changes to apply */
    EXIT_CANNOT_ASK = 3,  /* an answer, a place for a secret, or the consent is missing */
    EXIT_UNREACHABLE = 4, /* a service could not be reached */
    EXIT_STATE = 5,       /* state or answers file cannot be used, or is locked */
    EXIT_USAGE = 64,
    EXIT_BUG = 70
};
/* Of several codes the first of 5, 3, 1, 4, 2 counts. */
int exit_worse(int a, int b);

struct args {
    const struct command *command;
    bool command_given; /* else it is the default one */
    char **words;       /* what stands after the command; borrowed from argv */
    int word_count;
    const char *state, *answers, *passphrase_file, *ca_file, *log, *junit, *reason, *output,
        *secrets;
    const char **sets;
    size_t set_count;
    int timeout_s; /* 0 = none */
    bool no_color, json, yes, plain, deep, deep_costs, dry_run, help, version;
};

struct command {
    const char *name;
    const char *words; /* for usage: "[STEP|ID…]" */
    const char *summary;
    const char *
        options; /* names of its own options, blank-separated; the common ones are always allowed */
    int (*run)(const struct args *a);
};

extern const struct command commands[]; /* ends with name NULL; the first is the default */

/* -1 and PROBLEM_INPUT: wrong usage (64). */
int args_parse(int argc, char **argv, struct args *out, struct problem *err);
void args_release(struct args *a);
void args_help(const struct command *c, struct text *out); /* NULL: of the program */
/* Adds "--name " of every option, for completion. */
void args_options(struct text *out);
/* Every option's row, for the man page; argument NULL = none. */
void args_each_option(void (*each)(void *ctx, const char *name, const char *argument,
                                   const char *help),
                      void *ctx);
#endif
