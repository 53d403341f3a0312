// An OAuth2 authorization server for the tests and the sandbox: client credentials only, tokens as JWT for one audience.
// Its one argument is a JSON file {issuer, port, audience, jwks, clients: [{id, secret, grants?, scope?, lifetime?}],
// methods?}; prints "ready" once it listens. The catalog checks the tokens by this server's published keys.
import { readFileSync } from 'node:fs';
import { Provider } from 'oidc-provider';

const config = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const lifetime = Object.fromEntries(config.clients.map((client) => [client.id, client.lifetime ?? 3600]));

const clients = config.clients.map((client) => ({
  client_id: client.id,
  client_secret: client.secret,
  grant_types: client.grants ?? ['client_credentials'],
  redirect_uris: [],
  response_types: [],
  token_endpoint_auth_method: config.methods?.[0] ?? 'client_secret_post',
  ...(client.scope ? { scope: client.scope } : {}),
}));

const resourceServer = (_context, _resource, client) => ({
  scope: '',
  audience: config.audience,
  accessTokenFormat: 'jwt',
  accessTokenTTL: lifetime[client.clientId],
});

const provider = new Provider(config.issuer, {
  clients,
  jwks: config.jwks,
  scopes: ['catalog', 'PRINCIPAL_ROLE:ALL'],
  ...(config.methods ? { clientAuthMethods: config.methods } : {}),
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => config.audience,
      useGrantedResource: () => true,
      getResourceServerInfo: resourceServer,
    },
  },
});
provider.proxy = true;
provider.listen(config.port, '127.0.0.1', () => console.log('ready'));
