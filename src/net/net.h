/* struct net: what the network layer shares in one process: CA bundle, resolver, the thread that
 * owns the curl multi handle, the connection cache. One is made by cli/ and lives to the end. */
#ifndef SLUICE_NET_NET_H
#define SLUICE_NET_NET_H

#include "core/problem.h"

struct net;

struct net_options {
    const char *ca_file;      /* added to the system's bundle, never instead of it; NULL none */
    const char *more_ca_file; /* another one, as AWS_CA_BUNDLE; NULL none */
    const char *user_agent;   /* NULL: "sluice/VERSION" */
};

/* NULL and err when the CA file cannot be read or has no certificate. Called once, before other
 * threads run: it calls curl_global_init, removes libpq's variables from the environment
 * (PGPASSWORD and the like would be used unasked) and sets LC_MESSAGES to "C" (libpq's texts are
 * matched). The system's bundle is SSL_CERT_FILE or CURL_CA_BUNDLE where set, else the
 * distribution's. The proxy variables are read here. */
struct net *net_new(const struct net_options *o, struct problem *err);
/* Cancels what is left, closes and wipes all connections, ends the thread. Lookups that hang are
 * abandoned. */
void net_free(struct net *net);
/* Path of the merged bundle (system + ca_file), for libpq's sslrootcert as well; borrowed. */
const char *net_ca_bundle(const struct net *net);
#endif
