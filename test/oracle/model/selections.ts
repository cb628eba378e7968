import type { Random } from '../random.ts';

/**
 * Draws what is selected of a mutation's payload.
 * Each object shows its id and times, since the model takes these of a new row from the answer.
 */
export function drawSelection(random: Random, field: string): string {
  if (field === 'usersDelete') return 'results { id externalIdentifier outcome }';
  const [payload, type] = payloadOf(field);
  if (payload === 'results') {
    if (type === 'Card') {
      const row = `card { ${card(random, 'Card', 1)} ${allHolders} }`;
      return `results { externalIdentifier outcome error { code argument message } ${row} }`;
    }
    const row = type === 'User' ? `user { ${user(random, 2)} ${allGrants} }` : `unit { ${unit(random, 2)} }`;
    return `results { externalIdentifier outcome error { code argument message } ${row} }`;
  }
  const secret = ['webhookCreate', 'webhookRotateSecret'].includes(field) ? ' secret' : '';
  return `${payload} { ${drawObject(random, type, 3)} }${secret}`;
}

/** Of a sync the grants may be new, too. */
const allGrants = 'accessGrants(first: 1000) { nodes { id createdAt unit { id } } }';

/** Of a sync the assignments may be new, too. */
const allHolders = 'cardAssignments { id createdAt user { id } }';

function payloadOf(field: string): readonly [payload: string, type: string] {
  if (field === 'usersSync') return ['results', 'User'];
  if (field === 'cardsSync') return ['results', 'Card'];
  if (field === 'unitsSync') return ['results', 'Unit'];
  if (field.startsWith('webhook')) return ['webhook', 'Webhook'];
  if (field === 'cardAssign' || field === 'cardUnassign') return ['cardAssignment', 'CardAssignment'];
  if (field.startsWith('access')) return ['accessGrant', 'AccessGrant'];
  if (field.startsWith('user')) return ['user', 'User'];
  if (field.startsWith('unit')) return ['unit', 'Unit'];
  const create = /^(beaconCard|nfcCard|identificationCode)Create$/.exec(field)?.[1];
  return ['card', create ? `${create[0]?.toUpperCase()}${create.slice(1)}` : 'Card'];
}

function drawObject(random: Random, type: string, depth: number): string {
  if (type === 'User') return user(random, depth);
  if (type === 'Unit') return unit(random, depth);
  if (type === 'CardAssignment') return assignment(random, depth);
  if (type === 'AccessGrant') return grant(random, depth);
  if (type === 'Webhook') return 'id createdAt url typeNames enabled';
  return card(random, type, depth);
}

type Part = () => string;

/** Some of the scalars and, above the ground, some of the objects below. */
function draw(
  random: Random,
  always: string,
  scalars: readonly string[],
  objects: readonly Part[],
  depth: number,
): string {
  const chosen = scalars.filter(() => random.chance(0.6));
  const below = depth > 0 ? objects.filter(() => random.chance(0.4)).map((object) => object()) : [];
  const fields = [...chosen, ...below];
  return [always, ...random.some(fields, fields.length)].join(' ');
}

function user(random: Random, depth: number): string {
  const next = depth - 1;
  return draw(
    random,
    'id createdAt updatedAt',
    ['__typename', 'fullName', 'email', 'locale', 'timeZone', 'externalIdentifier', 'externalAuthenticationToken'],
    [
      () => `cardAssignments { ${assignment(random, next)} }`,
      () => aliased(random, `accessibleUnits`, connection(random, unit(random, next))),
      () => aliased(random, `accessGrants(first: 1000)`, connection(random, grant(random, next))),
    ],
    depth,
  );
}

function unit(random: Random, depth: number): string {
  const next = depth - 1;
  return draw(
    random,
    'id createdAt updatedAt',
    ['__typename', 'name', 'externalIdentifier'],
    [
      () => aliased(random, 'parent', unit(random, next)),
      () => aliased(random, 'children', connection(random, unit(random, next))),
      () => aliased(random, 'accessGrants(first: 1000)', connection(random, grant(random, next))),
      () => aliased(random, 'usersWithAccess', connection(random, user(random, next))),
    ],
    depth,
  );
}

function card(random: Random, type: string, depth: number): string {
  const own: Readonly<Record<string, string>> = {
    BeaconCard: 'proximityUuid major minor',
    NfcCard: 'nfcIdentifier',
    IdentificationCode: '__typename',
  };
  const fragments = Object.entries(own).map(([name, fields]) => `... on ${name} { ${fields} }`);
  const scalars = type === 'Card' ? fragments : (own[type] ?? '').split(' ');
  return draw(
    random,
    'id createdAt updatedAt',
    ['__typename', 'name', 'externalIdentifier', ...scalars],
    [() => `cardAssignments { ${assignment(random, depth - 1)} }`],
    depth,
  );
}

const assignment = (random: Random, depth: number): string =>
  draw(
    random,
    'id createdAt',
    ['__typename'],
    [() => `user { ${user(random, depth - 1)} }`, () => `card { ${card(random, 'Card', depth - 1)} }`],
    depth,
  );

const grant = (random: Random, depth: number): string =>
  draw(
    random,
    'id createdAt',
    ['__typename', 'source', 'validFrom', 'validUntil'],
    [() => `user { ${user(random, depth - 1)} }`, () => `unit { ${unit(random, depth - 1)} }`],
    depth,
  );

const connection = (random: Random, selected: string): string =>
  random.pick([`nodes { ${selected} }`, `totalCount nodes { ${selected} }`, `edges { node { ${selected} } }`]);

const aliased = (random: Random, field: string, selected: string): string =>
  `${random.chance(0.2) ? `x${random.below(1000)}: ` : ''}${field} { ${selected} }`;
