import type { Pool } from 'pg';
import type { Rows } from '../rows.ts';
import type { World } from './drawWorld.ts';

const tables: readonly (readonly [keyof Rows, string, readonly string[]])[] = [
  ['organizations', 'app_hidden.organizations', ['id', 'name']],
  [
    'users',
    'app_public.users',
    [
      'organization_id',
      'id',
      'external_identifier',
      'full_name',
      'email',
      'locale',
      'time_zone',
      'created_at',
      'updated_at',
    ],
  ],
  [
    'units',
    'app_public.units',
    ['organization_id', 'id', 'parent_id', 'external_identifier', 'name', 'created_at', 'updated_at'],
  ],
  [
    'cards',
    'app_public.cards',
    [
      ...['organization_id', 'id', 'type', 'name', 'external_identifier', 'proximity_uuid', 'major', 'minor'],
      ...['nfc_identifier', 'created_at', 'updated_at'],
    ],
  ],
  ['cardAssignments', 'app_public.card_assignments', ['organization_id', 'id', 'user_id', 'card_id', 'created_at']],
  [
    'accessGrants',
    'app_hidden.unit_access',
    ['organization_id', 'id', 'user_id', 'unit_id', 'source', 'valid_from', 'valid_until', 'created_at'],
  ],
];

/** Writes rows as the owner, with the keys and times that they have. */
export async function insertRows(owner: Pool, rows: Rows): Promise<void> {
  for (const [name, table, columns] of tables) {
    if (rows[name].length === 0) continue;
    const text = `insert into ${table} (${columns.join(', ')})
      select ${columns.join(', ')} from json_populate_recordset(null::${table}, $1)`;
    await owner.query(text, [JSON.stringify(rows[name].map(toColumns))]);
  }
}

/** Deletes what the world has of rows that are no more, with what refers to them. */
export async function deleteRows(owner: Pool, { deleted }: World): Promise<void> {
  for (const name of deleted) {
    const key = name.split(' ');
    await owner.query(
      'delete from app_hidden.unit_access where organization_id = $1 and $2 in (user_id, unit_id)',
      key,
    );
    await owner.query(
      'delete from app_public.card_assignments where organization_id = $1 and $2 in (user_id, card_id)',
      key,
    );
    for (const table of ['units', 'users', 'cards']) {
      await owner.query(`delete from app_public.${table} where organization_id = $1 and id = $2`, key);
    }
  }
}

/** The rows of the world's organizations, without those that are deleted. */
export function rowsOf(all: Rows, { organizations, deleted }: World): Rows {
  const isOwn = (row: object) => organizations.includes(textOf(row, 'organizationId'));
  const isThere = (row: object) =>
    ['id', 'userId', 'unitId', 'cardId'].every(
      (name) => !deleted.has(`${textOf(row, 'organizationId')} ${textOf(row, name)}`),
    );
  const left = <Row extends object>(rows: readonly Row[]) => rows.filter((row) => isOwn(row) && isThere(row));
  return {
    organizations: all.organizations.filter(({ id }) => organizations.includes(id)),
    applications: left(all.applications),
    users: left(all.users),
    units: left(all.units),
    cards: left(all.cards),
    cardAssignments: left(all.cardAssignments),
    accessGrants: left(all.accessGrants),
  };
}

const textOf = (row: object, name: string): string => String((row as Record<string, unknown>)[name]);

const toColumns = (row: object) =>
  Object.fromEntries(
    Object.entries(row).map(([name, value]) => [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), value]),
  );
