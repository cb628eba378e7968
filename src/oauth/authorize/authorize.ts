import type { Request, RequestHandler } from 'express';
import type { Pool, PoolClient } from 'pg';
import { requestIdOf } from '../../http/middleware/requestId.ts';
import type { RequestId } from '../../observability/requestFields.ts';
import { inOrganization } from '../inOrganization.ts';
import { bodyOf, pick } from '../parameters.ts';
import { type AnswerClient, wantsJson } from './answerClient.ts';
import { type AntiForgery, invalidCsrfToken } from './antiForgery.ts';
import { consumeToken, createConsent } from './consents.ts';
import { issueCode } from './issueCode.ts';
import type { Pages } from './pages.ts';
import { requireAuthorization } from './readAuthorization.ts';
import type { Person } from './sessions.ts';

/** `GET /oauth/authorize`: the sign-in page or, once that is done, the consent screen; each time. */
export function showConsent(pool: Pool, antiForgery: AntiForgery, pages: Pages): RequestHandler {
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

/** `POST /oauth/authorize`: the person allows it. */
export function approve(pool: Pool, answerClient: AnswerClient): RequestHandler {
  return async (request, response) => {
    const authorization = requireAuthorization(request);
    const code = await consumeConsent(pool, request, requestIdOf(response), (database, person) =>
      issueCode(database, person.id, authorization),
    );
    answerClient(request, response, authorization, { code });
  };
}

/** `DELETE /oauth/authorize`: the person does not. */
export function deny(pool: Pool, answerClient: AnswerClient): RequestHandler {
  return async (request, response) => {
    const authorization = requireAuthorization(request);
    await consumeConsent(pool, request, requestIdOf(response), async () => undefined);
    const error = { error: 'access_denied', error_description: 'The person did not allow it.' };
    answerClient(request, response, authorization, error);
  };
}

/** A form can send no DELETE, so the one that denies says `_method=delete`. */
export const deniesByForm = (request: Request) =>
  pick(bodyOf(request), ['_method'])._method?.toLowerCase() === 'delete';

/** Consumes the one-time consent token and does `work` in the same transaction; 403 without one. */
function consumeConsent<T>(
  pool: Pool,
  request: Request,
  requestId: RequestId,
  work: (database: PoolClient, person: Person) => Promise<T>,
): Promise<T> {
  const authorization = requireAuthorization(request);
  const { oauthPerson: person, sessionID: sessionId } = request;
  const { csrf_token } = pick(bodyOf(request), ['csrf_token']);
  if (!person) throw invalidCsrfToken('the session has no sign-in');
  if (csrf_token === undefined) throw invalidCsrfToken('csrf_token is missing');
  return inOrganization(pool, authorization.application.organizationId, requestId, async (database) => {
    if (!(await consumeToken(database, csrf_token, { sessionId, authorization })))
      throw invalidCsrfToken('csrf_token was used, has expired, or is of another session or request');
    return work(database, person);
  });
}
