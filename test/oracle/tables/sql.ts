import { quote } from './draw.ts';
import { functionSql } from './functionsSql.ts';
import { type Case, type Column, camelCase, type Index, type Reference, type Row, type Table } from './model.ts';
import { mutationsSql } from './mutate.ts';
import { typeOf, typesSql } from './types.ts';
import type { World } from './world.ts';

// A drawn table as SQL, by the steps of docs/changing-the-schema.md.

export const literal = (text: string | null) => (text === null ? 'null' : `'${text.replaceAll("'", "''")}'`);
const escaped = (text: string) => `E'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

export const dropsOf = ({ tables }: Case): string =>
  [
    ...tables.map(
      ({ name }) =>
        `drop function if exists app_public.${name}_echo, app_public.${name}_one, app_public.${name}_many, app_public.${name}_nothing;`,
    ),
    ...tables
      .toReversed()
      .map(
        ({ name, view }) =>
          `${view ? `drop view if exists app_public.${view} cascade; ` : ''}drop table if exists app_public.${name} cascade;`,
      ),
    ...tables.flatMap(({ functions, name }) =>
      functions
        .filter(({ shape }) => shape === 'ofApp')
        .map((made) => `drop function if exists app_public.${made.name}; -- ${name}`),
    ),
    `drop type if exists app_public.drawn_enum, app_public.drawn_pair;
drop domain if exists ${['domain', 'shelf', 'step', 'small', 'serial', 'flag', 'code'].map((name) => `app_public.drawn_${name}`).join(', ')};`,
  ].join('\n');

export const createsOf = (drawn: Case): string =>
  [typesSql, ...drawn.tables.map((table) => createOf(table, drawn))].join('\n');

/** The columns of a reference: a unit or user has one, a drawn table as many as its key. */
export function columnsOf(
  { name, target }: Reference,
  tables: readonly Table[],
): { name: string; key: string; type: string }[] {
  if (target === 'units' || target === 'users') return [{ name: `${name}_id`, key: 'id', type: 'uuid' }];
  const table = tables.find((other) => other.name === target);
  return (table ? keyOf(table, tables) : []).map(({ name: key, type }) => ({ name: `${name}_${key}`, key, type }));
}

/** The columns of the key behind `organization_id`. */
export function keyOf(table: Table, tables: readonly Table[]): { name: string; type: string }[] {
  return table.key.flatMap((part) => {
    const reference = table.references.find(({ name }) => name === part);
    if (reference) return columnsOf(reference, tables);
    const column = table.columns.find(({ name }) => name === part);
    return [{ name: part, type: column ? typeOf(column.type).sql : 'int' }];
  });
}

export const names = (columns: readonly { name: string }[]) => columns.map(({ name }) => quote(name)).join(', ');

function createOf(table: Table, { tables }: Case): string {
  const { name } = table;
  const key = keyOf(table, tables);
  const partition = partitionOf(table);
  const ofApp = (field: string) =>
    `@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName ${field}|@forwardBehavior -*|@backwardBehavior -list +connection`;
  const columns = [
    'organization_id uuid not null',
    'mark int not null',
    ...table.references.flatMap((reference) =>
      columnsOf(reference, tables).map(
        (column) => `${quote(column.name)} ${column.type}${reference.isNullable ? '' : ' not null'}`,
      ),
    ),
    ...(table.interface ? ['kind text not null'] : []),
    ...table.columns.map(columnSql),
    `constraint ${name}_pkey primary key (organization_id, ${names(key)})`,
  ];
  return [
    `create table app_public.${name} (\n  ${columns.join(',\n  ')}\n)${partition.by};`,
    ...partition.parts,
    ...table.references.flatMap((reference) => referenceSql(table, reference, tables)),
    ...table.indexes.map((index, place) => indexSql(table, index, `${name}_${place}_idx`, key)),
    `comment on table app_public.${name} is ${escaped(`${ofApp(camelCase(name))}\n${interfaceTags(table)}${connectionTags(table)}A row of ${name}.`)};`,
    ...table.columns.map((column) => commentSql(table, column)),
    `comment on column app_public.${name}.mark is 'Mark.';`,
    recordsSql(table),
    policiesSql(table),
    ...(table.view ? [viewSql(table, table.view, key, ofApp(camelCase(table.view)))] : []),
    ...table.functions.map((made) => functionSql(table, made)),
    mutationsSql(table),
  ].join('\n');
}

/** Recorded and followed by other names of columns. The guide follows a table again if a column of its key was renamed. */
function recordsSql({ name, columns, key }: Table): string {
  const renamed = columns.filter(({ isRenamed }) => isRenamed);
  const rename = (from: string, to: string) =>
    renamed.map(
      (column) => `alter table app_public.${name} rename ${quote(from + column.name)} to ${quote(to + column.name)};`,
    );
  const secrets = columns
    .filter(({ isSecret }) => isSecret)
    .map((column) => `${column.isRenamed ? 'former ' : ''}${column.name}`);
  const isKeyRenamed = renamed.some((column) => key.includes(column.name));
  return [
    ...rename('', 'former '),
    `select audit.record('app_public.${name}', secrets => array[${secrets.map(literal).join(', ')}]::name[]);`,
    `select feed.follow('app_public.${name}');`,
    ...rename('former ', ''),
    ...(isKeyRenamed ? [`select feed.follow('app_public.${name}');`] : []),
  ].join('\n');
}

/** The marks of rows that history or feed have not exactly once, with each value but the secrets and by their keys. */
export function unrecordedSql(table: Table, { tables }: Case): string {
  const key = keyOf(table, tables);
  const value = (column: string) => `to_jsonb(t.${quote(column)})`;
  const kept = [
    ...['organization_id', 'mark', ...(table.interface ? ['kind'] : [])],
    ...table.references.flatMap((reference) => columnsOf(reference, tables).map((column) => column.name)),
    ...table.columns.filter(({ generated }) => !generated).map((column) => column.name),
  ];
  const secrets = table.columns.filter(({ isSecret }) => isSecret).map((column) => column.name);
  const valuesOf = (columns: readonly string[]) =>
    `(select jsonb_object_agg(e.key, e.value) from (values ${columns.map((column) => `(${literal(column)}, ${value(column)})`).join(', ')}) as e (key, value) where e.value <> 'null')`;
  const texts = key.map((column) => `${value(column.name)} #>> '{}'`);
  const rowId =
    key.length === 1
      ? texts[0]
      : `jsonb_build_object(${key.map((column) => `${literal(column.name)}, ${value(column.name)}`).join(', ')})::text`;
  return `select t.mark from app_public.${table.name} t
where (
  select count(*) from audit.changes c
  where c.id > $1 and c.relation = 'app_public.${table.name}' and c.command = 'insert' and c.organization_id = t.organization_id
    and c.row_id = ${rowId} and c.after = ${valuesOf(kept.filter((column) => !secrets.includes(column)))}
    and c.columns <@ array(select jsonb_object_keys(${valuesOf(kept)})) and c.columns @> array(select jsonb_object_keys(${valuesOf(kept)}))
) <> 1 or (
  select count(*) from feed.changes c
  where c.id > $2 and c.relation = 'app_public.${table.name}' and c.operation = 'CREATE' and c.organization_id = t.organization_id
    and c.key = array[${texts.join(', ')}] and c.type is not distinct from ${table.interface ? 't.kind' : 'null'}
) <> 1`;
}

const columnSql = ({ name, type, isNullable, generated }: Column) =>
  `${quote(name)} ${typeOf(type).sql}${generated ? ` generated always as (${generated}) stored` : ''}${isNullable ? '' : ' not null'}`;

/** By its first column of the key; a default partition takes what the other does not. */
function partitionOf({ name, partition, key, columns }: Table): { by: string; parts: string[] } {
  const column = columns.find((other) => other.name === key[0]);
  if (!partition || !column) return { by: '', parts: [] };
  const [first = '', second = '', third = ''] = typeOf(column.type).values;
  const ranges = {
    hash: ['for values with (modulus 2, remainder 0)', 'for values with (modulus 2, remainder 1)'],
    list: [`for values in (${literal(first)}, ${literal(third)})`, 'default'],
    range: [`for values from (minvalue) to (${literal(second)})`, 'default'],
  };
  return {
    by: ` partition by ${partition} (${quote(column.name)})`,
    parts: ranges[partition].map(
      (range, n) => `create table app_public.${name}_p${n} partition of app_public.${name} ${range};`,
    ),
  };
}

function referenceSql({ name: table }: Table, reference: Reference, tables: readonly Table[]): string[] {
  const { name, target, forward, backward } = reference;
  const columns = columnsOf(reference, tables);
  const keys = columns.map(({ key }) => quote(key)).join(', ');
  return [
    `alter table app_public.${table} add constraint ${table}_${name}_fkey foreign key (organization_id, ${names(columns)}) references app_public.${target} (organization_id, ${keys});`,
    `create index ${table}_${name}_idx on app_public.${table} (organization_id, ${names(columns)});`,
    `comment on constraint ${table}_${name}_fkey on app_public.${table} is E'@fieldName ${forward}\\n@foreignFieldName ${backward}';`,
  ];
}

function indexSql({ name }: Table, index: Index, called: string, key: readonly { name: string }[]): string {
  const parts = index.columns.map((part, place) => {
    if (place > 0) return quote(part);
    if (index.kind === 'desc') return `${quote(part)} desc nulls last`;
    return index.kind === 'nulls' ? `coalesce(${quote(part)}, '')` : quote(part);
  });
  const isUnique = index.kind === 'unique';
  const behind = key.filter((part) => !index.columns.includes(part.name)).map((part) => quote(part.name));
  return `create ${isUnique ? 'unique ' : ''}index ${called} on app_public.${name} (organization_id, ${[...parts, ...(isUnique ? behind : [])].join(', ')});`;
}

const commentSql = ({ name: table }: Table, { name, filters }: Column) =>
  `comment on column app_public.${table}.${quote(name)} is ${escaped(`${filters.map(({ argument, operator }) => `@filter ${argument}${operator === 'anyOf' ? '' : ` ${operator}`}\n`).join('')}Column ${name}.`)};`;

const interfaceTags = ({ interface: made }: Table) =>
  made
    ? `@interface mode:single type:kind\n${made.kinds.map(({ value, type, attributes }) => `@type ${value} name:${type}${attributes.length > 0 ? ` attributes:${attributes.join(',')}` : ''}\n`).join('')}`
    : '';

const connectionTags = ({ references }: Table) =>
  references
    .filter(({ conditional }) => conditional)
    .map(
      ({ conditional, name, target }) =>
        `@connection ${target === 'units' ? 'Unit' : 'User'}.${conditional}|@where child.${name}_id = parent.id and child.organization_id = parent.organization_id and child.mark > 40|@description Rows with marks above 40.\n`,
    )
    .join('');

function policiesSql({ name, policy, references }: Table): string {
  const own = 'organization_id = (select app_hidden.current_organization_id())';
  const column = (target: string) => `${name}.${references.find((reference) => reference.target === target)?.name}_id`;
  const seen = {
    all: own,
    none: 'false',
    unit: `${own} and exists (select from app_public.units u where u.organization_id = ${name}.organization_id and u.id = ${column('units')})`,
    user: `${own} and ${column('users')} = (select app_hidden.current_user_id())`,
  };
  return `alter table app_public.${name} enable row level security, force row level security;
create policy all_graph_admin on app_public.${name} for all to graph_admin using (true) with check (true);
create policy select_graph_app on app_public.${name} for select to graph_app using (${own});
create policy insert_graph_app on app_public.${name} for insert to graph_app with check (${own});
create policy select_graph_user on app_public.${name} for select to graph_user using (${seen[policy]});
create policy select_graph_basic on app_public.${name} for select to graph_basic using (false);
grant select, insert, update, delete on app_public.${name} to graph_admin;
grant select, insert on app_public.${name} to graph_app;
grant select on app_public.${name} to graph_user, graph_basic;`;
}

const viewSql = (table: Table, view: string, key: readonly { name: string }[], ofApp: string) =>
  `create view app_public.${view} with (security_invoker) as
  select organization_id, mark, ${names([...key.filter(({ name }) => !table.columns.some((column) => column.name === name) && name !== 'mark'), ...table.columns])}
  from app_public.${table.name} where mark % 2 = 1;
comment on view app_public.${view} is ${escaped(`@primaryKey organization_id,${key.map(({ name }) => name).join(',')}\n${ofApp}\nRows with odd marks.`)};
grant select on app_public.${view} to graph_app, graph_user;`;

/** Those whose key is there already are left out, and so are those that miss a row to refer to. */
export function insertOf(table: Table, row: Row, { tables }: Case, { organizations }: World): string {
  const { id, units, users } = organizations[row.organization];
  const parts: [string, string][] = [
    ['organization_id', literal(id)],
    ['mark', String(row.mark)],
  ];
  for (const reference of table.references) {
    const mark = row.references[reference.name] ?? null;
    for (const { name, key } of columnsOf(reference, tables)) {
      const known = reference.target === 'units' ? units : users;
      const value =
        reference.target === 'units' || reference.target === 'users'
          ? literal(mark === null ? null : (known[mark]?.uuid ?? null))
          : `(select ${quote(key)} from app_public.${reference.target} where organization_id = ${literal(id)} and mark = ${mark})`;
      parts.push([quote(name), value]);
    }
  }
  if (table.interface) parts.push(['kind', literal(row.values.kind ?? null)]);
  for (const { name, generated } of table.columns) {
    if (!generated) parts.push([quote(name), literal(row.values[name] ?? null)]);
  }
  return `insert into app_public.${table.name} (${parts.map(([name]) => name).join(', ')}) values (${parts.map(([, value]) => value).join(', ')}) on conflict do nothing;`;
}
