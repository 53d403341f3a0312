/* The order of the tries. */
#include "catalog/login.h"

#include <string.h>

#include "core/clock.h"

void logins_release(struct logins *l)
{
    for (size_t i = 0; i < l->count; i++) {
        xfree(l->tries[i].uri);
        xfree(l->tries[i].url);
        problem_release(&l->tries[i].problem);
    }
    *l = (struct logins){0};
}

const struct login_try *logins_typed(const struct logins *l, enum token_form form)
{
    for (size_t i = 0; i < l->count; i++)
        if (l->tries[i].typed && l->tries[i].form == form)
            return &l->tries[i];
    return NULL;
}

const struct login_try *logins_other(const struct logins *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (!l->tries[i].typed && l->tries[i].result == TOKEN_OK)
            return &l->tries[i];
    return NULL;
}

/* What stays the same from try to try. */
struct attempt {
    struct run *run;
    const struct catalog_address *address;
    const char *client_id;
    struct secret *secret;
    struct logins *out;
};

/* NULL when there is no room, which the bounds below exclude. */
static const struct login_try *try_login(const struct attempt *a, enum token_form form,
                                         const char *uri, const char *url, bool typed)
{
    if (a->out->count >= LOGIN_TRIES)
        return NULL;
    struct token_client client = {
        .token_url = url,
        .catalog_url = a->address->url,
        .id = a->client_id,
        .secret = a->secret,
    };
    struct login_try *t = &a->out->tries[a->out->count++];
    *t = (struct login_try){.form = form,
                            .uri = xstrdup(uri),
                            .url = xstrdup(url),
                            .typed = typed,
                            .problem = PROBLEM_INIT};
    run_progress(a->run, 0, 0, token_form_name(form));
    int64_t began = clock_ms();
    struct token_grant grant;
    t->result = token_ask(a->run, &client, form, &grant, &t->status, &t->problem);
    t->took_ms = clock_ms() - began;
    t->life_s = grant.life_s;
    t->life_huge = grant.life_huge;
    t->type_missing = grant.type_missing;
    token_grant_release(&grant);
    return t;
}

/* Hands the problem of a try on as that of the whole; the try keeps none. */
static int give_up(struct logins *l, struct problem *err)
{
    problem_move(err, &l->tries[l->count - 1].problem);
    logins_release(l);
    return -1;
}

static bool over(const struct login_try *t)
{
    return t == NULL || t->problem.kind == PROBLEM_CANCELLED ||
           t->problem.kind == PROBLEM_UNREACHABLE;
}

static int try_candidates(const struct attempt *a, const char *token_uri, struct problem *err)
{
    struct token_candidate candidates[TOKEN_CANDIDATES];
    size_t count = catalog_token_candidates(a->address, token_uri, candidates);
    int result = 0;
    for (size_t i = 0; i < count && result == 0; i++) {
        const struct login_try *t =
            try_login(a, TOKEN_FORM, candidates[i].uri, candidates[i].url, false);
        if (t == NULL || t->result == TOKEN_OK)
            break;
        if (t->result == TOKEN_REFUSED || over(t))
            result = -1;
    }
    catalog_candidates_release(candidates, count);
    if (result == 0)
        return 0;
    struct login_try *last = &a->out->tries[a->out->count - 1];
    if (last->result == TOKEN_REFUSED) {
        AUTO(xfree) char *why = xstrdup(last->problem.why);
        problem_why(&last->problem,
                    "At the token URI entered, %s, no tokens are given; this was said at %s.\n%s",
                    token_uri, last->uri, why != NULL ? why : "");
    }
    return give_up(a->out, err);
}

/* The typed URI works: does the documented one work as well? */
static int try_documented(const struct attempt *a, const char *typed_url, struct problem *err)
{
    AUTO(xfree) char *url = catalog_token_url(a->address->url, CATALOG_TOKEN_URI);
    if (strcmp(url, typed_url) == 0)
        return 0;
    const struct login_try *t = try_login(a, TOKEN_FORM, CATALOG_TOKEN_URI, url, false);
    return over(t) && run_left_ms(a->run) == 0 ? give_up(a->out, err) : 0;
}

int catalog_login(struct run *run, const struct catalog_address *address, const char *token_uri,
                  const char *client_id, struct secret *client_secret, struct logins *out,
                  struct problem *err)
{
    *out = (struct logins){0};
    struct attempt a = {run, address, client_id, client_secret, out};
    AUTO(xfree) char *url = catalog_token_url(address->url, token_uri);
    const struct login_try *first = try_login(&a, TOKEN_FORM, token_uri, url, true);
    if (first == NULL || first->result == TOKEN_REFUSED || first->result == TOKEN_UNANSWERED)
        return give_up(out, err);
    if (first->result == TOKEN_NOT_THERE)
        return try_candidates(&a, token_uri, err);
    static const enum token_form rest[] = {TOKEN_BASIC, TOKEN_SPARK};
    for (size_t i = 0; i < ARRAY_LEN(rest); i++) {
        if (over(try_login(&a, rest[i], token_uri, url, true)))
            return give_up(out, err);
    }
    return first->result == TOKEN_OK ? try_documented(&a, url, err) : 0;
}
