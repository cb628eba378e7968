import { type Random, randomOf } from '../random.ts';
import type { AccessGrant, Application, Rows, Unit, User } from '../rows.ts';
import { drawCards } from './drawCards.ts';
import { drawUnits } from './drawUnits.ts';
import { drawEmails, drawIdentifiers, drawName, drawTime, drawUuid } from './texts.ts';

/** Two organizations, of which the second shares external identifiers with the first, and some keys. */
export type World = {
  readonly rows: Rows;
  readonly organizations: readonly [string, string];
  /** Who signs in, of both organizations: they reach nothing, a leaf, several subtrees, and a root, as far as there are units. */
  readonly persons: readonly User[];
  /** Keys of rows that are deleted before the first document, once their cursors are known. */
  readonly deleted: ReadonlySet<string>;
};

export function drawWorld(seed: number, index: number): World {
  const random = randomOf(seed, 'world', index);
  const rows = emptyRows();
  const persons: User[] = [];
  const deleted = new Set<string>();
  let shared: string[] = [];
  const organizations = ['a', 'b'].map((name) => {
    const ids: string[] = [];
    const nextId = (): string => {
      const id = (random.chance(0.3) && shared.pop()) || drawUuid(random);
      ids.push(id);
      return id;
    };
    const organization = { id: drawUuid(random), name: `oracle ${seed} ${index} ${name}` };
    rows.organizations.push(organization);
    persons.push(...drawOrganization(random, organization.id, nextId, rows, deleted));
    shared = ids;
    return organization.id;
  });
  return { rows, organizations: organizations as [string, string], persons, deleted };
}

const emptyRows = (): Rows => ({
  organizations: [],
  applications: [] as Application[],
  users: [],
  units: [],
  cards: [],
  cardAssignments: [],
  accessGrants: [],
});

function drawOrganization(
  random: Random,
  organizationId: string,
  nextId: () => string,
  rows: Rows,
  deleted: Set<string>,
): User[] {
  const units = drawUnits(random, organizationId, nextId);
  const users = drawUsers(random, organizationId, nextId);
  const persons = users.slice(0, 4);
  const { cards, cardAssignments } = drawCards(random, organizationId, users, nextId);
  const grantsOf = (user: User, granted: readonly Unit[]): AccessGrant[] =>
    granted.flatMap(({ id }) =>
      drawSources(random).map((source) => ({
        ...{ organizationId, id: nextId(), userId: user.id, unitId: id, source },
        ...drawValidity(random),
        createdAt: drawTime(random),
      })),
    );
  const [, leafPerson, severalPerson, rootPerson, ...others] = users as [User, User, User, User, ...User[]];

  rows.units.push(...units);
  rows.users.push(...users);
  rows.cards.push(...cards);
  rows.cardAssignments.push(...cardAssignments);
  rows.accessGrants.push(
    ...grantsOf(leafPerson, random.some(leavesOf(units), 1)),
    ...grantsOf(severalPerson, random.some(units, random.between(2, 5))),
    ...grantsOf(rootPerson, units.slice(0, 1)),
    ...others.flatMap((user) => grantsOf(user, random.some(units, random.pick([0, 0, 1, 1, 2, 3])))),
  );
  // A leaf, a person and a card that are no more: what refers to them goes along.
  for (const row of [...random.some(leavesOf(units), 1), ...random.some(others, 1), ...random.some(cards, 1)]) {
    deleted.add(`${organizationId} ${row.id}`);
  }
  return persons;
}

/** Mostly by hand alone; some by a system, or by several. */
const drawSources = (random: Random): (string | null)[] =>
  random.chance(0.8) ? [null] : random.some([null, 'hr', 'HR', 'visitors'], random.between(1, 3));

/** Far enough from now for a run that takes long. */
function drawValidity(random: Random): Pick<AccessGrant, 'validFrom' | 'validUntil'> {
  const [past, future] = ['2020-02-29T00:00:00.000001+00:00', '2199-12-31T23:59:59.999999+00:00'];
  if (random.chance(0.7)) return { validFrom: null, validUntil: null };
  return random.pick([
    { validFrom: past, validUntil: null },
    { validFrom: null, validUntil: future },
    { validFrom: past, validUntil: future },
    { validFrom: future, validUntil: null },
    { validFrom: null, validUntil: past },
  ]);
}

const leavesOf = (units: readonly Unit[]) => units.filter(({ id }) => !units.some(({ parentId }) => parentId === id));

function drawUsers(random: Random, organizationId: string, nextId: () => string): User[] {
  const count = random.chance(0.04) ? random.between(101, 115) : random.between(4, 20);
  const identifiers = drawIdentifiers(random, count);
  return drawEmails(random, count).map((email, index) => ({
    organizationId,
    id: nextId(),
    // Who signs in is found by it in the file that gives them their passwords.
    externalIdentifier: index < 4 ? `p-${index}` : (identifiers[index] ?? null),
    fullName: drawName(random),
    email,
    locale: random.pick(['en', 'de', 'de-AT', 'zh-Hant-TW']),
    timeZone: random.pick(['UTC', 'Europe/Berlin', 'Berlin', 'New York']),
    externalAuthenticationToken: null,
    createdAt: drawTime(random),
    updatedAt: drawTime(random),
  }));
}
