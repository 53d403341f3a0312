/* Plain mode: the same steps as lines, for screen readers, dumb terminals and scripts that wait for
 * prompts. It observes the same engine as the screens; nothing but text is appended. */
#ifndef SLUICE_UI_PLAIN_H
#define SLUICE_UI_PLAIN_H

#include "core/engine.h"
#include "core/state.h"
#include "core/wizard.h"
#include "ui/home.h"
#include "ui/hooks.h"

/* Runs until the operator leaves; gives the exit code (0, 130, 128 + n). Standard input and output
 * must be terminals. -1 and err when their modes cannot be read. */
int plain_run(struct wizard *w, struct state *s, struct engine *e, const struct front_hooks *hooks,
              struct problem *err);

/* The opening screen as lines: as home_run. */
int plain_home(struct home *h, char **path, struct problem *err);
#endif
