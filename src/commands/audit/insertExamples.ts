import type { ClientBase } from 'pg';

/**
 * Two organizations, A and B, with a row in every table for each of two people, 1 and 2.
 * Below each unit is another one. A row's ids begin with the letter of its organization and end with the number of its person:
 * `aaaaaaaa-0000-7000-8000-000000000001` is A1's. What a schema older or newer than these statements refuses is left out.
 */
export async function insertExamples(client: ClientBase): Promise<void> {
  for (const letter of ['a', 'b']) {
    const organization = idOf(letter, 0);
    await insert(
      client,
      `insert into app_hidden.organizations (id, name) values ('${organization}', 'Organization ${letter}')`,
    );
    for (const number of [1, 2]) {
      for (const statement of statements) {
        const [id, below] = [idOf(letter, number), idOf(letter, number + 2)];
        const values = { organization: `'${organization}'`, id: `'${id}'`, below: `'${below}'` };
        await insert(
          client,
          statement.replaceAll(/:(organization|id|below)\b/g, (_, name: keyof typeof values) => values[name]),
        );
      }
    }
  }
}

async function insert(client: ClientBase, statement: string): Promise<void> {
  try {
    await client.query(statement);
  } catch (error) {
    // A table or column that is not there yet or no longer, or a rule that came later.
    if (!(error instanceof Error && 'code' in error && /^(42|23|3F|22)/.test(String(error.code)))) throw error;
  }
}

const idOf = (letter: string, number: number) => `${letter.repeat(8)}-0000-7000-8000-00000000000${number}`;

/** Each id is the row's own; `:id` stands for whatever belongs to the person. */
const statements = [
  `insert into app_public.users (organization_id, id, external_identifier, full_name, email)
   values (:organization, :id, :id, :id, :id || '@test')`,
  `insert into oauth.credentials (organization_id, user_id, password_hash) values (:organization, :id, '$argon2id$none')`,
  `insert into oauth.applications (organization_id, id, name, client_id, scopes) values (:organization, :id, :id, :id, '{app,basic}')`,
  `insert into oauth.application_secrets (organization_id, application_id, secret_hash)
   values (:organization, :id, sha256(:id))`,
  `insert into app_public.units (organization_id, id, name) values (:organization, :id, :id)`,
  `insert into app_public.units (organization_id, id, parent_id, name) values (:organization, :below, :id, :below)`,
  `insert into app_hidden.unit_access (organization_id, user_id, unit_id) values (:organization, :id, :id)`,
  `insert into app_public.cards (organization_id, id, type, name) values (:organization, :id, 'IdentificationCode', :id)`,
  `insert into app_public.card_assignments (organization_id, id, user_id, card_id) values (:organization, :id, :id, :id)`,
  `insert into oauth.grants (organization_id, id, application_id, user_id, grant_type, scopes, client_authentication)
   values (:organization, :id, :id, :id, 'password', '{me}', 'none')`,
  `insert into oauth.access_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at)
   values (:organization, sha256(:id), :id, '{me}', now(), now() + interval '1 hour')`,
  `insert into oauth.refresh_tokens (organization_id, token_hash, grant_id, scopes, created_at, expires_at, absolute_expires_at)
   values (:organization, sha256(:id), :id, '{me}', now(), now() + interval '1 hour', now() + interval '1 hour')`,
  `insert into oauth.authorization_codes (
     organization_id, code_hash, application_id, user_id, scopes, redirect_uri, code_challenge, expires_at, grant_id)
   values (:organization, sha256(:id), :id, :id, '{me}', 'http://127.0.0.1/', repeat('x', 43), now() + interval '1 minute', :id)`,
  `insert into oauth.sessions (organization_id, sid, sess, expire)
   values (:organization, lpad(:id, 43, '0'), jsonb_build_object('userId', :id), now() + interval '1 hour')`,
  `insert into oauth.consents (organization_id, consent_hash, sid, request_hash, expires_at)
   values (:organization, sha256(:id), lpad(:id, 43, '0'), sha256(:id), now() + interval '1 minute')`,
  `insert into oauth.throttles (key, points, expire) values (left(:id, 1) || 'test:' || lpad(:id, 43, '0'), 1, 0)`,
];
