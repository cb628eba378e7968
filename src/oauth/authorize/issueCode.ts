import type { PoolClient } from 'pg';
import { createToken, hashToken } from '../../token/format.ts';
import { lifetimes } from '../lifetimes.ts';
import type { Authorization } from './readAuthorization.ts';

/** Issues a code for the person's consent, bound to the client, its redirect and its PKCE challenge. */
export async function issueCode(
  database: PoolClient,
  userId: string,
  { application, redirectUri, scopes, codeChallenge }: Authorization,
): Promise<string> {
  const code = createToken('code');
  await database.query({
    name: 'issue_code',
    text: `
      insert into oauth.authorization_codes
        (organization_id, code_hash, application_id, user_id, scopes, redirect_uri, code_challenge, expires_at)
      values (app_hidden.current_organization_id(), $1, $2, $3, $4, $5, $6,
        clock_timestamp() + make_interval(secs => ${lifetimes.codeSeconds}))`,
    values: [hashToken(code), application.id, userId, scopes, redirectUri, codeChallenge],
  });
  return code;
}
