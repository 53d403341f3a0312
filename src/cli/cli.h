/* The command line: commands and options are rows (cli/args.c), each command a function. */
#ifndef SLUICE_CLI_CLI_H
#define SLUICE_CLI_CLI_H

/* Runs the command that argv names; gives the exit code of the program (README, "Exit codes"). */
int cli_main(int argc, char **argv);
#endif
