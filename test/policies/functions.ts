import { insufficientPrivilege, type Outcome } from './attempts.ts';
import type { Circumstances, Command } from './commands.ts';
import { clientId, externalIdentifier, hash, keptKey, writtenLsn } from './insertWorld.ts';
import type { Claims, Role } from './principals.ts';
import { type Row, tables } from './tables.ts';
import { keyOf } from './world.ts';

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
  'app_hidden.first_accessible_unit_ids(integer,uuid)': {
    roles: ['graph_user'],
    text: 'select app_hidden.first_accessible_unit_ids($1, $2)',
    values: ({ world, organization, number }) => [String(number), keyOf(world, 'unit', organization, number)],
    expected: (on) =>
      keysOf('app_public.units', on)
        .filter((key) => key > keyOf(on.world, 'unit', on.organization, on.number))
        .slice(0, on.number),
  },
  'app_hidden.claim_idempotency_key(bytea)': {
    roles: ['graph_app', 'graph_user', 'graph_basic'],
    text: 'select state from app_hidden.claim_idempotency_key($1)',
    values: () => [keptKey],
    // That others have used the same key is nothing to this one.
    expected: (on) => [visible('app_hidden.idempotency_keys', on).length > 0 ? 'answered' : 'claimed'],
  },
  'app_hidden.lock_user(uuid,text)': ofUser('select app_hidden.lock_user($1, $2)', (user) => user),
  'app_public.user_update(uuid,text,jsonb)': ofUser(
    `select full_name from app_public.user_update($1, $2, '{"fullName": "x"}') where id is not null`,
    () => 'x',
  ),
  'app_public.user_delete(uuid,text)': ofUser(
    'select id from app_public.user_delete($1, $2) where id is not null',
    (user) => user,
  ),
  'app_public.user_create(uuid,jsonb)': {
    roles: ['graph_app'],
    text: `select id from app_public.user_create($1, jsonb_build_object('fullName', 'x', 'email', $2::text, 'externalIdentifier', $3::text))`,
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
      if (claims.organization === '') return { refused: insufficientPrivilege };
      if (!world.organizations.includes(claims.organization)) return { refused: '23503' };
      const user = keyOf(world, 'user', claims.organization, number);
      const taken = world.users.some((row) => row.organization === claims.organization && row.user === user);
      return taken ? { refused: '23505' } : [keyOf(world, 'user', organization, number + 50)];
    },
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
    // Whoever claims nothing but whose organization, application and person they are has not the claims of a token.
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
  'oauth.purge(integer)': {
    roles: ['graph_oauth'],
    text: 'select purged::text from oauth.purge($1) as purged',
    values: () => ['100'],
    expected: () => ['(0,0,0,0,0,0,0)'],
  },
  'oauth.purge_changes(integer)': {
    roles: ['graph_oauth'],
    text: 'select purged::text from oauth.purge_changes($1) as purged',
    values: () => ['100'],
    expected: () => ['(0,0,0)'],
  },
};

/** The others, which read no table. */
export const helpers = [
  'app_hidden.count_row()',
  'app_hidden.is_text(text)',
  'app_hidden.lock_units(boolean)',
  'app_hidden.require_replayed(pg_lsn)',
  'app_hidden.trimmed(text)',
  'app_hidden.uuid_v7()',
];

function claim(name: keyof Claims): Function {
  return {
    roles: ['graph_app', 'graph_user', 'graph_basic', 'graph_oauth'],
    text: `select app_hidden.current_${name}_id()::text`,
    values: () => [],
    expected: ({ principal: { claims } }) => [claims[name] || 'null'],
  };
}

/** A function that finds a user by id, external identifier, or both. */
function ofUser(text: string, result: (user: string) => string): Function {
  return {
    roles: ['graph_app'],
    text,
    values: ({ world, organization, number }) => {
      const user = keyOf(world, 'user', organization, number);
      return [user, externalIdentifier(user)];
    },
    expected: (on) => {
      const user = keyOf(on.world, 'user', on.organization, on.number);
      return keysOf('app_public.users', on).includes(user) ? [result(user)] : [];
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
