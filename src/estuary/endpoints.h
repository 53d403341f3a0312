/* Where Estuary's services are: the production addresses, or what SLUICE_ESTUARY_API_URL, _PG_URL,
 * _ENCRYPTION_URL, _DASHBOARD_URL and _ANON_KEY name. Never from state or answers: a file that is
 * handed on must not lead a token elsewhere. */
#ifndef SLUICE_ESTUARY_ENDPOINTS_H
#define SLUICE_ESTUARY_ENDPOINTS_H

struct estuary_endpoints {
    char *api;        /* GraphQL and REST of the control plane; all without a slash at the end */
    char *pg;         /* PostgREST, with its /rest/v1 */
    char *encryption; /* seals configs */
    char *dashboard;
    char *anon_key; /* public: names the project to PostgREST, opens nothing */
};

void estuary_endpoints(struct estuary_endpoints *out);
void estuary_endpoints_release(struct estuary_endpoints *e);
#define AUTO_ENDPOINTS __attribute__((cleanup(estuary_endpoints_release))) struct estuary_endpoints
#endif
