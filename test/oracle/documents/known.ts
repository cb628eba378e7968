import type { Cursors } from '../cursors.ts';
import { accessGrantOf, cardAssignmentOf, cardOf, type Entity, encodeId, idOf, unitOf, userOf } from '../ids.ts';
import type { Random } from '../random.ts';
import type { Rows } from '../rows.ts';

/** Values that documents draw from: those of rows, of other organizations' rows, and of none. */
export type Known = {
  /** Global ids by the type's name; a list of cards has those of all three. */
  readonly ids: ReadonlyMap<string, readonly string[]>;
  readonly externalIdentifiers: readonly string[];
  readonly emails: readonly string[];
  /** Those of the own organization, and those of the neighbour's. */
  cursors(list: string, signature: string): readonly (readonly string[])[];
  /** Cursors of any list and order. */
  anyCursors(): readonly string[];
};

export function knownOf(rows: Rows, cursors: readonly Cursors[]): Known {
  const ids = new Map<string, string[]>();
  const add = (entity: Entity) => {
    const names = entity.__typename.match(/Card$|Code$/) ? [entity.__typename, 'Card'] : [entity.__typename];
    for (const name of names) ids.set(name, [...(ids.get(name) ?? []), idOf(entity)]);
  };
  for (const row of rows.users) add(userOf(row));
  for (const row of rows.units) add(unitOf(row));
  for (const row of rows.cards) add(cardOf(row));
  for (const row of rows.cardAssignments) add(cardAssignmentOf(row));
  for (const row of rows.accessGrants) add(accessGrantOf(row));
  const texts = cursors.map((known) => known.texts());
  return {
    ids,
    externalIdentifiers: [...rows.users, ...rows.units, ...rows.cards].flatMap((row) => row.externalIdentifier ?? []),
    emails: rows.users.map(({ email }) => email),
    cursors: (list, signature) => texts.map((all) => all.get(`${list} ${signature}`) ?? []),
    anyCursors: () => texts.flatMap((all) => [...all.values()].flat()),
  };
}

const nobody = '01000000-0000-7000-8000-000000000000';

/** An id for a list, or for `node` when it is null: mostly of a row, some of another type or of nothing, few that cannot be decoded. */
export function drawId(random: Random, { ids }: Known, list: string | null, malformed: number): string {
  const all = [...ids.values()].flat();
  const own = list === null ? (ids.get(random.pickOr([...ids.keys()], '')) ?? []) : (ids.get(list) ?? []);
  if (random.chance(malformed)) return random.pick(malformedIds);
  switch (random.weighted({ own: 12, any: 2, nobody: 1 })) {
    case 'own':
      return random.pickOr(own, encodeId('User', [nobody]));
    case 'any':
      return random.pickOr(all, encodeId('Unit', [nobody]));
    case 'nobody':
      return random.pick([
        encodeId('User', [nobody]),
        encodeId('Unit', [nobody]),
        encodeId('NfcCard', [nobody]),
        encodeId('AccessGrant', [nobody, nobody]),
        encodeId('WebhookDelivery', [nobody]),
      ]);
  }
}

const malformedIds = [
  ...['', 'x', '1', 'null', '😀', '[]', 'VXNlcg', '"', "'", '\\', 'a'.repeat(500)],
  ...[
    encodeId('User', ['x']),
    encodeId('Query', ['query']),
    encodeId('Nothing', [nobody]),
    encodeId('AccessGrant', ['x', 'y']),
  ],
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
