import type { ClientBase } from 'pg';

/**
 * Adds the missing organizations.
 *
 * @param names an undefined one breaks a rule
 * @returns their ids, in order; null for an undefined name
 */
export async function writeOrganizations(
  client: ClientBase,
  names: readonly (string | undefined)[],
): Promise<(string | null)[]> {
  const wanted = names.filter((name) => name !== undefined);
  await client.query(
    `insert into app_hidden.organizations (name)
     select name from unnest($1::text[]) with ordinality as wanted (name, position) order by position
     on conflict do nothing`,
    [wanted],
  );
  const { rows } = await client.query<{ id: string; name: string }>(
    'select id, name from app_hidden.organizations where name = any ($1)',
    [wanted],
  );
  const ids = new Map(rows.map(({ id, name }) => [name, id]));
  return names.map((name) => (name === undefined ? null : (ids.get(name) ?? null)));
}
