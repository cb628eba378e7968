import fc from 'fast-check';
import { escapeLiteral } from 'pg';
import { ancestors, assignmentKey, type World } from './world.ts';

/** Something that the owner does in one organization; numbers that are too large wrap around. */
export type Change = { kind: keyof typeof kinds; organization: number; first: number; second: number };

export const changes: fc.Arbitrary<Change> = fc.record({
  kind: fc.constantFrom('move', 'grant', 'revoke', 'assign', 'unassign', 'endGrant', 'deleteUser'),
  organization: fc.nat(99),
  first: fc.nat(99),
  second: fc.nat(99),
});

/** Applies a change to a world. The result has the statement that does the same to a database; null if nothing changes. */
export function changeWorld(world: World, { kind, organization, first, second }: Change): Changed {
  const place = pick(world.organizations, organization) ?? '';
  const here = <Row extends { organization: string }>(rows: Row[]) => rows.filter((row) => row.organization === place);
  return kinds[kind](world, { organization: place, here, first, second });
}

type Changed = { world: World; statement: string } | null;
type Place = {
  organization: string;
  here<Row extends { organization: string }>(rows: Row[]): Row[];
  first: number;
  second: number;
};

const kinds = {
  move(world: World, { organization, here, first, second }: Place): Changed {
    const moved = pick(here(world.units), first);
    const parent = pick([...here(world.units).map(({ unit }) => unit), null], second) ?? null;
    if (!moved || (parent !== null && ancestors(world, organization, parent).includes(moved.unit))) return null;
    return {
      world: { ...world, units: world.units.map((unit) => (unit === moved ? { ...moved, parent } : unit)) },
      statement: sql`update app_public.units set parent_id = ${parent} where organization_id = ${organization} and id = ${moved.unit}`,
    };
  },
  grant(world: World, { organization, here, first, second }: Place): Changed {
    const { user } = pick(here(world.users), first) ?? {};
    const { unit } = pick(here(world.units), second) ?? {};
    if (!user || !unit || here(world.access).some((access) => access.user === user && access.unit === unit))
      return null;
    return {
      world: { ...world, access: [...world.access, { organization, user, unit }] },
      statement: sql`insert into app_hidden.unit_access (organization_id, user_id, unit_id) values (${organization}, ${user}, ${unit})`,
    };
  },
  revoke(world: World, { organization, here, first }: Place): Changed {
    const revoked = pick(here(world.access), first);
    if (!revoked) return null;
    return {
      world: { ...world, access: world.access.filter((access) => access !== revoked) },
      statement: sql`delete from app_hidden.unit_access
        where organization_id = ${organization} and user_id = ${revoked.user} and unit_id = ${revoked.unit}`,
    };
  },
  assign(world: World, { organization, here, first, second }: Place): Changed {
    const { user } = pick(here(world.users), first) ?? {};
    const { card } = pick(here(world.cards), second) ?? {};
    if (!user || !card || here(world.assignments).some((row) => row.user === user && row.card === card)) return null;
    return {
      world: { ...world, assignments: [...world.assignments, { organization, user, card }] },
      statement: sql`insert into app_public.card_assignments (organization_id, id, user_id, card_id)
        values (${organization}, ${assignmentKey(user, card)}, ${user}, ${card})`,
    };
  },
  unassign(world: World, { organization, here, first }: Place): Changed {
    const taken = pick(here(world.assignments), first);
    if (!taken) return null;
    return {
      world: { ...world, assignments: world.assignments.filter((assignment) => assignment !== taken) },
      statement: sql`delete from app_public.card_assignments
        where organization_id = ${organization} and user_id = ${taken.user} and card_id = ${taken.card}`,
    };
  },
  endGrant(world: World, { organization, here, first }: Place): Changed {
    const ended = pick(here(world.grants), first);
    if (!ended) return null;
    return {
      world: { ...world, grants: world.grants.filter((grant) => grant !== ended) },
      statement: sql`delete from oauth.grants where organization_id = ${organization} and id = ${ended.grant}`,
    };
  },
  deleteUser(world: World, { organization, here, first }: Place): Changed {
    const deleted = pick(here(world.users), first);
    if (!deleted) return null;
    const others = <Row extends { organization: string; user: string | null }>(rows: Row[]) =>
      rows.filter((row) => row.organization !== organization || row.user !== deleted.user);
    const { users, access, assignments, grants } = world;
    return {
      world: {
        ...world,
        ...{ users: others(users), access: others(access), assignments: others(assignments), grants: others(grants) },
      },
      statement: sql`delete from app_public.users where organization_id = ${organization} and id = ${deleted.user}`,
    };
  },
};

const pick = <Value>(values: Value[], number: number) => values[number % values.length];

function sql(texts: TemplateStringsArray, ...values: (string | null)[]): string {
  return String.raw({ raw: texts }, ...values.map((value) => (value === null ? 'null' : escapeLiteral(value))));
}
