import { Client } from 'pg';
import { createToken, hashToken } from '../../../src/token/accessTokens.ts';
import { keyOf } from './keys.ts';
import { organizations, type Size } from './sizes.ts';

export type Tokens = {
  /** Scope `me`, of users spread over all organizations. */
  readonly users: readonly string[];
  /** Scope `app`, one of each organization. */
  readonly applications: readonly string[];
  /** Scope `me`, of the first user of the first organization, who was granted every unit of it. */
  readonly grantedEverything: string;
};

const usersWithTokens = 1000;

/** Access tokens for an hour, straight into the database; those of an earlier run are ended. */
export async function issueTokens(ownerUrl: string, size: Size): Promise<Tokens> {
  const perOrganization = usersWithTokens / organizations;
  const step = Math.floor(size.users / perOrganization);
  const users = Array.from({ length: usersWithTokens }, (_, index) => {
    const organization = index % organizations;
    // Not the first, who was granted everything.
    const user = organization * size.users + Math.floor(index / organizations) * step + 1;
    return grant(organization, 'me', keyOf('user', user));
  });
  const applications = Array.from({ length: organizations }, (_, organization) => grant(organization, 'app', null));
  const grantedEverything = grant(0, 'me', keyOf('user', 0));

  const client = new Client({ connectionString: ownerUrl });
  await client.connect();
  try {
    await client.query('delete from oauth.grants');
    await client.query(
      `with given as (
         select app_hidden.uuid_v7() as grant_id, *
         from json_to_recordset($1) as g (organization_id uuid, application_id uuid, user_id uuid, scope text, token_hash text)
       ),
       permitted as (
         insert into oauth.grants (organization_id, id, application_id, user_id, grant_type, scopes, client_authentication)
         select organization_id, grant_id, application_id, user_id,
           case when user_id is null then 'client_credentials' else 'password' end, array[scope], 'secret'
         from given
       )
       insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
       select organization_id, decode(token_hash, 'hex'), grant_id, array[scope], now(), now() + interval '1 hour' from given`,
      [JSON.stringify([...users, ...applications, grantedEverything].map(({ row }) => row))],
    );
    await client.query('analyze oauth.grants, oauth.access_tokens');
  } finally {
    await client.end();
  }
  return {
    users: users.map(({ token }) => token),
    applications: applications.map(({ token }) => token),
    grantedEverything: grantedEverything.token,
  };
}

function grant(organization: number, scope: 'me' | 'app', userId: string | null) {
  const token = createToken('access');
  const row = {
    organization_id: keyOf('organization', organization),
    application_id: keyOf('application', organization),
    user_id: userId,
    scope,
    token_hash: hashToken(token).toString('hex'),
  };
  return { token, row };
}
