/* The verdicts of the step: pure functions of answers and facts, so that each is tested with what
 * no live server gives on demand. Each settles the outcome. */
#ifndef SLUICE_STEPS_OAUTH_JUDGE_H
#define SLUICE_STEPS_OAUTH_JUDGE_H

#include "catalog/login.h"
#include "catalog/rest.h"
#include "core/outcome.h"

/* URL and branch as typed (branch "" = main). */
void judge_address(const char *url, const char *branch, struct outcome *out);
/* What answered the request without a login; warehouse for messages. Also says TLS and certificate.
 */
void judge_reach(const struct http_response *r, const char *url, const char *warehouse,
                 struct outcome *out);
void judge_token_uri(const struct logins *l, struct outcome *out);
void judge_token_form(const struct logins *l, struct outcome *out);
void judge_token_basic(const struct logins *l, struct outcome *out);
void judge_token_spark(const struct logins *l, struct outcome *out);
void judge_token_life(const struct logins *l, struct outcome *out);
/* url: with the branch; branch decoded, "" = main. */
void judge_base(const struct catalog_config *c, const char *url, const char *branch,
                struct outcome *out);

/* "24 h", "1 h 30 min", "45 s"; xfree. */
char *judge_life_words(long long seconds);
#endif
