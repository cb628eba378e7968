import type { ClientBase } from 'pg';

/** The roles that the server may become, as the database lists them. */
export async function readRequestRoles(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ role: string }>('select role from audit.request_roles order by kind, role');
  return rows.map(({ role }) => role);
}
