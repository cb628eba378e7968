import { type Request, Router } from 'express';
import type { Pool } from 'pg';
import type { Log } from '../../log.ts';
import { allowOnly } from '../allowOnly.ts';
import type { AuthenticateUser } from '../authenticateUser.ts';
import { handleErrors, sendJson } from '../handleErrors.ts';
import { readBody, refuseQueryCredentials } from '../parameters.ts';
import type { Throttle } from '../throttle/createThrottle.ts';
import { createAnswerClient, wantsJson } from './answerClient.ts';
import { createAntiForgery } from './antiForgery.ts';
import { answerConsent, showConsent } from './authorize.ts';
import { createPages } from './createPages.ts';
import { readAuthorization } from './readAuthorization.ts';
import { createSessions } from './sessions.ts';
import { signIn, signOut } from './signIn.ts';

export type AuthorizeContext = {
  /** Connections as the authenticator. */
  pool: Pool;
  /** SECRET_KEY, then SECRET_KEY_PREVIOUS if there is one. */
  keys: readonly [Buffer, ...Buffer[]];
  throttle: Throttle;
  authenticateUser: AuthenticateUser;
  /** The specification's `{base_url}`: the issuer. */
  url: string;
  log: Log;
};

/**
 * The authorization endpoint and its pages (RFC 6749 section 4.1).
 * It does not use oauth2orize. Its `decision` approves unless it gets `cancel`, and is not tied to the person who was asked. Its code grant
 * reads only the query. A repeated parameter reaches its callbacks as an array.
 */
export function createAuthorizeRouter(context: AuthorizeContext): Router {
  const { pool, keys, throttle, authenticateUser, url, log } = context;
  const router = Router();
  const answerClient = createAnswerClient(url);
  const antiForgery = createAntiForgery(keys[0], url);
  const pages = createPages(url);
  const request = [refuseQueryCredentials, readAuthorization(pool, answerClient), ...createSessions(pool, keys, url)];
  const form = [...readBody(), ...request];
  const answers = [...form, answerConsent(pool, keys[0], answerClient)];

  router.use(paths, (_request, response, next) => {
    // Only the person and this service see the authorization request, even if the answer is a redirect. A client that opened a window
    // for it keeps its handle, to read the answer from its own page there.
    response.set({ 'Referrer-Policy': 'no-referrer', 'Cross-Origin-Opener-Policy': 'unsafe-none' });
    next();
  });
  router.use(paths, throttle.limitAddress);
  router
    .route('/oauth/authorize')
    .get(request, showConsent(pool, antiForgery, pages))
    .post(answers)
    .delete(answers)
    .all(allowOnly('GET', 'HEAD', 'POST', 'DELETE'));
  router
    .route('/oauth/sign-in')
    .post(form, signIn(authenticateUser, throttle, antiForgery, pages))
    .all(allowOnly('POST'));
  router.route('/oauth/sign-out').post(form, signOut(antiForgery, pages)).all(allowOnly('POST'));
  router.use(
    paths,
    handleErrors(log, (asked, response, refusal) =>
      wantsJson(asked) || (isForPrograms(asked) && asked.accepts('json', 'html') === 'json')
        ? sendJson(asked, response, refusal)
        : pages.sendProblem(response, refusal, asked.oauthAuthorization),
    ),
  );
  return router;
}

/**
 * Here a browser sends forms, and prefers HTML.
 * A client that accepts anything, as curl does, is no browser.
 */
const isForPrograms = ({ baseUrl, method }: Request) => baseUrl === '/oauth/authorize' && !/^(GET|HEAD)$/.test(method);

const paths = ['/oauth/authorize', '/oauth/sign-in', '/oauth/sign-out'];
