/* What the rows of several steps need to judge a typed answer. */
#ifndef SLUICE_STEPS_ANSWER_H
#define SLUICE_STEPS_ANSWER_H

#include "core/problem.h"

/* Normaliser: a copy without blanks and line ends at both edges, as they come along with a paste;
 * xfree. */
char *answer_trim(const char *typed);
/* Validator for one-line texts without blanks: PROBLEM_INPUT for blanks inside, control characters,
 * quotes around the whole and placeholders in <…>. Says what is wrong, never the text itself. */
int answer_word(const char *text, struct problem *err);
/* Validator: one line without control characters. */
int answer_line(const char *text, struct problem *err);
#endif
