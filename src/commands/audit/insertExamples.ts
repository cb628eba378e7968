import { type ClientBase, DatabaseError } from 'pg';
import { scopesOf } from '../../token/scopes.ts';

/**
 * Two organizations, A and B, with a row in every table for each of two people, 1 and 2.
 * Below each unit is another unit. A row's ids begin with the letter of its organization and end with the number of its person:
 * `aaaaaaaa-0000-7000-8000-000000000001` is A1's. A statement that an older or newer schema rejects is skipped.
 */
export async function insertExamples(client: Pick<ClientBase, 'query'>): Promise<void> {
  await insertForEach(client, statements);
  const { rows } = await client.query<[string]>({
    text: statementsOfOthers,
    values: [[...statements, ...changesStatements].join()],
    rowMode: 'array',
  });
  await insertForEach(client, [...rows.flat(), ...changesStatements]);
}

/** The id of an example row: of an organization by the number 0, else of a row of the person with the number. */
export const exampleId = (letter: string, number: number): string =>
  `${letter.repeat(8)}-0000-7000-8000-00000000000${number}`;

async function insertForEach(client: Pick<ClientBase, 'query'>, statements: readonly string[]): Promise<void> {
  for (const letter of ['a', 'b']) {
    const idOf = (number: number) => `'${exampleId(letter, number)}'`;
    for (const number of [1, 2]) {
      const ids = { ':organization': idOf(0), ':id': idOf(number), ':below': idOf(number + 2) };
      for (const statement of statements)
        await client
          .query(statement.replaceAll(/:(organization|id|below)\b/g, (name) => ids[name as keyof typeof ids]))
          .catch(ignoreRefusal);
    }
  }
}

/** A table or column that does not exist yet or any more, or a later rule. */
function ignoreRefusal(error: unknown): void {
  if (!(error instanceof DatabaseError && /^(42|23|3F|22)/.test(error.code ?? ''))) throw error;
}

/** Each id is the row's own; `:id` stands for the ids of all that belongs to the person. */
const statements = [
  `insert into app_hidden.organizations (id, name) values (:organization, 'Organization ' || left(:organization, 1))`,
  `insert into app_public.users (organization_id, id, external_identifier, full_name, email)
   values (:organization, :id, :id, :id, :id || '@test')`,
  `insert into oauth.credentials (organization_id, user_id, password_hash) values (:organization, :id, '$argon2id$none')`,
  `insert into oauth.applications (organization_id, id, name, client_id) values (:organization, :id, :id, :id)`,
  // One by one: an older schema may not know the latest.
  ...scopesOf('application').map(
    (name) =>
      `update oauth.applications set scopes = scopes || '{${name}}' where id = :id and '${name}' <> all (scopes)`,
  ),
  `insert into app_public.units (organization_id, id, name) values (:organization, :id, :id)`,
  `insert into app_public.units (organization_id, id, parent_id, name) values (:organization, :below, :id, :below)`,
  `insert into app_public.cards (organization_id, id, type, name) values (:organization, :id, 'IdentificationCode', :id)`,
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
  // A trigger counts the keys of each hour.
  ...['graph_app', 'graph_user'].map(
    (role) =>
      `insert into app_hidden.idempotency_keys (
         organization_id, application_id, principal_id, role, key_hash, answer_ciphertext, expires_at)
       values (:organization, :id, :id, '${role}', sha256(:id), sha256(:id), '2100-01-01')`,
  ),
  `insert into app_hidden.idempotency_usage (organization_id, expires_at, slot, keys, bytes)
   values (:organization, '2100-01-01', 0, 1, 1)`,
  // Only the first insert succeeds, since seals belong to no organization.
  `insert into audit.seals (number, sealed_at, retention, until, ids, pending, marks, head)
   values (1, now(), '400 days', 1, '{}', '{}', sha256(:id), sha256(:id))`,
  `insert into audit.chains (organization_id, month, seal, entries, head) values (:organization, '2026-01-01', 1, 1, sha256(:id))`,
  `insert into app_public.webhooks (organization_id, id, url, secret_ciphertext) values (:organization, :id, 'https://' || :id, sha256(:id))`,
  `insert into app_hidden.webhook_positions (organization_id, webhook_id, origin, horizon, change_id, at)
   values (:organization, :id, 0, '0', 0, now())`,
  `insert into app_public.webhook_deliveries (organization_id, id, webhook_id, origin, horizon, change_id, changed_at)
   values (:organization, :id, :id, 0, 0, 0, now())`,
  `insert into app_hidden.organization_moves (organization_id, move_id, state, peer, arrived_at)
   values (:organization, :id, 'arrived', :id, '2000-01-01')`,
  // Only the first insert succeeds: a database has one key.
  `insert into app_hidden.secret_key_check (salt, checksum) values (substr(sha256(:id), 1, 16), sha256(:id))`,
  `insert into oauth.throttles (key, points, expire) values (left(:id, 1) || 'test:' || lpad(:id, 43, '0'), 1, 0)`,
];

/** A change that is the same in each database replaces those that the statements above recorded. */
const changesStatements = [
  `delete from feed.changes where at <> '2100-01-01' or id = right(:id, 1)::int and organization_id = :organization`,
  `insert into feed.changes (id, origin, horizon, at, organization_id, relation, key, operation, columns)
   overriding system value
   values (right(:id, 1)::int, 0, '0', '2100-01-01', :organization, 'app_public.users', array[:id], 'CREATE', '{}')`,
];

/**
 * Statements for the tables that `$1` lacks, parents first.
 * A table whose checks reject them needs its own above.
 */
const statementsOfOthers = `
  select format('insert into %s (%s) values (%s)', r.relation,
    string_agg(quote_ident(a.attname), ', '),
    string_agg(case when a.attname = 'organization_id' then ':organization' when t.typname = 'bytea' then 'sha256(:id)'
      else case t.typcategory when 'N' then '1' when 'B' then 'true' when 'D' then 'now()' when 'A' then '''{}''' else ':id' end
    end, ', ')) as statement
  from audit.relations r
  join pg_attribute a on a.attrelid = r.relation and a.attnum > 0 and not a.attisdropped
  join pg_type t on t.oid = a.atttypid
  where r.kind = 'table' and r.name !~ '^audit[.]' and $1 !~ format('insert into %s ', r.name)
    and (a.attname = 'id' or a.attnotnull and not a.atthasdef or exists (
      select from pg_constraint k
      where k.contype = 'f' and k.conrelid = r.relation and k.confrelid <> r.relation and a.attnum = any (k.conkey)))
  group by r.relation having bool_or(a.attname = 'organization_id') order by r.relation::oid`;
