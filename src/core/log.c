/* The log: redact, clean, stamp, then into the ring and the file. A line is one write, so that two
 * programs may append to one file. A full disk silences the file, not the program. */
#include "core/log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/clean.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/redact.h"

#define RING 2000 /* lines kept for the log view */
#define LINE_MAX_BYTES 4096

static struct {
    pthread_mutex_t lock;
    int fd;
    char *lines[RING];
    size_t next; /* where the next line goes */
    size_t count;
} log_state = {.lock = PTHREAD_MUTEX_INITIALIZER, .fd = -1};

int log_open(const char *path, struct problem *err)
{
    /* O_NONBLOCK: a FIFO without reader must not hang the start. */
    int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY;
    int fd = open(path, flags, 0600);
    if (fd < 0) {
        if (errno != ELOOP)
            return problem_errno(err, errno, "cannot open the log file %s", path);
        problem_fail(err, PROBLEM_INPUT, "log file", "the log file %s is a symbolic link", path);
        problem_fix(err, WHO_YOU, "Name the file itself.");
        return -1;
    }
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
        close(fd);
        return problem_fail(err, PROBLEM_INPUT, "log file", "the log %s is not a regular file",
                            path);
    }
    if ((st.st_mode & 077) != 0 && fchmod(fd, 0600) != 0) {
        int errnum = errno;
        close(fd);
        return problem_errno(err, errnum, "cannot make the log file %s private", path);
    }
    pthread_mutex_lock(&log_state.lock);
    int old = log_state.fd;
    log_state.fd = fd;
    pthread_mutex_unlock(&log_state.lock);
    if (old >= 0)
        close(old);
    return 0;
}

void log_close(void)
{
    pthread_mutex_lock(&log_state.lock);
    if (log_state.fd >= 0)
        close(log_state.fd);
    log_state.fd = -1;
    for (size_t i = 0; i < RING; i++) {
        xfree(log_state.lines[i]);
        log_state.lines[i] = NULL;
    }
    log_state.next = log_state.count = 0;
    pthread_mutex_unlock(&log_state.lock);
}

static char *stamped(const char *raw)
{
    char *redacted = redact_copy(raw);
    char *clean = clean_excerpt(redacted, strlen(redacted), LINE_MAX_BYTES);
    char *at = clock_iso(clock_wall());
    char *line = xasprintf("%s %s", at, clean);
    xfree(at);
    xfree(clean);
    xfree(redacted);
    return line;
}

void log_line(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *raw = xvasprintf(fmt, ap);
    va_end(ap);
    char *line = stamped(raw);
    explicit_bzero(raw, strlen(raw));
    xfree(raw);

    pthread_mutex_lock(&log_state.lock);
    if (log_state.fd >= 0) {
        size_t n = strlen(line);
        line[n] = '\n'; /* over the NUL for the one write */
        ssize_t ignored = write(log_state.fd, line, n + 1);
        (void)ignored;
        line[n] = '\0';
    }
    xfree(log_state.lines[log_state.next]);
    log_state.lines[log_state.next] = line;
    log_state.next = (log_state.next + 1) % RING;
    if (log_state.count < RING)
        log_state.count++;
    pthread_mutex_unlock(&log_state.lock);
}

char **log_recent(size_t max, size_t *count)
{
    pthread_mutex_lock(&log_state.lock);
    size_t n = max < log_state.count ? max : log_state.count;
    char **lines = xcalloc(n, sizeof *lines);
    for (size_t i = 0; i < n; i++)
        lines[i] = xstrdup(log_state.lines[(log_state.next + RING - n + i) % RING]);
    pthread_mutex_unlock(&log_state.lock);
    *count = n;
    return lines;
}
