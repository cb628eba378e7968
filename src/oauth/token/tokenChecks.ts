import type { RequestHandler } from 'express';
import { type Check, refuse } from '../check.ts';
import { type Client, requireClient } from '../client/authenticateClient.ts';
import { invalidClient, invalidRequest, invalidScope, unauthorizedClient, unsupportedGrantType } from '../errors.ts';
import type { Parameters } from '../parameters.ts';
import { type GrantType, isWithin, parseScope, scopesOfGrantType } from '../scope.ts';

/**
 * Checks of `POST /oauth/token` for every client, in this order.
 * Parameters come before the application's type, so that a client first gets the error that it can fix in its request.
 */
export const refuseBadParameters: RequestHandler = (request, _response, next) => {
  refuse(parameterChecks, request.body);
  next();
};

/** What it refuses this client, in this order; `authenticateClient` has run. */
export const refuseWrongClient: RequestHandler = (request, _response, next) => {
  refuse(clientChecks, { ...requireClient(request), parameters: request.body });
  next();
};

const parameterChecks: readonly Check<Parameters>[] = [
  [
    'RFC 6749 section 5.2',
    ({ grant_type }) => grant_type !== undefined,
    () => invalidRequest('grant_type is missing: send it form-encoded in the body.'),
  ],
  [
    'RFC 6749 section 5.2',
    ({ grant_type }) => grant_type !== undefined && Object.hasOwn(scopesOfGrantType, grant_type),
    () => unsupportedGrantType(Object.keys(scopesOfGrantType)),
  ],
  [
    'interface specification, Authentication, row 7: the token replaces user name and password',
    (p) => !isExternal(p) || (p.username === undefined && p.password === undefined),
    () => invalidRequest('Send username and password, or external_authentication_token, not both.'),
  ],
  [
    'RFC 6749 section 4.3.2',
    (p) => p.grant_type !== 'password' || isExternal(p) || p.username !== undefined,
    () => invalidRequest('username is missing.'),
  ],
  [
    'RFC 6749 section 4.3.2',
    (p) => p.grant_type !== 'password' || isExternal(p) || p.password !== undefined,
    () => invalidRequest('password is missing.'),
  ],
  [
    'RFC 6749 section 6',
    (p) => p.grant_type !== 'refresh_token' || p.refresh_token !== undefined,
    () => invalidRequest('refresh_token is missing.'),
  ],
  [
    'RFC 6749 section 4.1.3',
    (p) => p.grant_type !== 'authorization_code' || p.code !== undefined,
    () => invalidRequest('code is missing.'),
  ],
  [
    'RFC 6749 section 4.1.3: required, since every authorization request has one',
    (p) => p.grant_type !== 'authorization_code' || p.redirect_uri !== undefined,
    () => invalidRequest('redirect_uri is missing.'),
  ],
  [
    'RFC 7636 section 4.5: required of every client',
    (p) => p.grant_type !== 'authorization_code' || p.code_verifier !== undefined,
    () => invalidRequest('code_verifier is missing.'),
  ],
  [
    'RFC 6749 section 3.3; an application in its own name is no person, a person is no application',
    // The second check has seen to it that the grant type is one of these.
    ({ grant_type, scope }) => isWithin(parseScope(scope) ?? [], scopesOfGrantType[grant_type as GrantType]),
    () => invalidScope('This grant type cannot give that scope.'),
  ],
];

const clientChecks: readonly Check<Client & { parameters: Parameters }>[] = [
  [
    'RFC 6749 section 4.4: only confidential clients',
    ({ application, parameters }) => parameters.grant_type !== 'client_credentials' || application.confidential,
    () => unauthorizedClient('A public client has no credentials of its own to use.'),
  ],
  [
    'RFC 6749 section 4.4.2: the client must authenticate',
    ({ authentication, parameters }) => parameters.grant_type !== 'client_credentials' || authentication === 'secret',
    invalidClient,
  ],
  [
    'interface specification, Authentication, row 7',
    ({ application, parameters }) =>
      !isExternal(parameters) || application.mobileApp === 'external_authentication_token',
    () => unauthorizedClient('The application has no mobile app that signs in by external_authentication_token.'),
  ],
  [
    'interface specification, Authentication, row 7',
    ({ application, parameters }) =>
      parameters.grant_type !== 'password' ||
      isExternal(parameters) ||
      application.mobileApp !== 'external_authentication_token',
    () => unauthorizedClient('The mobile app of this application signs in by external_authentication_token alone.'),
  ],
];

const isExternal = (parameters: Parameters) =>
  parameters.grant_type === 'password' && parameters.external_authentication_token !== undefined;
