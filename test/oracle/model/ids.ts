import type { AccessGrant, Card, CardAssignment, Unit, User } from '../rows.ts';
import type { RowOfType, TypeName, Webhook } from './state.ts';

/** A row with the name of its type: an executor needs to know which of the types of a card it is. */
export type Typed = { __typename: string; organizationId: string; id: string };

/** The opaque id that the graph gives a row; clients may not look into it, and the model has to foretell it. */
export function globalIdOf(typeName: string, key: string): string {
  return Buffer.from(`${typeName}:${key}`).toString('base64url');
}

/** What an id says, or undefined when it is none. */
export function decodeId(id: string): { typeName: string; key: string } | undefined {
  const text = Buffer.from(id, 'base64url').toString();
  const [, typeName, written] = /^([A-Z]\w+):(.+)$/.exec(text) ?? [];
  return typeName && written && uuid.test(written) ? { typeName, key: written } : undefined;
}

const uuid = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** The name of the concrete type: cards have three. */
export function typeNameOf<Type extends TypeName>(type: Type, row: RowOfType[Type]): string {
  return type === 'Card' ? (row as Card).type : type;
}

export function idOf<Type extends TypeName>(type: Type, row: RowOfType[Type]): string {
  return globalIdOf(typeNameOf(type, row), row.id);
}

/** The row with the name of its type, for the executor. */
export function typed(type: TypeName, row: User | Unit | Card | CardAssignment | AccessGrant): Typed {
  return { ...row, __typename: typeNameOf(type, row) };
}

export const typedWebhook = (webhook: Webhook): Typed => ({ ...webhook, __typename: 'Webhook' });
