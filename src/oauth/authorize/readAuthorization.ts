import type { Request, RequestHandler } from 'express';
import type { Pool } from 'pg';
import { requestIdOf } from '../../http/middleware.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import type { Scope } from '../../token/scopes.ts';
import { refuse } from '../check.ts';
import { type Application, findApplication } from '../client/application.ts';
import { OAuthError } from '../errors.ts';
import type { Form } from '../form.ts';
import { grantedScopes } from '../grantedScopes.ts';
import { authorizationCode } from '../grants/authorizationCode.ts';
import { bodyOf, pick, queryOf } from '../parameters.ts';
import type { AnswerClient, ReplyTo } from './answerClient.ts';
import { authorizationParameters, clientChecks, requestChecks } from './authorizationChecks.ts';

/** A valid authorization request (RFC 6749 section 4.1.1). */
export type Authorization = ReplyTo & {
  readonly application: Application;
  readonly scopes: readonly Scope[];
  /** RFC 7636, method S256. */
  readonly codeChallenge: string;
  /** The same request as a query, for the forms of its pages and for the way back to it. */
  readonly query: string;
};

/**
 * Sets `request.oauthAuthorization`, or refuses.
 * The person gets the refusal until it is certain that the address belongs to the client, then the client does. Every method validates
 * everything again.
 */
export function readAuthorization(pool: Pool, answerClient: AnswerClient): RequestHandler {
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

/** The request that `readAuthorization` has set. */
export function requireAuthorization({ oauthAuthorization }: Request): Authorization {
  if (!oauthAuthorization) throw new Error('readAuthorization did not run');
  return oauthAuthorization;
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
