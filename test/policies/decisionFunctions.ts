import type { CalledFunction } from './calledFunction.ts';
import type { Circumstances } from './commands.ts';
import { ancestors, keyOf } from './world.ts';

const question = (field: 'user_id' | 'card_id') =>
  `jsonb_populate_record(null::app_hidden.access_question, jsonb_build_object('unit_id', $1::text, '${field}', $2::text))`;

/** The functions behind `App.accessDecision`, which are asked about anybody's unit, user and card. */
export function decisionFunctions(
  keysOf: (table: string, on: Circumstances) => string[],
): Record<string, CalledFunction> {
  const reasonOf = (on: Circumstances, kind: 'user' | 'card'): string => {
    const { organization } = on.principal.claims;
    const [unit, shown] = [
      keyOf(on.world, 'unit', on.organization, on.number),
      keyOf(on.world, kind, on.organization, on.number),
    ];
    if (!keysOf('app_public.units', on).includes(unit)) return 'UNIT_UNKNOWN';
    if (!keysOf(`app_public.${kind}s`, on).includes(shown)) return `${kind.toUpperCase()}_UNKNOWN`;
    const holders = on.world.assignments.filter((row) => row.organization === organization && row.card === shown);
    const users = kind === 'user' ? [shown] : holders.map(({ user }) => user);
    if (users.length === 0) return 'CARD_UNASSIGNED';
    const granted = keysOf('app_hidden.unit_access', on);
    const path = ancestors(on.world, organization, unit);
    return users.some((user) => path.some((above) => granted.includes(`${user}/${above}`))) ? 'GRANTED' : 'NO_GRANT';
  };
  const both: CalledFunction = {
    roles: ['graph_app'],
    text: `select reason::text from app_hidden.decide_access(array[${question('user_id')}, ${question('card_id').replace('$2', '$3')}])`,
    values: ({ world, organization, number }) => [
      keyOf(world, 'unit', organization, number),
      keyOf(world, 'user', organization, number),
      keyOf(world, 'card', organization, number),
    ],
    expected: (on) => [reasonOf(on, 'user'), reasonOf(on, 'card')].sort(),
  };
  return {
    'app_hidden.decide_access(app_hidden.access_question[])': both,
    'app_public.app_access_decision(app_public.app,app_public.credential_input,uuid,text,timestamp with time zone)': {
      roles: ['graph_app'],
      text: `select (app_public.app_access_decision(a,
          jsonb_populate_record(null::app_public.credential_input, jsonb_build_object('user_id', $2::text)), $1)).reason::text
        from app_public.app a`,
      values: (on) => both.values(on).slice(0, 2),
      expected: (on) => keysOf('app_public.app', on).map(() => reasonOf(on, 'user')),
    },
  };
}
