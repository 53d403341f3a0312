/* Jobs on a draft: a row is put into discovers or publications, and polled until its job_status is
 * no longer "queued". */
#include <string.h>

#include "core/json.h"
#include "core/mem.h"
#include "core/node_json.h"
#include "estuary/draft_parts.h"

#define POLL_MS 750
#define TRIES 3         /* of a publication that another one was in the way of */
#define AGAIN_MS 750    /* before the second; twice as long before the next */
#define ENOUGH_MS 500   /* left for the job itself */
#define LATE_LOG_MS 750 /* logs pass through a queue of their own */
#define CONFIG_BYTES ((size_t)1 << 20)

struct job {
    const char *table, *doing;
    const struct draft_status *statuses;
    const char *draft;
    const char *body;
    char *id;
    cJSON *status; /* job_status, once it has ended */
    struct draft_log log;
};

static void job_release(struct job *job)
{
    xfree(job->id);
    cJSON_Delete(job->status);
    draft_log_release(&job->log);
    job->id = NULL;
    job->status = NULL;
}
#define AUTO_JOB __attribute__((cleanup(job_release))) struct job

/* --- the life of a job ------------------------------------------------------------------------ */

static int queue(struct run *run, struct secret *token, struct job *job, struct problem *err)
{
    AUTO(cJSON_Delete) cJSON *row = NULL;
    const struct estuary_pg_call call = {.method = "POST",
                                         .path = job->table,
                                         .query = "select=id,logs_token",
                                         .body = job->body,
                                         .prefer = "return=representation",
                                         .one = true};
    if (estuary_pg(run, token, &call, &row, err) != 0)
        return -1;
    const char *id = json_text(row, "id"), *log = json_text(row, "logs_token");
    if (id == NULL || *id == '\0')
        return draft_lacks(job->table, "id", err);
    job->id = xstrdup(id);
    job->log.token = xstrdup(log); /* without it there is no log */
    return 0;
}

/* Sets job->status when the job has ended. */
static int poll_once(struct run *run, struct secret *token, struct job *job, struct problem *err)
{
    AUTO_PROBLEM why = PROBLEM_INIT;
    AUTO(cJSON_Delete) cJSON *row = NULL;
    AUTO(xfree) char *query = draft_query("job_status", "id", job->id);
    const struct estuary_pg_call call = {
        .method = "GET", .path = job->table, .query = query, .one = true};
    if (estuary_pg(run, token, &call, &row, &why) != 0) {
        bool gone = why.kind == PROBLEM_MISSING;
        problem_move(err, &why);
        if (gone) {
            problem_fail(err, PROBLEM_MISSING, "gone", "Estuary no longer knows the job while %s",
                         job->doing);
            problem_why(err, "The draft was deleted while the job ran: by hand, or by another "
                             "sluice with the same login.");
            problem_fix(err, WHO_YOU, "Try again.");
        }
        return -1;
    }
    cJSON *status = cJSON_DetachItemFromObjectCaseSensitive(row, "job_status");
    const char *type = json_text(status, "type");
    if (type == NULL) {
        cJSON_Delete(status);
        return draft_lacks(job->table, "job_status", err);
    }
    if (strcmp(type, "queued") == 0)
        cJSON_Delete(status);
    else
        job->status = status;
    return 0;
}

/* Time was over while the job still ran: that it is slow, not that nothing answered. */
static int too_slow(const struct job *job, struct problem *err)
{
    AUTO_TEXT evidence = TEXT_INIT;
    problem_fail(err, PROBLEM_UNREACHABLE, "deadline", "Estuary was not done in time while %s",
                 job->doing);
    problem_why(err, "The job was still queued or running. It starts the connector first, and the "
                     "connector waits long for a server that does not answer.");
    problem_fix(err, WHO_ESTUARY,
                "Try again. If it stays, see that Estuary's data plane reaches the servers, and "
                "whether https://status.estuary.dev tells of a disturbance.");
    draft_tell_log(&job->log, &evidence);
    if (evidence.len > 0)
        problem_evidence(err, "%s", evidence.s);
    return -1;
}

static int wait_for(struct run *run, struct secret *token, struct job *job, struct problem *err)
{
    /* Small jobs are done soon. */
    static const int pauses[] = {250, 500, POLL_MS};
    AUTO_PROBLEM why = PROBLEM_INIT;
    for (size_t i = 0; job->status == NULL; i++) {
        int pause = pauses[i < ARRAY_LEN(pauses) ? i : ARRAY_LEN(pauses) - 1];
        if (run_sleep(run, pause, &why) != 0 || poll_once(run, token, job, &why) != 0) {
            bool over = why.kind == PROBLEM_UNREACHABLE && run_left_ms(run) == 0;
            problem_move(err, &why);
            return over ? too_slow(job, err) : -1;
        }
        if (job->status == NULL)
            draft_log_follow(run, token, &job->log, false);
    }
    return 0;
}

/* --- its end ---------------------------------------------------------------------------------- */

static int failed(struct run *run, struct secret *token, struct job *job,
                  const struct draft_status *row, struct estuary_complaints *out,
                  struct problem *err)
{
    AUTO_PROBLEM lost = PROBLEM_INIT;
    AUTO_COMPLAINTS found = {0};
    if (row->errors && draft_errors_read(run, token, job->draft, &found, &lost) != 0 &&
        lost.kind == PROBLEM_CANCELLED) {
        problem_move(err, &lost);
        return -1;
    }
    draft_log_follow(run, token, &job->log, true);
    /* No error says what is wrong, against what was to be expected: the log is all there is, and
     * may still be on its way. */
    if (row->errors && found.count == 0 && run_sleep(run, LATE_LOG_MS, NULL) == 0)
        draft_log_follow(run, token, &job->log, true);
    const struct draft_end end = {.type = json_text(job->status, "type"),
                                  .row = row,
                                  .status = job->status,
                                  .found = &found,
                                  .log = &job->log,
                                  .lost = lost.what};
    draft_tell(&end, err);
    if (out != NULL) {
        *out = found;
        found = (struct estuary_complaints){0};
    }
    return -1;
}

/* One life of the job: 1 when it ended in a way that passes by itself, and there is time for
 * another one after `pause` (0 = none is to follow). */
static int live_once(struct run *run, struct secret *token, struct job *job, int pause,
                     struct estuary_complaints *out, struct problem *err)
{
    if (queue(run, token, job, err) != 0 || wait_for(run, token, job, err) != 0)
        return -1;
    const char *type = json_text(job->status, "type");
    if (strcmp(type, "success") == 0)
        return 0;
    const struct draft_status *row = draft_status_of(job->statuses, type);
    if (row->again && pause > 0 && run_left_ms(run) > pause + ENOUGH_MS)
        return 1;
    return failed(run, token, job, row, out, err);
}

static int run_job(struct run *run, struct secret *token, const struct job *plan,
                   struct estuary_complaints *out, struct problem *err)
{
    if (out != NULL)
        *out = (struct estuary_complaints){0};
    for (int i = 1;; i++) {
        AUTO_JOB job = *plan;
        int pause = i < TRIES ? AGAIN_MS * i : 0;
        int rc = live_once(run, token, &job, pause, out, err);
        if (rc != 1)
            return rc;
        run_progress(run, 0, 0, "Estuary could not finish it just now; trying again");
        if (run_sleep(run, pause, err) != 0)
            return -1;
    }
}

/* --- the two sorts ---------------------------------------------------------------------------- */

int estuary_draft_discover(struct run *run, struct secret *token, const char *id,
                           const char *capture, const char *tag_id, const struct node *config,
                           const char *plane, struct estuary_complaints *out, struct problem *err)
{
    AUTO_TEXT body = TEXT_INIT, sealed = TEXT_LIMITED(CONFIG_BYTES);
    struct json_writer w = {.out = &body};
    node_write_json(config, &sealed);
    if (sealed.cut)
        return problem_fail(err, PROBLEM_INPUT, "too large", "the config of %s is over %zu MiB",
                            capture, CONFIG_BYTES >> 20);
    json_begin(&w, '{');
    json_pair_text(&w, "draft_id", id);
    json_pair_text(&w, "capture_name", capture);
    json_pair_text(&w, "connector_tag_id", tag_id);
    json_key(&w, "endpoint_config");
    json_add_letters(&w, sealed.s);
    /* The staged capture's autoDiscover decides about new tables; this is for one without it. */
    json_pair_bool(&w, "update_only", false);
    if (*plane != '\0')
        json_pair_text(&w, "data_plane_name", plane);
    json_end(&w, '}');
    const struct job plan = {.table = "discovers",
                             .doing = "looking for tables",
                             .statuses = draft_discover_statuses,
                             .draft = id,
                             .body = body.s};
    return run_job(run, token, &plan, out, err);
}

int estuary_draft_try(struct run *run, struct secret *token, const char *id, const char *plane,
                      struct estuary_complaints *out, struct problem *err)
{
    AUTO_TEXT body = TEXT_INIT;
    struct json_writer w = {.out = &body};
    json_begin(&w, '{');
    json_pair_text(&w, "draft_id", id);
    json_pair_bool(&w, "dry_run", true);
    json_pair_text(&w, "detail", "sluice: trial of a draft");
    if (*plane != '\0')
        json_pair_text(&w, "data_plane_name", plane);
    json_end(&w, '}');
    const struct job plan = {.table = "publications",
                             .doing = "building the draft for trial",
                             .statuses = draft_publication_statuses,
                             .draft = id,
                             .body = body.s};
    return run_job(run, token, &plan, out, err);
}
