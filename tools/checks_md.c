/* Writes docs/checks.md from the rows: every check with what it proves, why it fails and what is
 * done then. The page is kept in the repository; a test compares it with this program's output
 * (`cmake --build … --target docs` renews it). */
#include <stdio.h>

#include "core/text.h"
#include "steps/steps.h"

static void add_check(const struct check *c, struct text *out)
{
    text_addf(out, "### `%s`\n\n%s. %s; %s.\n\n", c->id, c->title, severity_name(c->severity),
              effect_name(c->effect));
    if (c->touches != NULL)
        text_addf(out, "- **Touches:** %s\n", c->touches);
    if (c->cause != NULL)
        text_addf(out, "- **Fails when:** %s\n", c->cause);
    if (c->fix != NULL)
        text_addf(out, "- **Then:** %s\n", c->fix);
    text_add(out, "\n");
}

int main(void)
{
    AUTO_TEXT out = TEXT_INIT;
    text_add(&out, "# Checks\n\nGenerated from the rows in `src/steps`; do not edit. Each check "
                   "has a stable id, a severity (blocks, "
                   "danger to the\nsource, warns, informs) and an effect (reads; probes = writes "
                   "something temporary and removes it; "
                   "costs).\n\n");
    for (const struct step *const *s = steps_all(); *s != NULL; s++) {
        if ((*s)->checks == NULL)
            continue;
        text_addf(&out, "## %s%s%s\n\n", (*s)->number, (*s)->number[0] != '\0' ? " " : "",
                  (*s)->title);
        for (size_t i = 0; (*s)->checks[i] != NULL; i++)
            add_check((*s)->checks[i], &out);
    }
    return fputs(out.s, stdout) < 0 || fflush(stdout) != 0;
}
