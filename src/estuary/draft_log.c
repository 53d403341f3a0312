/* The log of a job, line by line as it comes: rpc/view_logs, read on from the last line by Range.
 * Lines are a terminal's (colours), so they are stripped before anyone sees them. */
#include <string.h>

#include "core/clean.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/redact.h"
#include "estuary/draft_parts.h"

#define LOG_PAGE 500
#define LOG_PAGES 20     /* of one reading to the end */
#define LOG_FAILURES 3   /* then it is left alone */
#define LINE_BYTES 65536 /* looked at of one line */

void draft_log_release(struct draft_log *log)
{
    for (size_t i = 0; i < DRAFT_LOG_TAIL; i++)
        xfree(log->tail[i]);
    xfree(log->token);
    *log = (struct draft_log){0};
}

const char *draft_log_at(const struct draft_log *log, size_t i)
{
    return log->tail[(log->next + DRAFT_LOG_TAIL - log->count + i) % DRAFT_LOG_TAIL];
}

static void keep(struct draft_log *log, char *line)
{
    xfree(log->tail[log->next]);
    log->tail[log->next] = line;
    log->next = (log->next + 1) % DRAFT_LOG_TAIL;
    log->count += log->count < DRAFT_LOG_TAIL;
}

/* --- escape sequences (ECMA-48, 5.4 and 5.6) -------------------------------------------------- */

static size_t skip_control_string(const char *s, size_t n, size_t at)
{
    for (; at < n; at++) {
        if (s[at] == '\a')
            return at + 1;
        if (s[at] == '\033' && at + 1 < n && s[at + 1] == '\\')
            return at + 2;
    }
    return n;
}

/* Where the sequence that begins with the ESC at `at` ends. */
static size_t skip_sequence(const char *s, size_t n, size_t at)
{
    if (++at == n)
        return n;
    if (strchr("]PX^_", s[at]) != NULL && s[at] != '\0')
        return skip_control_string(s, n, at + 1);
    bool csi = s[at] == '[';
    at += csi;
    while (at < n && s[at] >= 0x20 && s[at] < (csi ? 0x40 : 0x30))
        at++;
    return at < n && s[at] >= 0x20 && s[at] < 0x7F ? at + 1 : at;
}

char *draft_log_plain(const char *line, size_t n)
{
    AUTO_TEXT bare = TEXT_LIMITED(LINE_BYTES);
    for (size_t at = 0; at < n;) {
        if (line[at] == '\033') {
            at = skip_sequence(line, n, at);
            continue;
        }
        if (line[at] != '\r')
            text_addc(&bare, line[at]);
        at++;
    }
    AUTO(xfree) char *redacted = redact_copy(bare.s);
    return clean_excerpt(redacted, strlen(redacted), DRAFT_LOG_LINE);
}

/* --- reading ---------------------------------------------------------------------------------- */

/* One row can hold several lines. The last that says anything is shown. */
static void add_lines(struct run *run, struct draft_log *log, const char *s)
{
    for (const char *end; s != NULL; s = end != NULL ? end + 1 : NULL) {
        end = strchr(s, '\n');
        char *plain = draft_log_plain(s, end != NULL ? (size_t)(end - s) : strlen(s));
        if (plain[strspn(plain, " ")] == '\0') {
            xfree(plain);
            continue;
        }
        run_progress(run, 0, 0, plain);
        keep(log, plain);
    }
}

static int read_page(struct run *run, struct secret *token, const struct draft_log *log,
                     cJSON **rows)
{
    AUTO_TEXT body = TEXT_INIT;
    struct json_writer w = {.out = &body};
    char range[DRAFT_RANGE];
    draft_range(range, log->seen, LOG_PAGE);
    json_begin(&w, '{');
    json_pair_text(&w, "bearer_token", log->token);
    json_end(&w, '}');
    const struct estuary_pg_call call = {
        .method = "POST", .path = "rpc/view_logs", .body = body.s, .range = range};
    return estuary_pg(run, token, &call, rows, NULL);
}

void draft_log_follow(struct run *run, struct secret *token, struct draft_log *log, bool all)
{
    for (int page = 0; page < (all ? LOG_PAGES : 1); page++) {
        AUTO(cJSON_Delete) cJSON *rows = NULL;
        if (log->token == NULL || log->failures >= LOG_FAILURES)
            return;
        if (read_page(run, token, log, &rows) != 0 || !cJSON_IsArray(rows)) {
            log->failures++;
            return;
        }
        if (cJSON_GetArraySize(rows) == 0)
            return;
        const cJSON *row;
        cJSON_ArrayForEach(row, rows)
        {
            log->seen++;
            if (json_text(row, "log_line") != NULL)
                add_lines(run, log, json_text(row, "log_line"));
        }
    }
}

void draft_tell_log(const struct draft_log *log, struct text *out)
{
    if (log->count == 0)
        return;
    text_sep(out, "\n");
    text_add(out, "log:");
    for (size_t i = 0; i < log->count; i++)
        text_addf(out, "\n  %s", draft_log_at(log, i));
}
