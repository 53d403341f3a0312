/* What the probes share: the words of a command, and a problem as JSON. */
#ifndef PROBE_H
#define PROBE_H

#include <string.h>

#include "core/json.h"
#include "core/problem.h"

/* Cuts a line up at its tabs, into at most `room` words; `none` stands for "-" and for what is
 * missing. */
static inline void probe_words(char *line, char **word, size_t room, char *none)
{
    char *at = line;
    line[strcspn(line, "\n")] = '\0';
    for (size_t i = 0; i < room; i++) {
        word[i] = at != NULL ? at : none;
        if (at != NULL && (at = strchr(at, '\t')) != NULL)
            *at++ = '\0';
        if (word[i] != NULL && strcmp(word[i], "-") == 0)
            word[i] = none;
    }
}

static inline void probe_problem(struct json_writer *w, const struct problem *e)
{
    json_pair_text(w, "kind", problem_kind_name(e->kind));
    json_pair_text(w, "code", e->code);
    json_pair_text(w, "what", e->what);
    json_pair_text(w, "why", e->why);
    json_pair_text(w, "fix", e->fix);
    json_pair_text(w, "who", problem_who_name(e->who));
    json_pair_text(w, "evidence", e->evidence);
    json_pair_text(w, "copy", e->copy);
}
#endif
