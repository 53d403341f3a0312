/* The commands, a function each; their rows stand in cli.c. Each returns the exit code. */
#ifndef SLUICE_CLI_COMMANDS_H
#define SLUICE_CLI_COMMANDS_H

#include "cli/args.h"

int command_wizard(const struct args *a);
int command_check(const struct args *a);
int command_plan(const struct args *a);
int command_apply(const struct args *a);
int command_undo(const struct args *a);
int command_export(const struct args *a);
int command_publish(const struct args *a);
int command_status(const struct args *a);
int command_accept(const struct args *a);
int command_state(const struct args *a);
int command_completion(const struct args *a);
#endif
