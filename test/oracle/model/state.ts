import type { AccessGrant, Card, CardAssignment, Rows, Unit, User } from '../rows.ts';

/** All that mutations read and write: the rows of the graph, and the webhooks, which are no part of it. */
export type State = { readonly rows: Rows; readonly webhooks: readonly Webhook[] };

export type Webhook = {
  organizationId: string;
  id: string;
  url: string;
  typeNames: readonly string[] | null;
  enabled: boolean;
  createdAt: string;
};

/** Who sends a request, as the token says. */
export type Caller = {
  readonly organizationId: string;
  readonly scope: 'app' | 'basic' | 'me';
  /** Of scope `me`. */
  readonly userId?: string;
};

/** The rows of the graph by the types of the schema. */
export type RowOfType = {
  User: User;
  Unit: Unit;
  Card: Card;
  CardAssignment: CardAssignment;
  AccessGrant: AccessGrant;
};
export type TypeName = keyof RowOfType;

const listOfType = {
  User: 'users',
  Unit: 'units',
  Card: 'cards',
  CardAssignment: 'cardAssignments',
  AccessGrant: 'accessGrants',
} as const;

/** The rows of one type and organization, in the order of their keys. */
export function rowsOf<Type extends TypeName>(state: State, type: Type, organizationId: string): RowOfType[Type][] {
  const rows = state.rows[listOfType[type]] as RowOfType[Type][];
  return rows.filter((row) => row.organizationId === organizationId).sort(byKey);
}

/** The state with this row, which replaces one with the same key. */
export function put<Type extends TypeName>(state: State, type: Type, row: RowOfType[Type]): State {
  const rest = (state.rows[listOfType[type]] as RowOfType[Type][]).filter((other) => keyOf(other) !== keyOf(row));
  return { ...state, rows: { ...state.rows, [listOfType[type]]: [...rest, row] } };
}

/** The state without those rows of a type that the condition holds for. */
export function without<Type extends TypeName>(
  state: State,
  type: Type,
  isGone: (row: RowOfType[Type]) => boolean,
): State {
  const rest = (state.rows[listOfType[type]] as RowOfType[Type][]).filter((row) => !isGone(row));
  return { ...state, rows: { ...state.rows, [listOfType[type]]: rest } };
}

/** What tells a row from the others of its type. */
export const keyOf = ({ id }: { id: string }): string => id;

const byKey = (one: { id: string }, other: { id: string }) => (keyOf(one) < keyOf(other) ? -1 : 1);
