/* One AWS call: endpoint, signature, sending, retries, and the answer's error turned into a
 * problem. The four protocols differ in how a request is written and where the error stands;
 * everything else is the same. */
#ifndef SLUICE_AWS_CALL_H
#define SLUICE_AWS_CALL_H

#include <cjson/cJSON.h>
#include <stdatomic.h>

#include "aws/credentials.h"
#include "aws/xml.h"
#include "core/run.h"
#include "net/http.h"

enum aws_protocol { AWS_QUERY, AWS_EC2, AWS_JSON11, AWS_REST_JSON, AWS_REST_XML };

/* A row each: sts, iam, ec2, ssm, emr-serverless, s3 (aws/service.c). */
struct aws_service {
    const char *id; /* "emr-serverless" */
    const char *signing_name;
    const char *env_suffix; /* AWS_ENDPOINT_URL_<this> */
    enum aws_protocol protocol;
    const char *version;    /* query and ec2: Version=; json 1.1: target prefix */
    bool global;            /* iam: one host, signed for the partition's main region */
    const char *iam_prefix; /* of actions: "emr-serverless:" */
};
extern const struct aws_service aws_sts, aws_iam, aws_ec2, aws_ssm, aws_emr, aws_s3;

struct aws_client { /* who calls, and where; borrowed by each call */
    const struct aws_credentials *credentials;
    const char *region;
    /* Seconds to add to our clock to get AWS's, once a call has learnt that ours is off; shared by
     * all calls of a process, so that only the first pays for it. NULL = each call learns anew. */
    atomic_llong *skew;
};

struct aws_call {
    const struct aws_service *service;
    const char *action; /* "CreateRole"; for messages and query protocols */
    const char *method; /* rest protocols; NULL = POST */
    struct text path;   /* rest protocols: encoded; starts with '/' */
    struct text query;  /* rest protocols: encoded pairs joined by '&' */
    struct text form;   /* query protocols: pairs after Action and Version */
    struct text body;   /* rest and json protocols */
    const char *content_type;
    const char *bucket; /* s3: virtual host, or path style under an endpoint override; NULL none */
    struct sigv4_extra {
        const char *name;
        char *value;
    } extra[4];         /* headers, e.g. a checksum; signed; values are freed by the release */
    char *resource;     /* ARN for messages, where a refusal does not name one; NULL unknown */
    bool idempotent;    /* may be repeated when no answer came (GET and HEAD always may) */
    bool unsigned_call; /* HEAD of a bucket for its region */
    int tries;          /* 0 = 4 */
};
void aws_call_init(struct aws_call *c, const struct aws_service *service, const char *action);
void aws_call_release(struct aws_call *c);
/* Adds name=value, encoded, to form or query. */
void aws_form(struct aws_call *c, const char *name, const char *value);
void aws_query(struct aws_call *c, const char *name, const char *value);

struct aws_answer {
    int status;
    struct http_response http;
    cJSON *json;          /* json protocols; NULL when the body is empty */
    struct xml_node *xml; /* xml protocols; NULL likewise, and for the bytes of an object */
};
void aws_answer_release(struct aws_answer *a);
/* The same, and what the answer held is overwritten: for answers with a secret in them. */
void aws_answer_wipe(struct aws_answer *a);

/* 0 = a 2xx answer, parsed. -1 and a problem whose code is AWS's ("NoSuchEntity", "AccessDenied"):
 * kinds MISSING, CONFLICT, DENIED (why: the action and resource that are missing, and by which
 * policy; fix names who), REFUSED (key unknown, wrong secret, expired), UNREACHABLE, PROTOCOL ("not
 * AWS": a proxy's or portal's page, an answer without the shape of the protocol). `out` is to be
 * released in both cases: of a failed call it has status and headers, if anything answered.
 *
 * Repeated with jittered back-off, within the run's deadline: throttling, with Retry-After up to 20
 * s; connections that were never made; and, of calls that may be repeated, 5xx and lost or cut
 * answers. A clock that is off is corrected once by the Date of the answer; a GET or HEAD of a
 * bucket elsewhere is signed once more for its region, a write never is. The request id is in
 * evidence. */
int aws_send(struct run *run, const struct aws_client *client, struct aws_call *call,
             struct aws_answer *out, struct problem *err);

/* "iam:CreateRole" and "arn:…" from an AccessDenied text; xfree; NULL when it does not say. */
char *aws_denied_action(const char *message);
char *aws_denied_resource(const char *message);
char *aws_denied_because(
    const char *message); /* "no identity-based policy allows", "explicit deny in a …" */
/* Is the code of a problem this one? */
bool aws_is(const struct problem *p, const char *code);
/* Is a key unknown to the service that was asked? With a key made seconds ago that means "not yet":
 * IAM spreads to each service for itself (seconds, at most two minutes). */
bool aws_key_unknown(const struct problem *p);
/* Was this very action denied ("iam:TagRole")? */
bool aws_denied(const struct problem *p, const char *action);

#define AUTO_AWS_CALL __attribute__((cleanup(aws_call_release))) struct aws_call
#define AUTO_AWS_ANSWER __attribute__((cleanup(aws_answer_release))) struct aws_answer
#define AUTO_AWS_SECRET_ANSWER __attribute__((cleanup(aws_answer_wipe))) struct aws_answer
#endif
