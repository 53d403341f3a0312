/* Words for a certificate that was refused: who issued it, whom it is for, until when, what this
 * machine's clock says. None of them is to switch verification off. */
#include <openssl/x509.h>
#include <stdbool.h>

#include "core/clock.h"
#include "core/mem.h"
#include "net/tls_notes.h"

static bool text_is(const char *s)
{
    return s != NULL && s[0] != '\0';
}

static const char *or_dash(const char *s)
{
    return text_is(s) ? s : "-";
}

static void fail_dates(const struct tls_notes *n, const struct tls_words *w, struct problem *err)
{
    bool early = n->verify_error == X509_V_ERR_CERT_NOT_YET_VALID;
    AUTO(xfree) char *date = clock_iso(early ? n->from : n->until);
    AUTO(xfree) char *now = clock_iso(clock_wall());
    problem_fail(err, PROBLEM_UNREACHABLE, w->code, "the certificate of %s %s %s", w->who,
                 early ? "is not valid before" : "ended on", date);
    problem_why(err, "This machine's clock says %s.", now);
    problem_fix(err, WHO_YOU,
                "If that is wrong, set the clock (NTP); if it is right, whoever runs %s must renew "
                "the certificate.",
                w->who);
}

static void fail_untrusted(const struct tls_notes *n, const struct tls_words *w,
                           struct problem *err)
{
    problem_fail(err, PROBLEM_UNREACHABLE, w->code,
                 "the certificate of %s is not signed by an authority this machine knows", w->who);
    problem_why(err, "It was issued by: %s.", text_is(n->issuer) ? n->issuer : "(no name)");
    problem_fix(err, WHO_YOU, "%s", w->fix_ca);
}

static void fail_name(const struct tls_notes *n, const struct tls_words *w, struct problem *err)
{
    problem_fail(err, PROBLEM_UNREACHABLE, w->code_name, "the certificate shown is not for %s",
                 w->who);
    problem_why(err, "It is for: %s.", text_is(n->names) ? n->names : n->subject);
    problem_fix(err, WHO_YOU, "%s", w->fix_name);
}

static void fail_other(const struct tls_notes *n, const struct tls_words *w, struct problem *err)
{
    problem_fail(err, PROBLEM_UNREACHABLE, w->code, "the certificate of %s cannot be verified",
                 w->who);
    if (n->verify_error != X509_V_OK)
        problem_why(err, "%s.", X509_verify_cert_error_string(n->verify_error));
    problem_fix(err, WHO_NETWORK, "Whoever runs %s must replace the certificate.", w->who);
}

int tls_error(const struct tls_notes *n, const struct tls_words *w, struct problem *err)
{
    switch (n->verify_error) {
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID:
        fail_dates(n, w, err);
        break;
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_UNTRUSTED:
        fail_untrusted(n, w, err);
        break;
    case X509_V_OK: /* the chain is good: the name is not */
        if (n->subject != NULL)
            fail_name(n, w, err);
        else
            fail_other(n, w, err);
        break;
    default:
        fail_other(n, w, err);
    }
    AUTO(xfree) char *from = clock_iso(n->from);
    AUTO(xfree) char *until = clock_iso(n->until);
    AUTO(xfree) char *now = clock_iso(clock_wall());
    problem_evidence(err, "subject: %s\nnames: %s\nissuer: %s\n%s%s%svalid: %s to %s, now %s\n%s",
                     or_dash(n->subject), or_dash(n->names), or_dash(n->issuer),
                     text_is(n->failing) ? "failed at: " : "",
                     text_is(n->failing) ? n->failing : "", text_is(n->failing) ? "\n" : "", from,
                     until, now, w->library);
    return -1;
}
