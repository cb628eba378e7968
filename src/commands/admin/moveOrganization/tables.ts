import type { ClientBase } from 'pg';

/** A table whose rows of one organization move. */
export type MovedTable = {
  /** With its schema, quoted where it has to be. */
  readonly name: string;
  /** The column with the organization's id. */
  readonly column: string;
};

/**
 * The tables that move, also those of other migrations, and the organizations themselves.
 * `audit.moved_tables` says which stay, and why.
 */
export async function readMovedTables(client: ClientBase): Promise<MovedTable[]> {
  const { rows } = await client.query<MovedTable>(`
    select name, "column" from (
      select 'app_hidden.organizations' as name, 'id' as "column", 0 as place
      union all
      select m.name, 'organization_id', 1 from audit.moved_tables m) as moved
    order by place, name`);
  return rows;
}

/** Why tables cannot be moved, with the remedy: also tables whose finding was accepted. */
export async function findUnmovable(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ problem: string }>(
    "select format('%s %s: %s.', object, detail, remedy) as problem from audit.move_lints order by 1",
  );
  return rows.map(({ problem }) => problem);
}

/** The columns of the moved tables, for a comparison of two databases. */
export async function readColumns(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ column: string }>(`
    select format('%s.%I %s', m.relation_id::regclass, a.attname, format_type(a.atttypid, a.atttypmod)) as column
    from (select relation_id from audit.moved_tables union all select 'app_hidden.organizations'::regclass) as m
    join pg_attribute a on a.attrelid = m.relation_id and a.attnum > 0 and not a.attisdropped
    order by 1`);
  return rows.map(({ column }) => column);
}

/** Unique keys that span organizations: a value may be another organization's there. Each key's columns are one text. */
export async function readSharedKeys(
  client: ClientBase,
): Promise<{ table: string; column: string; columns: string }[]> {
  const { rows } = await client.query<{ table: string; column: string; columns: string }>(`
    select t.relation_id::regclass::text as "table", t."column",
      (select string_agg(format('%I', a.attname), ', ' order by k.place)
       from unnest(i.indkey::int2[]) with ordinality as k (number, place)
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number where k.place <= i.indnkeyatts) as columns
    from (select relation_id, 'organization_id' as "column" from audit.moved_tables
      union all select 'app_hidden.organizations'::regclass, 'id') as t
    join pg_index i on i.indrelid = t.relation_id and i.indisunique
    where i.indexprs is null and not exists (
      select from pg_attribute a
      where a.attrelid = i.indrelid and a.attnum = any (i.indkey) and a.attname = 'organization_id')
    order by 1, 3`);
  return rows;
}

/** The sequences by which columns of moved tables count. */
export async function readSequences(
  client: ClientBase,
): Promise<{ table: string; column: string; sequence: string }[]> {
  const { rows } = await client.query<{ table: string; column: string; sequence: string }>(`
    select m.name as "table", format('%I', a.attname) as column, d.objid::regclass::text as sequence
    from audit.moved_tables m
    join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = m.relation_id and d.refobjsubid > 0
      and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
    join pg_class s on s.oid = d.objid and s.relkind = 'S'
    join pg_attribute a on a.attrelid = m.relation_id and a.attnum = d.refobjsubid`);
  return rows;
}
