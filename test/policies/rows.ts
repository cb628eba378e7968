import { hash, webhookId } from './insertWorld.ts';
import type { Role } from './principals.ts';
import type { Sees } from './table.ts';
import { ancestors, keyOf, type World } from './world.ts';

// The rows of a world, and the predicates that say who sees them.

export const organization: Sees = (row, claims) => row.organization === claims.organization;
export const own: Sees = (row, claims) => row.organization === claims.organization && row.user === claims.user;
export const itself: Sees = (row, claims) =>
  row.organization === claims.organization && row.application === claims.application;
export const kept =
  (role: Role): Sees =>
  (row, claims) =>
    row.organization === claims.organization &&
    row.application === claims.application &&
    (row.user ?? '') === claims.user &&
    row.role === role;
export const none: Sees = () => false;
export const granted: Sees = (row, claims, world) =>
  world.access.some(
    (access) =>
      access.organization === row.organization &&
      access.unit === row.unit &&
      own({ ...access, key: '' }, claims, world),
  );
export const accessible: Sees = (row, claims, world) =>
  ancestors(world, row.organization, row.unit ?? '').some((unit) => granted({ ...row, unit }, claims, world));
export const assigned: Sees = (row, claims, world) =>
  world.assignments.some(
    (assignment) =>
      assignment.organization === row.organization &&
      assignment.card === row.card &&
      own({ ...assignment, key: '' }, claims, world),
  );

export const webhooks = (world: World) => world.organizations.map((organization) => ({ organization, key: webhookId }));
export const users = (world: World) => world.users.map((row) => ({ ...row, key: row.user }));
export const applications = (world: World) => world.applications.map((row) => ({ ...row, key: row.application }));
export const hashes = (what: string) => (world: World) =>
  world.grants.map((row) => ({ ...row, key: hash(what, row.organization, row.grant) }));

/** Whether the organization has a row of the objects with this number. */
export const has = <Kind extends 'user' | 'unit' | 'card'>(
  world: World,
  rows: 'units' | 'cards' | 'access' | 'assignments',
  organization: string,
  kinds: readonly Kind[],
  number: number,
) =>
  (world[rows] as readonly ({ organization: string } & Record<Kind, string>)[]).some(
    (row) =>
      row.organization === organization &&
      kinds.every((kind) => row[kind] === keyOf(world, kind, organization, number)),
  );
export const hasUser = (world: World, organization: string, number: number) =>
  world.users.some(
    (row) => row.organization === organization && row.user === keyOf(world, 'user', organization, number),
  );
export const hasGrant = (world: World, organization: string, number: number) =>
  world.grants.some(
    (row) => row.organization === organization && row.grant === keyOf(world, 'grant', organization, number),
  );
