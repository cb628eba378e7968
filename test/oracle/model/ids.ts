import type { AccessGrant, Card, CardAssignment, Unit, User } from '../rows.ts';
import type { RowOfType, TypeName, Webhook } from './state.ts';

/** A row with the name of its type: an executor needs to know which of the types of a card it is. */
export type Typed = { __typename: string; organizationId: string };

/** The opaque id that the graph gives a row; clients may not look into it, and the model has to foretell it. */
export function globalIdOf(typeName: string, key: string | readonly string[]): string {
  const written = typeof key === 'string' ? key : JSON.stringify(key);
  return Buffer.from(`${typeName}:${written}`).toString('base64url');
}

/** What an id says, or undefined when it is none. */
export function decodeId(id: string): { typeName: string; key: string | readonly string[] } | undefined {
  const text = Buffer.from(id, 'base64url').toString();
  const [, typeName, written] = /^([A-Z]\w+):(.+)$/.exec(text) ?? [];
  if (!typeName || !written) return undefined;
  if (uuid.test(written)) return { typeName, key: written };
  const [, userId, unitId] = pairOfUuids.exec(written) ?? [];
  return userId && unitId ? { typeName, key: [userId, unitId] } : undefined;
}

const uuidPattern = '[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}';
const uuid = new RegExp(`^${uuidPattern}$`);
const pairOfUuids = new RegExp(`^\\["(${uuidPattern})","(${uuidPattern})"\\]$`);

/** The name of the concrete type: cards have three. */
export function typeNameOf<Type extends TypeName>(type: Type, row: RowOfType[Type]): string {
  return type === 'Card' ? (row as Card).type : type;
}

export function idOf<Type extends TypeName>(type: Type, row: RowOfType[Type]): string {
  const key = 'id' in row ? row.id : [(row as AccessGrant).userId, (row as AccessGrant).unitId];
  return globalIdOf(typeNameOf(type, row), key);
}

/** The row with the name of its type, for the executor. */
export function typed(type: TypeName, row: User | Unit | Card | CardAssignment | AccessGrant): Typed {
  return { ...row, __typename: typeNameOf(type, row) };
}

export const typedWebhook = (webhook: Webhook): Typed => ({ ...webhook, __typename: 'Webhook' });
