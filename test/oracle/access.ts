import type { AccessGrant, Card, CardAssignment, Rows, Unit, User } from './rows.ts';

/** Who asks: an application by its token of scope `app`, a person by one of scope `me`, or a token of scope `basic`. */
export type Caller =
  | { readonly kind: 'app'; readonly organizationId: string; readonly applicationName: string }
  | { readonly kind: 'person'; readonly organizationId: string; readonly userId: string }
  | { readonly kind: 'basic'; readonly organizationId: string };

/** What a caller sees, in the order of keys; the predicates of sections 3 and 8 of the contract over all rows. */
export type Sight = {
  readonly users: readonly User[];
  readonly units: readonly Unit[];
  readonly cards: readonly Card[];
  readonly cardAssignments: readonly CardAssignment[];
  readonly accessGrants: readonly AccessGrant[];
  /** Whether the person may enter the unit: it or one above it was granted. */
  mayEnter(userId: string, unitId: string): boolean;
};

export function sightOf(rows: Rows, caller: Caller): Sight {
  // An organization owns all of it; nothing crosses organizations.
  const own = <Row extends { organizationId: string }>(all: readonly Row[]) =>
    all.filter(({ organizationId }) => organizationId === caller.organizationId);
  const units = own(rows.units);
  const accessGrants = own(rows.accessGrants);
  const cardAssignments = own(rows.cardAssignments);

  const parentOf = new Map(units.map(({ id, parentId }) => [id, parentId]));
  const isNow = ({ validFrom, validUntil }: AccessGrant) =>
    (validFrom === null || Date.parse(validFrom) <= Date.now()) &&
    (validUntil === null || Date.parse(validUntil) > Date.now());
  // "Outside its time a grant gives no access anywhere."
  const granted = new Set(accessGrants.filter(isNow).map(({ userId, unitId }) => `${userId} ${unitId}`));
  // Access that is granted to a unit covers its whole subtree.
  const mayEnter = (userId: string, unitId: string): boolean => {
    for (let id: string | null = unitId; id !== null; id = parentOf.get(id) ?? null) {
      if (granted.has(`${userId} ${id}`)) return true;
    }
    return false;
  };

  switch (caller.kind) {
    // All of the organization.
    case 'app':
      return { users: own(rows.users), units, cards: own(rows.cards), cardAssignments, accessGrants, mayEnter };
    // The own row, the own assignments with their cards, the own grants within their time, and the units that they may enter.
    case 'person': {
      const isOwn = ({ userId }: { userId: string }) => userId === caller.userId;
      const assigned = cardAssignments.filter(isOwn);
      const held = new Set(assigned.map(({ cardId }) => cardId));
      return {
        users: own(rows.users).filter(({ id }) => id === caller.userId),
        units: units.filter(({ id }) => mayEnter(caller.userId, id)),
        cards: own(rows.cards).filter(({ id }) => held.has(id)),
        cardAssignments: assigned,
        accessGrants: accessGrants.filter(isOwn).filter(isNow),
        mayEnter,
      };
    }
    // It authenticates and reads no row.
    case 'basic':
      return { users: [], units: [], cards: [], cardAssignments: [], accessGrants: [], mayEnter: () => false };
  }
}
