import type { ClientBase, QueryResultRow } from 'pg';
import type { Path } from './problem.ts';

/** An object of an organization, with its place in the document. */
export type Entry<T> = { readonly organizationId: string; readonly value: T; readonly path: Path };

/**
 * All applications, units or users of all organizations.
 *
 * @param organizationIds by position; null leaves out an organization that the database cannot have
 * @param pathOf the place of an element in its list, or below
 */
export function entriesOf<
  Key extends 'applications' | 'units' | 'users',
  O extends Readonly<Record<Key, readonly unknown[]>>,
>(
  organizations: readonly O[],
  organizationIds: readonly (string | null)[],
  key: Key,
  pathOf: (value: O[Key][number], position: number) => Path = (_, position) => [position],
): Entry<O[Key][number]>[] {
  return organizations.flatMap((organization, index) => {
    const organizationId = organizationIds[index] ?? null;
    if (organizationId === null) return [];
    const list: readonly O[Key][number][] = organization[key];
    return list.map((value, position) => ({
      organizationId,
      value,
      path: ['organizations', index, key, ...pathOf(value, position)],
    }));
  });
}

/** Rows for one statement: PostgreSQL expects a hundred from `jsonb_to_recordset`; so many still fit. */
const batchSize = 5000;

/**
 * Runs the statement once for each batch: `$1`, for `jsonb_to_recordset`; undefined columns are null.
 *
 * @returns the rows that all batches returned, in order
 */
export async function forRows<Returned extends QueryResultRow>(
  client: ClientBase,
  rows: readonly object[],
  statement: string,
): Promise<Returned[]> {
  const returned: Returned[] = [];
  for (let start = 0; start < rows.length; start += batchSize) {
    const batch = rows.slice(start, start + batchSize);
    const result = await client.query<Returned>(statement, [JSON.stringify(batch)]);
    for (const row of result.rows) returned.push(row);
  }
  return returned;
}
