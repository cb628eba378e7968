import type { RequestHandler } from 'express';
import { type Check, refuse } from '../check.ts';
import { requireClient } from '../client/authenticateClient.ts';
import { invalidRequest, invalidScope, OAuthError } from '../errors.ts';
import type { Parameters } from '../form.ts';
import { parseScope } from '../grantedScopes.ts';
import type { Grant } from '../grants/grant.ts';
import { grantOf, grantTypes } from '../grants/grants.ts';

/**
 * Checks of `POST /oauth/token` for every client, in this order.
 * Parameters are checked before the application's type, so that a client first gets the error that it can fix in its request.
 */
export const refuseBadParameters: RequestHandler = ({ body }, _response, next) => {
  const grant = requireGrant(body);
  refuse([...(grant.checks ?? []), ...parameterChecks(grant), scopeCheck(grant)], body);
  next();
};

/** Checks whether the grant is open to this client; `authenticateClient` has run. */
export const refuseWrongClient: RequestHandler = (request, _response, next) => {
  refuse(requireGrant(request.body).clientChecks ?? [], requireClient(request));
  next();
};

/** The grant that a request is for (RFC 6749 section 5.2). @throws {OAuthError} when it names none */
function requireGrant(parameters: Parameters): Grant {
  const grant = grantOf(parameters);
  if (grant) return grant;
  if (parameters.grant_type === undefined)
    throw invalidRequest('grant_type is missing: send it form-encoded in the body.');
  throw new OAuthError('unsupported_grant_type', `grant_type must be one of ${grantTypes.join(', ')}.`);
}

const parameterChecks = (grant: Grant) =>
  Object.entries(grant.parameters).map(
    ([name, source]): Check<Parameters> => [
      source,
      (parameters) => parameters[name] !== undefined,
      () => invalidRequest(`${name} is missing.`),
    ],
  );

const scopeCheck = (grant: Grant): Check<Parameters> => [
  'RFC 6749 section 3.3; an application in its own name is no person, a person is no application',
  ({ scope }) => (parseScope(scope) ?? []).every((word) => grant.scopes.includes(word)),
  () => invalidScope('This grant type cannot give that scope.'),
];
