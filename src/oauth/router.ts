import { type RequestHandler, Router } from 'express';
import type { Secrets } from '../crypto/secrets.ts';
import { scopeNames } from '../token/scopes.ts';
import { type AuthorizeContext, createAuthorizeRouter } from './authorize/authorize.ts';
import { authenticateClient } from './client.ts';
import { allowOnly, handleErrors } from './errors.ts';
import { legacyQueryCredentials } from './grants/externalAuthenticationToken.ts';
import { createTokenExchange, grantTypes } from './grants/grants.ts';
import { readParameters, refuseQueryCredentials } from './parameters.ts';
import { createAuthenticateUser, createPasswords, type PasswordCost } from './passwords.ts';
import { createThrottle, type ThrottledBy, type ThrottleLimits } from './throttle.ts';
import {
  authenticateCaller,
  describeBearer,
  introspect,
  refuseBadParameters,
  refuseWrongClient,
  type UserIdOf,
} from './token/introspect.ts';
import { authenticateBearer, revoke, revokeBearer } from './token/revoke.ts';

type OauthContext = Omit<AuthorizeContext, 'throttle' | 'authenticateUser'> & {
  secrets: Secrets;
  config: { throttle: ThrottleLimits; passwordCost: PasswordCost };
  userIdOf: UserIdOf;
  onThrottled: (by: ThrottledBy) => void;
};

/** The OAuth 2.0 server: every endpoint, and the steps that a request to it takes, in order. */
export function createOauthRouter(context: OauthContext): Router {
  const { pool, secrets, keys, config, url, log, userIdOf, onThrottled } = context;
  const router = Router();
  const throttle = createThrottle(pool, keys[0], config.throttle, onThrottled);
  const client = [authenticateClient(pool), throttle.limitClient];
  const bearer = [authenticateBearer(pool), throttle.limitClient, refuseQueryCredentials];
  const authenticateUser = createAuthenticateUser(pool, throttle, createPasswords(config.passwordCost));
  const exchange = createTokenExchange({ pool, secrets, authenticateUser });

  router.use(['/oauth', '/.well-known/oauth-authorization-server'], (_request, response, next) => {
    // RFC 6749 section 5.1: no cache keeps a reply, errors included.
    response.set({ 'Cache-Control': 'no-store', Pragma: 'no-cache' });
    next();
  });
  router.use(createAuthorizeRouter({ ...context, throttle, authenticateUser }));
  router.use('/oauth', throttle.limitAddress);
  router
    .route('/oauth/token')
    .post(readParameters(legacyQueryCredentials), refuseBadParameters, client, refuseWrongClient, exchange)
    .delete(bearer, revokeBearer(pool))
    .all(allowOnly('POST', 'DELETE'));
  router.route('/oauth/token/info').get(bearer, describeBearer(pool, userIdOf)).all(allowOnly('GET', 'HEAD'));
  router.route('/oauth/revoke').post(readParameters(), client, revoke(pool)).all(allowOnly('POST'));
  router
    .route('/oauth/introspect')
    .post(readParameters(), authenticateCaller(pool), throttle.limitClient, introspect(pool, userIdOf))
    .all(allowOnly('POST'));
  router.route('/.well-known/oauth-authorization-server').get(describeServer(url)).all(allowOnly('GET', 'HEAD'));
  router.use(throttle.countFailures, handleErrors(log));
  return router;
}

/** `GET /.well-known/oauth-authorization-server` (RFC 8414), generated from the implementation. */
function describeServer(url: string): RequestHandler {
  const client = ['client_secret_basic', 'client_secret_post'];
  const metadata = {
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/oauth/token`,
    revocation_endpoint: `${url}/oauth/revoke`,
    introspection_endpoint: `${url}/oauth/introspect`,
    scopes_supported: scopeNames,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: grantTypes,
    code_challenge_methods_supported: ['S256'],
    authorization_response_iss_parameter_supported: true,
    token_endpoint_auth_methods_supported: [...client, 'none'],
    revocation_endpoint_auth_methods_supported: [...client, 'none'],
    introspection_endpoint_auth_methods_supported: [...client, 'Bearer'],
  };
  return (_request, response) => {
    response.json(metadata);
  };
}
