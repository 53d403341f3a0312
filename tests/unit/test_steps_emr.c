/* The step emr: verdicts and plan as pure functions over hand-made facts, words included. */
#include "aws_world.h"

#include "steps/emr/changes.h"
#include "steps/emr/emr.h"
#include "steps/emr/network.h"

/* --- hand-made facts -------------------------------------------------------------------------- */

static struct emr_application sound(void)
{
    struct emr_application a = {.id = xstrdup("00f1"),
                                .name = xstrdup("analytics"),
                                .arn = xstrdup("arn"),
                                .state = xstrdup("STARTED"),
                                .release = xstrdup("emr-7.12.0"),
                                .type = xstrdup("Spark"),
                                .architecture = xstrdup("X86_64"),
                                .auto_start = true,
                                .auto_stop = true,
                                .idle_minutes = 15,
                                .max_cpu = xstrdup("16 vCPU"),
                                .max_memory = xstrdup("64 GB")};
    aws_names_add(&a.subnets, "subnet-1");
    aws_names_add(&a.groups, "sg-1");
    return a;
}

static void choose(struct world *w, struct emr_application a)
{
    world_text(w, "emr.application", a.id);
    world_fact(w, FACT_CHOSEN, emr_chosen_fact(&a));
}

static void list(struct world *w, struct emr_application *apps, size_t count)
{
    struct emr_applications all = {.count = count, .list = xcalloc(count + 1, sizeof *all.list)};
    for (size_t i = 0; i < count; i++)
        all.list[i] = apps[i];
    world_fact(w, FACT_LIST, emr_list_fact(&all));
}

#define MORE(l)                                                                                    \
    ((l).list = xrealloc((l).list, (l).count + 1, sizeof *(l).list), &(l).list[(l).count++])

static void add_subnet(struct ec2_network *n, const char *id, const char *vpc, const char *zone_id,
                       int addresses, const char *target)
{
    struct ec2_subnet *s = MORE(n->subnets);
    *s = (struct ec2_subnet){.id = xstrdup(id),
                             .name = xstrdup(""),
                             .vpc = xstrdup(vpc),
                             .cidr = xstrdup("10.0.0.0/24"),
                             .state = xstrdup("available"),
                             .zone = xstrdup("us-east-1a"),
                             .zone_id = xstrdup(zone_id),
                             .free_addresses = addresses};
    struct ec2_route_table *t = MORE(n->tables);
    *t = (struct ec2_route_table){.id = xasprintf("rtb-%s", id), .vpc = xstrdup(vpc)};
    aws_names_add(&t->subnets, id);
    if (target == NULL)
        return;
    t->route_count = 1;
    t->routes = xcalloc(1, sizeof *t->routes);
    t->routes[0] =
        (struct ec2_route){.destination = xstrdup("0.0.0.0/0"), .target = xstrdup(target)};
}

static void add_rule(struct ec2_rule **rules, size_t *count, const char *range)
{
    *rules = xcalloc(1, sizeof **rules);
    *count = 1;
    **rules = (struct ec2_rule){.protocol = xstrdup("-1"), .from_port = -1, .to_port = -1};
    aws_names_add(&(*rules)->ranges, range);
}

static void add_group(struct ec2_network *n, const char *id, const char *name, const char *vpc,
                      const char *in, const char *out)
{
    struct ec2_group *g = MORE(n->groups);
    *g = (struct ec2_group){.id = xstrdup(id), .name = xstrdup(name), .vpc = xstrdup(vpc)};
    if (in != NULL)
        add_rule(&g->inbound, &g->inbound_count, in);
    if (out != NULL)
        add_rule(&g->outbound, &g->outbound_count, out);
}

static void add_nat(struct ec2_network *n, const char *id, const char *state, bool inside)
{
    struct ec2_nat *x = MORE(n->nats);
    *x = (struct ec2_nat){.id = xstrdup(id),
                          .vpc = xstrdup("vpc-1"),
                          .subnet = xstrdup("subnet-9"),
                          .state = xstrdup(state),
                          .is_private = inside};
}

/* Two VPCs with one of everything that can be met. */
static void network(struct world *w)
{
    struct ec2_network n = {0};
    add_nat(&n, "nat-1", "available", false);
    add_nat(&n, "nat-in", "available", true);
    add_subnet(&n, "subnet-1", "vpc-1", "use1-az1", 200, "nat-1");
    add_subnet(&n, "subnet-2", "vpc-1", "use1-az2", 200, "nat-1");
    add_subnet(&n, "subnet-pub", "vpc-1", "use1-az1", 200, "igw-1");
    add_subnet(&n, "subnet-none", "vpc-1", "use1-az1", 200, NULL);
    add_subnet(&n, "subnet-in", "vpc-1", "use1-az1", 200, "nat-in");
    add_subnet(&n, "subnet-az3", "vpc-1", "use1-az3", 200, "nat-1");
    add_subnet(&n, "subnet-few", "vpc-1", "use1-az1", 3, "nat-1");
    add_subnet(&n, "subnet-tgw", "vpc-1", "use1-az1", 200, "tgw-1");
    add_subnet(&n, "subnet-x", "vpc-2", "use1-az1", 200, "nat-1");
    add_group(&n, "sg-open", "web", "vpc-1", "0.0.0.0/0", "0.0.0.0/0");
    add_group(&n, "sg-shut", "shut", "vpc-1", NULL, NULL);
    add_group(&n, "sg-some", "some", "vpc-1", NULL, "10.0.0.0/8");
    add_group(&n, "sg-2", "jobs", "vpc-1", NULL, "0.0.0.0/0");
    add_group(&n, "sg-1", "default", "vpc-1", NULL, "0.0.0.0/0");
    add_group(&n, "sg-x", "default", "vpc-2", NULL, "0.0.0.0/0");
    world_fact(w, FACT_NETWORK, emr_network_fact(&n));
}

static void open_all(struct world *w)
{
    world_open(w);
    world_text(w, "start.name", "shop");
    world_text(w, "emr.region", "us-east-1");
    world_identity(w);
    network(w);
    list(w, NULL, 0);
}

/* --- releases and refusals -------------------------------------------------------------------- */

static void releases_are_read(void **state)
{
    (void)state;
    assert_int_equal(emr_release_number("emr-7.12.0"), 7012);
    assert_int_equal(emr_release_number("emr-6.6.0"), 6006);
    assert_int_equal(emr_release_number("emr-spark-8.0.0"), 8000);
    assert_int_equal(emr_release_number("emr-spark-8.0.0-preview"), 8000);
    static const char *const bad[] = {"",          "7.12.0",     "emr-7", "emr-7.12", "emr-7.12.0x",
                                      "emr-a.b.c", "emr--7.12.0"};
    for (size_t i = 0; i < ARRAY_LEN(bad); i++)
        if (emr_release_number(bad[i]) != -1)
            fail_msg("“%s”", bad[i]);
}

static void refusals_are_short(void **state)
{
    (void)state;
    struct emr_application a = sound();
    assert_null(emr_refusal(&a));
    xreplace(&a.release, "emr-7.9.0");
    assert_string_equal(emr_refusal(&a), "too old for vended keys");
    xreplace(&a.architecture, "ARM64");
    assert_string_equal(emr_refusal(&a), "x86_64 needed");
    xreplace(&a.type, "Hive");
    assert_string_equal(emr_refusal(&a), "not Spark");
    emr_application_release(&a);
}

/* --- verdicts on the application -------------------------------------------------------------- */

static void a_sound_application_passes(void **state)
{
    (void)state;
    static const struct check *const checks[] = {
        &emr_check_region,       &emr_check_application, &emr_check_release,
        &emr_check_architecture, &emr_check_auto_start,  &emr_check_auto_stop,
        &emr_check_capacity,     &emr_check_one_vpc,     &emr_check_subnets_out,
        &emr_check_zones,        &emr_check_addresses,   &emr_check_groups_open,
        &emr_check_groups_out};
    AUTO_WORLD w;
    open_all(&w);
    choose(&w, sound());
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        AUTO_OUTCOME *o = world_judge(&w, checks[i]);
        if (o->status != STATUS_PASSED)
            fail_msg("%s: %s", checks[i]->id, o->line);
    }
}

static void a_region_that_is_not_known_warns(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    world_text(&w, "emr.region", "us-west-9");
    AUTO_OUTCOME *o = world_judge(&w, &emr_check_region);
    assert_int_equal(o->status, STATUS_WARNED);
    assert_has(o->line, "us-west-9 is not known to offer EMR Serverless");
    assert_helps(o);
}

struct spoilt {
    const struct check *check;
    enum status status;
    const char *line, *why, *fix, *copy;
    void (*spoil)(struct emr_application *a);
};

#define SPOIL(name, member, text)                                                                  \
    static void name(struct emr_application *a)                                                    \
    {                                                                                              \
        xreplace(&a->member, text);                                                                \
    }
SPOIL(to_hive, type, "Hive")
SPOIL(to_terminated, state, "TERMINATED")
SPOIL(to_creating, state, "CREATING")
SPOIL(to_79, release, "emr-7.9.0")
SPOIL(to_710, release, "emr-7.10.0")
SPOIL(to_711, release, "emr-7.11.0")
SPOIL(to_spark8, release, "emr-spark-8.0.0")
SPOIL(to_arm, architecture, "ARM64")
SPOIL(to_small, max_cpu, "4 vCPU")
SPOIL(to_lean, max_memory, "16 GB")

static void no_start(struct emr_application *a)
{
    a->auto_start = false;
}

static void no_stop(struct emr_application *a)
{
    a->auto_stop = false;
}

static void late_stop(struct emr_application *a)
{
    a->idle_minutes = 600;
}

static void no_cap(struct emr_application *a)
{
    xreplace(&a->max_cpu, NULL);
    xreplace(&a->max_memory, NULL);
}

static void no_subnets(struct emr_application *a)
{
    aws_names_release(&a->subnets);
    aws_names_release(&a->groups);
}

static void each_fault_says_what_to_do(void **state)
{
    (void)state;
    static const char update[] = "aws emr-serverless update-application --region us-east-1 "
                                 "--application-id 00f1 ";
    static const struct spoilt rows[] = {
        {&emr_check_application, STATUS_FAILED, "analytics runs Hive, Spark is needed",
         "Spark jobs", "Choose another", "sluice state set emr.application ''", to_hive},
        {&emr_check_application, STATUS_FAILED, "analytics (00f1) is terminated",
         "no jobs any more", "clear the answer", "sluice state set", to_terminated},
        {&emr_check_application, STATUS_WARNED, "still being made", NULL, "in a minute", NULL,
         to_creating},
        {&emr_check_release, STATUS_FAILED, "emr-7.9.0 is too old: emr-7.11 at least",
         "Target host is not specified", "emr-7.12.0", "--release-label emr-7.12.0", to_79},
        {&emr_check_release, STATUS_FAILED, "emr-7.10.0 is too old: emr-7.11 at least", "401",
         "emr-7.12.0", "--release-label emr-7.12.0", to_710},
        {&emr_check_release, STATUS_WARNED, "emr-7.11.0; Estuary's jobs are proved with emr-7.12.0",
         "Iceberg", "emr-7.12.0", NULL, to_711},
        {&emr_check_release, STATUS_WARNED, "emr-spark-8.0.0", "Iceberg", "emr-7.12.0", NULL,
         to_spark8},
        {&emr_check_architecture, STATUS_FAILED, "analytics is arm64, x86_64 is needed", "x86_64",
         "have one made", "--architecture X86_64", to_arm},
        {&emr_check_auto_start, STATUS_FAILED, "does not start by itself", "refused",
         "Switch on automatic start", "--auto-start-configuration enabled=true", no_start},
        {&emr_check_auto_stop, STATUS_WARNED, "never stops by itself", "cost money",
         "15 idle minutes", "--auto-stop-configuration enabled=true,idleTimeoutMinutes=15",
         no_stop},
        {&emr_check_auto_stop, STATUS_WARNED, "stops 600 min after", "cost money",
         "15 idle minutes", "idleTimeoutMinutes=15", late_stop},
        {&emr_check_capacity, STATUS_FAILED, "4 vCPU and 64 GB are too little for one job",
         "ApplicationMaxCapacityExceededException", "maximum capacity",
         "--maximum-capacity 'cpu=16 vCPU,memory=64 GB'", to_small},
        {&emr_check_capacity, STATUS_FAILED, "16 vCPU and 16 GB are too little", "driver", "Raise",
         "--maximum-capacity", to_lean},
        {&emr_check_capacity, STATUS_PASSED, "no limit of its own", NULL, NULL, NULL, no_cap},
        {&emr_check_subnets_out, STATUS_FAILED, "analytics has no network", "SSM",
         "Give it subnets with a way to the internet",
         "--network-configuration subnetIds=subnet-1,subnet-2,securityGroupIds=sg-1", no_subnets},
        {&emr_check_zones, STATUS_SKIPPED, "no network", NULL, NULL, NULL, no_subnets},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        open_all(&w);
        struct emr_application a = sound();
        rows[i].spoil(&a);
        choose(&w, a);
        AUTO_OUTCOME *o = world_judge(&w, rows[i].check);
        if (o->status != rows[i].status)
            fail_msg("%s: %s, %s", rows[i].check->id, status_name(o->status), o->line);
        assert_has(o->line, rows[i].line);
        if (rows[i].why != NULL)
            assert_has(o->why, rows[i].why);
        if (rows[i].fix != NULL)
            assert_has(o->fix, rows[i].fix);
        if (rows[i].copy != NULL)
            assert_has(o->copy, rows[i].copy);
        if (rows[i].copy != NULL && rows[i].copy[0] == '-')
            assert_has(o->copy, update);
    }
}

/* What is still to be made is judged as it was answered, before anything is made. */
static void answers_are_judged_beforehand(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    world_text(&w, "emr.release", "emr-7.10.0");
    AUTO_OUTCOME *release = world_judge(&w, &emr_check_release);
    assert_int_equal(release->status, STATUS_FAILED);
    assert_int_equal(release->who, WHO_YOU);
    assert_string_equal(release->suggest_field, "emr.release");
    assert_string_equal(release->suggest_value, "emr-7.12.0");
    world_text(&w, "emr.max_vcpu", "4 vCPU");
    AUTO_OUTCOME *capacity = world_judge(&w, &emr_check_capacity);
    assert_int_equal(capacity->status, STATUS_FAILED);
    assert_string_equal(capacity->suggest_field, "emr.max_vcpu");
    AUTO_OUTCOME *none = world_judge(&w, &emr_check_application);
    assert_int_equal(none->status, STATUS_FAILED);
    assert_has(none->line, "none is planned");
    assert_has(none->fix, "emr-serverless:ListApplications");
}

/* --- verdicts on the network ------------------------------------------------------------------ */

static void networks_are_judged(void **state)
{
    (void)state;
    static const struct {
        const char *subnets, *groups;
        const struct check *check;
        enum status status;
        const char *line, *why;
    } rows[] = {
        {"subnet-1, subnet-2", "sg-1", &emr_check_subnets_out, STATUS_PASSED, "2 subnets, by NAT",
         NULL},
        {"subnet-1, subnet-pub", "sg-1", &emr_check_subnets_out, STATUS_PASSED,
         "some of them public", NULL},
        {"subnet-none", "sg-1", &emr_check_subnets_out, STATUS_FAILED,
         "no subnet leads to the internet", "SSM"},
        {"subnet-in", "sg-1", &emr_check_subnets_out, STATUS_FAILED, "no subnet leads", "hang"},
        {"subnet-1, subnet-none", "sg-1", &emr_check_subnets_out, STATUS_FAILED,
         "1 of 2 subnets leads nowhere", "now and then"},
        {"subnet-tgw", "sg-1", &emr_check_subnets_out, STATUS_WARNED, "cannot be seen", "gateway"},
        {"subnet-1, subnet-az3", "sg-1", &emr_check_zones, STATUS_FAILED, "subnet-az3 (use1-az3)",
         "letter"},
        {"subnet-1", "sg-1", &emr_check_zones, STATUS_PASSED, "one zone, use1-az1", NULL},
        {"subnet-1, subnet-2", "sg-1", &emr_check_zones, STATUS_PASSED, "2 zones", NULL},
        {"subnet-few", "sg-1", &emr_check_addresses, STATUS_WARNED, "subnet-few has 3",
         "Each worker takes one"},
        {"subnet-1", "sg-open", &emr_check_groups_open, STATUS_FAILED,
         "sg-open (web) lets in 0.0.0.0/0", "inbound rule from anywhere"},
        {"subnet-1", "sg-1, sg-2", &emr_check_groups_open, STATUS_PASSED, "none lets in", NULL},
        {"subnet-1", "sg-shut", &emr_check_groups_out, STATUS_FAILED, "no group lets tcp 443 out",
         "hang"},
        {"subnet-1", "sg-some", &emr_check_groups_out, STATUS_WARNED, "some addresses only",
         "catalog"},
        {"subnet-1", "sg-shut, sg-2", &emr_check_groups_out, STATUS_PASSED, "443 to anywhere",
         NULL},
        {"subnet-1, subnet-x", "sg-1", &emr_check_one_vpc, STATUS_FAILED, "several networks",
         "one VPC"},
        {"subnet-1", "sg-x", &emr_check_one_vpc, STATUS_FAILED, "several networks", "one VPC"},
        {"subnet-1, subnet-0dead", "sg-1", &emr_check_one_vpc, STATUS_FAILED,
         "not in us-east-1: subnet-0dead", "deleted"},
        {"subnet-1", "sg-1", &emr_check_one_vpc, STATUS_PASSED, "1 subnet and 1 group of vpc-1",
         NULL},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        open_all(&w);
        world_list(&w, "emr.subnets", rows[i].subnets);
        world_list(&w, "emr.security_groups", rows[i].groups);
        AUTO_OUTCOME *o = world_judge(&w, rows[i].check);
        if (o->status != rows[i].status)
            fail_msg("%s %s: %s, %s", rows[i].check->id, rows[i].subnets, status_name(o->status),
                     o->line);
        assert_has(o->line, rows[i].line);
        if (rows[i].why != NULL) {
            assert_has(o->why, rows[i].why);
            assert_helps(o);
        }
    }
}

static void a_network_out_of_sight_is_not_judged(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    world_fact(&w, FACT_NETWORK, NULL);
    world_list(&w, "emr.subnets", "subnet-1");
    world_list(&w, "emr.security_groups", "sg-1");
    AUTO_OUTCOME *ways = world_judge(&w, &emr_check_subnets_out);
    assert_int_equal(ways->status, STATUS_WARNED);
    assert_has(ways->fix, "ec2:Describe");
    AUTO_OUTCOME *zones = world_judge(&w, &emr_check_zones);
    assert_int_equal(zones->status, STATUS_SKIPPED);
}

static void the_best_network_is_proposed(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    const struct value *subnets = snap_value(world_snapshot(&w), "emr.subnets");
    const struct value *groups = snap_value(world_snapshot(&w), "emr.security_groups");
    AUTO(xfree) char *shown = value_show(subnets);
    AUTO(xfree) char *chosen = value_show(groups);
    assert_string_equal(shown, "subnet-1, subnet-2");
    assert_string_equal(chosen, "sg-1");
    world_list(&w, "emr.subnets", "subnet-x");
    AUTO(xfree)
    char *others = value_show(snap_value(world_snapshot(&w), "emr.security_groups"));
    assert_string_equal(others, "sg-x");
    world_fact(&w, FACT_NETWORK, NULL);
    assert_null(snap_value(world_snapshot(&w), "emr.security_groups"));
}

/* --- picker ----------------------------------------------------------------------------------- */

static void check_row(struct world *w, const struct picker *p, const char *item,
                      const char *refusal, const char *warning, const char *column)
{
    const struct snapshot *s = world_snapshot(w);
    for (size_t i = 0; i < p->count(s); i++) {
        AUTO(xfree) char *id = p->item(s, i);
        if (strcmp(id, item) != 0)
            continue;
        struct pick_row row;
        p->row(s, i, &row);
        assert_int_equal(p->refused(s, i), refusal != NULL);
        assert_int_equal(row.refusal != NULL, refusal != NULL);
        if (refusal != NULL)
            assert_string_equal(row.refusal, refusal);
        if (warning != NULL)
            assert_string_equal(row.warning, warning);
        assert_string_equal(row.columns[2], column);
        if (refusal != NULL || p == &emr_subnet_picker)
            assert_has(row.note,
                       p == &emr_subnet_picker ? "vpc-1, zone use1-az" : "EMR Serverless");
        assert_true(p->matches(s, i, "vpc") || p->matches(s, i, "us-east"));
        pick_row_release(&row);
        return;
    }
    fail_msg("no row %s", item);
}

static void pickers_refuse_what_cannot_work(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    check_row(&w, &emr_subnet_picker, "subnet-1", NULL, NULL, "NAT");
    check_row(&w, &emr_subnet_picker, "subnet-pub", NULL, NULL, "public");
    check_row(&w, &emr_subnet_picker, "subnet-none", "no way out", NULL, "none");
    check_row(&w, &emr_subnet_picker, "subnet-az3", "bad zone", NULL, "NAT");
    check_row(&w, &emr_subnet_picker, "subnet-few", NULL, "few addresses", "NAT");
    check_row(&w, &emr_group_picker, "sg-open", "open to anyone", NULL, "443 anywhere");
    check_row(&w, &emr_group_picker, "sg-shut", NULL, "no way out", "nothing out");
    check_row(&w, &emr_group_picker, "sg-1", NULL, NULL, "443 anywhere");
    world_fact(&w, FACT_NETWORK, NULL);
    assert_false(emr_subnet_picker.ready(world_snapshot(&w)));
    assert_int_equal(emr_group_picker.count(world_snapshot(&w)), 0);
}

/* --- fields ----------------------------------------------------------------------------------- */

static const struct field *field_of(struct world *w, const char *id)
{
    int i = rows_field(&w->rows, id);
    assert_true(i >= 0);
    return w->rows.fields[i];
}

static void answers_take_their_form(void **state)
{
    (void)state;
    static const struct {
        const char *field, *typed, *kept, *fault; /* fault NULL = fine */
    } rows[] = {
        {"emr.max_vcpu", "16", "16 vCPU", NULL},
        {"emr.max_vcpu", " 32vcpu ", "32 vCPU", NULL},
        {"emr.max_vcpu", "2", "2 vCPU", "vCPU from 4"},
        {"emr.max_vcpu", "lots", "lots", "a number of vCPU"},
        {"emr.max_memory", "128", "128 GB", NULL},
        {"emr.max_memory", "64 gb", "64 GB", NULL},
        {"emr.max_memory", "64 TB", "64 TB", "a number of GB"},
        {"emr.release", "emr-7.12.0", "emr-7.12.0", NULL},
        {"emr.release", "7.12.0", "7.12.0", "looks like emr-7.12.0"},
        {"emr.region", "us-east-1", "us-east-1", NULL},
        {"emr.region", "us-east-1a", "us-east-1a", "is no AWS region"},
        {"emr.application", "00f1abcd", "00f1abcd", NULL},
        {"emr.application", "arn:aws:emr-serverless:x", "arn:aws:emr-serverless:x",
         "small letters and digits"},
    };
    AUTO_WORLD w;
    open_all(&w);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const struct field *f = field_of(&w, rows[i].field);
        AUTO_PROBLEM err = PROBLEM_INIT;
        AUTO(xfree) char *kept = f->normalise(rows[i].typed);
        assert_string_equal(kept, rows[i].kept);
        assert_int_equal(f->valid(kept, &err), rows[i].fault != NULL ? -1 : 0);
        if (rows[i].fault != NULL)
            assert_has(err.what, rows[i].fault);
        if (rows[i].fault != NULL)
            assert_non_null(err.fix);
    }
    AUTO_PROBLEM err = PROBLEM_INIT;
    assert_int_equal(field_of(&w, "emr.subnets")->valid("subnet-0a1b", NULL), 0);
    assert_int_equal(field_of(&w, "emr.subnets")->valid("private-a", &err), -1);
    assert_has(err.what, "subnet-0a1b2c3d");
    assert_int_equal(field_of(&w, "emr.security_groups")->valid("sg-0a1b", NULL), 0);
}

static void applications_can_be_chosen(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    struct emr_application apps[2] = {sound(), sound()};
    xreplace(&apps[1].id, "00f2");
    xreplace(&apps[1].name, "ml-batch");
    xreplace(&apps[1].architecture, "ARM64");
    list(&w, apps, 2);
    struct choices c = {0};
    field_choices(field_of(&w, "emr.application"), world_snapshot(&w), &c);
    assert_int_equal(c.count, 3);
    assert_string_equal(c.rows[0].value, "");
    assert_string_equal(c.rows[0].label, "create sluice-shop  Spark, emr-7.12.0, x86_64");
    assert_string_equal(c.rows[1].label, "analytics  00f1  emr-7.12.0");
    assert_string_equal(c.rows[2].label, "ml-batch  00f2  emr-7.12.0  arm64  ! x86_64 needed");
    choices_release(&c);
    /* one of another region is told by its check, not as a wrong word */
    world_text(&w, "emr.application", "00f9");
    assert_int_equal(field_check_value(field_of(&w, "emr.application"), world_snapshot(&w),
                                       snap_value(world_snapshot(&w), "emr.application"), NULL),
                     0);
    /* what it would be made of is not asked any more */
    assert_null(snap_value(world_snapshot(&w), "emr.subnets"));
    assert_string_equal(snap_text(world_snapshot(&w), "emr.release"), "");
}

/* --- plan ------------------------------------------------------------------------------------- */

#define AUTO_PLAN __attribute__((cleanup(plan_release))) struct plan

static void plan_of(struct world *w, struct plan *p)
{
    plan_init(p);
    emr_plan(world_snapshot(w), p);
}

static void one_application_is_planned(void **state)
{
    (void)state;
    AUTO_WORLD w;
    AUTO_PLAN p, again;
    open_all(&w);
    plan_of(&w, &p);
    assert_int_equal(p.count, 1);
    const struct change *c = p.changes[0];
    assert_string_equal(c->id, "emr.application");
    assert_string_equal(c->gives, "emr.application");
    assert_string_equal(c->title, "application sluice-shop");
    assert_int_equal(c->action, CHANGE_CREATE);
    assert_has(c->detail, "account 123456789012, us-east-1");
    assert_non_null(c->reason);
    static const char *const parts[] = {
        "aws emr-serverless create-application --region us-east-1",
        "--name sluice-shop --type SPARK --release-label emr-7.12.0 \\\n  --architecture X86_64",
        "--auto-start-configuration enabled=true",
        "--auto-stop-configuration enabled=true,idleTimeoutMinutes=15",
        "subnetIds=subnet-1,subnet-2,securityGroupIds=sg-1",
        "--maximum-capacity 'cpu=16 vCPU,memory=64 GB'",
        "--tags sluice:run=shop,sluice:step=emr",
        "--client-token ",
    };
    for (size_t i = 0; i < ARRAY_LEN(parts); i++)
        assert_has(c->preview, parts[i]);
    plan_of(&w, &again);
    assert_string_equal(again.changes[0]->preview, c->preview); /* the same token each time */
    AUTO_PLAN other;
    world_text(&w, "emr.max_vcpu", "32 vCPU");
    plan_of(&w, &other);
    assert_string_not_equal(node_get_text(other.changes[0]->args, "token"),
                            node_get_text(c->args, "token"));
}

static void what_is_chosen_is_left_alone(void **state)
{
    (void)state;
    AUTO_WORLD w;
    AUTO_PLAN p;
    open_all(&w);
    choose(&w, sound());
    plan_of(&w, &p);
    assert_int_equal(p.count, 0);
    assert_line(p.right, p.right_count, "application analytics (00f1): emr-7.12.0, x86_64");
}

static void one_of_our_name_is_taken_over(void **state)
{
    (void)state;
    static const struct {
        const char *mark;
        enum change_action action;
    } rows[] = {{"shop", CHANGE_ALTER}, {NULL, CHANGE_ALTER}, {"other", CHANGE_CREATE}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_WORLD w;
        AUTO_PLAN p;
        open_all(&w);
        struct emr_application a = sound();
        xreplace(&a.name, "sluice-shop");
        xreplace(&a.tag_run, rows[i].mark);
        list(&w, &a, 1);
        plan_of(&w, &p);
        assert_int_equal(p.count, 1);
        assert_int_equal(p.changes[0]->action, rows[i].action);
        assert_string_equal(p.changes[0]->gives, "emr.application");
        if (rows[i].action == CHANGE_ALTER)
            assert_has(p.changes[0]->detail, "exists already (00f1, emr-7.12.0)");
    }
}

static void what_lacks_is_named(void **state)
{
    (void)state;
    AUTO_WORLD w;
    open_all(&w);
    static const struct {
        const char *fact, *line;
    } rows[] = {{FACT_NETWORK, "no subnets are chosen"},
                {FACT_LIST, "applications of the region have not been listed"},
                {FACT_IDENTITY, "who calls AWS has not been seen"}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) { /* each takes one more away */
        AUTO_PLAN p;
        world_fact(&w, rows[i].fact, NULL);
        plan_of(&w, &p);
        assert_int_equal(p.count, 0);
        assert_line(p.missing, p.missing_count, rows[i].line);
    }
}

/* --- facts ------------------------------------------------------------------------------------ */

/* A state that comes and goes with each job makes nothing stale. */
static void facts_do_not_change_with_each_job(void **state)
{
    (void)state;
    struct digest d[3];
    static const char *const states[] = {"STARTED", "STOPPED", "TERMINATED"};
    for (size_t i = 0; i < ARRAY_LEN(states); i++) {
        struct emr_application a = sound();
        xreplace(&a.state, states[i]);
        struct fact *f = emr_chosen_fact(&a);
        d[i] = fact_digest(f);
        fact_unref(f);
    }
    assert_true(digest_equal(&d[0], &d[1]));
    assert_false(digest_equal(&d[1], &d[2]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(releases_are_read),
        cmocka_unit_test(refusals_are_short),
        cmocka_unit_test(a_sound_application_passes),
        cmocka_unit_test(a_region_that_is_not_known_warns),
        cmocka_unit_test(each_fault_says_what_to_do),
        cmocka_unit_test(answers_are_judged_beforehand),
        cmocka_unit_test(networks_are_judged),
        cmocka_unit_test(a_network_out_of_sight_is_not_judged),
        cmocka_unit_test(the_best_network_is_proposed),
        cmocka_unit_test(pickers_refuse_what_cannot_work),
        cmocka_unit_test(answers_take_their_form),
        cmocka_unit_test(applications_can_be_chosen),
        cmocka_unit_test(one_application_is_planned),
        cmocka_unit_test(what_is_chosen_is_left_alone),
        cmocka_unit_test(one_of_our_name_is_taken_over),
        cmocka_unit_test(what_lacks_is_named),
        cmocka_unit_test(facts_do_not_change_with_each_job),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
