import { escapeLiteral } from 'pg';
import { assignmentKey, keyOf, type World } from './world.ts';

/** Statements after which a database holds exactly this world. The owner runs them. */
export function insertWorld(world: World): string {
  return [
    clear,
    insert(
      'app_hidden.organizations (id, name)',
      world.organizations.map((organization) => [organization, organization]),
    ),
    insert(
      'oauth.applications (organization_id, id, name, client_id)',
      world.applications.map((row) => [row.organization, row.application, row.application, clientId(row)]),
    ),
    insert(
      'oauth.application_secrets (organization_id, application_id, secret_hash)',
      world.applications.map((row) => [
        row.organization,
        row.application,
        hash('secret', row.organization, row.application),
      ]),
    ),
    insert(
      'app_public.users (organization_id, id, external_identifier, full_name, email)',
      world.users.map(({ organization, user }) => [organization, user, externalIdentifier(user), user, email(user)]),
    ),
    insert(
      'oauth.credentials (organization_id, user_id, password_hash)',
      world.users.map(({ organization, user }) => [organization, user, '$argon2id$none']),
    ),
    insert(
      'app_public.units (organization_id, id, parent_id, external_identifier, name)',
      world.units.map(({ organization, unit, parent }) => [organization, unit, parent, externalIdentifier(unit), unit]),
    ),
    insert(
      'app_hidden.unit_access (organization_id, user_id, unit_id)',
      world.access.map(({ organization, user, unit }) => [organization, user, unit]),
    ),
    insert(
      'app_public.cards (organization_id, id, type, external_identifier, name)',
      world.cards.map(({ organization, card }) => [
        ...[organization, card, 'IdentificationCode', externalIdentifier(card), card],
      ]),
    ),
    insert(
      'app_public.card_assignments (organization_id, id, user_id, card_id)',
      world.assignments.map(({ organization, user, card }) => [organization, assignmentKey(user, card), user, card]),
    ),
    insert(
      'oauth.grants (organization_id, id, application_id, user_id, grant_type, scopes, client_authentication, written_lsn)',
      world.grants.map(({ organization, grant, application, user }) => [
        ...[organization, grant, application, user],
        ...(user === null ? ['client_credentials', '{app}', 'secret'] : ['password', '{me}', 'none']),
        writtenLsn,
      ]),
    ),
    insert(
      'oauth.access_tokens (organization_id, grant_id, token_hash, scopes, created_at, expires_at)',
      world.grants.map(({ organization, grant }) => [
        ...[organization, grant, hash('access', organization, grant), '{me}'],
        ...['now', 'tomorrow'],
      ]),
    ),
    insert(
      'oauth.refresh_tokens (organization_id, grant_id, token_hash, scopes, created_at, expires_at, absolute_expires_at)',
      world.grants.map(({ organization, grant }) => [
        ...[organization, grant, hash('refresh', organization, grant), '{me}'],
        ...['now', 'tomorrow', 'tomorrow'],
      ]),
    ),
    insert(
      `oauth.authorization_codes (
         organization_id, code_hash, application_id, user_id, grant_id, scopes, redirect_uri, code_challenge, expires_at)`,
      world.grants
        .filter(({ user }) => user !== null)
        .map(({ organization, grant, application, user }) => [
          ...[organization, hash('code', organization, grant), application, user, grant],
          ...['{me}', 'http://127.0.0.1/', 'x'.repeat(43), 'tomorrow'],
        ]),
    ),
    insert(
      'oauth.sessions (organization_id, sid, sess, expire)',
      world.users.map((row) => [row.organization, sessionId(row), JSON.stringify({ userId: row.user }), 'tomorrow']),
    ),
    insert(
      'oauth.consents (organization_id, sid, consent_hash, request_hash, expires_at)',
      world.users.map((row) => [
        ...[row.organization, sessionId(row), hash('consent', row.organization, row.user)],
        ...[hash('request', row.organization, row.user), 'tomorrow'],
      ]),
    ),
    insert(
      `app_hidden.idempotency_keys (
         organization_id, application_id, principal_id, role, key_hash, answer_ciphertext, expires_at)`,
      keptAnswers(world).map(({ organization, application, user, role }) => [
        ...[organization, application, user ?? application, role],
        ...[keptKey, keptKey, 'tomorrow'],
      ]),
    ),
    insert(
      'app_public.webhooks (organization_id, id, url, secret_ciphertext)',
      world.organizations.map((organization) => [organization, webhookId, 'https://example.com', keptKey]),
    ),
    insert(
      'app_hidden.webhook_positions (organization_id, webhook_id, origin, horizon, change_id, at)',
      world.organizations.map((organization) => [organization, webhookId, '0', '0', '0', 'now']),
    ),
    insert(
      'app_public.webhook_deliveries (organization_id, id, webhook_id, origin, horizon, change_id, changed_at)',
      world.organizations.map((organization) => [organization, webhookId, webhookId, '0', '0', '0', 'now']),
    ),
    insert(
      'oauth.throttles (key, points, expire)',
      throttles.map((throttle) => [throttle, '1', '9999999999999']),
    ),
    forgetChanges,
    `insert into feed.changes (origin, horizon, organization_id, relation, type, key, operation, columns)
     select feed.origin(), '0', id, 'app_public.users', 'kept', '{}', 'CREATE', '{}' from app_hidden.organizations`,
  ].join(';\n');
}

/** 32 bytes in hex, as PostgreSQL writes them; different for each organization, since no client can choose a hash. */
export const hash = (what: string, organization: string, key: string) =>
  `\\x${Buffer.from(`${what} ${organization.slice(-4)} ${numberOf(key)}`.padEnd(32, '.')).toString('hex')}`;
export const sessionId = ({ organization, user }: { organization: string; user: string }) =>
  `session-${organization.slice(-4)}-${numberOf(user)}`.padEnd(43, '_');
export const clientId = ({ organization, application }: { organization: string; application: string }) =>
  `client-${organization.slice(-4)}-${numberOf(application)}`;
/** These are unique within an organization and the same in all. */
export const email = (user: string) => `user${numberOf(user)}@example.test`;
export const externalIdentifier = (key: string) => `external-${numberOf(key)}`;
/** The time zones that are left; they belong to no organization. */
export const timeZones = ['UTC'] as const;
/** The counts of failed tries, which belong to no organization. */
export const throttles = [`address:${'0'.repeat(43)}`, `account:${'0'.repeat(43)}`] as const;
/** Each has used the same idempotency key: an application in both roles of its tokens, a person in theirs, who may be gone. */
export const keptAnswers = (world: World) => [
  ...world.applications.flatMap((row) =>
    (['graph_app', 'graph_basic'] as const).map((role) => ({ ...row, user: null, role })),
  ),
  ...world.people.map((row) => ({
    ...row,
    application: keyOf(world, 'application', row.organization, 0),
    role: 'graph_user' as const,
  })),
];
/** The LSN that each grant has written: before the present one of any PostgreSQL. */
export const writtenLsn = '0/1';

const numberOf = (key: string) => key.slice(-12);

/** The id of the one webhook of each organization, and of its one delivery. */
export const webhookId = '00000000-0000-7000-8000-0000000000fe';

/** The hash of the idempotency key that all have used. */
export const keptKey = hash('kept', '', '');

/** Deletes the changes that come from changing the world. Each organization has one change that stays. */
export const forgetChanges = `delete from feed.changes where type is distinct from 'kept'`;

const clear = [
  `app_hidden.time_zones where name <> all ('{${timeZones}}')`,
  ...['oauth.throttles', 'oauth.grants', 'app_public.users', 'app_public.cards', 'app_public.units'],
  ...['oauth.applications', 'app_hidden.organizations', 'feed.changes'],
]
  .map((table) => `delete from ${table}`)
  .join(';\n');

function insert(columns: string, rows: (string | null)[][]): string {
  const literals = rows.map((row) => row.map((value) => (value === null ? 'null' : escapeLiteral(value))).join(', '));
  return rows.length === 0 ? '' : `insert into ${columns} values (${literals.join('), (')})`;
}
