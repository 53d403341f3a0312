/* A config with secrets, the document that Estuary's encryption service would make of it, and a
 * server that answers as a test says. Static, as each test is one source file. */
#ifndef SLUICE_TESTS_SEAL_SAMPLES_H
#define SLUICE_TESTS_SEAL_SAMPLES_H

#include "estuary_samples.h"

#include <openssl/evp.h>

#include "core/node_json.h"
#include "estuary/seal.h"
#include "net_server.h"

#define PASSWORD "canary pa\"55/w\xC3\xB6rd"
#define CLIENT_SECRET "canary:client+s3cret=="
#define SHORT "pw7"

static const struct estuary_secret secrets[] = {{"HOLE-password", PASSWORD},
                                                {"HOLE-client", CLIENT_SECRET}};

static const char config_json[] =
    "{\"address\":\"db.example.com:5432\",\"user\":\"flow_shop\",\"historyMode\":false,"
    "\"credentials\":{\"auth_type\":\"UserPassword\",\"password\":\"HOLE-password\"},"
    "\"catalog\":{\"credential\":\"8f1c:HOLE-client\",\"url\":\"https://x.example/b\"},"
    "\"advanced\":{\"slotName\":\"flow \\\"slot\\\"\",\"empty\":\"\"}}";

/* As it is to come back; % stands for a value of PASSWORD's length, & for the other's. */
static const char right_json[] =
    "{\"address\":\"db.example.com:5432\",\"user\":\"flow_shop\",\"historyMode\":false,"
    "\"credentials\":{\"auth_type\":\"UserPassword\",\"password_sops\":\"%\"},"
    "\"catalog\":{\"credential_sops\":\"&\",\"url\":\"https://x.example/b\"},"
    "\"advanced\":{\"slotName\":\"flow \\\"slot\\\"\",\"empty\":\"\"},"
    "\"sops\":{\"kms\":null,\"gcp_kms\":[{\"resource_id\":\"projects/x/key\",\"created_at\":"
    "\"2026-11-30T10:00:00Z\",\"enc\":\"CiQA\"}],\"azure_kv\":null,\"hc_vault\":null,\"age\":null,"
    "\"lastmodified\":\"2026-11-30T10:00:00Z\",\"mac\":\"$\",\"pgp\":null,\"encrypted_suffix\":"
    "\"_sops\",\"version\":\"3.7.3\"}}";

/* --- documents -------------------------------------------------------------------------------- */

static char *base64(const char *bytes, size_t n)
{
    unsigned char *out = xcalloc(n / 3 * 4 + 5, 1);
    EVP_EncodeBlock(out, (const unsigned char *)bytes, (int)n);
    return (char *)out;
}

static inline char *sealed_data(const char *data, size_t n)
{
    char *coded = base64(data, n);
    char *out =
        xasprintf("ENC[AES256_GCM,data:%s,iv:%s,tag:%s,type:str]", coded,
                  "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTI=", "MTIzNDU2Nzg5MDEyMzQ1Ng==");
    xfree(coded);
    return out;
}

static inline char *sealed_value(size_t n)
{
    char *noise = xcalloc(n + 1, 1);
    for (size_t i = 0; i < n; i++)
        noise[i] = (char)(0x80 + i % 0x7f);
    char *out = sealed_data(noise, n);
    xfree(noise);
    return out;
}

/* text with `find`, which must be there, replaced once. */
static inline char *replaced(const char *text, const char *find, const char *with)
{
    const char *at = strstr(text, find);
    if (at == NULL)
        fail_msg("“%s” is not in %s", find, text);
    return xasprintf("%.*s%s%s", (int)(at - text), text, with, at + strlen(find));
}

static inline char *filled(const char *template)
{
    const struct {
        const char *mark;
        size_t n;
    } marks[] = {{"%", strlen(PASSWORD)}, {"&", strlen("8f1c:" CLIENT_SECRET)}, {"$", 128}};
    char *text = xstrdup(template);
    for (size_t i = 0; i < ARRAY_LEN(marks); i++) {
        AUTO(xfree) char *value = sealed_value(marks[i].n);
        if (strstr(text, marks[i].mark) == NULL)
            continue;
        char *next = replaced(text, marks[i].mark, value);
        xfree(text);
        text = next;
    }
    return text;
}

static inline struct node *tree(const char *json)
{
    AUTO_PROBLEM err = PROBLEM_INIT;
    struct node *n = node_parse_json(json, strlen(json), "a test's document", &err);
    if (n == NULL)
        fail_msg("%s: %s", err.what, json);
    return n;
}

/* Nothing that is said holds a secret, a piece of one, or its base64. */
static inline void assert_silent(const struct problem *p)
{
    const char *const texts[] = {p->code, p->what, p->why, p->fix, p->evidence, p->copy};
    static const char *const never[] = {"canary", "pa\"55", "s3cret", "Y2FuYXJ5", SHORT};
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        for (size_t j = 0; texts[i] != NULL && j < ARRAY_LEN(never); j++)
            if (strstr(texts[i], never[j]) != NULL)
                fail_msg("a secret in “%s”", texts[i]);
}

/* --- the service ------------------------------------------------------------------------------ */

#define ANSWERS 4

/* Answers one request after the other with what was given, and keeps the last. */
struct canned {
    struct server listening; /* only its socket is used */
    pthread_t thread;
    const char *answers[ANSWERS];
    size_t asked;
    char request[65536];
};

static inline void *canned_body(void *arg)
{
    struct canned *c = arg;
    while (c->asked < ANSWERS && c->answers[c->asked] != NULL) {
        struct served s = {.server = &c->listening, .fd = accept(c->listening.fd, NULL, NULL)};
        if (s.fd < 0)
            break;
        while (c->asked < ANSWERS && c->answers[c->asked] != NULL &&
               server_read(&s, c->request, sizeof c->request))
            server_say(s.fd, c->answers[c->asked++]);
        close(s.fd);
    }
    return NULL;
}

static inline void canned_start(struct canned *c)
{
    struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof a;
    c->listening.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(c->listening.fd, (struct sockaddr *)&a, sizeof a), 0);
    assert_int_equal(listen(c->listening.fd, 8), 0);
    assert_int_equal(getsockname(c->listening.fd, (struct sockaddr *)&a, &n), 0);
    AUTO(xfree) char *url = xasprintf("http://127.0.0.1:%d", ntohs(a.sin_port));
    setenv("SLUICE_ESTUARY_ENCRYPTION_URL", url, 1);
    assert_int_equal(pthread_create(&c->thread, NULL, canned_body, c), 0);
}

static inline void canned_stop(struct canned *c)
{
    atomic_store(&c->listening.stop, true);
    shutdown(c->listening.fd, SHUT_RDWR);
    pthread_join(c->thread, NULL);
    close(c->listening.fd);
}

static inline char *answer_of(const char *status, const char *headers, const char *body)
{
    return xasprintf("HTTP/1.1 %s\r\nContent-Length: %zu\r\n%s\r\n%s", status, strlen(body),
                     headers, body);
}

#endif
