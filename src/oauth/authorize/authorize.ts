import { createHash, createHmac, randomBytes } from 'node:crypto';
import { type Request, type RequestHandler, Router } from 'express';
import type { Pool, PoolClient } from 'pg';
import { subkey } from '../../crypto/secrets.ts';
import { requestIdOf } from '../../http/middleware.ts';
import type { Log } from '../../log.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import { createToken, hashToken } from '../../token/accessTokens.ts';
import { type Application, findApplication } from '../client.ts';
import { allowOnly, handleErrors, invalidGrant, invalidRequest, OAuthError, sendJson } from '../errors.ts';
import { type Check, type Form, refuse } from '../form.ts';
import { authorizationCode } from '../grants/authorizationCode.ts';
import { inOrganization } from '../inOrganization.ts';
import { lifetimes } from '../lifetimes.ts';
import { bodyOf, pick, queryOf, readBody, refuseQueryCredentials } from '../parameters.ts';
import type { AuthenticateUser } from '../passwords.ts';
import type { Throttle } from '../throttle.ts';
import { grantedScopes } from '../token/issueTokens.ts';
import {
  type AnswerClient,
  type AntiForgery,
  createAnswerClient,
  createAntiForgery,
  createPages,
  invalidCsrfToken,
  type Pages,
  sendTo,
  wantsJson,
} from './pages.ts';
import {
  type Authorization,
  beginSession,
  createSessions,
  endSession,
  requireAuthorization,
  storedId,
} from './sessions.ts';

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

/** `GET /oauth/authorize`: each time the sign-in page or, for a signed-in person, the consent screen. */
function showConsent(pool: Pool, antiForgery: AntiForgery, pages: Pages): RequestHandler {
  return async (request, response) => {
    const authorization = requireAuthorization(request);
    const { application } = authorization;
    const person = request.oauthPerson ?? null;
    const formToken = antiForgery.tokenFor(request, response);
    const consent = { sessionId: request.sessionID, authorization };
    const csrfToken = person
      ? await inOrganization(pool, application.organizationId, requestIdOf(response), (database) =>
          createConsent(database, consent),
        )
      : formToken;

    if (wantsJson(request)) {
      response.json({
        status: person ? 'consent' : 'sign_in',
        client_id: application.clientId,
        client_name: application.name,
        redirect_uri: authorization.redirectUri,
        response_type: 'code',
        scope: authorization.scopes.join(' '),
        state: authorization.state ?? null,
        csrf_token: csrfToken,
      });
    } else if (person) pages.sendConsent(response, authorization, person, { csrfToken, signOutToken: formToken });
    else pages.sendSignIn(response, authorization, { csrfToken });
  };
}

/**
 * `POST /oauth/authorize`: the person consents; `DELETE`: the person denies.
 * Consumes the one-time consent token and writes the code in the same transaction; 403 without one.
 */
function answerConsent(pool: Pool, key: Buffer, answerClient: AnswerClient): RequestHandler {
  const codeKey = subkey(key, 'authorization code');
  return async (request, response) => {
    const authorization = requireAuthorization(request);
    const { organizationId } = authorization.application;
    const { oauthPerson: person, sessionID: sessionId } = request;
    const { _method, csrf_token } = pick(bodyOf(request), ['_method', 'csrf_token']);
    if (!person) throw invalidCsrfToken('the session has no sign-in');
    if (csrf_token === undefined) throw invalidCsrfToken('csrf_token is missing');

    // A form cannot send DELETE, so the form that denies sends `_method=delete`.
    const isDenied = request.method === 'DELETE' || _method?.toLowerCase() === 'delete';
    const given = { token: csrf_token, isDenied, userId: person.id };
    const answer = await inOrganization(pool, organizationId, requestIdOf(response), (database) =>
      answerOnce(database, codeKey, { sessionId, authorization }, given),
    );
    if (!answer) throw invalidCsrfToken('csrf_token was used, has expired, or is of another session or request');
    const denial = { error: 'access_denied', error_description: 'The person did not allow it.' };
    answerClient(request, response, authorization, answer === 'denied' ? denial : answer);
  };
}

/**
 * Sets `request.oauthAuthorization`, or refuses.
 * The person gets the refusal until it is certain that the address belongs to the client, then the client does. Every method validates
 * everything again.
 */
function readAuthorization(pool: Pool, answerClient: AnswerClient): RequestHandler {
  return async (request, response, next) => {
    const form = formOf(request);
    const { client_id, redirect_uri } = pick(form, ['client_id', 'redirect_uri']);
    const application = client_id === undefined ? null : await findApplication(pool, client_id, requestIdOf(response));
    refuse(clientChecks, { ...(client_id && { client_id }), ...(redirect_uri && { redirect_uri }), application });
    if (!application || redirect_uri === undefined) throw new Error('unreachable: the checks have seen to both');

    try {
      request.oauthAuthorization = toAuthorization(application, redirect_uri, form);
    } catch (error) {
      if (!(error instanceof OAuthError)) throw error;
      fieldsOf(response).reason = error.reason;
      const replyTo = { redirectUri: redirect_uri, state: stateOf(form) };
      return answerClient(request, response, replyTo, { error: error.code, error_description: error.message });
    }
    next();
  };
}

/** The parameters: in the body if it has the request, else in the query, where our own forms have it. */
function formOf(request: Request): Form {
  const body = bodyOf(request);
  return body.some(([name]) => name === 'client_id') ? body : queryOf(request);
}

function toAuthorization(application: Application, redirectUri: string, form: Form): Authorization {
  const parameters = pick(form, authorizationParameters);
  refuse(requestChecks, parameters);
  return {
    application,
    redirectUri,
    state: parameters.state,
    scopes: grantedScopes(authorizationCode.scopes, application, parameters.scope),
    codeChallenge: parameters.code_challenge ?? '',
    query: new URLSearchParams(parameters).toString(),
  };
}

/** The `state`, which belongs to the answer even if another parameter is wrong. */
function stateOf(form: Form): string | undefined {
  try {
    return pick(form, ['state']).state;
  } catch {
    return undefined;
  }
}

/** The parameters of the authorization endpoint, in the query or in a form. */
const authorizationParameters = [
  'client_id',
  'redirect_uri',
  'response_type',
  'response_mode',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
] as const;

type AuthorizationParameters = { readonly [name in (typeof authorizationParameters)[number]]?: string };

type AskedBy = {
  readonly client_id?: string;
  readonly redirect_uri?: string;
  readonly application: Application | null;
};

/**
 * Checks whose refusal is a page for the person, in this order.
 * Before they pass, nothing is redirected: the address may be an attacker's (RFC 6749 section 4.1.2.1, RFC 9700 section 4.11).
 */
const clientChecks: readonly Check<AskedBy>[] = [
  [
    'RFC 6749 section 4.1.1',
    ({ client_id }) => client_id !== undefined,
    () => invalidRequest('The application did not say who it is: client_id is missing.'),
  ],
  [
    'RFC 6749 section 4.1.2.1',
    ({ application }) => application !== null,
    () => invalidRequest('The application is not known here: no enabled application has this client_id.'),
  ],
  [
    'RFC 6749 section 3.1.2.3',
    ({ redirect_uri }) => redirect_uri !== undefined,
    () => invalidRequest('The application did not say where to return to: redirect_uri is missing.'),
  ],
  [
    'RFC 6749 section 3.1.2.4, RFC 9700 section 4.1.3',
    ({ application, redirect_uri = '' }) => matchesRedirectUri(application?.redirectUris ?? [], redirect_uri),
    () =>
      invalidRequest('The application has not registered the address to return to: redirect_uri must match exactly.'),
  ],
];

/** Checks whose refusal redirects to the client, in this order; the scope comes last (`grantedScopes`). */
const requestChecks: readonly Check<AuthorizationParameters>[] = [
  [
    'RFC 6749 section 3.1.1',
    ({ response_type }) => response_type !== undefined,
    () => invalidRequest('response_type is missing.'),
  ],
  [
    'RFC 6749 section 3.1.1, RFC 9700 section 2.1.2: no token in an address',
    ({ response_type }) => response_type === 'code',
    () => new OAuthError('unsupported_response_type', 'response_type must be code.'),
  ],
  [
    'OAuth 2.0 Multiple Response Types section 2.1',
    ({ response_mode }) => response_mode === undefined || response_mode === 'query',
    () => invalidRequest('response_mode must be query.'),
  ],
  [
    'RFC 7636 section 4.4.1, RFC 9700 section 2.1.1: required of every client',
    ({ code_challenge }) => code_challenge !== undefined,
    () => invalidRequest('code_challenge is missing: this server requires PKCE.'),
  ],
  [
    'RFC 7636 section 4.3: without a method it would be plain',
    ({ code_challenge_method }) => code_challenge_method === 'S256',
    () => invalidRequest('code_challenge_method must be S256.'),
  ],
  [
    'RFC 7636 section 4.2: SHA-256 in base64url',
    ({ code_challenge = '' }) => /^[\w-]{43}$/.test(code_challenge),
    () => invalidRequest('code_challenge must be 43 characters of base64url.'),
  ],
];

/**
 * Whether a client may be answered at this address: it is registered, character by character.
 * (RFC 9700 section 4.1.3.) An address may also differ from a registered one only in the port of a loopback IP. A native app gets that port
 * when it starts (RFC 8252 section 7.3).
 */
function matchesRedirectUri(registered: readonly string[], requested: string): boolean {
  if (registered.includes(requested)) return true;
  const anyPort = withoutLoopbackPort(requested);
  return (
    anyPort !== null &&
    URL.canParse(requested) &&
    registered.some((uri) => (withoutLoopbackPort(uri) ?? uri) === anyPort)
  );
}

/** Null unless it is `http` at a loopback IP. A name such as `localhost` may be another machine's. */
function withoutLoopbackPort(uri: string): string | null {
  const [, origin, rest] = /^(http:\/\/(?:127\.0\.0\.1|\[::1\]))(?::\d{1,5})?([/?].*)?$/.exec(uri) ?? [];
  return origin === undefined ? null : origin + (rest ?? '');
}

/**
 * `POST /oauth/sign-in`: by e-mail address and password; then back to the consent screen.
 * The organization is that of the application. The answer does not show which of the two was wrong.
 */
function signIn(
  authenticateUser: AuthenticateUser,
  throttle: Throttle,
  antiForgery: AntiForgery,
  pages: Pages,
): RequestHandler {
  return async (request, response) => {
    const authorization = requireAuthorization(request);
    const { csrf_token, username = '', password = '' } = pick(bodyOf(request), ['csrf_token', 'username', 'password']);
    antiForgery.verify(request, csrf_token);

    const { organizationId } = authorization.application;
    const signedIn = await authenticateUser(organizationId, requestIdOf(response), {
      username,
      password,
      address: request.ip ?? '',
    });
    if (signedIn.userId === null) {
      fieldsOf(response).reason = signedIn.reason;
      await throttle.countFailure(request);
      response.status(400);
      const problem = 'The e-mail address or the password is wrong.';
      if (wantsJson(request)) sendJson(request, response, invalidGrant(problem));
      else {
        const csrfToken = antiForgery.tokenFor(request, response);
        pages.sendSignIn(response, authorization, { csrfToken, username, problem });
      }
      return;
    }
    await beginSession(request, signedIn.userId);
    sendTo(request, response, pages.addressOf(authorization));
  };
}

/** `POST /oauth/sign-out`: ends the session, and every consent screen that it has open. */
function signOut(antiForgery: AntiForgery, pages: Pages): RequestHandler {
  return async (request, response) => {
    antiForgery.verify(request, pick(bodyOf(request), ['csrf_token']).csrf_token);
    await endSession(request);
    sendTo(request, response, pages.addressOf(requireAuthorization(request)));
  };
}

/** A session, and the authorization request that its person consents to. */
type Consent = { readonly sessionId: string; readonly authorization: Authorization };

/** Stores a one-time token of the consent screen, which the person's answer must carry. */
async function createConsent(
  database: PoolClient,
  consent: Consent,
  token = randomBytes(32).toString('base64url'),
): Promise<string> {
  await database.query({
    name: 'ask_consent',
    text: `
      with expired as (
        delete from oauth.consents where sid = $2 and expires_at <= clock_timestamp()
      )
      insert into oauth.consents (organization_id, consent_hash, sid, request_hash, expires_at)
      values (app_hidden.current_organization_id(), $1, $2, $3, clock_timestamp() + make_interval(mins => ${lifetimes.consentMinutes}))`,
    values: [hashToken(token), storedId(consent.sessionId), requestHash(consent.authorization)],
  });
  return token;
}

/** How a person answers, with the one-time token of the form. */
type PersonsAnswer = { readonly token: string; readonly isDenied: boolean; readonly userId: string };

/**
 * Takes the first answer to a consent, idempotently: an equal one, as of a double click, gets the same code or denial.
 * The code is a keyed hash (HMAC) of the question and its one-time token, so that no second one can be issued. Null if the token is not
 * valid, if another answer was first, or if the code was redeemed: to show that again would revoke what it bought.
 */
async function answerOnce(
  database: PoolClient,
  key: Buffer,
  consent: Consent,
  { token, isDenied, userId }: PersonsAnswer,
): Promise<{ code: string } | 'denied' | null> {
  const question = [isDenied, token, consent.sessionId, requestHash(consent.authorization).toString('hex')];
  const secret = createHmac('sha256', key).update(JSON.stringify(question)).digest();
  const isFirst = await consumeToken(database, token, consent);
  if (isDenied) {
    // It stands in the question's place, under a token that no form has.
    const denial = secret.toString('base64url');
    if (isFirst) await createConsent(database, consent, denial);
    return isFirst || (await isStored(database, denial, consent)) ? 'denied' : null;
  }
  const code = createToken('code', secret);
  if (isFirst) await storeCode(database, code, userId, consent.authorization);
  return isFirst || (await isRedeemable(database, code)) ? { code } : null;
}

/**
 * Consumes the one-time token, so that only one of several concurrent answers counts.
 * False if the token is another session's or another request's, has expired or was used; then nothing changes.
 */
async function consumeToken(database: PoolClient, token: string, consent: Consent): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'take_consent',
    text: `
      delete from oauth.consents
      where consent_hash = $1 and sid = $2 and request_hash = $3 and expires_at > clock_timestamp()`,
    values: [hashToken(token), storedId(consent.sessionId), requestHash(consent.authorization)],
  });
  return rowCount === 1;
}

async function isStored(database: PoolClient, token: string, consent: Consent): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'find_consent',
    text: `
      select from oauth.consents
      where consent_hash = $1 and sid = $2 and request_hash = $3 and expires_at > clock_timestamp()`,
    values: [hashToken(token), storedId(consent.sessionId), requestHash(consent.authorization)],
  });
  return rowCount === 1;
}

/** Stores a code for the person's consent, bound to the client, its redirect and its PKCE challenge. */
async function storeCode(
  database: PoolClient,
  code: string,
  userId: string,
  { application, redirectUri, scopes, codeChallenge }: Authorization,
): Promise<void> {
  await database.query({
    name: 'issue_code',
    text: `
      insert into oauth.authorization_codes
        (organization_id, code_hash, application_id, user_id, scopes, redirect_uri, code_challenge, expires_at)
      values (app_hidden.current_organization_id(), $1, $2, $3, $4, $5, $6,
        clock_timestamp() + make_interval(secs => ${lifetimes.codeSeconds}))`,
    values: [hashToken(code), application.id, userId, scopes, redirectUri, codeChallenge],
  });
}

async function isRedeemable(database: PoolClient, code: string): Promise<boolean> {
  const { rowCount } = await database.query({
    name: 'find_code',
    text: `
      select from oauth.authorization_codes
      where code_hash = $1 and used_at is null and expires_at > clock_timestamp()`,
    values: [hashToken(code)],
  });
  return rowCount === 1;
}

function requestHash({ application, redirectUri, scopes, state, codeChallenge }: Authorization): Buffer {
  const seen = [application.id, redirectUri, scopes, state ?? null, codeChallenge];
  return createHash('sha256').update(JSON.stringify(seen)).digest();
}
