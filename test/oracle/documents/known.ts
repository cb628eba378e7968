import { type Caller, type Sight, sightOf } from '../access.ts';
import type { Beacon } from '../connection.ts';
import type { Cursors } from '../cursors.ts';
import {
  accessGrantOf,
  cardAssignmentOf,
  cardOf,
  decodeId,
  type Entity,
  encodeId,
  idOf,
  unitOf,
  userOf,
} from '../ids.ts';
import type { Random } from '../random.ts';
import type { Card, Rows } from '../rows.ts';
import type { Value } from './variables.ts';

/** Values that documents draw from: those of rows, of other organizations' rows, and of none. */
export type Known = {
  /** Global ids by the type's name; a list of cards has those of all three. */
  readonly ids: Ids;
  /** Those of them that the caller sees. */
  readonly visibleIds: Ids;
  readonly externalIdentifiers: readonly string[];
  readonly emails: readonly string[];
  readonly nfcIdentifiers: readonly string[];
  readonly beacons: readonly Beacon[];
  readonly cards: readonly Card[];
  /** Those of the own organization, and those of the neighbour's. */
  cursors(list: string, signature: string): readonly (readonly string[])[];
  /** Cursors of any list and order. */
  anyCursors(): readonly string[];
};

export function knownOf(rows: Rows, cursors: readonly Cursors[], caller: Caller): Known {
  const texts = cursors.map((known) => known.texts());
  return {
    ids: idsOf(rows),
    visibleIds: idsOf(sightOf(rows, caller)),
    externalIdentifiers: [...rows.users, ...rows.units, ...rows.cards].flatMap((row) => row.externalIdentifier ?? []),
    emails: rows.users.map(({ email }) => email),
    nfcIdentifiers: rows.cards.flatMap(({ nfcIdentifier }) => nfcIdentifier ?? []),
    beacons: rows.cards.flatMap(({ proximityUuid, major, minor }) =>
      proximityUuid === null || major === null || minor === null ? [] : [{ proximityUuid, major, minor }],
    ),
    cards: rows.cards,
    cursors: (list, signature) => texts.map((all) => all.get(`${list} ${signature}`) ?? []),
    anyCursors: () => texts.flatMap((all) => [...all.values()].flat()),
  };
}

type Ids = ReadonlyMap<string, readonly string[]>;

function idsOf(rows: Pick<Sight, 'users' | 'units' | 'cards' | 'cardAssignments' | 'accessGrants'>): Ids {
  const ids = new Map<string, string[]>();
  const entities: Entity[] = [
    ...rows.users.map(userOf),
    ...rows.units.map(unitOf),
    ...rows.cards.map(cardOf),
    ...rows.cardAssignments.map(cardAssignmentOf),
    ...rows.accessGrants.map(accessGrantOf),
  ];
  for (const entity of entities) {
    const name = entity.__typename;
    for (const key of name.endsWith('Card') || name === 'IdentificationCode' ? [name, 'Card'] : [name]) {
      const known = ids.get(key);
      if (known) known.push(idOf(entity));
      else ids.set(key, [idOf(entity)]);
    }
  }
  return ids;
}

const nobody = '01000000-0000-7000-8000-000000000000';

/** An id of a type or list: mostly of a row, some of another type or of nothing, few that cannot be decoded. */
export function drawId(random: Random, { ids, visibleIds }: Known, list: string, malformed: number): string {
  if (random.chance(malformed)) return random.pick(malformedIds);
  switch (random.weighted({ visible: 6, own: 6, any: 2, retyped: 1, nobody: 1 })) {
    case 'visible':
      return random.pickOr(visibleIds.get(list) ?? [], encodeId('Unit', nobody));
    case 'own':
      return random.pickOr(ids.get(list) ?? [], encodeId('User', nobody));
    case 'any':
      return random.pickOr([...ids.values()].flat(), encodeId('Unit', nobody));
    case 'retyped':
      return retyped(random, random.pickOr(ids.get('Card') ?? [], encodeId('NfcCard', nobody)));
    case 'nobody':
      return random.pick([
        encodeId('User', nobody),
        encodeId('Unit', nobody),
        encodeId('NfcCard', nobody),
        encodeId('AccessGrant', JSON.stringify([nobody, nobody])),
        encodeId('WebhookDelivery', nobody),
        encodeId('Nothing', nobody),
      ]);
  }
}

/** The key of a card under a type of card, mostly another one. */
function retyped(random: Random, id: string): string {
  return encodeId(random.pick(['BeaconCard', 'NfcCard', 'IdentificationCode']), decodeId(id)?.key ?? nobody);
}

const malformedIds = [
  ...['', 'x', '1', 'null', '😀', '[]', 'VXNlcg', '"', "'", '\\', 'a'.repeat(500)],
  ...[encodeId('User', 'x'), encodeId('Query', 'query'), encodeId('AccessGrant', '["x","y"]')],
];

export function drawExternalIdentifier(random: Random, { externalIdentifiers }: Known): string {
  return random.chance(0.9)
    ? random.pickOr(externalIdentifiers, 'e')
    : random.pick(['', 'nobody', 'E-1', ' ', '\u0001', '\ufeff']);
}

export function drawEmail(random: Random, { emails }: Known): string {
  const email = random.chance(0.9) ? random.pickOr(emails, '') : random.pick(['', 'nobody@x.test', '@', '%']);
  return random.pick([email, email, email.toUpperCase(), email.toLowerCase(), ` ${email}`]);
}

/** As readers read it, in any case. */
export function drawNfcIdentifier(random: Random, { nfcIdentifiers }: Known): string {
  const identifier = random.chance(0.9) ? random.pickOr(nfcIdentifiers, '04A224B2') : random.pick(['', '04', 'ß', '%']);
  return random.pick([identifier, identifier.toLowerCase(), ` ${identifier}`, identifier]);
}

/** Of a card, or with values of others. */
export function drawBeacon(random: Random, { beacons }: Known): Value {
  const draw = (): Beacon => random.pickOr(beacons, { proximityUuid: nobody, major: 0, minor: 65_535 });
  const one = draw();
  const value = <Name extends keyof Beacon>(name: Name) => (random.chance(0.9) ? one : draw())[name];
  const [major, minor] = [value('major'), value('minor')];
  const proximityUuid = random.pick([value('proximityUuid'), value('proximityUuid').toUpperCase()]);
  const literal = `{ proximityUuid: "${proximityUuid}", major: ${major}, minor: ${minor} }`;
  return { literal, json: { proximityUuid, major, minor } };
}
