/* The authorities that are trusted: the system's bundle and what the operator adds, merged once
 * into a file that only this process sees. libcurl and libpq take one path each, and a second file
 * cannot be added to it, so they are joined here. Nothing here can switch verification off. */
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/text.h"
#include "net/net_impl.h"

#define BUNDLE_MAX ((size_t)8 << 20)

/* Where distributions keep the bundle (Debian, Fedora and RHEL, SUSE, Alpine, FreeBSD's port). */
static const char *const system_places[] = {
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/usr/local/share/certs/ca-root-nss.crt",
};

/* Links are followed: distributions link their bundle. 0 or an errno. */
static int read_whole(const char *path, struct text *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno;
    char buffer[65536];
    ssize_t n;
    while ((n = read(fd, buffer, sizeof buffer)) > 0 && !out->cut)
        text_addn(out, buffer, (size_t)n);
    int rc = n < 0 ? errno : 0;
    close(fd);
    return out->cut ? EFBIG : rc;
}

static const char *variable(const char *name)
{
    const char *s = getenv(name);
    return s != NULL && s[0] != '\0' ? s : NULL;
}

/* SSL_CERT_FILE (OpenSSL) and CURL_CA_BUNDLE (curl) name the system's bundle where it is elsewhere.
 */
static int add_system(struct text *out, struct problem *err)
{
    static const char *const names[] = {"SSL_CERT_FILE", "CURL_CA_BUNDLE"};
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const char *path = variable(names[i]);
        if (path == NULL)
            continue;
        int rc = read_whole(path, out);
        if (rc != 0) {
            problem_errno(err, rc, "cannot read the CA bundle %s", path);
            problem_why(err, "The variable %s names it in place of the system's bundle.", names[i]);
            problem_fix(err, WHO_YOU, "Correct %s or unset it.", names[i]);
            return -1;
        }
        return 0;
    }
    for (size_t i = 0; i < ARRAY_LEN(system_places); i++) {
        if (read_whole(system_places[i], out) == 0 && out->len > 0)
            return 0;
        text_reset(out);
    }
    return 0;
}

/* Only certificates are taken over: a private key that lies in the same file stays where it is. */
static size_t add_certificates(const struct text *file, BIO *out)
{
    size_t count = 0;
    BIO *in = BIO_new_mem_buf(file->s, (int)file->len);
    if (in == NULL)
        mem_exhausted();
    X509 *cert;
    while ((cert = PEM_read_bio_X509_AUX(in, NULL, NULL, NULL)) != NULL) {
        count += PEM_write_bio_X509(out, cert) == 1;
        X509_free(cert);
    }
    BIO_free(in);
    if (count == 0) { /* DER, as Windows and Java export it */
        const unsigned char *p = (const unsigned char *)file->s;
        cert = d2i_X509(NULL, &p, (long)file->len);
        if (cert != NULL)
            count += PEM_write_bio_X509(out, cert) == 1;
        X509_free(cert);
    }
    ERR_clear_error();
    return count;
}

static int add_extra(const char *path, struct text *out, struct problem *err)
{
    AUTO_TEXT file = TEXT_LIMITED(BUNDLE_MAX);
    int rc = read_whole(path, &file);
    if (rc != 0) {
        problem_errno(err, rc, "cannot read the CA file %s", path);
        return -1;
    }
    BIO *certs = BIO_new(BIO_s_mem());
    if (certs == NULL)
        mem_exhausted();
    size_t count = add_certificates(&file, certs);
    char *data;
    long n = BIO_get_mem_data(certs, &data);
    text_addc(out, '\n');
    text_addn(out, data, n > 0 ? (size_t)n : 0);
    BIO_free(certs);
    if (count > 0)
        return 0;
    problem_fail(err, PROBLEM_INPUT, "ca file", "the CA file %s has no certificate", path);
    problem_why(err, "Neither PEM (\"-----BEGIN CERTIFICATE-----\") nor DER was found in it.");
    problem_fix(err, WHO_YOU, "Name the file with the authority's certificate, not its key.");
    return -1;
}

static int write_whole(int fd, const char *s, size_t n)
{
    while (n > 0) {
        ssize_t w = write(fd, s, n);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return errno;
        s += w;
        n -= (size_t)w;
    }
    return 0;
}

/* A memory file needs no cleaning up after a crash; the temp file is for kernels and sandboxes
 * where it cannot be opened again by its path. */
static int keep(const struct text *all, struct ca_bundle *out, struct problem *err)
{
    int fd = memfd_create("sluice-ca", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd >= 0 && write_whole(fd, all->s, all->len) == 0) {
        fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
        char *path = xasprintf("/proc/self/fd/%d", fd);
        if (access(path, R_OK) == 0) {
            *out = (struct ca_bundle){.fd = fd, .path = path};
            return 0;
        }
        xfree(path);
    }
    if (fd >= 0)
        close(fd);
    const char *dir = variable("TMPDIR");
    char *path = xasprintf("%s/sluice-ca-XXXXXX", dir != NULL ? dir : "/tmp");
    fd = mkostemp(path, O_CLOEXEC); /* mode 0600 */
    int rc = fd < 0 ? errno : write_whole(fd, all->s, all->len);
    if (rc != 0) {
        problem_errno(err, rc, "cannot write the merged CA bundle %s", path);
        if (fd >= 0) {
            close(fd);
            unlink(path);
        }
        xfree(path);
        return -1;
    }
    *out = (struct ca_bundle){.fd = fd, .path = path, .temp = xstrdup(path)};
    return 0;
}

int ca_bundle_open(const char *const *extra, size_t count, struct ca_bundle *out,
                   struct problem *err)
{
    AUTO_TEXT all = TEXT_LIMITED(BUNDLE_MAX);
    if (add_system(&all, err) != 0)
        return -1;
    for (size_t i = 0; i < count; i++) {
        if (extra[i] != NULL && extra[i][0] != '\0' && add_extra(extra[i], &all, err) != 0)
            return -1;
    }
    if (strstr(all.s, "-----BEGIN ") == NULL || all.cut) {
        problem_fail(err, PROBLEM_LOCAL, "ca bundle",
                     "no usable CA bundle was found on this machine");
        problem_why(err, "Without it no server's certificate can be verified.");
        problem_fix(err, WHO_YOU,
                    "Install the package ca-certificates, or set SSL_CERT_FILE to the bundle.");
        return -1;
    }
    return keep(&all, out, err);
}

void ca_bundle_close(struct ca_bundle *b)
{
    if (b->fd >= 0)
        close(b->fd);
    if (b->temp != NULL)
        unlink(b->temp);
    xfree(b->path);
    xfree(b->temp);
    *b = (struct ca_bundle){.fd = -1};
}
