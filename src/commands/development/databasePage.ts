import type { ClientBase } from 'pg';
import { type ObjectPart, readObjectParts } from './databaseObjects.ts';

/** `docs/database.md`: a diagram of the tables, and a sentence for each object from its comment. */
export async function readDatabasePage(client: ClientBase, given?: readonly ObjectPart[]): Promise<string> {
  const parts = given ?? (await readObjectParts(client));
  await client.query(`set search_path = ''`);
  const { rows: keys } = await client.query<{ line: string }>(foreignKeys);
  const shown = kinds.flatMap((kind) => parts.filter(({ subject }) => kind.test(subject))).filter(isShown);
  return [
    '# The database',
    'Every object that the migrations make, with the first sentence of its comment. `npm run schema:update` writes this page; [`test/database/catalogue.sql`](../test/database/catalogue.sql) has columns, keys, indexes, policies and rights.',
    'A line is a foreign key. Those to `app_hidden.organizations`, which each table with an `organization_id` belongs to, are left out.',
    ['```mermaid', 'erDiagram', ...keys.map(({ line }) => line), '```'].join('\n'),
    ...[...Map.groupBy(shown, ({ schema }) => schema)].flatMap(([schema, all]) => [
      `## ${schema}`,
      ['| | | |', '|---|---|---|', ...all.map(pageRow)].join('\n'),
    ]),
  ]
    .join('\n\n')
    .concat('\n');
}

/** In the order of the page. */
const kinds = [/^(materialized )?(table|view) /, /^(type|domain) /, /^(function|procedure|aggregate) /];

/** Partitions are made and dropped. */
const isShown = ({ schema, definition }: ObjectPart) =>
  schema !== 'public' && !definition.startsWith('-- A partition of');

function pageRow({ subject, definition, description }: ObjectPart): string {
  const [, kind, name] = /^([a-z ]+) (?:\w+|"[^"]*")\.(.*)$/.exec(subject) ?? [];
  const shown = kind === 'function' && /^ RETURNS trigger$/m.test(definition) ? 'trigger' : kind;
  return `| ${shown} | \`${name?.replaceAll('"', '').replaceAll(',', ', ')}\` | ${firstSentence(description ?? '').replaceAll('|', '\\|')} |`;
}

/** The first sentence of the description that follows the smart tags. */
export function firstSentence(comment: string): string {
  const description = comment
    .split('\n')
    .filter((line) => !/^\s*@\w/.test(line))
    .join(' ')
    .trim();
  return /^.*?[.](?=\s|$)/s.exec(description)?.[0] ?? description;
}

const foreignKeys = `
  select format('  "%s" %s "%s" : "%s"', k.confrelid::regclass,
    case when exists (select from pg_index i where i.indrelid = k.conrelid and i.indisunique and i.indpred is null
      and i.indkey::int2[] <@ k.conkey and i.indkey::int2[] @> k.conkey) then '||--o|' else '||--o{' end,
    k.conrelid::regclass, (
    select string_agg(a.attname, ', ' order by place) from unnest(k.conkey) with ordinality as c (number, place)
    join pg_attribute a on a.attrelid = k.conrelid and a.attnum = number where a.attname <> 'organization_id')) as line
  from pg_constraint k join pg_class c on c.oid = k.conrelid join pg_namespace n on n.oid = c.relnamespace
  where k.contype = 'f' and k.conparentid = 0 and not c.relispartition and k.confrelid <> to_regclass('app_hidden.organizations')
    and nspname !~ '^(pg_|information_schema$|public$|graphile_)'
  order by k.confrelid::regclass::text collate "C", k.conrelid::regclass::text collate "C", k.conname collate "C"`;
