import type { RequestHandler } from 'express';
import type { Pool } from 'pg';
import { subkey } from '../../crypto/secrets.ts';
import { requestIdOf } from '../../http/middleware.ts';
import { inOrganization } from '../inOrganization.ts';
import { bodyOf, pick } from '../parameters.ts';
import { type AnswerClient, wantsJson } from './answerClient.ts';
import { type AntiForgery, invalidCsrfToken } from './antiForgery.ts';
import { answerOnce, createConsent } from './consents.ts';
import type { Pages } from './createPages.ts';
import { requireAuthorization } from './readAuthorization.ts';

/** `GET /oauth/authorize`: each time the sign-in page or, for a signed-in person, the consent screen. */
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

/**
 * `POST /oauth/authorize`: the person consents; `DELETE`: the person denies.
 * Consumes the one-time consent token and writes the code in the same transaction; 403 without one.
 */
export function answerConsent(pool: Pool, key: Buffer, answerClient: AnswerClient): RequestHandler {
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
