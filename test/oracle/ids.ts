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

/**
 * The global id of a row. Clients take ids as they come; that the service's are these and no others is asserted in each world,
 * by `learn.ts`.
 */
export function idOf({ __typename, row }: Entity): string {
  return encodeId(__typename, row.id);
}

export function encodeId(typeName: string, key: string): string {
  return Buffer.from(`${typeName}:${key}`).toString('base64url');
}

/**
 * The type and key of an id that the service may have issued; null for every other text.
 * A client may keep the id of a type that is no longer in the schema: it decodes, and finds nothing.
 */
export function decodeId(id: string): { typeName: string; key: string } | null {
  const text = Buffer.from(id, 'base64url').toString();
  const typeName = text.slice(0, text.indexOf(':'));
  const key = text.slice(typeName.length + 1);
  if (!/^\w+$/.test(typeName) || !uuid.test(key)) return null;
  return encodeId(typeName, key) === id ? { typeName, key } : null;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
