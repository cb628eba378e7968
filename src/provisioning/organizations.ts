import type { ClientBase } from 'pg';
import { StartupError } from '../errors/errors.ts';

/**
 * Adds the missing organizations.
 *
 * @returns their ids, in order
 * @throws {StartupError} when one is not served here: the next change belongs into the database that it moves to
 */
export async function writeOrganizations(client: ClientBase, names: readonly string[]): Promise<string[]> {
  await client.query(
    `insert into app_hidden.organizations (name)
     select name from unnest($1::text[]) with ordinality as wanted (name, position) order by position
     on conflict do nothing`,
    [names],
  );
  const { rows } = await client.query<{ id: string; name: string }>(
    `select o.id, o.name from unnest($1::text[]) with ordinality as wanted (name, position)
     join app_hidden.organizations o using (name) order by position`,
    [names],
  );
  await requireServed(client, rows);
  return rows.map(({ id }) => id);
}

async function requireServed(client: ClientBase, found: readonly { id: string; name: string }[]): Promise<void> {
  const { rows } = await client.query<{ id: string }>(
    'select id from unnest($1::uuid[]) as id where not app_hidden.is_served(id)',
    [found.map(({ id }) => id)],
  );
  const names = found.filter(({ id }) => rows.some((row) => row.id === id)).map(({ name }) => name);
  if (names.length > 0)
    throw new StartupError(`${names.join(', ')} is being moved to another cell, or has moved there: apply it there.`);
}

/** Locks organizations until the end of the transaction, by id: nothing else writes their rows meanwhile. */
export async function lockOrganizations(client: ClientBase, ids: readonly string[]): Promise<void> {
  await client.query(
    `select set_config('graph.organization_id', id::text, true), app_hidden.lock_units()
     from (select id from unnest($1::uuid[]) as id order by id) as organization`,
    [ids],
  );
  await client.query(`select set_config('graph.organization_id', '', true)`);
}
