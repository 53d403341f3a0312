/* What is to be made at EMR Serverless: one application, unless one is chosen. Pure. */
#include <string.h>

#include "core/mem.h"
#include "core/snapshot.h"
#include "core/text.h"
#include "steps/aws/planned.h"
#include "steps/emr/changes.h"
#include "steps/emr/emr.h"

#define STEP "emr"

struct planning {
    const struct snapshot *snapshot;
    const struct aws_identity *who;
    const struct emr_applications *list;
    const char *pipeline;
    char *name;
    struct plan *plan;
};

/* --- already there ---------------------------------------------------------------------------- */

/* One of our name that is not marked as another pipeline's: made by an earlier run whose answer was
 * lost, or by a colleague. */
static const struct emr_application *ours(const struct planning *p)
{
    for (size_t i = 0; i < p->list->count; i++)
        if (emr_is_ours(&p->list->list[i], p->name, p->pipeline))
            return &p->list->list[i];
    return NULL;
}

static void plan_adoption(struct planning *p, const struct emr_application *a)
{
    struct node *args = node_map();
    aws_plan_place(args, p->who, p->pipeline);
    node_set_text(args, "name", p->name);
    struct change *c =
        plan_add(p->plan, &emr_kind_application, STEP, "emr.application", CHANGE_ALTER, args);
    change_text(&c->title, "application %s", p->name);
    change_text(&c->detail, "exists already (%s, %s), is taken over as it is", a->id, a->release);
    change_text(&c->reason, "It bears the name of this pipeline, so no second one is made.");
    change_text(&c->preview, "aws emr-serverless get-application --region %s --application-id %s",
                p->who->region, a->id);
    c->gives = "emr.application";
}

/* --- to be made ------------------------------------------------------------------------------- */

static struct node *list_node(const struct value *v)
{
    struct node *n = node_list();
    for (size_t i = 0; v != NULL && v->kind == VALUE_LIST && i < v->count; i++)
        node_add(n, node_scalar(v->items[i]));
    return n;
}

static struct node *create_args(const struct planning *p)
{
    const struct snapshot *s = p->snapshot;
    struct node *args = node_map();
    aws_plan_place(args, p->who, p->pipeline);
    node_set_text(args, "name", p->name);
    node_set_text(args, "release", snap_text(s, "emr.release"));
    node_set_text(args, "cpu", snap_text(s, "emr.max_vcpu"));
    node_set_text(args, "memory", snap_text(s, "emr.max_memory"));
    node_set(args, "subnets", list_node(snap_value(s, "emr.subnets")));
    node_set(args, "groups", list_node(snap_value(s, "emr.security_groups")));
    return args;
}

static void plan_creation(struct planning *p)
{
    struct node *args = create_args(p);
    AUTO(xfree) char *token = aws_client_token(p->pipeline, "emr.application", args);
    node_set_text(args, "token", token);
    struct change *c =
        plan_add(p->plan, &emr_kind_application, STEP, "emr.application", CHANGE_CREATE, args);
    AUTO(xfree) char *preview = emr_create_preview(args);
    change_text(&c->title, "application %s", p->name);
    change_text(&c->detail, "Spark, %s, x86_64; at most %s, %s; account %s, %s",
                node_get_text(args, "release"), node_get_text(args, "cpu"),
                node_get_text(args, "memory"), p->who->account, p->who->region);
    change_text(&c->reason, "Estuary merges the changes into the tables with Spark jobs, which run "
                            "here. It costs nothing while it is idle.");
    change_text(&c->preview, "%s", preview);
    c->gives = "emr.application";
}

/* Says what is missing; true when nothing is. */
static bool complete(struct planning *p)
{
    static const char *const answers[][2] = {
        {"emr.subnets", "no subnets are chosen"},
        {"emr.security_groups", "no security groups are chosen"},
    };
    bool all = true;
    for (size_t i = 0; i < ARRAY_LEN(answers); i++)
        if (value_empty(snap_value(p->snapshot, answers[i][0]))) {
            plan_missing(p->plan, STEP ": %s", answers[i][1]);
            all = false;
        }
    return all;
}

static void plan_chosen(const struct snapshot *s, struct plan *out)
{
    const struct emr_application *a = snap_fact(s, FACT_CHOSEN, &emr_chosen_type);
    if (a == NULL)
        plan_missing(out, STEP ": the application %s has not been looked at",
                     snap_text(s, "emr.application"));
    else
        plan_right(out, "application %s (%s): %s, %s", a->name, a->id, a->release,
                   strcmp(a->architecture, "X86_64") == 0 ? "x86_64" : a->architecture);
}

void emr_plan(const struct snapshot *s, struct plan *out)
{
    if (snap_text(s, "emr.application")[0] != '\0') {
        plan_chosen(s, out);
        return;
    }
    AUTO(xfree) char *name = aws_made_name(s, "");
    struct planning p = {.snapshot = s,
                         .who = snap_fact(s, FACT_IDENTITY, &aws_identity_type),
                         .list = snap_fact(s, FACT_LIST, &emr_list_type),
                         .pipeline = snap_text(s, "start.name"),
                         .name = name,
                         .plan = out};
    const struct emr_application *a = NULL;
    if (p.name == NULL)
        plan_missing(out, STEP ": the pipeline has no name yet");
    else if (p.who == NULL)
        plan_missing(out, STEP ": who calls AWS has not been seen");
    else if (p.list == NULL)
        plan_missing(out, STEP ": the applications of the region have not been listed");
    else if ((a = ours(&p)) != NULL)
        plan_adoption(&p, a);
    else if (complete(&p))
        plan_creation(&p);
}
