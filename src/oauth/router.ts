import { Router } from 'express';
import type { Secrets } from '../crypto/secrets.ts';
import { allowOnly } from './allowOnly.ts';
import { authenticateBearer } from './authenticateBearer.ts';
import { createAuthenticateUser } from './authenticateUser.ts';
import { type AuthorizeContext, createAuthorizeRouter } from './authorize/authorizeRouter.ts';
import { authenticateClient } from './client/authenticateClient.ts';
import { legacyQueryCredentials } from './grants/externalAuthenticationToken.ts';
import { handleErrors } from './handleErrors.ts';
import { describeServer } from './metadata.ts';
import { readParameters, refuseQueryCredentials } from './parameters.ts';
import { createPasswords, type PasswordCost } from './passwords.ts';
import { createThrottle, type ThrottledBy, type ThrottleLimits } from './throttle/createThrottle.ts';
import { authenticateCaller, introspect, type UserIdOf } from './token/introspect.ts';
import { revoke, revokeBearer } from './token/revoke.ts';
import { refuseBadParameters, refuseWrongClient } from './token/tokenChecks.ts';
import { createTokenExchange } from './token/tokenExchange.ts';
import { describeBearer } from './token/tokenInfo.ts';

export type OauthContext = Omit<AuthorizeContext, 'throttle' | 'authenticateUser'> & {
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
