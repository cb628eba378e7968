import { insufficientPrivilege, type Outcome } from './attempts.ts';
import type { Circumstances, Command } from './commands.ts';
import { decisionFunctions } from './decisionFunctions.ts';
import { clientId, externalIdentifier, hash, keptKey, webhookId, writtenLsn } from './insertWorld.ts';
import type { Claims, Role } from './principals.ts';
import { syncFunctions, syncHelpers } from './syncFunctions.ts';
import { type Row, tables } from './tables.ts';
import { ancestors, keyOf } from './world.ts';

export type Function = {
  /** Everybody else is refused. */
  roles: readonly Role[];
  /** What it is tried with: arguments may name anybody, also where the service would not. */
  text: string;
  values(on: Circumstances): string[];
  expected(on: Circumstances): Outcome;
};

/** Every function that a request can reach, called by everybody. */
export const functions: Record<string, Function> = {
  ...syncFunctions,
  ...decisionFunctions((table, on) => keysOf(table, on)),
  'app_hidden.current_application_id()': claim('application'),
  'app_hidden.current_organization_id()': claim('organization'),
  'app_hidden.current_user_id()': claim('user'),
  'app_hidden.granted_unit_ids()': {
    roles: ['graph_user'],
    text: 'select unnest(app_hidden.granted_unit_ids())',
    values: () => [],
    expected: ({ world, principal: { claims } }) =>
      world.access
        .filter((row) => row.organization === claims.organization && row.user === claims.user)
        .map(({ unit }) => unit)
        .sort(),
  },
  'app_hidden.first_accessible_unit_ids(uuid,integer,uuid)': {
    roles: ['graph_app', 'graph_user'],
    text: 'select app_hidden.first_accessible_unit_ids($1, $2, $3)',
    values: ({ world, organization, number }) => [
      keyOf(world, 'user', organization, number),
      String(number),
      keyOf(world, 'unit', organization, number),
    ],
    expected: (on) =>
      keysOf('app_public.units', on)
        .filter((key) => key > keyOf(on.world, 'unit', on.organization, on.number))
        .filter((key) => mayEnter(key, on))
        .slice(0, on.number),
  },
  'app_hidden.claim_idempotency_key(bytea)': {
    roles: ['graph_app', 'graph_user', 'graph_basic'],
    text: 'select state from app_hidden.claim_idempotency_key($1)',
    values: () => [keptKey],
    // That others have used the same key is nothing to this one.
    expected: (on) => [visible('app_hidden.idempotency_keys', on).length > 0 ? 'answered' : 'claimed'],
  },
  'app_hidden.find_unit(uuid,text)': ofRow('unit', 'select app_hidden.find_unit($1, $2)', (unit) => unit),
  'app_hidden.find_card(uuid,text)': ofRow('card', 'select app_hidden.find_card($1, $2)', (card) => card),
  'app_hidden.find_user(uuid,text)': ofRow('user', 'select app_hidden.find_user($1, $2)', (user) => user),
  'app_public.unit_create(text,text,uuid,text)': creating('unit', 'unit_create', `'x', $1`),
  'app_public.beacon_card_create(text,uuid,integer,integer,text)': creating(
    'card',
    'beacon_card_create',
    `'x', gen_random_uuid(), 0, 0, $1`,
  ),
  'app_public.nfc_card_create(text,text,text)': creating('card', 'nfc_card_create', `'x', '04A224B2', $1`),
  'app_public.identification_code_create(text,text)': creating('card', 'identification_code_create', `'x', $1`),
  'app_public.unit_update(uuid,text,text,uuid,text,text[])': ofRow(
    'unit',
    `select name from app_public.unit_update($1, $2, 'x', given => '{name}')`,
    () => 'x',
  ),
  'app_public.card_update(uuid,text,text,text[])': ofRow(
    'card',
    `select name from app_public.card_update($1, $2, 'x', '{name}')`,
    () => 'x',
  ),
  'app_public.unit_delete(uuid,text,boolean)': ofRow(
    'unit',
    `select id from app_public.unit_delete($1, nullif($2, $2), true)`,
    (unit) => unit,
  ),
  'app_public.card_delete(uuid,text)': ofRow(
    'card',
    `select id from app_public.card_delete($1, nullif($2, $2))`,
    (card) => card,
  ),
  'app_public.card_assign(uuid,text,uuid,text)': ofPair(
    'card',
    'select user_id from app_public.card_assign(card_id => $1, user_id => $2)',
    () => true,
  ),
  'app_public.card_unassign(uuid,uuid,text,uuid,text)': ofPair(
    'card',
    'select user_id from app_public.card_unassign(card_id => $1, user_id => $2)',
    (user, card, { world: { assignments } }, organization) =>
      assignments.some((row) => row.organization === organization && row.user === user && row.card === card),
  ),
  'app_public.access_grant(uuid,text,uuid,text,timestamp with time zone,timestamp with time zone,text,text[])': ofPair(
    'unit',
    'select user_id from app_public.access_grant(unit_id => $1, user_id => $2)',
    () => true,
  ),
  'app_public.access_revoke(uuid,uuid,text,uuid,text,text)': ofPair(
    'unit',
    'select user_id from app_public.access_revoke(user_id => $2, unit_id => $1)',
    (user, unit, { world: { access } }, organization) =>
      access.some((row) => row.organization === organization && row.user === user && row.unit === unit),
  ),
  'app_hidden.lock_user(uuid,text)': ofRow('user', 'select app_hidden.lock_user($1, $2)', (user) => user),
  'app_public.user_update(uuid,text,text,text,text,text,text,jsonb,text[])': ofRow(
    'user',
    `select full_name from app_public.user_update($1, $2, 'x', given => '{fullName}')`,
    () => 'x',
  ),
  'app_public.user_delete(uuid,text)': ofRow(
    'user',
    'select id from app_public.user_delete($1, nullif($2, $2))',
    (user) => user,
  ),
  'app_public.users_delete(uuid[],text[])': {
    roles: ['graph_app'],
    text: 'select outcome::text from app_public.users_delete(array[$1::uuid, $1::uuid])',
    values: ({ world, organization, number }) => [keyOf(world, 'user', organization, number)],
    expected: (on) => {
      const user = keyOf(on.world, 'user', on.organization, on.number);
      return [keysOf('app_public.users', on).includes(user) ? 'DELETED' : 'NOT_FOUND', 'NOT_FOUND'];
    },
  },
  'app_public.user_create(text,text,text,text,text,text,jsonb)': {
    roles: ['graph_app'],
    text: `select id from app_public.user_create(
      'x', $2, external_identifier => $3, external_authentication_token => jsonb_build_object('userId', $1::text))`,
    // Its e-mail address and its external identifier may be taken, here or elsewhere.
    values: ({ world, organization, number }) => {
      const user = keyOf(world, 'user', organization, number);
      return [
        keyOf(world, 'user', organization, number + 50),
        `user${user.slice(-12)}@EXAMPLE.test`,
        externalIdentifier(user),
      ];
    },
    expected: ({ world, organization, number, principal: { claims } }) => {
      // Before the policy: without claims no time zone is seen.
      if (claims.organization === '') return { refused: '23514' };
      if (!world.organizations.includes(claims.organization)) return { refused: '23503' };
      const user = keyOf(world, 'user', claims.organization, number);
      const taken = world.users.some((row) => row.organization === claims.organization && row.user === user);
      return taken ? { refused: '23505' } : [keyOf(world, 'user', organization, number + 50)];
    },
  },
  'app_public.webhook_create(text,text[],jsonb)': {
    roles: ['graph_app'],
    text: `select id from app_public.webhook_create('https://example.com', null,
      jsonb_build_object('webhookId', $1::text, 'ciphertext', repeat('00', 28)))`,
    values: ({ world, organization, number }) => [keyOf(world, 'user', organization, number + 50)],
    expected: ({ world, organization, number, principal: { claims } }) => {
      if (claims.organization === '') return { refused: insufficientPrivilege };
      if (!world.organizations.includes(claims.organization)) return { refused: '23503' };
      return [keyOf(world, 'user', organization, number + 50)];
    },
  },
  'app_public.webhook_update(uuid,text,text[],boolean,text[])': ofWebhook('url', 'webhook_update($1)'),
  'app_public.webhook_rotate_secret(uuid,jsonb)': ofWebhook(
    'id',
    `webhook_rotate_secret($1, jsonb_build_object('ciphertext', repeat('00', 28)))`,
  ),
  'app_public.webhook_delete(uuid)': ofWebhook('id', 'webhook_delete($1)'),
  'app_public.webhook_redeliver(uuid)': ofWebhook('id', 'webhook_redeliver($1)'),
  'app_public.webhook_deliveries_feed_row(app_public.webhook_deliveries)': {
    roles: ['graph_app', 'graph_user', 'graph_basic'],
    text: 'select count(app_public.webhook_deliveries_feed_row(d))::text from app_public.webhook_deliveries d',
    values: () => [],
    // The changes of these are gone.
    expected: () => ['0'],
  },
  'feed.followed()': {
    roles: ['graph_app'],
    text: 'select count(*)::text from feed.followed()',
    values: () => [],
    expected: () => ['5'],
  },
  'oauth.purge_deliveries(integer)': {
    roles: ['graph_oauth'],
    text: 'select deliveries::text from oauth.purge_deliveries($1)',
    values: () => ['100'],
    expected: () => ['0'],
  },
  'oauth.find_application(text)': {
    roles: ['graph_oauth'],
    text: 'select id from oauth.find_application($1)',
    values: ({ world, organization, number }) => [
      clientId({ organization, application: keyOf(world, 'application', organization, number) }),
    ],
    expected: ({ world, organization, number }) =>
      world.applications
        .filter(
          (row) =>
            row.organization === organization && row.application === keyOf(world, 'application', organization, number),
        )
        .map(({ application }) => application),
  },
  'oauth.verify_access_token(bytea)': {
    roles: ['graph_oauth'],
    text: `select format('%s %s %s', organization_id, grant_id, user_id) from oauth.verify_access_token($1)`,
    values: ({ world, organization, number }) => [
      hash('access', organization, keyOf(world, 'grant', organization, number)),
    ],
    expected: ({ world, organization, number }) =>
      world.grants
        .filter((row) => row.organization === organization && row.grant === keyOf(world, 'grant', organization, number))
        .map(({ grant, user }) => `${organization} ${grant} ${user ?? ''}`),
  },
  'app_hidden.require_access_token(bytea)': {
    roles: ['graph_app', 'graph_user', 'graph_basic'],
    text: 'select app_hidden.require_access_token($1)',
    values: ({ world, organization, number }) => [
      hash('access', organization, keyOf(world, 'grant', organization, number)),
    ],
    // A principal that claims only an organization, application and person does not have the claims of a token.
    expected: () => ({ refused: 'TOKEN' }),
  },
  'oauth.written_lsn(uuid,uuid)': {
    roles: ['graph_oauth'],
    text: 'select oauth.written_lsn($1, $2)',
    values: ({ world, organization, number }) => [organization, keyOf(world, 'grant', organization, number)],
    expected: ({ world, organization, number }) => {
      const grant = keyOf(world, 'grant', organization, number);
      return world.grants.some((row) => row.organization === organization && row.grant === grant)
        ? [writtenLsn]
        : ['null'];
    },
  },
  'oauth.note_uses(text[],text[])': {
    roles: ['graph_oauth'],
    text: `select noted::text from oauth.note_uses('{graph_app}', '{table app_public.users}') as noted`,
    values: () => [],
    expected: () => ['null'],
  },
  'oauth.partition_state()': {
    roles: ['graph_oauth'],
    text: 'select concat(relation, in_default) from oauth.partition_state() order by 1',
    values: () => [],
    expected: () => ['audit.changes0', 'feed.changes0'],
  },
  'oauth.purge_tokens(integer)': {
    roles: ['graph_oauth'],
    text: 'select purged::text from oauth.purge_tokens($1) as purged',
    values: () => ['100'],
    expected: () => ['(0,0,0)'],
  },
  'oauth.purge_authorization_codes(integer)': {
    roles: ['graph_oauth'],
    text: 'select authorization_codes::text from oauth.purge_authorization_codes($1)',
    values: () => ['100'],
    expected: () => ['0'],
  },
  'oauth.purge_sessions(integer)': {
    roles: ['graph_oauth'],
    text: 'select sessions::text from oauth.purge_sessions($1)',
    values: () => ['100'],
    expected: () => ['0'],
  },
  'oauth.purge_throttles(integer)': {
    roles: ['graph_oauth'],
    text: 'select throttles::text from oauth.purge_throttles($1)',
    values: () => ['100'],
    expected: () => ['0'],
  },
  'oauth.purge_idempotency_keys(integer)': {
    roles: ['graph_oauth'],
    text: 'select idempotency_keys::text from oauth.purge_idempotency_keys($1)',
    values: () => ['100'],
    expected: () => ['0'],
  },
  'oauth.purge_changes(integer)': {
    roles: ['graph_oauth'],
    text: 'select purged::text from oauth.purge_changes($1) as purged',
    values: () => ['100'],
    expected: () => ['(0,0,0)'],
  },
  'feed.rotate_partitions()': {
    roles: ['graph_oauth'],
    text: 'select rotated::text from feed.rotate_partitions() as rotated',
    values: () => [],
    expected: () => ['(0,0)'],
  },
  'feed.changed_since(uuid[],xid8[],bigint[])': {
    roles: ['graph_oauth'],
    text: `select unnest(feed.changed_since(array[$1]::uuid[], '{0}', '{0}'))`,
    values: ({ organization }) => [organization],
    expected: ({ world, organization }) => world.organizations.filter((known) => known === organization),
  },
  'feed.last_change()': {
    roles: ['graph_app'],
    text: 'select horizon::text from feed.last_change()',
    values: () => [],
    expected: (on) => visible('feed.changes', on).map(() => '0'),
  },
  'feed.changes_after(xid8,bigint,integer)': {
    roles: ['graph_app'],
    text: `select type from feed.changes_after('0', 0, 100)`,
    values: () => [],
    expected: (on) => visible('feed.changes', on).map(() => 'kept'),
  },
};

/** Whether the person of these circumstances may enter a unit, as far as the caller sees their grants. */
function mayEnter(unit: string, on: Circumstances): boolean {
  const user = keyOf(on.world, 'user', on.organization, on.number);
  const { organization } = on.principal.claims;
  const granted = keysOf('app_hidden.unit_access', on);
  return ancestors(on.world, organization, unit).some((ancestor) => granted.includes(`${user}/${ancestor}`));
}

/** The others, which read no table. */
export const helpers = [
  ...syncHelpers,
  'app_hidden.arrived_at()',
  'app_hidden.count_row()',
  'app_hidden.current_moment()',
  'app_hidden.is_served(uuid)',
  'app_hidden.is_text(text)',
  'app_hidden.free_token_hash(uuid,jsonb)',
  'app_hidden.lock_units(boolean)',
  'app_hidden.lowercase(text)',
  'app_hidden.note_secret_key(bytea,bytea)',
  'app_hidden.one_time_zone(text,text)',
  'app_hidden.require_one(text,boolean,boolean)',
  'app_hidden.require_replayed(pg_lsn)',
  'app_hidden.require_service(uuid)',
  'app_hidden.require_values(text[],text[],text[])',
  'app_hidden.row_values(record)',
  'app_hidden.trimmed(text)',
  'app_hidden.uuid_v7()',
  'feed."position"()',
  'feed.oldest()',
  'feed.origin()',
  'feed.retention()',
];

function claim(name: keyof Claims): Function {
  return {
    roles: ['graph_app', 'graph_user', 'graph_basic', 'graph_oauth'],
    text: `select app_hidden.current_${name}_id()::text`,
    values: () => [],
    expected: ({ principal: { claims } }) => [claims[name] || 'null'],
  };
}

/** A function that finds a row by id, external identifier, or both. */
function ofRow(kind: 'user' | 'unit' | 'card', text: string, result: (key: string) => string): Function {
  return {
    roles: ['graph_app'],
    text,
    values: ({ world, organization, number }) => {
      const key = keyOf(world, kind, organization, number);
      return [key, externalIdentifier(key)];
    },
    expected: (on) => {
      const key = keyOf(on.world, kind, on.organization, on.number);
      return keysOf(`app_public.${kind}s`, on).includes(key) ? [result(key)] : [];
    },
  };
}

/** A function that finds the webhook of the organization, or its delivery. */
function ofWebhook(column: 'id' | 'url', call: string): Function {
  return {
    roles: ['graph_app'],
    text: `select ${column} from app_public.${call}`,
    values: () => [webhookId],
    expected: (on) =>
      keysOf('app_public.webhooks', on).includes(webhookId)
        ? [column === 'id' ? webhookId : 'https://example.com']
        : [],
  };
}

/** A function that adds a row, whose external identifier may be taken, here or elsewhere. */
function creating(kind: 'unit' | 'card', name: string, given: string): Function {
  return {
    roles: ['graph_app'],
    text: `select external_identifier from app_public.${name}(${given})`,
    values: ({ world, organization, number }) => [externalIdentifier(keyOf(world, kind, organization, number))],
    expected: (on) => {
      const { world, number, principal } = on;
      const { organization } = principal.claims;
      if (organization === '') return { refused: insufficientPrivilege };
      if (!world.organizations.includes(organization)) return { refused: '23503' };
      const key = keyOf(world, kind, organization, number);
      return keysOf(`app_public.${kind}s`, on).includes(key) ? { refused: '23505' } : [externalIdentifier(key)];
    },
  };
}

/** A function of a user and of a unit or card of theirs, which answers with the user. */
function ofPair(
  kind: 'unit' | 'card',
  text: string,
  answers: (user: string, key: string, on: Circumstances, organization: string) => boolean,
): Function {
  const keysOfPair = ({ world, organization, number }: Circumstances) =>
    [keyOf(world, kind, organization, number), keyOf(world, 'user', organization, number)] as const;
  return {
    roles: ['graph_app'],
    text,
    values: (on) => [...keysOfPair(on)],
    expected: (on) => {
      const [key, user] = keysOfPair(on);
      const isThere = keysOf(`app_public.${kind}s`, on).includes(key) && keysOf('app_public.users', on).includes(user);
      return isThere && answers(user, key, on, on.principal.claims.organization) ? [user] : [];
    },
  };
}

function visible(name: string, { world, principal }: Circumstances): Row[] {
  const table = tables[name];
  const sees = table?.sees[principal.role];
  return sees && table ? table.rows(world).filter((row) => sees(row, principal.claims, world)) : [];
}

const keysOf = (name: string, on: Circumstances) =>
  visible(name, on)
    .map(({ key }) => key)
    .sort();

export function call(name: string, on: Circumstances): Command {
  const called = functions[name];
  if (!called) throw new Error(`There is no ${name} here`);
  const { role } = on.principal;
  return {
    // A statement of each role's own: PostgreSQL asks who may execute a function that it merges into a plan only when it
    // plans. (Whose rows it may read is asked each time.)
    text: `${called.text} -- as ${role}`,
    values: called.values(on),
    expected: called.roles.includes(role) ? called.expected(on) : { refused: insufficientPrivilege },
  };
}
