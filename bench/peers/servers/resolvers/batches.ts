import { encodeNodeId } from '../../nodeIds.ts';
import type { Row } from '../queryPipelined.ts';
import type { OperationTransaction } from './OperationTransaction.ts';
import { statements } from './statements.ts';

/** A row as a GraphQL object: its global id, and its key for the fields below it. */
export type Node = Row & { readonly id: string; readonly key: string };

/** The batches of loaders: one statement for many objects. The results are in the order of the keys. */
export const batches = {
  async cardAssignments(transaction: OperationTransaction, users: readonly string[]): Promise<Node[][]> {
    const rows = await transaction.query(statements.cardAssignments(users));
    return arrange(rows, 'user_id', users, 'CardAssignment');
  },

  async children(transaction: OperationTransaction, parents: readonly string[], first: number): Promise<Connection[]> {
    const rows = await transaction.query(statements.children(parents, first));
    return arrange(rows, 'parent_id', parents, 'Unit').map((nodes) => ({ nodes }));
  },

  async cards(transaction: OperationTransaction, keys: readonly string[]): Promise<(Node | null)[]> {
    const rows = await transaction.query(statements.cards(keys));
    const found = new Map(rows.map((row) => [row.id as string, toNode(row, row.__typename as string)]));
    return keys.map((key) => found.get(key) ?? null);
  },
};

export type Connection = { readonly nodes: readonly Node[] };

export function toNode(row: Row, type: string): Node {
  const key = row.id as string;
  return { ...row, key, id: encodeNodeId(type, key) };
}

function arrange(rows: readonly Row[], column: string, keys: readonly string[], type: string): Node[][] {
  const byKey = new Map<string, Node[]>(keys.map((key) => [key, []]));
  for (const row of rows) byKey.get(row[column] as string)?.push(toNode(row, type));
  return keys.map((key) => byKey.get(key) ?? []);
}
