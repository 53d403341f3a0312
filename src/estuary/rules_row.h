/* A rule as a row, and what rows of both connectors judge by. Shared by rules*.c only. */
#ifndef SLUICE_ESTUARY_RULES_ROW_H
#define SLUICE_ESTUARY_RULES_ROW_H

#include "estuary/rules.h"

struct estuary_rule {
    const char *path;
    /* value: the text at path, "" when there is none or it is no text. */
    bool (*broken)(const struct node *config, const char *value);
    const char *says; /* {} stands for the value */
    const char *why, *fix;
    bool ours;
};

/* An object and the only keys it may have, blanks between. */
struct estuary_keys {
    const char *path; /* "" = the root */
    const char *known;
    bool ours; /* here the connector passes over what it does not know */
};

struct estuary_rules {
    const struct estuary_rule *rules;
    size_t rule_count;
    const struct estuary_keys *keys;
    size_t key_count;
    const char *unknown; /* the connector's text; {} = the key */
};
void estuary_judge(const struct estuary_rules *rules, const struct node *config,
                   struct estuary_faults *out);

/* The text at a path, "" when there is none. Borrowed. */
const char *estuary_at(const struct node *config, const char *path);
bool estuary_is(const struct node *config, const char *path, const char *text);
/* Judges: value is not there; is none of the words (blanks between). */
bool estuary_missing(const struct node *config, const char *value);
bool estuary_among(const char *value, const char *words);
/* What stands at the path is true or false. */
bool estuary_is_switch(const struct node *config, const char *path);
bool estuary_is_map(const struct node *config, const char *path);
bool estuary_only(const char *value, const char *letters);
#endif
