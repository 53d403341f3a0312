/* A throw-away PostgreSQL 15 for one test program: own folder, own port, TLS, passwords, logical
 * WAL. As root it runs as the user postgres, because the server refuses root. Fails by name when
 * the programs are missing. */
#ifndef SLUICE_TESTS_NET_POSTGRES_H
#define SLUICE_TESTS_NET_POSTGRES_H

#include <sys/stat.h>

#include "net_server.h"

#define POSTGRES_PASSWORD "p'w \\ \"x\" 1234"

struct postgres {
    char folder[64];
    char *data;
    char *ca; /* the server's certificate, for localhost */
    char port[8];
};

static inline const char *postgres_bin(void)
{
    const char *s = getenv("SLUICE_TEST_PGBIN");
    return s != NULL ? s : "/usr/lib/postgresql/15/bin";
}

static inline char *postgres_program(const char *name)
{
    return xasprintf("%s/%s", postgres_bin(), name);
}

/* Runs a command as the user of the server. */
static inline int postgres_run(const char *const *argv)
{
    const char *all[24] = {"runuser", "-u", "postgres", "--"};
    int n = geteuid() == 0 ? 4 : 0;
    for (int i = 0; argv[i] != NULL; i++)
        all[n++] = argv[i];
    all[n] = NULL;
    return server_command(all);
}

static inline void postgres_write(const struct postgres *p, const char *name, const char *mode,
                                  const char *text)
{
    AUTO(xfree) char *path = xasprintf("%s/%s", p->data, name);
    FILE *f = fopen(path, mode);
    if (f == NULL)
        abort();
    fputs(text, f);
    fclose(f);
}

static inline void postgres_certificate(struct postgres *p)
{
    p->ca = xasprintf("%s/server.crt", p->folder);
    AUTO(xfree) char *key = xasprintf("%s/server.key", p->folder);
    const char *const argv[] = {"openssl",
                                "req",
                                "-x509",
                                "-newkey",
                                "ec",
                                "-pkeyopt",
                                "ec_paramgen_curve:P-256",
                                "-nodes",
                                "-subj",
                                "/CN=localhost/O=Test Database CA",
                                "-addext",
                                "subjectAltName=DNS:localhost",
                                "-days",
                                "30",
                                "-keyout",
                                key,
                                "-out",
                                p->ca,
                                NULL};
    if (postgres_run(argv) != 0)
        abort();
}

static inline int postgres_control(const struct postgres *p, const char *what, const char *mode)
{
    AUTO(xfree) char *ctl = postgres_program("pg_ctl");
    AUTO(xfree) char *log = xasprintf("%s/log", p->folder);
    const char *const argv[] = {ctl, "-D", p->data, "-l", log, "-w", "-m", mode, what, NULL};
    return postgres_run(argv);
}

/* NULL, or what is missing. */
static inline const char *postgres_start(struct postgres *p)
{
    AUTO(xfree) char *initdb = postgres_program("initdb");
    if (access(initdb, X_OK) != 0)
        return "PostgreSQL 15's server programs are missing: install postgresql-15 or set "
               "SLUICE_TEST_PGBIN";
    snprintf(p->folder, sizeof p->folder, "/tmp/sluice-pg-XXXXXX");
    if (mkdtemp(p->folder) == NULL)
        return "no temporary folder";
    const char *const own[] = {"chown", "postgres", p->folder, NULL};
    if (geteuid() == 0 && server_command(own) != 0)
        return "the user postgres is missing";
    p->data = xasprintf("%s/data", p->folder);
    AUTO(xfree) char *password = xasprintf("%s/password", p->folder);
    FILE *f = fopen(password, "w");
    if (f == NULL)
        return "the password file cannot be written";
    fputs(POSTGRES_PASSWORD, f);
    fclose(f);
    chmod(password, 0644);
    const char *const argv[] = {initdb,
                                "-D",
                                p->data,
                                "-A",
                                "scram-sha-256",
                                "-U",
                                "postgres",
                                "--no-sync",
                                "--locale=C.UTF-8",
                                "-E",
                                "UTF8",
                                "--pwfile",
                                password,
                                NULL};
    if (postgres_run(argv) != 0)
        return "initdb failed";
    postgres_certificate(p);
    snprintf(p->port, sizeof p->port, "%d", server_dead_port());
    AUTO(xfree)
    char *conf =
        xasprintf("port=%s\nlisten_addresses='127.0.0.1'\nunix_socket_directories='%s'\nssl=on\n"
                  "ssl_cert_file='%s/server.crt'\nssl_key_file='%s/server.key'\nwal_level=logical\n"
                  "fsync=off\nmax_connections=40\nwal_sender_timeout=2s\n",
                  p->port, p->folder, p->folder, p->folder);
    postgres_write(p, "postgresql.conf", "a", conf);
    postgres_write(p, "pg_hba.conf", "w",
                   "local all all trust\n"
                   "host rejected all all reject\n"
                   "hostssl tlsonly all all scram-sha-256\n"
                   "hostnossl tlsonly all all reject\n"
                   "host all stranger 192.0.2.1/32 scram-sha-256\n"
                   "host all postgres,plain,nologin,limited,absent all scram-sha-256\n");
    return postgres_control(p, "start", "fast") == 0 ? NULL : "the server did not start";
}

static inline void postgres_stop(struct postgres *p)
{
    postgres_control(p, "stop", "immediate");
    const char *const argv[] = {"rm", "-rf", p->folder, NULL};
    server_command(argv);
    xfree(p->data);
    xfree(p->ca);
}
#endif
