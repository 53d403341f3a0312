/* The rows of the commands, and the way from argv to one of them. */
#include "cli/cli.h"

#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include "cli/commands.h"
#include "cli/session.h"

const struct command commands[] = {
    {"wizard", "", "start or resume the set-up, screen by screen", "plain", command_wizard},
    {"check", "[STEP|ID…]", "prove steps or single checks against the live services",
     "json junit deep", command_check},
    {"plan", "[STEP…]", "show what would be made or changed; writes nothing", "json", command_plan},
    {"apply", "[STEP…]", "carry out the plan, then prove it", "json yes", command_apply},
    {"undo", "[STEP]", "take back what was made here, newest first, and prove it gone", "json yes",
     command_undo},
    {"export", "", "write the specification, SQL, policies and a runbook into a folder to review",
     "output secrets", command_export},
    {"publish", "", "have Estuary build the specification for trial", "dry-run json",
     command_publish},
    {"status", "", "how the set-up stands by its state file, without asking any service", "json",
     command_status},
    {"accept", "ID", "record an exception for a check, with its reason", "reason", command_accept},
    {"state", "show|get FIELD|set FIELD VALUE|reset STEP|forget-secrets|path",
     "look at or edit the state file", "", command_state},
    {"completion", "bash|zsh|fish", "print a completion script for a shell", "",
     command_completion},
    {NULL, NULL, NULL, NULL, NULL},
};

/* Secrets live in this process: no core dumps, no look from other processes of the user. */
static void harden(void)
{
    prctl(PR_SET_DUMPABLE, 0);
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
}

int cli_main(int argc, char **argv)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    struct args a;
    int code;
    harden();
    if (args_parse(argc, argv, &a, &p) != 0) {
        complain(&p);
        code = EXIT_USAGE;
    } else if (a.version) {
        printf("sluice %s\n", SLUICE_VERSION);
        code = EXIT_DONE;
    } else if (a.help) {
        AUTO_TEXT help = TEXT_INIT;
        args_help(a.command_given ? a.command : NULL, &help);
        fputs(help.s, stdout);
        code = EXIT_DONE;
    } else {
        code = a.command->run(&a);
    }
    args_release(&a);
    if (fflush(stdout) != 0 && code == EXIT_DONE) {
        fputs("sluice: cannot write the result to stdout\n", stderr);
        code = EXIT_FAILED;
    }
    return code;
}
