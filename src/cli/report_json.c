/* Checks and plans for machines: JSON (schema: assets/report.schema.json) and JUnit. */
#include <string.h>

#include "cli/report.h"
#include "core/json.h"
#include "core/mem.h"
#include "steps/review/review.h"

static void add_items(struct json_writer *w, const struct outcome *o)
{
    json_key(w, "items");
    json_begin(w, '[');
    for (size_t i = 0; o != NULL && i < o->item_count; i++) {
        json_begin(w, '{');
        json_pair_text(w, "name", o->items[i].name);
        json_pair_text(w, "status", status_name(o->items[i].status));
        json_pair_text(w, "line", o->items[i].line);
        json_pair_text(w, "fix", o->items[i].fix);
        json_end(w, '}');
    }
    json_end(w, ']');
}

static void add_check(struct session *s, struct json_writer *w, int check,
                      const struct check_view *v)
{
    const struct check *c = s->rows.checks[check];
    const struct outcome *o = v->outcome;
    json_begin(w, '{');
    json_pair_text(w, "id", c->id);
    json_pair_text(w, "step", rows_step_of(&s->rows, c->id)->id);
    json_pair_text(w, "status", v->status == STATUS_NONE ? "none" : status_name(v->status));
    json_pair_bool(w, "stale", v->stale);
    json_pair_text(w, "severity", severity_name(c->severity));
    json_pair_number(w, "ms", o != NULL ? o->took_ms : 0);
    json_pair_text(w, "title", c->title);
    json_pair_text(w, "line", o != NULL ? o->line : NULL);
    json_pair_text(w, "why", o != NULL ? o->why : NULL);
    json_pair_text(w, "fix", o != NULL ? o->fix : NULL);
    json_pair_text(w, "who", o != NULL && o->fix != NULL ? problem_who_name(o->who) : NULL);
    json_pair_text(w, "code", o != NULL ? o->code : NULL);
    json_pair_text(w, "evidence", o != NULL ? o->evidence : NULL);
    json_pair_text(w, "copy", o != NULL ? o->copy : NULL);
    json_pair_text(w, "waits", v->waits[0] != '\0' ? v->waits : NULL);
    json_pair_text(w, "accepted", v->accepted);
    add_items(w, o);
    json_key(w, "links");
    json_begin(w, '[');
    if (o != NULL && o->link != NULL)
        json_add_text(w, o->link);
    json_end(w, ']');
    json_end(w, '}');
}

static bool has(struct session *s, const struct selection *sel, size_t check)
{
    struct check_view v;
    wizard_check_view(s->wizard, (int)check, &v);
    return report_has(s, sel, check, &v);
}

void report_checks_json(struct session *s, const struct selection *sel, bool ok, struct text *out)
{
    struct json_writer w = {.out = out};
    json_begin(&w, '{');
    json_pair_number(&w, "sluice", 1);
    json_pair_bool(&w, "ok", ok);
    json_key(&w, "checks");
    json_begin(&w, '[');
    for (size_t i = 0; i < s->rows.check_count; i++) {
        struct check_view v;
        wizard_check_view(s->wizard, (int)i, &v);
        if (has(s, sel, i))
            add_check(s, &w, (int)i, &v);
    }
    json_end(&w, ']');
    json_end(&w, '}');
    text_addc(out, '\n');
}

/* --- as the state knows it -------------------------------------------------------------------- */

/* o: what is kept of the row's outcome, so that a process that ran the check says the same as one
 * that read of it. */
static void kept_view(struct session *s, const struct review_row *r, const struct outcome *o,
                      struct check_view *out)
{
    *out = (struct check_view){.outcome = o,
                               .stale = r->group == REVIEW_STALE,
                               .accepted = wizard_accepted(s->wizard, r->check)};
    out->status = r->group == REVIEW_ACCEPTED ? STATUS_ACCEPTED
                  : r->outcome != NULL        ? r->outcome->status
                                              : STATUS_NONE;
}

void report_kept_json(struct session *s, struct text *out)
{
    struct json_writer w = {.out = out};
    AUTO_REVIEW r = {0};
    bool ok = true;
    review_make(s->wizard, false, &r);
    for (size_t i = 0; i < r.count; i++)
        if (review_matters(s->rows.checks[r.rows[i].check]))
            ok &= r.rows[i].group != REVIEW_OPEN && r.rows[i].group != REVIEW_STALE;
    json_begin(&w, '{');
    json_pair_number(&w, "sluice", 1);
    json_pair_bool(&w, "ok", ok);
    json_key(&w, "checks");
    json_begin(&w, '[');
    for (size_t i = 0; i < r.count; i++) {
        struct check_view v;
        const struct outcome *last = r.rows[i].outcome;
        struct outcome *kept = last != NULL ? state_kept_outcome(last) : NULL;
        kept_view(s, &r.rows[i], kept, &v);
        add_check(s, &w, r.rows[i].check, &v);
        outcome_unref(kept);
    }
    json_end(&w, ']');
    json_end(&w, '}');
    text_addc(out, '\n');
}

/* --- JUnit: the subset every CI reads --------------------------------------------------------- */

static void add_xml(struct text *out, const char *s)
{
    for (; s != NULL && *s != '\0'; s++) {
        switch (*s) {
        case '<':
            text_add(out, "&lt;");
            break;
        case '>':
            text_add(out, "&gt;");
            break;
        case '&':
            text_add(out, "&amp;");
            break;
        case '"':
            text_add(out, "&quot;");
            break;
        default:
            text_addc(out, *s);
        }
    }
}

static void add_case(struct session *s, int check, struct text *out)
{
    const struct check *c = s->rows.checks[check];
    struct check_view v;
    wizard_check_view(s->wizard, check, &v);
    const struct outcome *o = v.outcome;
    text_addf(out, "  <testcase classname=\"%s\" name=\"%s\" time=\"%.3f\">",
              rows_step_of(&s->rows, c->id)->id, c->id,
              o != NULL ? (double)o->took_ms / 1000.0 : 0.0);
    if (v.status == STATUS_FAILED || v.status == STATUS_UNREACHABLE) {
        text_add(out, "<failure message=\"");
        add_xml(out, o != NULL ? o->line : "");
        text_add(out, "\">");
        add_xml(out, o != NULL ? o->why : NULL);
        text_addc(out, '\n');
        add_xml(out, o != NULL ? o->fix : NULL);
        text_add(out, "</failure>");
    } else if (v.status != STATUS_PASSED && v.status != STATUS_WARNED &&
               v.status != STATUS_ACCEPTED) {
        text_add(out, "<skipped message=\"");
        add_xml(out, v.waits[0] != '\0' ? v.waits : status_name(v.status));
        text_add(out, "\"/>");
    }
    text_add(out, "</testcase>\n");
}

void report_checks_junit(struct session *s, const struct selection *sel, struct text *out)
{
    text_add(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"sluice\">\n");
    for (size_t i = 0; i < s->rows.check_count; i++)
        if (has(s, sel, i))
            add_case(s, (int)i, out);
    text_add(out, "</testsuite>\n");
}

/* --- plans ------------------------------------------------------------------------------------ */

static void add_change(const struct change *c, const struct change_view *v, struct json_writer *w)
{
    json_begin(w, '{');
    json_pair_text(w, "id", c->id);
    json_pair_text(w, "step", c->step);
    json_pair_text(w, "kind", c->kind->id);
    json_pair_text(w, "action", change_action_name(c->action));
    json_pair_text(w, "status", v != NULL ? change_status_name(v->status) : "planned");
    json_pair_text(w, "title", c->title);
    json_pair_text(w, "detail", c->detail);
    json_pair_text(w, "reason", c->reason);
    json_pair_text(w, "preview", c->preview);
    json_key(w, "after");
    json_begin(w, '[');
    for (size_t i = 0; i < c->after_count; i++)
        json_add_text(w, c->after[i]);
    json_end(w, ']');
    json_pair_number(w, "ms", v != NULL ? v->took_ms : 0);
    json_key(w, "error");
    if (v != NULL && v->problem != NULL) {
        json_begin(w, '{');
        json_pair_text(w, "what", v->problem->what);
        json_pair_text(w, "why", v->problem->why);
        json_pair_text(w, "fix", v->problem->fix);
        json_pair_text(w, "who", problem_who_name(v->problem->who));
        json_pair_text(w, "code", v->problem->code);
        json_end(w, '}');
    } else {
        json_add_null(w);
    }
    json_end(w, '}');
}

void report_plan_json(const struct plan *p, const struct engine *engine, struct text *out)
{
    struct json_writer w = {.out = out};
    json_begin(&w, '{');
    json_pair_number(&w, "sluice", 1);
    json_key(&w, "changes");
    json_begin(&w, '[');
    for (size_t i = 0; i < p->count; i++) {
        struct change_view v;
        if (engine != NULL)
            engine_change_view(engine, i, &v);
        add_change(p->changes[i], engine != NULL ? &v : NULL, &w);
    }
    json_end(&w, ']');
    json_key(&w, "missing");
    json_begin(&w, '[');
    for (size_t i = 0; i < p->missing_count; i++)
        json_add_text(&w, p->missing[i]);
    json_end(&w, ']');
    json_end(&w, '}');
    text_addc(out, '\n');
}
