/* The two tasks as they are staged and exported, from tables and configs. */
#ifndef SLUICE_STEPS_SPEC_MODELS_H
#define SLUICE_STEPS_SPEC_MODELS_H

#include "steps/spec/inputs.h"

/* config is taken. */
struct node *spec_capture_model(const struct spec_tables *t, struct node *config);
struct node *spec_materialization_model(const struct spec_tables *t, struct node *config,
                                        const char *image, const char *capture, const char *ns);

/* A draft that could not be deleted: an item of the outcome. PROBLEM_NONE says nothing. */
void spec_tell_left(const struct problem *left, struct outcome *out);
#endif
