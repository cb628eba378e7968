import fc from 'fast-check';

/**
 * The contents of a test database, as plain sets of keys. A row belongs to its organization. A key alone does not identify it, since
 * another organization may have the same key. Nothing here knows a policy.
 */
export type World = {
  /** Whether organizations use the same keys. Nothing prevents it. */
  sharedKeys: boolean;
  organizations: string[];
  applications: Row<'application'>[];
  users: Row<'user'>[];
  /** These, and those that were deleted. */
  people: Row<'user'>[];
  units: (Row<'unit'> & { parent: string | null })[];
  access: Row<'user' | 'unit'>[];
  cards: Row<'card'>[];
  assignments: Row<'user' | 'card'>[];
  /** Each has one token of each kind; one of a person has a code, too. Each person has one session with an open question. */
  grants: (Row<'grant' | 'application'> & { user: string | null })[];
};

type Row<Keys extends string> = { organization: string } & Record<Keys, string>;

const kinds = ['organization', 'application', 'user', 'unit', 'card', 'assignment', 'grant'] as const;
type Kind = (typeof kinds)[number];

/** A UUID whose first part all of its kind share, as keys do that are made within the same minute. */
export function keyOf(
  { sharedKeys }: Pick<World, 'sharedKeys'>,
  kind: Kind,
  organization: string,
  number: number,
): string {
  const place = sharedKeys ? '0000' : organization.slice(-4);
  return `0000000${kinds.indexOf(kind) + 1}-${place}-7000-8000-${number.toString(16).padStart(12, '0')}`;
}

export const organizationKey = (number: number) => keyOf({ sharedKeys: true }, 'organization', '', number + 1);

/** An organization that does not exist. */
export const unknownOrganization = organizationKey(98);

/** The key of the assignment of a card to a user. */
export const assignmentKey = (user: string, card: string) =>
  `${card.slice(0, 7)}6${user.slice(8, -2)}${user.slice(-1)}${card.slice(-1)}`;

export const worlds: fc.Arbitrary<World> = fc
  .record({
    sharedKeys: fc.boolean(),
    specs: fc.array(
      fc.record({
        applications: fc.integer({ min: 1, max: 2 }),
        users: fc.integer({ min: 1, max: 4 }),
        /** The parent of each unit is one of those before it, or none. */
        parents: fc.array(fc.nat(99), { minLength: 1, maxLength: 8 }),
        access: fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { minLength: 1, maxLength: 6 }),
        cards: fc.integer({ min: 1, max: 4 }),
        assignments: fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { minLength: 1, maxLength: 6 }),
        grants: fc.array(fc.tuple(fc.nat(99), fc.nat(99)), { minLength: 1, maxLength: 4 }),
      }),
      { minLength: 2, maxLength: 3 },
    ),
  })
  .map(({ sharedKeys, specs }) => {
    const world: World = {
      ...{ sharedKeys, organizations: [], applications: [], users: [], people: [], units: [] },
      ...{ access: [], cards: [], assignments: [], grants: [] },
    };
    for (const [index, spec] of specs.entries()) {
      const organization = organizationKey(index);
      const key = (kind: Kind, number: number) => keyOf(world, kind, organization, number);
      world.organizations.push(organization);
      for (const number of range(spec.applications))
        world.applications.push({ organization, application: key('application', number) });
      for (const number of range(spec.users)) world.users.push({ organization, user: key('user', number) });
      for (const [number, parent] of spec.parents.entries()) {
        const above = parent % (number + 1);
        world.units.push({
          organization,
          unit: key('unit', number),
          parent: above === number ? null : key('unit', above),
        });
      }
      for (const number of range(spec.cards)) world.cards.push({ organization, card: key('card', number) });
      for (const [user, unit] of distinct(spec.access, spec.users, spec.parents.length))
        world.access.push({ organization, user: key('user', user), unit: key('unit', unit) });
      for (const [user, card] of distinct(spec.assignments, spec.users, spec.cards))
        world.assignments.push({ organization, user: key('user', user), card: key('card', card) });
      // An application has one grant of its own; all others are people's.
      for (const [number, [application, user]] of spec.grants.entries())
        world.grants.push({
          organization,
          grant: key('grant', number),
          application: key('application', application % spec.applications),
          user: number === 0 ? null : key('user', user % spec.users),
        });
    }
    return { ...world, people: world.users };
  });

const range = (length: number) => Array.from({ length }, (_, index) => index);

function distinct(pairs: [number, number][], first: number, second: number): [number, number][] {
  return [
    ...new Map(
      pairs.map(([a, b]) => [`${a % first}/${b % second}`, [a % first, b % second] as [number, number]]),
    ).values(),
  ];
}

/** The unit and all above it. */
export function ancestors(world: World, organization: string, unit: string): string[] {
  const parent = world.units.find((row) => row.organization === organization && row.unit === unit)?.parent ?? null;
  return parent === null ? [unit] : [unit, ...ancestors(world, organization, parent)];
}
