import type { RequestHandler } from 'express';
import { requestIdOf } from '../../http/middleware.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import { invalidGrant, sendJson } from '../errors.ts';
import { bodyOf, pick } from '../parameters.ts';
import type { AuthenticateUser } from '../passwords.ts';
import type { Throttle } from '../throttle.ts';
import { type AntiForgery, type Pages, sendTo, wantsJson } from './pages.ts';
import { beginSession, endSession, requireAuthorization } from './sessions.ts';

/**
 * `POST /oauth/sign-in`: by e-mail address and password; then back to the consent screen.
 * The organization is that of the application. The answer does not show which of the two was wrong.
 */
export function signIn(
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
export function signOut(antiForgery: AntiForgery, pages: Pages): RequestHandler {
  return async (request, response) => {
    antiForgery.verify(request, pick(bodyOf(request), ['csrf_token']).csrf_token);
    await endSession(request);
    sendTo(request, response, pages.addressOf(requireAuthorization(request)));
  };
}
