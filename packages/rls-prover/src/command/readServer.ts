import type { ClientBase } from 'pg';
import { signature } from '../fragments.ts';
import type { Found } from '../presets/preset.ts';

type Queries = Pick<ClientBase, 'query'>;

/** The preset of the server that by its functions and settings is in front of a database. */
export async function findPreset(client: Queries, { settings }: Pick<Found, 'settings'>): Promise<string> {
  const { rowCount } = await client.query(
    `select from pg_proc p join pg_namespace n on n.oid = p.pronamespace where n.nspname = 'auth' and p.proname = 'uid'`,
  );
  if (rowCount) return 'supabase';
  return settings.some((name) => /^request\.jwt\.claims?\b/.test(name)) ? 'postgrest' : 'postgraphile';
}

/** The roles with a right on a table that a login may become, and whose rights it does not have by itself, as an authenticator does. */
export async function findRoles(client: Queries): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select distinct r.rolname::text as name
     from pg_roles r join pg_auth_members m on m.roleid = r.oid join pg_roles l on l.oid = m.member
     where l.rolcanlogin and not l.rolsuper and not r.rolcanlogin and not r.rolsuper and not r.rolbypassrls and r.rolname !~ '^pg_'
       and exists (select from pg_class c join pg_namespace n on n.oid = c.relnamespace
         where c.relkind in ('r', 'p', 'v', 'm', 'f') and n.nspname !~ '^(pg_|information_schema$)'
           and has_any_column_privilege(r.oid, c.oid, 'select, insert, update'))
       and not coalesce((to_jsonb(m) ->> 'inherit_option')::boolean, l.rolinherit)
     order by 1`,
  );
  return rows.map(({ name }) => name);
}

/** The schemas with tables, views or functions that these roles may use, but those of the platform. */
export async function findSchemas(client: Queries, roles: readonly string[], platform: string): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname::text as name from pg_namespace n
     where n.nspname !~ '^(pg_|information_schema$)' and n.nspname !~ $2
       and exists (select from pg_roles r where r.rolname = any ($1) and has_schema_privilege(r.oid, n.oid, 'usage'))
       and (exists (select from pg_class c where c.relnamespace = n.oid and c.relkind in ('r', 'p', 'v', 'm', 'f'))
         or exists (select from pg_proc p where p.pronamespace = n.oid))
     order by 1`,
    [roles, platform],
  );
  return rows.map(({ name }) => name);
}

/** The functions of extensions that read no table, run no text and set nothing, by their signatures. They are written in C. */
export async function findHarmless(client: Queries): Promise<ReadonlySet<string>> {
  const { rows } = await client.query<{ signature: string }>(
    `select ${signature} as signature
     from pg_depend d join pg_extension e on e.oid = d.refobjid join pg_proc p on p.oid = d.objid join pg_namespace n on n.oid = p.pronamespace
     where d.classid = 'pg_proc'::regclass and d.refclassid = 'pg_extension'::regclass and d.deptype = 'e' and e.extname = any ($1)`,
    [harmlessExtensions],
  );
  return new Set(rows.map((row) => row.signature));
}

const harmlessExtensions =
  'btree_gin btree_gist citext cube earthdistance fuzzystrmatch hstore intarray isn ltree moddatetime pg_trgm pgcrypto seg unaccent uuid-ossp vector'.split(
    ' ',
  );
