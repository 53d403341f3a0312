/* Commands of what sends nothing or little: policies and networks. See aws_probe.c. */
#include <stdlib.h>
#include <string.h>

#include "aws/network.h"
#include "aws/policy.h"
#include "aws_probe.h"
#include "core/mem.h"

/* role|trust|user LAKE STAGING APPLICATION ROLE-ARN; prefixes are those of the guide */
static int render(struct probe *p)
{
    enum policy_kind kind = strcmp(p->word[0], "role") == 0    ? POLICY_ROLE
                            : strcmp(p->word[0], "trust") == 0 ? POLICY_TRUST
                                                               : POLICY_USER;
    const struct policy_values v = {.partition = "aws",
                                    .region = p->client.region,
                                    .account = "123456789012",
                                    .lake = p->word[1],
                                    .lake_prefix = "iceberg",
                                    .staging = p->word[2],
                                    .staging_prefix = "estuary-staging",
                                    .application = p->word[3],
                                    .role_arn = p->word[4],
                                    .ssm_prefix = "/estuary/"};
    AUTO(xfree) char *document = NULL;
    if (policy_render(kind, &v, &document, p->err) != 0)
        return -1;
    json_pair_text(&p->w, "document", document);
    return 0;
}

/* SUBNETS GROUPS by comma */
static int judge(struct probe *p)
{
    AUTO_EC2_NETWORK n = {0};
    AUTO_NETWORK_VERDICT v = {0};
    AUTO_AWS_NAMES subnets = {0};
    AUTO_AWS_NAMES groups = {0};
    split(&subnets, p->word[0]);
    split(&groups, p->word[1]);
    if (CALL(ec2_read_network, NULL, &n) != 0)
        return -1;
    network_judge(&subnets, &groups, p->client.region, &n, &v);
    pair_names(p, "bad", &v.bad);
    pair_names(p, "note", &v.note);
    json_pair_bool(&p->w, "undecided", v.undecided);
    json_key(&p->w, "ways");
    json_begin(&p->w, '{');
    for (size_t i = 0; i < n.subnets.count; i++) {
        struct network_subnet s = network_judge_subnet(&n.subnets.list[i], p->client.region, &n);
        json_pair_text(&p->w, n.subnets.list[i].id, network_way_name(s.way));
    }
    json_end(&p->w, '}');
    return 0;
}

const struct probe_command probe_judge[] = {
    {"policy", render},
    {"judge-network", judge},
    {NULL, NULL},
};
