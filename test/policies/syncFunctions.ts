import type { Outcome } from './attempts.ts';
import type { CalledFunction } from './calledFunction.ts';
import type { Circumstances } from './commands.ts';
import { externalIdentifier } from './insertWorld.ts';
import { keyOf } from './world.ts';

const user = `array[jsonb_build_object('external_identifier', $1::text, 'full_name', 'x')]`;
const unit = `array[jsonb_build_object('external_identifier', $1::text, 'parent_external_identifier', null)]`;
const card = `array[jsonb_build_object('external_identifier', $1::text, 'user_external_identifier', null)]`;
const outcome = `outcome || coalesce(' ' || (error).code, '')`;

/** The functions behind the mutations that sync. Their row has the same external identifier in every organization. */
export const syncFunctions: Record<string, CalledFunction> = {
  'app_public.users_sync(jsonb[],boolean,text)': ofRow(
    'user',
    `select ${outcome} from app_public.users_sync(${user})`,
    outcomeOfUser,
  ),
  'app_hidden.judge_users(jsonb[],text)': ofRow(
    'user',
    `select ${outcome} from unnest(app_hidden.judge_users(${user}, null))`,
    outcomeOfUser,
  ),
  'app_hidden.refuse_users(app_hidden.judged_user[])': ofRow(
    'user',
    `select ${outcome} from unnest(app_hidden.refuse_users(app_hidden.judge_users(${user}, null)))`,
    outcomeOfUser,
  ),
  'app_hidden.write_users(app_hidden.judged_user[],text)': ofRow(
    'user',
    `select coalesce(cardinality(app_hidden.write_users(app_hidden.judge_users(${user}, null), null)), 0)::text`,
    (on, key) => (outcomeOfUser(on, key) === 'UPDATED' ? '1' : '0'),
  ),
  'app_public.units_sync(jsonb[],boolean)': ofRow(
    'unit',
    `select ${outcome} from app_public.units_sync(${unit})`,
    outcomeOfUnit,
  ),
  'app_hidden.judge_units(jsonb[])': ofRow(
    'unit',
    `select ${outcome} from unnest(app_hidden.judge_units(${unit}))`,
    outcomeOfUnit,
  ),
  'app_hidden.write_units(app_hidden.judged_unit[])': ofRow(
    'unit',
    `select app_hidden.write_units(app_hidden.judge_units(${unit}))::text`,
    () => '',
  ),
  'app_public.cards_sync(jsonb[],boolean)': ofRow(
    'card',
    `select ${outcome} from app_public.cards_sync(${card})`,
    outcomeOfCard,
  ),
  'app_hidden.judge_cards(jsonb[])': ofRow(
    'card',
    `select ${outcome} from unnest(app_hidden.judge_cards(${card}))`,
    outcomeOfCard,
  ),
  'app_hidden.refuse_cards(app_hidden.judged_card[])': ofRow(
    'card',
    `select ${outcome} from unnest(app_hidden.refuse_cards(app_hidden.judge_cards(${card})))`,
    outcomeOfCard,
  ),
  // The holders alone change.
  'app_hidden.write_cards(app_hidden.judged_card[])': ofRow(
    'card',
    `select coalesce(cardinality(app_hidden.write_cards(app_hidden.judge_cards(${card}))), 0)::text`,
    () => '0',
  ),
  // The list is read by applications of an organization.
  'app_hidden.is_time_zone(text)': ofTimeZones(`select app_hidden.is_time_zone('utc')::text`, ['true'], ['false']),
  'app_hidden.nearest_time_zones(text[])': ofTimeZones(
    `select nearest from app_hidden.nearest_time_zones('{UTCC}')`,
    ['UTC'],
    [],
  ),
  'app_hidden.time_zone_problems(text[])': ofTimeZones(
    `select name from app_hidden.time_zone_problems('{utc}')`,
    [],
    ['utc'],
  ),
};

/** The others, which read no table of the service. */
export const syncHelpers = [
  'app_hidden.broken_checks(anyarray)',
  'app_hidden.card_refusal(oid)',
  'app_hidden.depths_below(integer[])',
  'app_hidden.identity_of(app_public.cards)',
  'app_hidden.refusal_of(oid)',
  'app_hidden.time_zone_key(text)',
  'app_hidden.unique_values(app_hidden.judged_user[])',
  'app_hidden.white_space()',
];

function ofRow(
  kind: 'user' | 'unit' | 'card',
  text: string,
  expected: (on: Circumstances, key: string) => string,
): CalledFunction {
  return {
    roles: ['graph_app'],
    text,
    values: ({ world, organization, number }) => [externalIdentifier(keyOf(world, kind, organization, number))],
    expected: (on) => [expected(on, keyOf(on.world, kind, on.principal.claims.organization, on.number))],
  };
}

function outcomeOfUser({ world, principal }: Circumstances, key: string): string {
  const { organization } = principal.claims;
  const isThere = world.users.some((row) => row.organization === organization && row.user === key);
  return isThere ? 'UPDATED' : 'REFUSED BAD_USER_INPUT';
}

function outcomeOfUnit({ world, principal }: Circumstances, key: string): string {
  const { organization } = principal.claims;
  const found = world.units.find((row) => row.organization === organization && row.unit === key);
  if (!found) return 'REFUSED BAD_USER_INPUT';
  return found.parent === null ? 'UNCHANGED' : 'UPDATED';
}

function outcomeOfCard({ world, principal }: Circumstances, key: string): string {
  const { organization } = principal.claims;
  const isOwn = (row: { organization: string; card: string }) => row.organization === organization && row.card === key;
  if (!world.cards.some(isOwn)) return 'REFUSED BAD_USER_INPUT';
  return world.assignments.some(isOwn) ? 'UPDATED' : 'UNCHANGED';
}

function ofTimeZones(text: string, known: Outcome, unknown: Outcome): CalledFunction {
  return {
    roles: ['graph_app'],
    text,
    values: () => [],
    expected: ({ principal: { claims } }) => (claims.organization === '' ? unknown : known),
  };
}
