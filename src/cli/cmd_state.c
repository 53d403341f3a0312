/* status, accept and state: looking at and editing the state file, without asking any service. */
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/report.h"
#include "core/file.h"
#include "core/mem.h"

static int usage(const struct args *a, const char *what)
{
    fprintf(stderr, "sluice: %s\n  you: sluice %s %s\n", what, a->command->name, a->command->words);
    return EXIT_USAGE;
}

int command_status(const struct args *a)
{
    struct session s;
    struct selection sel = {0};
    AUTO_PROBLEM p = PROBLEM_INIT;
    int code = session_open(&s, a, SESSION_READ);
    if (code != 0)
        return code;
    if (selection_make(&s, &(struct args){.deep_costs = true}, &sel, &p) != 0) {
        complain(&p);
        return session_close(&s, EXIT_BUG);
    }
    AUTO_TEXT out = TEXT_INIT;
    struct paint paint = paint_of(a);
    code = report_code(&s, &sel);
    if (a->json) {
        report_checks_json(&s, &sel, code == 0, &out);
    } else {
        for (size_t i = 0; i < s.rows.step_count; i++) {
            struct step_view v;
            if (s.rows.steps[i]->page != NULL)
                continue; /* it tells of the others */
            wizard_step_view(s.wizard, (int)i, &v);
            paint_mark(&out, paint, v.later ? STATUS_NONE : v.status,
                       v.stale && v.status == STATUS_PASSED);
            text_addf(&out, " %-16s ", s.rows.steps[i]->id);
            if (v.later)
                text_add(&out, "later\n");
            else
                text_addf(&out, "%d of %d proved%s\n", v.passed + v.warned, v.total,
                          v.stale ? ", some are old or of other answers" : "");
        }
        text_addf(&out, "state %s\n", state_path(s.state));
        if (state_holder(s.state) != NULL)
            text_addf(&out, "in use: %s\n", state_holder(s.state));
    }
    fputs(out.s, stdout);
    selection_release(&sel);
    return session_close(&s, code);
}

int command_accept(const struct args *a)
{
    struct session s;
    if (a->word_count != 1 || a->reason == NULL || a->reason[0] == '\0')
        return usage(a, "an exception needs the id of one check and --reason TEXT");
    int code = session_open(&s, a, SESSION_WRITE);
    if (code != 0)
        return code;
    int check = rows_check(&s.rows, a->words[0]);
    if (check < 0) {
        fprintf(stderr, "sluice: “%s” is no check\n  you: `sluice status --json` lists them\n",
                a->words[0]);
        return session_close(&s, EXIT_USAGE);
    }
    wizard_accept(s.wizard, check, a->reason);
    printf("%s is accepted: %s\n", a->words[0], a->reason);
    return session_close(&s, 0);
}

/* --- state ------------------------------------------------------------------------------------ */

static int state_show(struct session *s)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    AUTO_TEXT bytes = TEXT_INIT;
    if (file_read(state_path(s->state), STATE_FILE_MAX, true, &bytes, &p) != 0) {
        complain(&p);
        return EXIT_STATE;
    }
    fputs(bytes.s, stdout);
    return 0;
}

static int state_get(struct session *s, const char *id)
{
    int field = rows_field(&s->rows, id);
    if (field < 0) {
        fprintf(stderr, "sluice: “%s” is no field\n", id);
        return EXIT_USAGE;
    }
    const struct value *v = wizard_effective(s->wizard, field);
    AUTO(xfree) char *text = v != NULL ? value_show(v) : NULL;
    if (text == NULL)
        return EXIT_CANNOT_ASK;
    puts(text);
    return 0;
}

static int state_set(struct session *s, const char *id, const char *value)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    AUTO(xfree) char *assignment = xasprintf("%s=%s", id, value);
    if (answers_set(s->wizard, assignment, ORIGIN_TYPED, &p) == 0)
        return 0;
    complain(&p);
    return EXIT_USAGE;
}

static int state_reset(struct session *s, const char *id)
{
    int step = rows_step(&s->rows, id);
    if (step < 0) {
        fprintf(stderr, "sluice: “%s” is no step\n", id);
        return EXIT_USAGE;
    }
    for (size_t i = 0; i < s->rows.field_count; i++)
        if (rows_step_of(&s->rows, s->rows.fields[i]->id) == s->rows.steps[step])
            wizard_set(s->wizard, (int)i, NULL, ORIGIN_NONE, NULL);
    return 0;
}

static int state_forget(struct session *s)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    if (state_forget_secrets(s->state, s->wizard, &p) == 0)
        return 0;
    complain(&p);
    return EXIT_STATE;
}

static int run_verb(struct session *s, const struct args *a)
{
    const char *verb = a->words[0];
    if (strcmp(verb, "show") == 0 && a->word_count == 1)
        return state_show(s);
    if (strcmp(verb, "get") == 0 && a->word_count == 2)
        return state_get(s, a->words[1]);
    if (strcmp(verb, "set") == 0 && a->word_count == 3)
        return state_set(s, a->words[1], a->words[2]);
    if (strcmp(verb, "reset") == 0 && a->word_count == 2)
        return state_reset(s, a->words[1]);
    if (strcmp(verb, "forget-secrets") == 0 && a->word_count == 1)
        return state_forget(s);
    return usage(a, "state does not know these words");
}

int command_state(const struct args *a)
{
    struct session s;
    if (a->word_count == 0)
        return usage(a, "state wants a word");
    bool writes = strcmp(a->words[0], "set") == 0 || strcmp(a->words[0], "reset") == 0 ||
                  strcmp(a->words[0], "forget-secrets") == 0;
    int code = session_open(&s, a, writes ? SESSION_WRITE : SESSION_READ);
    if (code != 0)
        return code;
    if (strcmp(a->words[0], "path") == 0 && a->word_count == 1)
        puts(state_path(s.state));
    else
        code = run_verb(&s, a);
    return session_close(&s, code);
}
