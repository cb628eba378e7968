import { scopesOf } from '../../token/scopes.ts';
import { invalidGrant, invalidRequest, unauthorizedClient } from '../errors.ts';
import type { Form, ParameterFallback } from '../form.ts';
import { inOrganization } from '../inOrganization.ts';
import { findUser } from '../passwords.ts';
import { grantedScopes, issueToUser } from '../token/issueTokens.ts';
import type { Grant } from './grant.ts';

/**
 * A person by external authentication token.
 * It is `grant_type=password` with `external_authentication_token` in place of user name and password; no RFC defines it. The reply also
 * lists the submitted values (docs/oauth.md).
 */
export const externalAuthenticationToken: Grant = {
  type: 'password',
  name: 'external_authentication_token',
  isMeant: ({ external_authentication_token }) => external_authentication_token !== undefined,
  isForMobileApps: true,
  scopes: scopesOf('user'),
  parameters: {
    external_authentication_token: 'docs/oauth.md, external_authentication_token',
  },
  checks: [
    [
      'docs/oauth.md, external_authentication_token: it replaces user name and password',
      ({ username, password }) => username === undefined && password === undefined,
      () => invalidRequest('Send username and password, or external_authentication_token, not both.'),
    ],
  ],
  clientChecks: [
    [
      'docs/oauth.md, external_authentication_token',
      ({ application }) => application.mobileApp === 'external_authentication_token',
      () => unauthorizedClient('The application has no mobile app that signs in by external_authentication_token.'),
    ],
  ],
  async issue({ pool, secrets }, client, parameters) {
    const { organizationId } = client.application;
    const { grant_type, client_id, scope, external_authentication_token = '' } = parameters;
    const scopes = grantedScopes(this.scopes, client.application, scope);
    const hashes = secrets.lookupHashes(external_authentication_token, organizationId);
    const user = await inOrganization(pool, organizationId, client.requestId, (database) =>
      findUser(database, 'external_authentication_token', hashes),
    );
    if (!user) throw invalidGrant(wrongToken, 'no user has this external_authentication_token');
    if (user.disabled) throw invalidGrant(wrongToken, 'the user is disabled');
    const reply = await issueToUser(pool, client, user.id, scopes);
    return { ...reply, grant_type, client_id, external_authentication_token };
  },
  guide: {
    text: 'Where the application’s mobile app uses external authentication, the user’s `externalAuthenticationToken` takes the place of both.',
    example: [
      '-d grant_type=password -d scope=me -d client_id=CLIENT_ID',
      '--data-urlencode external_authentication_token=TOKEN',
    ],
  },
};

const wrongToken = 'external_authentication_token is wrong.';

/** Legacy query credentials: older clients pass the parameters as the query of a POST without a body. */
export const legacyQueryCredentials: ParameterFallback = (body, query) => {
  const credential = 'external_authentication_token';
  if (body.length > 0 || find(query, 'grant_type') !== 'password') return null;
  return find(query, credential) === undefined ? null : { form: query, credential };
};

const find = (form: Form, name: string) => form.find(([known]) => known === name)?.[1];
