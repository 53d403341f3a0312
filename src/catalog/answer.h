/* What an answer that is not a success says. One base URL gives five shapes of error bodies (an
 * OAuth server, an Iceberg catalog, Bauplan's own API, a gateway, a web server in between), so the
 * body decides, not the URL. */
#ifndef SLUICE_CATALOG_ANSWER_H
#define SLUICE_CATALOG_ANSWER_H

#include <stdbool.h>

#include "net/http.h"

enum answer_shape {
    SHAPE_EMPTY = 1,
    SHAPE_OAUTH = 2,    /* RFC 6749: "error" is a string */
    SHAPE_ICEBERG = 4,  /* "error" is an object with "code" */
    SHAPE_BAUPLAN = 8,  /* "error" is an object without "code", its type in capitals */
    SHAPE_GATEWAY = 16, /* "message" at the top */
    SHAPE_JSON = 32,    /* other JSON */
    SHAPE_HTML = 64,
    SHAPE_TEXT = 128
};
const char *answer_shape_name(enum answer_shape s); /* "an OAuth error", … for evidence */

struct answer {
    int status;
    enum answer_shape shape;
    char *type;      /* "invalid_client", "NoSuchReferenceException", "REF_NOT_FOUND"; "" none */
    char *message;   /* of the body, one line; "" none */
    char *challenge; /* scheme of WWW-Authenticate in lower case, "bearer"; "" none */
    char *location;  /* of a redirect; "" none */
    int wait_s;      /* Retry-After; -1 none or not a number of seconds */
    char *excerpt;   /* the beginning of the body, cleaned */
};

/* Reads status, headers and at most the first 64 KiB of the body. */
void answer_read(const struct http_response *r, struct answer *out);
void answer_release(struct answer *a);

#define AUTO_ANSWER __attribute__((cleanup(answer_release))) struct answer
#endif
