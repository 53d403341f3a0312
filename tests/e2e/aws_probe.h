/* What the parts of aws_probe share: see aws_probe.c. */
#ifndef AWS_PROBE_H
#define AWS_PROBE_H

#include "aws/ask.h"
#include "core/json.h"

struct probe {
    struct run *run;
    struct aws_client client;
    struct json_writer w; /* the result is written here */
    char **word;          /* of the command, without its name; NULL = "-" or missing */
    struct problem *err;
};
struct probe_command {
    const char *name;
    int (*run)(struct probe *p);
};
/* Each ends with a name NULL. */
extern const struct probe_command probe_iam[], probe_s3[], probe_emr[], probe_ec2[], probe_judge[];
extern const struct aws_tags probe_tags;

#define CALL(f, ...) f(p->run, &p->client, __VA_ARGS__, p->err)

void pair_secret(struct probe *p, const char *key, const struct secret *s);
void pair_names(struct probe *p, const char *key, const struct aws_names *n);
void split(struct aws_names *out, char *list); /* by comma; cuts the list up */
#endif
