import type { Random } from '../random.ts';
import { drawSelection } from './selections.ts';
import type { Step, StepField } from './steps.ts';
import { drawTime } from './texts.ts';

/** Two systems, and a person who grants by hand: without a source, or with null for it. */
const sources = [{ source: 'hr' }, { source: 'visitors' }, {}, { source: null }] as const;
// Few, so that all three give access to the same people and units.
const users = ['u-0', 'u-1', 'u-2', 'u-3'];
const units = ['n-0', 'n-1', 'n-2', 'n-3', 'n-5'];

const drawers: readonly (readonly [
  field: string,
  weight: number,
  args: (random: Random) => Record<string, unknown>,
])[] = [
  [
    'usersSync',
    6,
    (random) => ({
      ...random.pick(sources),
      users: random.some(users, 1 + random.below(3)).map((externalIdentifier) => ({
        externalIdentifier,
        ...(random.chance(0.2) ? { fullName: `Person ${random.below(3)}` } : {}),
        ...(random.chance(0.85)
          ? { accessibleUnits: random.chance(0.1) ? null : random.some(units, random.below(4)) }
          : {}),
      })),
      ...(random.chance(0.15) ? { dryRun: true } : {}),
    }),
  ],
  [
    'accessGrant',
    4,
    (random) => ({
      ...pair(random),
      ...(random.chance(0.4) ? { validFrom: drawTime(random) } : {}),
      ...(random.chance(0.4) ? { validUntil: drawTime(random) } : {}),
    }),
  ],
  [
    'accessRevoke',
    3,
    (random) => (random.chance(0.3) ? { id: { $id: 'AccessGrant', pick: random.below(24) } } : pair(random)),
  ],
  ['usersDelete', 1, (random) => ({ externalIdentifiers: random.some(users.slice(2), 1) })],
  ['unitDelete', 1, (random) => ({ externalIdentifier: random.pick(units), withDescendants: random.chance(0.5) })],
];

const pair = (random: Random) => ({
  userExternalIdentifier: random.pick(users),
  unitExternalIdentifier: random.pick(units),
  ...random.pick(sources),
});

/** What a sequence of them meets sooner or later. */
export const outcomesOfSources = ['usersSync', 'accessGrant', 'accessRevoke'].map((field) => `${field} is done`);

/** Draws the requests of two systems and a person, all by the application's token, who give access to the same people. */
export function drawSourceSequence(random: Random): Step[] {
  return Array.from({ length: 12 }, (): Step => {
    const count = random.pick([1, 1, 1, 2]);
    const fields = Array.from({ length: count }, (_, index): StepField => {
      const [field, , args] = random.pick(drawers.flatMap((drawer) => Array<typeof drawer>(drawer[1]).fill(drawer)));
      const alias = count > 1 ? { alias: `f${index}` } : {};
      return { ...alias, field, args: args(random), selection: drawSelection(random, field) };
    });
    return { organization: random.chance(0.1) ? 1 : 0, caller: 'app', service: random.chance(0.5) ? 0 : 1, fields };
  });
}
