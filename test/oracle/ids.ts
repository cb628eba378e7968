import type { AccessGrant, Card, CardAssignment, Unit, User } from './rows.ts';

/** A row under the name of its GraphQL type. */
export type Entity =
  | { readonly __typename: 'User'; readonly row: User }
  | { readonly __typename: 'Unit'; readonly row: Unit }
  | { readonly __typename: Card['type']; readonly row: Card }
  | { readonly __typename: 'CardAssignment'; readonly row: CardAssignment }
  | { readonly __typename: 'AccessGrant'; readonly row: AccessGrant };

export const userOf = (row: User) => ({ __typename: 'User', row }) as const;
export const unitOf = (row: Unit) => ({ __typename: 'Unit', row }) as const;
export const cardOf = (row: Card) => ({ __typename: row.type, row }) as const;
export const cardAssignmentOf = (row: CardAssignment) => ({ __typename: 'CardAssignment', row }) as const;
export const accessGrantOf = (row: AccessGrant) => ({ __typename: 'AccessGrant', row }) as const;

/** The parts of a row's key, in the order in which the table is sorted by default. */
export function keyOf({ row }: Entity): readonly string[] {
  return [row.id];
}

/**
 * The global id of a row. Clients take ids as they come; that the service's are these and no others is asserted in each world,
 * by `learn.ts`.
 */
export function idOf(entity: Entity): string {
  return encodeId(entity.__typename, keyOf(entity));
}

export function encodeId(typeName: string, key: readonly string[]): string {
  return Buffer.from(`${typeName}:${key.length === 1 ? key[0] : JSON.stringify(key)}`).toString('base64url');
}

/**
 * The type and key of an id that the service may have issued; null for every other text.
 * A client may keep the id of a type that is no longer in the schema: it decodes, and finds nothing.
 */
export function decodeId(id: string): { typeName: string; key: readonly string[] } | null {
  const text = Buffer.from(id, 'base64url').toString();
  const typeName = text.slice(0, text.indexOf(':'));
  const rest = text.slice(typeName.length + 1);
  const key = [rest];
  if (!/^\w+$/.test(typeName) || !key.every((part) => uuid.test(part))) return null;
  return encodeId(typeName, key) === id ? { typeName, key } : null;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
