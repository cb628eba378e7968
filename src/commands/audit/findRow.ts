import { rolledBack } from '../../database/pool/transactions.ts';
import { StartupError } from '../../errors/errors.ts';
import type { AuditedDatabase } from './withAuditedDatabase.ts';

/** A row as `audit.who_can` and its like take it: a table with its schema, and a key. */
type FoundRow = { readonly relation: string; readonly key: string };

/**
 * Finds the row that a person names as they know it: by its external identifier or e-mail address, in a table of `app_public` without its
 * schema. An external identifier is tried before an id, since it may look like one; an e-mail address has no case. Keys in JSON stay as
 * they are, and so do tables that do not exist, about which PostgreSQL says what is wrong.
 *
 * @throws {StartupError} when no row has the name, or when several have it
 */
export async function findRow({ pool }: AuditedDatabase, table: string, key: string): Promise<FoundRow> {
  return rolledBack(pool, async (client) => {
    const { rows } = await client.query<{ relation: string; names: string[] }>(
      `select format('%I.%I', n.nspname, c.relname) as relation, array(
         select a.attname::text from pg_attribute a join pg_attribute o on o.attrelid = a.attrelid and o.attname = 'organization_id'
         where a.attrelid = c.oid and a.attname in ('external_identifier', 'email') order by a.attname desc
       ) as names
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       where c.oid = coalesce(to_regclass($1), to_regclass($2))`,
      [table, table.includes('.') ? table : `app_public.${table}`],
    );
    const { relation = table, names = [] } = rows[0] ?? {};
    if (names.length === 0 || /^\{.*\}$/s.test(key)) return { relation, key };

    const equals = (column: string) =>
      column === 'email' ? 'app_hidden.lowercase(email) = app_hidden.lowercase($1)' : `${column} = $1`;
    const [condition, name] = [names.map(equals).join(' or '), names.join(' or ').replace('_', ' ')];
    const found = await client.query<{ id: string; organization: string }>(
      `select t.id::text as id, o.name as organization
       from ${relation} t join app_hidden.organizations o on o.id = t.organization_id where ${condition} order by o.name`,
      [key],
    );
    const [row, ...others] = found.rows;
    if (!row && isId(key)) return { relation, key };
    if (!row) throw new StartupError(`${relation} has no row with the ${name} ${key}.`);
    if (others.length === 0) return { relation, key: row.id };
    const ids = found.rows.map(({ id, organization }) => `${id} in ${organization}`);
    throw new StartupError(`${relation} has several rows with the ${name} ${key}; give the id: ${ids.join(', ')}.`);
  });
}

export const isId = (name: string) => /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/i.test(name);
