import { encodeId } from '../ids.ts';
import type { AccessGrant, Card, CardAssignment, Unit, User } from '../rows.ts';
import type { RowOfType, TypeName, Webhook } from './state.ts';

/** A row with the name of its type: an executor needs to know which of the types of a card it is. */
export type Typed = { __typename: string; organizationId: string; id: string };

/** The name of the concrete type: cards have three. */
export function typeNameOf<Type extends TypeName>(type: Type, row: RowOfType[Type]): string {
  return type === 'Card' ? (row as Card).type : type;
}

export function idOf<Type extends TypeName>(type: Type, row: RowOfType[Type]): string {
  return encodeId(typeNameOf(type, row), row.id);
}

/** The row with the name of its type, for the executor. */
export function typed(type: TypeName, row: User | Unit | Card | CardAssignment | AccessGrant): Typed {
  return { ...row, __typename: typeNameOf(type, row) };
}

export const typedWebhook = (webhook: Webhook): Typed => ({ ...webhook, __typename: 'Webhook' });

/** The values of the enum `FollowedType`. */
export const followedTypes = [
  'User',
  'Unit',
  'AccessGrant',
  'CardAssignment',
  'BeaconCard',
  'NfcCard',
  'IdentificationCode',
];
