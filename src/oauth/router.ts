import { Router } from 'express';
import type { Pool } from 'pg';
import type { Log } from '../log.ts';
import type { Secrets } from '../secrets.ts';
import { allowOnly } from './allowOnly.ts';
import { authenticateClient } from './clientAuthentication.ts';
import { inQueryOfEmptyPost } from './grants/externalAuthenticationToken.ts';
import { handleErrors } from './handleErrors.ts';
import { noStore } from './noStore.ts';
import { readParameters } from './parameters.ts';
import { refuseBadParameters, refuseWrongClient } from './tokenChecks.ts';
import { createTokenExchange } from './tokenExchange.ts';

export type OauthContext = {
  /** Connections as the authenticator. */
  pool: Pool;
  secrets: Secrets;
  /** The specification's `{base_url}`: the issuer. */
  url: string;
  log: Log;
};

/** The OAuth 2.0 server: every endpoint and the steps that a request to it takes, in order. */
export function createOauthRouter({ pool, secrets, log }: OauthContext): Router {
  const router = Router();
  const authenticate = authenticateClient(pool);

  router.use('/oauth', noStore);
  router
    .route('/oauth/token')
    .post(
      readParameters(inQueryOfEmptyPost),
      refuseBadParameters,
      authenticate,
      refuseWrongClient,
      createTokenExchange(pool, secrets),
    )
    .all(allowOnly('POST'));
  router.use(handleErrors(log));
  return router;
}
