/* AWS Signature Version 4 on OpenSSL's HMAC. Our own, because the libcurl of Debian 12 (7.88.1)
 * canonicalises queries, paths and header order wrongly. The rules are AWS's "Create a signed AWS
 * API request"; tests run the official suite in both forms.
 *
 * Pure: time is given, nothing is sent. */
#ifndef SLUICE_AWS_SIGV4_H
#define SLUICE_AWS_SIGV4_H

#include <stdbool.h>
#include <stdint.h>

#include "core/problem.h"
#include "core/secret.h"
#include "core/text.h"

struct sigv4_header {
    const char *name;  /* any case */
    const char *value; /* as sent; folded and repeated ones are allowed */
};

struct sigv4_request { /* all borrowed for the call */
    const char *method;
    const char *path;  /* as it stands in the request line, encoded or not; NULL or "" = "/" */
    const char *query; /* likewise, without '?'; NULL or "" = none */
    const struct sigv4_header
        *headers; /* host first or anywhere; x-amz-date is added by the signer */
    size_t header_count;
    const char *body;
    size_t body_len;
    const char *region;
    const char *service; /* signing name */
    const char *key_id;
    const struct secret *secret_key;
    const char *session_token; /* NULL none */
    int64_t when;              /* wall seconds */
    bool keep_path;            /* S3: no normalisation, encoded once */
    bool normalise;            /* others: "." ".." "//" are resolved */
    bool sign_body_header;     /* x-amz-content-sha256 is sent and signed */
    bool token_after; /* the token is added after signing (one old service's habit; the suite has
                         it) */
    int expires_s;    /* query form only */
};

struct sigv4_result {
    struct text canonical;     /* canonical request */
    struct text to_sign;       /* string to sign */
    char signature[65];        /* hex */
    char date[17];             /* x-amz-date */
    char payload[65];          /* hex of the body's SHA-256 */
    struct text authorization; /* header form: value of Authorization */
    struct text query;         /* query form: the whole query with X-Amz-Signature */
};

void sigv4_result_release(struct sigv4_result *r);
/* 0, or -1 and PROBLEM_INPUT for a request that cannot be signed (a header with a line break that
 * is no fold). */
int sigv4_sign_header(const struct sigv4_request *r, struct sigv4_result *out, struct problem *err);
int sigv4_sign_query(const struct sigv4_request *r, struct sigv4_result *out, struct problem *err);
/* Percent-encoding as SigV4 wants it: unreserved bytes stay, upper-case hex; '/' stays when
 * keep_slash. */
void sigv4_encode(struct text *out, const char *s, size_t n, bool keep_slash);
#endif
