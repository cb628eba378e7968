import type { Pool } from 'pg';
import type { Rows } from '../rows.ts';
import { insertRows } from './store.ts';

type Table = 'accessGrants' | 'cardAssignments' | 'cards' | 'users' | 'units';

/** What refers to others before these. */
const order: readonly Table[] = ['accessGrants', 'cardAssignments', 'cards', 'users', 'units', 'units', 'units'];

/**
 * Deletes rows in halves, quarters and so on as long as the answer is still wrong; what it was right without comes back as it was.
 *
 * @returns those that are left
 */
export async function shrinkRows(
  owner: Pool,
  rows: Rows,
  keptUserIds: ReadonlySet<string>,
  isWrong: (rows: Rows) => Promise<boolean>,
): Promise<Rows> {
  let left = rows;
  for (const table of order) {
    for (let size = Math.ceil(left[table].length / 2); size > 0; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (const chunk of chunksOf(removable(left, table, keptUserIds), size)) {
        const without = { ...left, [table]: (left[table] as object[]).filter((row) => !chunk.includes(row)) };
        await deleteChunk(owner, table, chunk);
        if (await isWrong(without)) left = without;
        else await insertRows(owner, { ...nothing, [table]: chunk });
      }
    }
  }
  return left;
}

const nothing: Rows = {
  organizations: [],
  applications: [],
  users: [],
  units: [],
  cards: [],
  cardAssignments: [],
  accessGrants: [],
};

/** Rows that no other row refers to. */
function removable(rows: Rows, table: Table, keptUserIds: ReadonlySet<string>): readonly object[] {
  const name = (organizationId: string, id: string | null) => `${organizationId} ${id}`;
  const referred = new Set([
    ...rows.accessGrants.flatMap((row) => [name(row.organizationId, row.userId), name(row.organizationId, row.unitId)]),
    ...rows.cardAssignments.flatMap((row) => [
      name(row.organizationId, row.userId),
      name(row.organizationId, row.cardId),
    ]),
    ...rows.units.map((row) => name(row.organizationId, row.parentId)),
  ]);
  switch (table) {
    case 'accessGrants':
    case 'cardAssignments':
      return rows[table];
    default:
      return rows[table].filter((row) => !referred.has(name(row.organizationId, row.id)) && !keptUserIds.has(row.id));
  }
}

async function deleteChunk(owner: Pool, table: Table, chunk: readonly object[]): Promise<void> {
  for (const row of chunk as readonly Record<string, string>[]) {
    if (table === 'accessGrants') {
      await owner.query(
        'delete from app_hidden.unit_access where organization_id = $1 and user_id = $2 and unit_id = $3',
        [row.organizationId, row.userId, row.unitId],
      );
      continue;
    }
    const name = table === 'cardAssignments' ? 'card_assignments' : table;
    await owner.query(`delete from app_public.${name} where organization_id = $1 and id = $2`, [
      row.organizationId,
      row.id,
    ]);
  }
}

function chunksOf<Row>(rows: readonly Row[], size: number): readonly (readonly Row[])[] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, index) =>
    rows.slice(index * size, (index + 1) * size),
  );
}
