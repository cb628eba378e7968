import { insufficientPrivilege } from './attempts.ts';
import { type CalledFunction, keysOf, ofRow, visible } from './calledFunction.ts';
import type { Circumstances, Command } from './commands.ts';
import { decisionFunctions } from './decisionFunctions.ts';
import { hash, keptKey } from './insertWorld.ts';
import type { Claims } from './principals.ts';
import { publicFunctions } from './publicFunctions.ts';
import { serviceFunctions } from './serviceFunctions.ts';
import { syncFunctions, syncHelpers } from './syncFunctions.ts';
import { ancestors, keyOf } from './world.ts';

/** Every function that a request can reach, called by everybody. */
export const functions: Record<string, CalledFunction> = {
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
  'app_hidden.lock_user(uuid,text)': ofRow('user', 'select app_hidden.lock_user($1, $2)', (user) => user),
  'app_hidden.require_access_token(bytea)': {
    roles: ['graph_app', 'graph_user', 'graph_basic'],
    text: 'select app_hidden.require_access_token($1)',
    values: ({ world, organization, number }) => [
      hash('access', organization, keyOf(world, 'grant', organization, number)),
    ],
    // A principal that claims only an organization, application and person does not have the claims of a token.
    expected: () => ({ refused: 'TOKEN' }),
  },
  ...publicFunctions,
  ...serviceFunctions,
};

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

/** Whether the person of these circumstances may enter a unit, as far as the caller sees their grants. */
function mayEnter(unit: string, on: Circumstances): boolean {
  const user = keyOf(on.world, 'user', on.organization, on.number);
  const { organization } = on.principal.claims;
  const granted = keysOf('app_hidden.unit_access', on);
  return ancestors(on.world, organization, unit).some((ancestor) => granted.includes(`${user}/${ancestor}`));
}

function claim(name: keyof Claims): CalledFunction {
  return {
    roles: ['graph_app', 'graph_user', 'graph_basic', 'graph_oauth'],
    text: `select app_hidden.current_${name}_id()::text`,
    values: () => [],
    expected: ({ principal: { claims } }) => [claims[name] || 'null'],
  };
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
  'app_hidden.lock_organization(boolean)',
  'app_hidden.lock_units(boolean)',
  'app_hidden.lock_value(name,text,text)',
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
