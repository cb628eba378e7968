import { scopesOf } from '../../token/scopes.ts';
import { invalidGrant, unauthorizedClient } from '../errors.ts';
import { grantedScopes, issueToUser } from '../token/issueTokens.ts';
import type { Grant } from './grant.ts';

/** A person by e-mail address and password (RFC 6749 section 4.3), in the application's organization. */
export const password: Grant = {
  type: 'password',
  name: 'password',
  isMeant: ({ external_authentication_token }) => external_authentication_token === undefined,
  isForMobileApps: true,
  scopes: scopesOf('user'),
  parameters: {
    username: 'RFC 6749 section 4.3.2',
    password: 'RFC 6749 section 4.3.2',
  },
  clientChecks: [
    [
      'docs/oauth.md, external_authentication_token',
      ({ application }) => application.mobileApp !== 'external_authentication_token',
      () => unauthorizedClient('The mobile app of this application signs in by external_authentication_token alone.'),
    ],
  ],
  async issue({ pool, authenticateUser }, client, { scope, username = '', password = '' }) {
    const { application, address, requestId } = client;
    const scopes = grantedScopes(this.scopes, application, scope);
    const signedIn = await authenticateUser(application.organizationId, requestId, { username, password, address });
    if (signedIn.userId === null) throw invalidGrant('User name or password is wrong.', signedIn.reason);
    return issueToUser(pool, client, signedIn.userId, scopes);
  },
  guide: {
    title: 'As a user, in a trusted application',
    text: 'The user name is the e-mail address. An application with a mobile app sends its `client_id` alone.',
    example: [
      '-d grant_type=password -d scope=me -d client_id=CLIENT_ID',
      '--data-urlencode username=EMAIL --data-urlencode password=PASSWORD',
    ],
  },
};
