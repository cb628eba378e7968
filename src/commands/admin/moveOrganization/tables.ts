import type { ClientBase } from 'pg';

/** A table whose rows of one organization move. */
export type MovedTable = {
  /** With its schema, quoted where it has to be. */
  readonly name: string;
  /** The column with the organization's id. */
  readonly column: string;
};

/**
 * The tables of the catalogue that have `organization_id`, also those of other migrations, and the organizations themselves.
 * These stay: the history, which would count what arrives as inserted; the feed with what follows it; the row that says what is moved.
 */
export async function readMovedTables(client: ClientBase): Promise<MovedTable[]> {
  const { rows } = await client.query<MovedTable>(`
    select name, "column" from (
      select 'app_hidden.organizations' as name, 'id' as "column", 0 as place
      union all
      select m.relation::text, 'organization_id', 1 from (${movedTables}) as m) as moved
    order by place, name`);
  return rows;
}

const movedTables = `
  select c.oid::regclass as relation
  from pg_class c
  join pg_namespace n on n.oid = c.relnamespace
  join pg_attribute a on a.attrelid = c.oid and a.attname = 'organization_id' and not a.attisdropped
  where c.relkind in ('r', 'p') and not c.relispartition and n.nspname !~ '^pg_' and n.nspname not in ('audit', 'feed')
    and c.oid::regclass::text <> all ('{app_public.webhook_deliveries,app_hidden.webhook_positions,app_hidden.organization_moves}')`;

/** Why a table cannot be moved, with the remedy. */
export async function findUnmovable(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ problem: string }>(`
    with moved as (${movedTables}),
    identity as (
      select c.oid, c.relpersistence, c.relreplident,
        (select array_agg(a.attname::text)
         from pg_index i join pg_attribute a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
         where i.indrelid = c.oid and case c.relreplident when 'd' then i.indisprimary when 'i' then i.indisreplident else false end) as columns
      from pg_class c
      where c.oid in (select relation from moved)
        or c.oid in (select p.relid from moved m cross join lateral pg_partition_tree(m.relation) p))
    select format('%s is unlogged, and so is not replicated: run alter table %1$s set logged.', oid::regclass) as problem
    from identity where relpersistence = 'u'
    union all
    select format('%s has no organization_id in its primary key, by which its rows are told apart: add the column to the key.', oid::regclass)
    from identity where relreplident <> 'f' and not coalesce('organization_id' = any (columns), false)
    union all
    select format('%s refers to %s and has no organization_id: add the column, and fill it.', k.conrelid::regclass, k.confrelid::regclass)
    from pg_constraint k
    join pg_class c on c.oid = k.conrelid and not c.relispartition
    join pg_namespace n on n.oid = c.relnamespace and n.nspname not in ('audit', 'feed')
    where k.contype = 'f' and k.confrelid in (select relation from moved)
      and not exists (select from pg_attribute a where a.attrelid = k.conrelid and a.attname = 'organization_id' and not a.attisdropped)
    order by problem`);
  return rows.map(({ problem }) => problem);
}

/** The columns of the moved tables, for a comparison of two databases. */
export async function readColumns(client: ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ column: string }>(`
    select format('%s.%I %s', m.relation, a.attname, format_type(a.atttypid, a.atttypmod)) as column
    from (${movedTables} union all select 'app_hidden.organizations'::regclass) as m
    join pg_attribute a on a.attrelid = m.relation and a.attnum > 0 and not a.attisdropped
    order by 1`);
  return rows.map(({ column }) => column);
}

/** Unique keys that span organizations: a value may be another organization's there. Each key's columns are one text. */
export async function readSharedKeys(
  client: ClientBase,
): Promise<{ table: string; column: string; columns: string }[]> {
  const { rows } = await client.query<{ table: string; column: string; columns: string }>(`
    select t.relation::text as "table", t."column",
      (select string_agg(format('%I', a.attname), ', ' order by k.place)
       from unnest(i.indkey::int2[]) with ordinality as k (number, place)
       join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.number where k.place <= i.indnkeyatts) as columns
    from (select relation, 'organization_id' as "column" from (${movedTables}) as m
      union all select 'app_hidden.organizations'::regclass, 'id') as t
    join pg_index i on i.indrelid = t.relation and i.indisunique
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
    select m.relation::text as "table", format('%I', a.attname) as column, d.objid::regclass::text as sequence
    from (${movedTables}) as m
    join pg_depend d on d.refclassid = 'pg_class'::regclass and d.refobjid = m.relation and d.refobjsubid > 0
      and d.classid = 'pg_class'::regclass and d.deptype in ('a', 'i')
    join pg_class s on s.oid = d.objid and s.relkind = 'S'
    join pg_attribute a on a.attrelid = m.relation and a.attnum = d.refobjsubid`);
  return rows;
}
