import type { Pool, PoolClient } from 'pg';
import type { RequestId } from '../../observability/requestFields.ts';
import { type Scope, scopesOf } from '../../token/scopes.ts';
import type { Application } from '../client.ts';
import { invalidClient, temporarilyUnavailable, unauthorizedClient } from '../errors.ts';
import { inOrganization } from '../inOrganization.ts';
import { deleteExpiredTokens } from '../purge.ts';
import { grantedScopes, issueTokens, type TokenReply } from '../token/issueTokens.ts';
import type { Grant } from './grant.ts';

/** The application in its own name (RFC 6749 section 4.4): one grant per application and set of scopes. */
export const clientCredentials: Grant = {
  type: 'client_credentials',
  name: 'client_credentials',
  scopes: scopesOf('application'),
  parameters: {},
  clientChecks: [
    [
      'RFC 6749 section 4.4: only confidential clients',
      ({ application }) => application.confidential,
      () => unauthorizedClient('A public client has no credentials of its own to use.'),
    ],
    [
      'RFC 6749 section 4.4.2: the client must authenticate',
      ({ authentication }) => authentication === 'secret',
      () => invalidClient('client_credentials without the secret'),
    ],
  ],
  async issue({ pool }, { application, requestId }, { scope }) {
    return issueToApplication(pool, application, grantedScopes(this.scopes, application, scope), requestId);
  },
  guide: {
    title: 'As an application',
    text: 'With the client id and the secret of an application that holds the scope.',
    example: ['-d grant_type=client_credentials -d scope=app', '-d client_id=CLIENT_ID -d client_secret=CLIENT_SECRET'],
  },
};

/** Tokens for an application that has authenticated and holds the scopes. */
export function issueToApplication(
  pool: Pool,
  application: Application,
  scopes: readonly Scope[],
  requestId: RequestId,
): Promise<TokenReply> {
  return inOrganization(pool, application.organizationId, requestId, async (database) => {
    const grantId = await findOrCreateGrant(database, application.id, scopes);
    await deleteExpiredTokens(database, grantId);
    const reply = await issueTokens(database, { grantId, scopes });
    await deleteUnusedTokens(database, grantId);
    return reply;
  });
}

/**
 * Deletes a grant's oldest unused refresh tokens, so that only the newest ones stay.
 * Most clients request a new token instead of using theirs. Each unused one would stay until its end (`lifetimes.refreshTokenIdleDays`).
 */
async function deleteUnusedTokens(database: PoolClient, grantId: string): Promise<void> {
  await database.query({
    name: 'delete_unused_refresh_tokens',
    text: `
      delete from oauth.refresh_tokens
      where token_hash in (
        select token_hash from oauth.refresh_tokens
        where grant_id = $1 and used_at is null
        order by created_at desc
        offset ${maxUnusedRefreshTokens} limit 20)`,
    values: [grantId],
  });
}

/** For a grant by client credentials: enough for several instances that each keep their own token. */
const maxUnusedRefreshTokens = 10;

/** The grant, locked so that it does not end before it has its tokens, and that requests take turns. */
async function findOrCreateGrant(
  database: PoolClient,
  applicationId: string,
  scopes: readonly Scope[],
): Promise<string> {
  // The grant is found, created, or was just created by another request. It may end between the two, but not again and again.
  for (let attempt = 0; attempt < 3; attempt++) {
    const existing = await database.query<{ id: string }>({
      name: 'find_application_grant',
      text: `
        select id from oauth.grants
        where application_id = $1 and scopes = $2 and user_id is null
        for no key update`,
      values: [applicationId, scopes],
    });
    const created =
      existing.rows[0] ??
      (
        await database.query<{ id: string }>(
          `insert into oauth.grants (organization_id, application_id, grant_type, scopes, client_authentication)
           values (app_hidden.current_organization_id(), $1, 'client_credentials', $2, 'secret')
           on conflict do nothing
           returning id`,
          [applicationId, scopes],
        )
      ).rows[0];
    if (created) return created.id;
  }
  throw temporarilyUnavailable('the grant was ended again and again');
}
