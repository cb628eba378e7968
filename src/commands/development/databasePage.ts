import type { ClientBase } from 'pg';

/** `docs/database.md`: a diagram of the tables, and a sentence for each object from its comment. */
export async function readDatabasePage(client: ClientBase): Promise<string> {
  await client.query(`set search_path = ''`);
  const { rows: keys } = await client.query<{ from: string; to: string; columns: string; isOne: boolean }>(foreignKeys);
  const { rows: objects } = await client.query<Described>(described);
  const schemas = Map.groupBy(objects, ({ schema }) => schema);
  return [
    '# The database',
    'Every object that the migrations make, with the first sentence of its comment. `npm run schema:update` writes this page; the definitions are in [`test/database/objects`](../test/database/objects).',
    'A line is a foreign key. Those to `app_hidden.organizations`, which each table with an `organization_id` belongs to, are left out.',
    ['```mermaid', 'erDiagram', ...keys.map(lineOf), '```'].join('\n'),
    ...[...schemas].flatMap(([schema, all]) => [
      `## ${schema}`,
      ['| | | |', '|---|---|---|', ...all.filter(({ kind }) => kind !== 'schema').map(rowOf)].join('\n'),
    ]),
  ]
    .join('\n\n')
    .concat('\n');
}

type Described = { schema: string; name: string; kind: string; comment: string | null };

const lineOf = ({ from, to, columns, isOne }: { from: string; to: string; columns: string; isOne: boolean }) =>
  `  "${to}" ${isOne ? '||--o|' : '||--o{'} "${from}" : "${columns}"`;

const rowOf = ({ name, kind, comment }: Described) =>
  `| ${kind} | \`${name}\` | ${sentenceOf(comment ?? '').replaceAll('|', '\\|')} |`;

/** The first sentence of the description that follows the smart tags. */
export function sentenceOf(comment: string): string {
  const description = comment
    .split('\n')
    .filter((line) => !/^\s*@\w/.test(line))
    .join(' ')
    .trim();
  return /^.*?[.](?=\s|$)/s.exec(description)?.[0] ?? description;
}

/** Partitions are made and dropped, and extensions have pages of their own. The columns by which a table is partitioned depend on it, too. */
const isShown = (catalog: string, oid: string) =>
  `nspname !~ '^(pg_|information_schema$|public$|graphile_)' and not exists (
     select from pg_depend d where d.classid = '${catalog}'::regclass and d.objid = ${oid} and d.objsubid = 0 and d.deptype in ('e', 'i'))`;

const foreignKeys = `
  select k.conrelid::regclass::text as from, k.confrelid::regclass::text as to,
    (select string_agg(a.attname, ', ' order by place) from unnest(k.conkey) with ordinality as c (number, place)
     join pg_attribute a on a.attrelid = k.conrelid and a.attnum = number where a.attname <> 'organization_id') as columns,
    exists (select from pg_index i where i.indrelid = k.conrelid and i.indisunique and i.indpred is null
      and i.indkey::int2[] <@ k.conkey and i.indkey::int2[] @> k.conkey) as "isOne"
  from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
  where k.contype = 'f' and k.conparentid = 0 and not c.relispartition and k.confrelid <> to_regclass('app_hidden.organizations')
    and ${isShown('pg_class', 'c.oid')}
  order by k.confrelid::regclass::text collate "C", k.conrelid::regclass::text collate "C", k.conname collate "C"`;

const described = `
  select nspname as schema, name, kind, comment
  from (
    select n.nspname, c.relname::text as name, case c.relkind when 'v' then 'view' when 'm' then 'materialized view' when 'f' then 'foreign table' else 'table' end as kind,
      obj_description(c.oid, 'pg_class') as comment, 1 as place
    from pg_class c join pg_namespace n on n.oid = c.relnamespace
    where c.relkind in ('r', 'p', 'v', 'm', 'f') and not c.relispartition and ${isShown('pg_class', 'c.oid')}
    union all
    select n.nspname, t.typname, case t.typtype when 'd' then 'domain' else 'type' end, obj_description(t.oid, 'pg_type'), 2
    from pg_type t join pg_namespace n on n.oid = t.typnamespace
    where (t.typtype in ('d', 'e', 'r') or t.typtype = 'c' and exists (select from pg_class c where c.oid = t.typrelid and c.relkind = 'c'))
      and ${isShown('pg_type', 't.oid')}
    union all
    select n.nspname, p.proname || '(' || oidvectortypes(p.proargtypes) || ')',
      case p.prokind when 'p' then 'procedure' when 'a' then 'aggregate' else case when p.prorettype = 'trigger'::regtype then 'trigger' else 'function' end end,
      obj_description(p.oid, 'pg_proc'), 3
    from pg_proc p join pg_namespace n on n.oid = p.pronamespace
    where ${isShown('pg_proc', 'p.oid')}
  ) as objects
  order by nspname collate "C", place, name collate "C"`;
