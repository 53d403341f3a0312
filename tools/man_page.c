/* Writes docs/sluice.1 from the rows of commands and options. Kept in the repository; a test
 * compares it with this program's output
 * (`cmake --build … --target docs` renews it). */
#include <stdio.h>
#include <string.h>

#include "cli/args.h"
#include "core/text.h"

/* roff takes a line that begins with a dot or an apostrophe for a request, and a backslash for an
 * escape. */
static void add(struct text *out, const char *s)
{
    for (; s != NULL && *s != '\0'; s++) {
        if (*s == '\\')
            text_add(out, "\\e");
        else if (*s == '-')
            text_add(out, "\\-");
        else
            text_addc(out, *s);
    }
}

static void add_option(void *ctx, const char *name, const char *argument, const char *help)
{
    struct text *out = ctx;
    text_add(out, ".TP\n.B \\-\\-");
    add(out, name);
    if (argument != NULL)
        text_addf(out, " %s", argument);
    text_add(out, "\n");
    add(out, help);
    text_add(out, "\n");
}

static void add_commands(struct text *out)
{
    text_add(out, ".SH COMMANDS\n");
    for (const struct command *c = commands; c->name != NULL; c++) {
        text_addf(out, ".TP\n.B %s\n.I ", c->name);
        add(out, c->words[0] != '\0' ? c->words : "\\&");
        text_add(out, "\n");
        add(out, c->summary);
        text_add(out, "\n");
    }
}

static const char tail[] =
    ".SH EXIT STATUS\n"
    "0 done; 1 a check, a change or a publication failed; 2 there are changes to apply; 3 an "
    "answer, a place to keep a secret or the\n"
    "consent is missing; 4 a service cannot be reached; 5 the state or answers file cannot be "
    "used; 64 wrong usage; 70 a bug;\n"
    "128+n ended by signal n, state saved. Of several the first of 5, 3, 1, 4, 2 counts.\n"
    ".SH FILES\n"
    ".TP\n.I sluice.yaml\nthe state; sluice.yaml.previous is the copy before, sluice.yaml.lock the "
    "lock\n"
    ".TP\n.I sluice.secrets\nsecrets, encrypted under your passphrase\n"
    ".TP\n.I $XDG_STATE_HOME/sluice/recent\npaths of recently used state files\n"
    ".SH ENVIRONMENT\n"
    "SLUICE_STEP_FIELD answers a field. SLUICE_CA_FILE, AWS_* as the AWS CLI reads them, "
    "HTTPS_PROXY, NO_PROXY, NO_COLOR, ACCESSIBLE\n"
    "(plain mode), LC_ALL and TERM are honoured.\n";

int main(void)
{
    AUTO_TEXT out = TEXT_INIT;
    text_add(&out, ".TH SLUICE 1\n.SH NAME\nsluice \\- from PostgreSQL to Iceberg tables in "
                   "Bauplan, step by step\n"
                   ".SH SYNOPSIS\n.B sluice\n[COMMAND] [OPTION...] [WORD...]\n"
                   ".SH DESCRIPTION\nSets up a pipeline from PostgreSQL (CDC) through Estuary Flow "
                   "to Apache Iceberg tables in Bauplan. Without a\n"
                   "command it opens the wizard. Headless commands never prompt.\n");
    add_commands(&out);
    text_add(&out, ".SH OPTIONS\n");
    args_each_option(add_option, &out);
    text_add(&out, tail);
    return fputs(out.s, stdout) < 0 || fflush(stdout) != 0;
}
