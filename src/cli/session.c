/* Opening, running and closing a session. See session.h. */
#include "cli/session.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/file.h"
#include "core/log.h"
#include "core/mem.h"
#include "net/net.h"
#include "steps/steps.h"

#define PASSPHRASE_MAX 4096 /* bytes */

void complain(const struct problem *p)
{
    fprintf(stderr, "sluice: %s\n", p->what != NULL ? p->what : "something failed");
    if (p->why != NULL)
        fprintf(stderr, "  why: %s\n", p->why);
    if (p->evidence != NULL)
        fprintf(stderr, "  seen: %s\n", p->evidence);
    if (p->fix != NULL)
        fprintf(stderr, "  %s: %s\n", problem_who_name(p->who), p->fix);
    if (p->copy != NULL)
        fprintf(stderr, "  %s\n", p->copy);
}

static int usage_or_state(const struct problem *p)
{
    return p->code != NULL && strcmp(p->code, "usage") == 0 ? EXIT_USAGE : EXIT_STATE;
}

static int read_passphrase(struct session *s, const char *path, struct problem *err)
{
    AUTO_TEXT bytes = TEXT_LIMITED(PASSPHRASE_MAX);
    AUTO_PROBLEM why = PROBLEM_INIT;
    if (file_read(path, PASSPHRASE_MAX, true, &bytes, &why) != 0) {
        problem_move(err, &why);
        return -1;
    }
    size_t n = strcspn(bytes.s, "\r\n");
    if (n == 0) {
        text_wipe(&bytes);
        return problem_fail(err, PROBLEM_INPUT, "passphrase",
                            "%s has no passphrase in its first line", path);
    }
    struct secret *passphrase = secret_new(bytes.s, n);
    text_wipe(&bytes);
    int rc = state_unlock(s->state, s->wizard, passphrase, err);
    secret_unref(passphrase);
    return rc;
}

/* The environment is read first, so that its secrets were bound to the hosts known by then; they
 * are meant for those that answers and options named since. */
static void bind_environment(struct session *s)
{
    for (size_t i = 0; i < s->rows.field_count; i++)
        if (s->rows.fields[i]->kind == FIELD_SECRET &&
            wizard_origin(s->wizard, (int)i) == ORIGIN_ENVIRONMENT)
            wizard_allow_host(s->wizard, (int)i);
}

static int load(struct session *s, const struct args *a, struct problem *err)
{
    if (state_load(s->state, s->wizard, err) != 0 || answers_environment(s->wizard, err) != 0)
        return -1;
    if (a->answers != NULL && answers_load(s->wizard, a->answers, err) != 0)
        return -1;
    for (size_t i = 0; i < a->set_count; i++)
        if (answers_set(s->wizard, a->sets[i], ORIGIN_SET, err) != 0)
            return -1;
    bind_environment(s);
    if (a->passphrase_file != NULL)
        return read_passphrase(s, a->passphrase_file, err);
    return 0;
}

static int fail_open(struct session *s, const struct problem *p)
{
    complain(p);
    int code = usage_or_state(p);
    engine_free(s->engine);
    net_free(s->net);
    state_close(s->state);
    wizard_free(s->wizard);
    rows_release(&s->rows);
    return code;
}

static void ending_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

void session_signals(bool blocked)
{
    sigset_t ending;
    ending_signals(&ending);
    sigprocmask(blocked ? SIG_BLOCK : SIG_UNBLOCK, &ending, NULL);
}

int session_open(struct session *s, const struct args *a, enum session_need need)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    *s = (struct session){.saves = need != SESSION_READ};
    /* before there are threads: a signal that asks to end must reach none of them */
    session_signals(true);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is an error of write, as a full disk is */
    if (rows_init(&s->rows, steps_all(), &p) != 0) {
        complain(&p);
        return EXIT_BUG;
    }
    if (a->log != NULL && log_open(a->log, &p) != 0)
        return fail_open(s, &p);
    s->wizard = wizard_new(&s->rows);
    s->state = state_open(a->state != NULL ? a->state : "sluice.yaml", need == SESSION_WRITE, &p);
    if (s->state == NULL || load(s, a, &p) != 0)
        return fail_open(s, &p);
    const char *ca_file = a->ca_file != NULL ? a->ca_file : getenv("SLUICE_CA_FILE");
    const char *aws_ca = getenv("AWS_CA_BUNDLE"); /* trusted too, as the AWS CLI does */
    struct net_options options = {
        .ca_file = ca_file != NULL && ca_file[0] != '\0' ? ca_file : NULL,
        .more_ca_file = aws_ca != NULL && aws_ca[0] != '\0' ? aws_ca : NULL,
    };
    s->net = net_new(&options, &p);
    if (s->net == NULL)
        return fail_open(s, &p);
    s->engine = engine_new(s->wizard, s->state, s->net);
    return 0;
}

int session_close(struct session *s, int code)
{
    AUTO_PROBLEM p = PROBLEM_INIT;
    bool quiet = engine_free(s->engine);
    /* a command that was not understood leaves nothing behind, not even answers that came with it
     */
    bool saves = s->saves && code != EXIT_USAGE && state_holder(s->state) == NULL;
    if (saves && state_save(s->state, s->wizard, &p) != 0) {
        complain(&p);
        code = exit_worse(code, EXIT_STATE);
    }
    if (!quiet) { /* a thread hangs that may still look at what would be freed now */
        fflush(stdout);
        _exit(code);
    }
    net_free(s->net);
    state_close(s->state);
    wizard_free(s->wizard);
    rows_release(&s->rows);
    log_close();
    return code;
}

int session_run(struct session *s, const struct args *a,
                void (*observe)(void *ctx, const struct event *ev), void *ctx)
{
    sigset_t ending;
    ending_signals(&ending);
    int signals = signalfd(-1, &ending, SFD_CLOEXEC | SFD_NONBLOCK);
    int64_t until = a->timeout_s > 0 ? clock_ms() + (int64_t)a->timeout_s * 1000 : INT64_MAX;
    int code = 0;
    engine_pump(s->engine, observe, ctx);
    while (engine_busy(s->engine)) {
        struct pollfd fds[] = {{.fd = engine_fd(s->engine), .events = POLLIN},
                               {.fd = signals, .events = POLLIN}};
        int64_t left = until - clock_ms();
        int wait = engine_timeout(s->engine);
        if (code == 0 && until != INT64_MAX && (wait < 0 || left < wait))
            wait = left < 0 ? 0 : (int)left;
        if (poll(fds, 2, wait) < 0 && errno != EINTR)
            break;
        struct signalfd_siginfo got;
        bool signalled = read(signals, &got, sizeof(got)) == (ssize_t)sizeof(got);
        if (code == 0 && (signalled || clock_ms() >= until)) {
            code = signalled ? 128 + (int)got.ssi_signo : EXIT_UNREACHABLE;
            engine_apply_stop(s->engine);
            engine_cancel(s->engine, -1);
        } else if (signalled) {
            break; /* told twice: whoever asks does not want to wait for a change under way */
        }
        engine_pump(s->engine, observe, ctx);
    }
    close(signals);
    return code;
}

int session_first_missing(struct session *s, const bool *steps, struct problem *err)
{
    for (size_t i = 0; i < s->rows.field_count; i++) {
        const struct step *step = rows_step_of(&s->rows, s->rows.fields[i]->id);
        if (!steps[rows_step(&s->rows, step->id)] ||
            wizard_field_problem(s->wizard, (int)i, err) == 0)
            continue;
        return 0;
    }
    return -1;
}
