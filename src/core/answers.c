/* Answers from outside the wizard: an answers file, the environment, --set. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/state.h"

/* Every id in the file must be a field: a typo would otherwise be an answer that silently does not
 * count. */
static int refuse_unknown(const struct rows *rows, const struct node *root, const char *path,
                          struct problem *err)
{
    for (size_t i = 0; i < root->count; i++) {
        const struct node *of_step = root->items[i];
        bool blank = of_step->kind == NODE_SCALAR && node_text(of_step) == NULL;
        if (rows_step(rows, root->keys[i]) < 0 || (of_step->kind != NODE_MAP && !blank)) {
            problem_fail(err, PROBLEM_INPUT, "unknown id", "%s: line %d: “%s” is %s", path,
                         of_step->line, root->keys[i],
                         rows_step(rows, root->keys[i]) < 0 ? "no step"
                                                            : "not a mapping of a step's answers");
            problem_fix(err, WHO_YOU, "correct the name; `sluice --help` lists the steps");
            return -1;
        }
        for (size_t k = 0; k < of_step->count; k++) {
            AUTO(xfree) char *id = xasprintf("%s.%s", root->keys[i], of_step->keys[k]);
            /* a step whose fields are not there yet takes any answer: its file may already be
             * complete */
            if (rows_field(rows, id) >= 0 ||
                rows->steps[rows_step(rows, root->keys[i])]->fields == NULL)
                continue;
            problem_fail(err, PROBLEM_INPUT, "unknown id", "%s: line %d: “%s” is no field", path,
                         of_step->items[k]->line, id);
            problem_fix(err, WHO_YOU, "correct the name");
            return -1;
        }
    }
    return 0;
}

int answers_load(struct wizard *w, const char *path, struct problem *err)
{
    const struct rows *rows = wizard_rows(w);
    AUTO_TEXT bytes = TEXT_INIT;
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (file_read(path, STATE_FILE_MAX, false, &bytes, &why) != 0) {
        problem_fail(err, PROBLEM_INPUT, why.code, "%s", why.what);
        problem_fix(err, WHO_YOU, "%s",
                    why.fix != NULL ? why.fix : "name an answers file that can be read");
        return -1;
    }
    AUTO(node_free) struct node *doc = node_parse_yaml(bytes.s, bytes.len, path, err);
    if (doc == NULL)
        return -1;
    const struct node *root = node_get(doc, "answers"); /* a state file serves as well */
    if (root != NULL && root->kind == NODE_SCALAR && node_text(root) == NULL)
        return 0;
    if (root == NULL || root->kind != NODE_MAP)
        root = doc;
    if (refuse_unknown(rows, root, path, err) != 0)
        return -1;
    for (size_t i = 0; i < rows->field_count; i++) { /* row order: hosts before their secrets */
        const char *id = rows->fields[i]->id;
        const struct node *of_step = node_get(root, rows_step_of(rows, id)->id);
        const struct node *n = node_get(of_step, strchr(id, '.') + 1);
        if (n == NULL || wizard_set_node(w, (int)i, n, ORIGIN_ANSWERS, &why) == 0)
            continue; /* here, unlike in the state, one that is not valid is refused */
        problem_fail(err, PROBLEM_INPUT, why.code, "%s: %s", path, why.what);
        problem_fix(err, WHO_YOU, "%s", why.fix != NULL ? why.fix : "correct that line");
        return -1;
    }
    return 0;
}

static char *variable_name(const char *id)
{
    char *name = xasprintf("SLUICE_%s", id);
    for (char *p = name; *p != '\0'; p++)
        *p = *p == '.' ? '_' : (char)toupper((unsigned char)*p);
    return name;
}

/* A secret that is not at hand may come from the environment, whatever the state says of it. */
static bool wants_environment(struct wizard *w, int field)
{
    const struct value *v = wizard_answer(w, field);
    bool asked = v != NULL && v->kind == VALUE_SECRET && v->secret == NULL && v->reference == NULL;
    return asked || wizard_origin(w, field) < ORIGIN_STATE;
}

static int take_variable(struct wizard *w, int field, const char *name, const char *value,
                         struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (wizard_set_text(w, field, value, ORIGIN_ENVIRONMENT, &why) == 0)
        return 0;
    problem_fail(err, PROBLEM_INPUT, why.code, "%s: %s", name, why.what);
    if (why.fix != NULL)
        problem_fix(err, WHO_YOU, "%s", why.fix);
    return -1;
}

int answers_environment(struct wizard *w, struct problem *err)
{
    const struct rows *rows = wizard_rows(w);
    int rc = 0;
    for (size_t i = 0; i < rows->field_count; i++) {
        AUTO(xfree) char *name = variable_name(rows->fields[i]->id);
        char *value = getenv(name);
        if (value == NULL)
            continue;
        if (rc == 0 && value[0] != '\0' && wants_environment(w, (int)i))
            rc = take_variable(w, (int)i, name, value, err);
        if (rows->fields[i]->kind == FIELD_SECRET) { /* used or not */
            /* unsetenv forgets the pointer only; the bytes would stay in /proc/PID/environ */
            explicit_bzero(value, strlen(value));
            unsetenv(name);
        }
    }
    return rc;
}

int answers_set(struct wizard *w, const char *assignment, enum origin origin, struct problem *err)
{
    const char *equals = strchr(assignment, '=');
    AUTO(xfree)
    char *id =
        xstrndup(assignment, equals != NULL ? (size_t)(equals - assignment) : strlen(assignment));
    int field = rows_field(wizard_rows(w), id);
    if (equals == NULL || field < 0) {
        problem_fail(err, PROBLEM_INPUT, "usage", "“%s” is no field", id);
        problem_fix(err, WHO_YOU, "write STEP.FIELD=VALUE, for example oauth.branch=alice.ingest");
        return -1;
    }
    if (wizard_rows(w)->fields[field]->kind == FIELD_SECRET && equals[1] != '\0') {
        if (!secret_is_reference(equals + 1)) {
            problem_fail(err, PROBLEM_INPUT, "usage",
                         "%s is a secret: it may not stand in a command line", id);
            problem_fix(err, WHO_YOU, "write %s=env:NAME or %s=file:/absolute/path", id, id);
            return -1;
        }
        return wizard_set_reference(w, field, equals + 1, origin, err);
    }
    return wizard_set_text(w, field, equals + 1, origin, err);
}
