import type { PoolClient } from 'pg';
import type { RowOrigins } from '../../../plugins/RowOriginsPlugin.ts';
import { onlyRow } from '../../database/onlyRow.ts';
import { type Explanation, explainRow, type RowKey, tableName } from './explainRow.ts';

/**
 * Explains a null of an answer: the row that the field leads to is hidden or absent, or the column is empty.
 *
 * @param client as the owner, in a transaction that is rolled back
 * @param type of the object whose field is null
 * @throws {NoSuchRowError} as {@link explainRow} does, for the row and for the one that the field leads to
 * @throws PostgreSQL's error when there is no such row or principal
 */
export async function explainNull(
  client: PoolClient,
  principal: string,
  origins: RowOrigins,
  { type, row, field }: { readonly type: string; readonly row: RowKey; readonly field: string },
): Promise<Explanation> {
  // The answer that has the null has shown its row. A row that is not shown may be another organization's.
  await explainRow(client, principal, type, row);
  const origin = origins.get(type);
  const reference = origin?.references.get(field);
  const column = origin?.columns.get(field);
  const columns = reference?.columns.map(([local]) => local) ?? (column === undefined ? [] : [column]);
  if (columns.length === 0) return said(`${type}.${field} is computed: its description says what null means.`);

  const found = await client.query<{ value: Record<string, unknown> }>(rowText, [row.relation, row.key]);
  const { value } = onlyRow(found);
  const empty = columns.find((name) => value[name] === null);
  const table = tableName(row.relation);
  if (empty !== undefined)
    return said(
      `${type}.${field} is null in the row itself: its ${empty} in ${table} is empty. No policy hides anything.`,
    );
  if (!reference)
    return said(
      `The row has a value in ${columns.join()} of ${table}. It came after the answer, or this caller may not read it.`,
    );

  const key = Object.fromEntries(reference.columns.map(([local, remote]) => [remote, value[local]]));
  const target = [...origins].find(([, { relation }]) => relation === reference.relation)?.[0] ?? field;
  return explainRow(client, principal, target, { relation: reference.relation, key: JSON.stringify(key) });
}

const said = (sentence: string): Explanation => ({ sentences: [sentence], parts: [] });

const rowText = 'select audit.find_row($1::text::regclass, $2) as value';
