/* The place a change was planned for. See planned.h. */
#include "steps/aws/planned.h"

#include <string.h>

#include "aws/sts.h"

void aws_plan_place(struct node *args, const struct aws_identity *who, const char *pipeline)
{
    node_set_text(args, "account", who->account);
    node_set_text(args, "region", who->region);
    node_set_text(args, "run", pipeline);
}

const char *aws_planned(const struct node *args, const char *key)
{
    const char *text = node_get_text(args, key);
    return text != NULL ? text : "";
}

int aws_open_planned(struct run *run, const struct node *args, struct aws_here *out,
                     struct problem *err)
{
    AUTO_STS_IDENTITY who = {0};
    if (aws_here_open(run, out, err) != 0 ||
        sts_get_caller_identity(run, &out->client, &who, err) != 0)
        return -1;
    const char *account = aws_planned(args, "account");
    const char *region = aws_planned(args, "region");
    if (strcmp(who.account, account) == 0 && strcmp(out->client.region, region) == 0)
        return 0;
    problem_fail(err, PROBLEM_CONFLICT, "account",
                 "these keys lead to account %s in %s, this was planned for %s in %s", who.account,
                 out->client.region, account, region);
    problem_fix(err, WHO_YOU,
                "Choose the profile and region it was planned with, or make a new plan.");
    return -1;
}
