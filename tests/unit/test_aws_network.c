/* Networks by rows: the way out of a subnet, security groups, and the choice of some of them. What
 * is judged here is read out of EC2's own XML first, so that both are tested. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "aws/ec2_rows.h"
#include "aws/network.h"
#include "core/mem.h"

static void take(void (*row)(void *, const struct xml_node *), void *out, const char *item)
{
    AUTO(xfree) char *xml = xasprintf("<set>%s</set>", item);
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct xml_node *n = xml_parse(xml, strlen(xml), "rows", &err);
    if (n == NULL)
        fail_msg("%s in %s", err.why, item);
    for (size_t i = 0; i < n->count; i++)
        row(out, n->children[i]);
    xml_free(n);
}

static void add_subnet(struct ec2_network *n, const char *id, const char *vpc, const char *zone,
                       int free)
{
    AUTO(xfree)
    char *item = xasprintf("<item><subnetId>%s</subnetId><vpcId>%s</vpcId><cidrBlock>10.0.0.0/24"
                           "</cidrBlock><availabilityZone>us-east-1a</availabilityZone>"
                           "<availabilityZoneId>%s</availabilityZoneId><state>available</state>"
                           "<availableIpAddressCount>%d</availableIpAddressCount>"
                           "<mapPublicIpOnLaunch>true</mapPublicIpOnLaunch><tagSet><item>"
                           "<key>x</key><value>y</value></item><item><key>Name</key>"
                           "<value>the name</value></item></tagSet></item>",
                           id, vpc, zone, free);
    take(ec2_take_subnet, &n->subnets, item);
}

/* subnets: comma list of explicit associations, "" = none; route: XML of the default route */
static void add_table(struct ec2_network *n, const char *id, bool main, const char *subnet,
                      const char *route)
{
    AUTO(xfree)
    char *item = xasprintf(
        "<item><routeTableId>%s</routeTableId><vpcId>vpc-1</vpcId><routeSet><item>"
        "<destinationCidrBlock>10.0.0.0/16</destinationCidrBlock><gatewayId>local</gatewayId>"
        "<state>active</state></item>%s</routeSet><associationSet><item><main>%s</main>%s%s%s</"
        "item>"
        "</associationSet></item>",
        id, route, main ? "true" : "false", subnet[0] != '\0' ? "<subnetId>" : "", subnet,
        subnet[0] != '\0' ? "</subnetId>" : "");
    take(ec2_take_route_table, &n->tables, item);
}

static void add_nat(struct ec2_network *n, const char *id, const char *state, const char *type)
{
    AUTO(xfree)
    char *item = xasprintf("<item><natGatewayId>%s</natGatewayId><vpcId>vpc-1</vpcId><subnetId>s"
                           "</subnetId><state>%s</state><connectivityType>%s</connectivityType>"
                           "</item>",
                           id, state, type);
    take(ec2_take_nat, &n->nats, item);
}

static void add_group(struct ec2_network *n, const char *id, const char *inbound,
                      const char *outbound)
{
    AUTO(xfree)
    char *item = xasprintf("<item><groupId>%s</groupId><groupName>name</groupName><vpcId>vpc-1"
                           "</vpcId><ipPermissions>%s</ipPermissions><ipPermissionsEgress>%s"
                           "</ipPermissionsEgress></item>",
                           id, inbound, outbound);
    take(ec2_take_group, &n->groups, item);
}

#define ROUTE(to) "<item><destinationCidrBlock>0.0.0.0/0</destinationCidrBlock>" to "</item>"
#define ACTIVE "<state>active</state>"

/* --- subnets --- */

static void ways_out(void **state)
{
    (void)state;
    static const struct {
        const char *route;
        enum network_way way;
        const char *target;
        bool bad;
    } rows[] = {
        {ROUTE("<natGatewayId>nat-1</natGatewayId>" ACTIVE), NETWORK_NAT, "nat-1", false},
        {ROUTE("<natGatewayId>nat-elsewhere</natGatewayId>" ACTIVE), NETWORK_NAT, "nat-elsewhere",
         false}, /* of another account's share: not in our list */
        {ROUTE("<natGatewayId>nat-private</natGatewayId>" ACTIVE), NETWORK_PRIVATE_NAT,
         "nat-private", true},
        {ROUTE("<natGatewayId>nat-gone</natGatewayId>" ACTIVE), NETWORK_BROKEN, "nat-gone", true},
        {ROUTE("<natGatewayId>nat-1</natGatewayId><state>blackhole</state>"), NETWORK_BROKEN,
         "nat-1", true},
        {ROUTE("<gatewayId>igw-1</gatewayId>" ACTIVE), NETWORK_PUBLIC, "igw-1", false},
        {ROUTE("<gatewayId>igw-1</gatewayId><state>blackhole</state>"), NETWORK_BROKEN, "igw-1",
         true},
        {ROUTE("<gatewayId>vgw-1</gatewayId>" ACTIVE), NETWORK_UNDECIDED, "vgw-1", false},
        {ROUTE("<gatewayId>vpce-1</gatewayId>" ACTIVE), NETWORK_UNDECIDED, "vpce-1", false},
        {ROUTE("<transitGatewayId>tgw-1</transitGatewayId>" ACTIVE), NETWORK_UNDECIDED, "tgw-1",
         false},
        {ROUTE("<networkInterfaceId>eni-1</networkInterfaceId><instanceId>i-1</instanceId>" ACTIVE),
         NETWORK_UNDECIDED, "eni-1", false},
        {ROUTE("<vpcPeeringConnectionId>pcx-1</vpcPeeringConnectionId>" ACTIVE), NETWORK_UNDECIDED,
         "pcx-1", false},
        {ROUTE(ACTIVE), NETWORK_UNDECIDED, "", false},
        {"", NETWORK_NONE, "", true},
        {"<item><destinationIpv6CidrBlock>::/0</destinationIpv6CidrBlock>"
         "<egressOnlyInternetGatewayId>eigw-1</egressOnlyInternetGatewayId></item>",
         NETWORK_NONE, "", true},
        {"<item><destinationPrefixListId>pl-1</destinationPrefixListId><gatewayId>vpce-1</"
         "gatewayId>"
         "</item>",
         NETWORK_NONE, "", true},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_EC2_NETWORK n = {0};
        add_subnet(&n, "subnet-1", "vpc-1", "use1-az1", 200);
        add_table(&n, "rtb-1", false, "subnet-1", rows[i].route);
        add_table(&n, "rtb-main", true, "", ROUTE("<gatewayId>igw-main</gatewayId>" ACTIVE));
        add_nat(&n, "nat-1", "available", "public");
        add_nat(&n, "nat-private", "available", "private");
        add_nat(&n, "nat-gone", "deleted", "public");
        struct network_subnet j = network_judge_subnet(&n.subnets.list[0], "us-east-1", &n);
        if (j.way != rows[i].way || strcmp(j.target, rows[i].target) != 0)
            fail_msg("row %zu: %s by %s", i, network_way_name(j.way), j.target);
        assert_int_equal(network_way_is_bad(j.way), rows[i].bad);
        assert_string_equal(j.table, "rtb-1");
        assert_false(j.main_table);
    }
}

static void the_main_table_counts_where_none_is_named(void **state)
{
    (void)state;
    AUTO_EC2_NETWORK n = {0};
    add_subnet(&n, "subnet-1", "vpc-1", "use1-az1", 200);
    add_subnet(&n, "subnet-2", "vpc-2", "use1-az1", 200);
    add_table(&n, "rtb-main", true, "", ROUTE("<natGatewayId>nat-1</natGatewayId>" ACTIVE));
    add_table(&n, "rtb-2", false, "subnet-9", "");
    struct network_subnet j = network_judge_subnet(&n.subnets.list[0], "us-east-1", &n);
    assert_int_equal(j.way, NETWORK_NAT);
    assert_true(j.main_table);
    j = network_judge_subnet(&n.subnets.list[1], "us-east-1", &n);
    assert_null(j.table); /* the tables are another VPC's */
    assert_int_equal(j.way, NETWORK_NONE);
    assert_string_equal(n.subnets.list[0].name, "the name");
    assert_true(n.subnets.list[0].public_addresses);
}

static void zones(void **state)
{
    (void)state;
    static const struct {
        const char *region, *zone;
        bool supported;
    } rows[] = {{"us-east-1", "use1-az1", true},
                {"us-east-1", "use1-az3", false},
                {"us-east-1", "use1-az", false},
                {"us-east-2", "use2-az3", true},
                {"ca-central-1", "cac1-az4", false},
                {"cn-north-1", "cnn1-az2", true},
                {"cn-north-1", "cnn1-az4", false},
                {"eu-west-1", "euw1-az1", true},
                {"us-east-1", "", true}};
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        assert_int_equal(network_zone_supported(rows[i].region, rows[i].zone), rows[i].supported);
}

static void an_endpoint_for_s3(void **state)
{
    (void)state;
    AUTO_EC2_NETWORK n = {0};
    add_subnet(&n, "subnet-1", "vpc-1", "use1-az1", 3);
    add_table(&n, "rtb-1", false, "subnet-1", "");
    struct network_subnet j = network_judge_subnet(&n.subnets.list[0], "us-east-1", &n);
    assert_false(j.s3_endpoint);
    assert_true(j.few_addresses);
    take(ec2_take_endpoint, &n.endpoints,
         "<item><vpcEndpointId>vpce-1</vpcEndpointId><vpcId>vpc-1</vpcId><state>available</state>"
         "<serviceName>com.amazonaws.us-east-1.s3</serviceName><vpcEndpointType>Gateway"
         "</vpcEndpointType><routeTableIdSet><item>rtb-0</item><item>rtb-1</item></routeTableIdSet>"
         "</item>");
    assert_true(network_judge_subnet(&n.subnets.list[0], "us-east-1", &n).s3_endpoint);
}

/* --- security groups --- */

#define RULE(protocol, ports, ranges)                                                              \
    "<item><ipProtocol>" protocol "</ipProtocol>" ports ranges "</item>"
#define PORTS(a, b) "<fromPort>" a "</fromPort><toPort>" b "</toPort>"
#define V4(range) "<ipRanges><item><cidrIp>" range "</cidrIp></item></ipRanges>"
#define V6(range) "<ipv6Ranges><item><cidrIpv6>" range "</cidrIpv6></item></ipv6Ranges>"
#define GROUP(id) "<groups><item><groupId>" id "</groupId></item></groups>"
#define LIST(id) "<prefixListIds><item><prefixListId>" id "</prefixListId></item></prefixListIds>"

static void groups(void **state)
{
    (void)state;
    static const struct {
        const char *inbound, *outbound;
        const char *open_from;
        bool reaches, limited;
    } rows[] = {
        {"", RULE("-1", "", V4("0.0.0.0/0")), NULL, true, false},
        {"", RULE("tcp", PORTS("443", "443"), V4("0.0.0.0/0")), NULL, true, false},
        {"", RULE("6", PORTS("0", "65535"), V4("0.0.0.0/0")), NULL, true, false},
        {"", RULE("tcp", PORTS("80", "80"), V4("0.0.0.0/0")), NULL, false, false},
        {"", RULE("udp", PORTS("443", "443"), V4("0.0.0.0/0")), NULL, false, false},
        {"", RULE("tcp", PORTS("443", "443"), V4("10.0.0.0/8")), NULL, false, true},
        {"", RULE("-1", "", GROUP("sg-2")), NULL, false, true},
        {"", RULE("-1", "", LIST("pl-1")), NULL, false, true},
        {"", RULE("-1", "", V6("::/0")), NULL, false, true},
        {"", "", NULL, false, false},
        {RULE("tcp", PORTS("22", "22"), V4("0.0.0.0/0")), "", "0.0.0.0/0", false, false},
        {RULE("-1", "", V6("::/0")), "", "::/0", false, false},
        {RULE("-1", "", V4("10.0.0.0/8") GROUP("sg-1")), RULE("-1", "", V4("0.0.0.0/0")), NULL,
         true, false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_EC2_NETWORK n = {0};
        add_group(&n, "sg-1", rows[i].inbound, rows[i].outbound);
        struct network_group j = network_judge_group(&n.groups.list[0]);
        if (j.open_inbound != (rows[i].open_from != NULL) || j.reaches_https != rows[i].reaches ||
            j.limited_https != rows[i].limited)
            fail_msg("row %zu: open %d reaches %d limited %d", i, j.open_inbound, j.reaches_https,
                     j.limited_https);
        if (rows[i].open_from != NULL)
            assert_string_equal(j.open_from, rows[i].open_from);
    }
}

/* --- choices --- */

static void a_network(struct ec2_network *n)
{
    add_subnet(n, "subnet-good", "vpc-1", "use1-az1", 200);
    add_subnet(n, "subnet-two", "vpc-1", "use1-az2", 200);
    add_subnet(n, "subnet-public", "vpc-1", "use1-az4", 200);
    add_subnet(n, "subnet-closed", "vpc-1", "use1-az1", 4);
    add_subnet(n, "subnet-zone", "vpc-1", "use1-az3", 200);
    add_subnet(n, "subnet-far", "vpc-2", "use1-az5", 200);
    add_subnet(n, "subnet-tgw", "vpc-1", "use1-az6", 200);
    add_table(n, "rtb-main", true, "", ROUTE("<natGatewayId>nat-1</natGatewayId>" ACTIVE));
    add_table(n, "rtb-public", false, "subnet-public",
              ROUTE("<gatewayId>igw-1</gatewayId>" ACTIVE));
    add_table(n, "rtb-closed", false, "subnet-closed", "");
    add_table(n, "rtb-tgw", false, "subnet-tgw",
              ROUTE("<transitGatewayId>tgw-1</transitGatewayId>" ACTIVE));
    add_nat(n, "nat-1", "available", "public");
    add_group(n, "sg-good", "", RULE("-1", "", V4("0.0.0.0/0")));
    add_group(n, "sg-open", RULE("tcp", PORTS("22", "22"), V4("0.0.0.0/0")),
              RULE("-1", "", V4("0.0.0.0/0")));
    add_group(n, "sg-mute", "", "");
    add_group(n, "sg-some", "", RULE("tcp", PORTS("443", "443"), V4("10.0.0.0/8")));
}

static void names_from(struct aws_names *out, const char *list)
{
    AUTO(xfree) char *copy = xstrdup(list);
    for (char *at = copy, *next; at != NULL && *at != '\0'; at = next) {
        next = strchr(at, ' ');
        if (next != NULL)
            *next++ = '\0';
        aws_names_add(out, at);
    }
}

static void choices(void **state)
{
    (void)state;
    static const struct {
        const char *subnets, *groups;
        const char *bad[3], *note[3]; /* parts of the sentences, in order */
        bool undecided;
    } rows[] = {
        {"subnet-good subnet-two", "sg-good", {NULL}, {NULL}, false},
        {"subnet-good", "sg-good", {NULL}, {"all in one zone"}, false},
        {"subnet-good subnet-public",
         "sg-good",
         {NULL},
         {"subnet-public is a public subnet"},
         false},
        {"subnet-good subnet-closed subnet-two",
         "sg-good",
         {"subnet-closed has no default route, so no way to the internet (route table rtb-closed)",
          "now and then"},
         {"4 free addresses"},
         false},
        {"subnet-closed", "sg-good", {"no default route"}, {"4 free", "one zone"}, false},
        {"subnet-good subnet-zone",
         "sg-good",
         {"zone use1-az3, where EMR Serverless does not work"},
         {NULL},
         false},
        {"subnet-good subnet-far",
         "sg-good",
         {"subnet-far lies in vpc-2, others in vpc-1", "subnet-far has no default route",
          "now and then"},
         {NULL},
         false},
        {"subnet-good subnet-tgw", "sg-good", {NULL}, {"subnet-tgw leads to tgw-1"}, true},
        {"subnet-good subnet-two", "sg-open", {"sg-open (name) lets 0.0.0.0/0 in"}, {NULL}, false},
        {"subnet-good subnet-two", "sg-mute", {"no group lets HTTPS"}, {NULL}, false},
        {"subnet-good subnet-two", "sg-mute sg-good", {NULL}, {NULL}, false},
        {"subnet-good subnet-two", "sg-some", {NULL}, {"only to some addresses"}, true},
        {"", "sg-good", {"no subnet"}, {NULL}, false},
        {"subnet-good subnet-two", "", {"no security group"}, {NULL}, false},
        {"subnet-nowhere subnet-good",
         "sg-nowhere",
         {"there is no subnet subnet-nowhere", "there is no security group sg-nowhere",
          "no group lets HTTPS"},
         {"one zone"},
         false},
        {"subnet-far",
         "sg-good",
         {"no default route", "sg-good belongs to vpc-1, the subnets to vpc-2"},
         {"one zone"},
         false},
    };
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_EC2_NETWORK n = {0};
        AUTO_AWS_NAMES s = {0};
        AUTO_AWS_NAMES g = {0};
        AUTO_NETWORK_VERDICT v = {0};
        a_network(&n);
        names_from(&s, rows[i].subnets);
        names_from(&g, rows[i].groups);
        network_judge(&s, &g, "us-east-1", &n, &v);
        const struct aws_names *got[] = {&v.bad, &v.note};
        const char *const *want[] = {rows[i].bad, rows[i].note};
        for (size_t k = 0; k < 2; k++) {
            size_t count = 0;
            while (count < 3 && want[k][count] != NULL)
                count++;
            if (got[k]->count != count)
                fail_msg("row %zu: %zu of %s, first: %s", i, got[k]->count, k == 0 ? "bad" : "note",
                         got[k]->count > 0 ? got[k]->list[0] : "none");
            for (size_t m = 0; m < count; m++)
                if (strstr(got[k]->list[m], want[k][m]) == NULL)
                    fail_msg("row %zu: no \"%s\" in: %s", i, want[k][m], got[k]->list[m]);
        }
        assert_int_equal(v.undecided, rows[i].undecided);
    }
}

/* Rows without anything in them must not crash a judge. */
static void empty_rows(void **state)
{
    (void)state;
    AUTO_EC2_NETWORK n = {0};
    take(ec2_take_vpc, &n.vpcs, "<item/>");
    take(ec2_take_subnet, &n.subnets, "<item/>");
    take(ec2_take_group, &n.groups,
         "<item><ipPermissions><item/></ipPermissions><ipPermissionsEgress><item/>"
         "</ipPermissionsEgress></item>");
    take(ec2_take_route_table, &n.tables,
         "<item><routeSet><item/></routeSet><associationSet><item/></associationSet></item>");
    take(ec2_take_nat, &n.nats, "<item/>");
    take(ec2_take_endpoint, &n.endpoints, "<item/>");
    struct network_subnet s = network_judge_subnet(&n.subnets.list[0], "us-east-1", &n);
    assert_int_equal(s.way, NETWORK_NONE);
    struct network_group g = network_judge_group(&n.groups.list[0]);
    assert_false(g.open_inbound || g.reaches_https || g.limited_https);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ways_out),   cmocka_unit_test(the_main_table_counts_where_none_is_named),
        cmocka_unit_test(zones),      cmocka_unit_test(an_endpoint_for_s3),
        cmocka_unit_test(groups),     cmocka_unit_test(choices),
        cmocka_unit_test(empty_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
