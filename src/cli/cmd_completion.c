/* completion: a small script for each shell, from the rows of commands, steps and checks. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "core/text.h"
#include "steps/steps.h"

static void add_words(struct text *out)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        text_addf(out, "%s ", c->name);
    for (const struct step *const *s = steps_all(); *s != NULL; s++)
        text_addf(out, "%s ", (*s)->id);
    for (const struct step *const *s = steps_all(); *s != NULL; s++)
        for (size_t i = 0; (*s)->checks != NULL && (*s)->checks[i] != NULL; i++)
            text_addf(out, "%s ", (*s)->checks[i]->id);
    args_options(out);
}

int command_completion(const struct args *a)
{
    AUTO_TEXT words = TEXT_INIT;
    const char *shell = a->word_count == 1 ? a->words[0] : "";
    add_words(&words);
    if (strcmp(shell, "bash") == 0)
        printf("complete -o default -W '%s' sluice\n", words.s);
    else if (strcmp(shell, "zsh") == 0)
        printf("#compdef sluice\n_sluice() { compadd -- %s; _files }\ncompdef _sluice sluice\n",
               words.s);
    else if (strcmp(shell, "fish") == 0)
        printf("complete -c sluice -a '%s'\n", words.s);
    else {
        fprintf(stderr, "sluice: name a shell\n  you: sluice completion bash|zsh|fish\n");
        return EXIT_USAGE;
    }
    return EXIT_DONE;
}
