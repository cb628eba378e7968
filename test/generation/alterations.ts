import { tableSql } from './tables.ts';

/** A table of another team's, whose answers stay the same whatever {@link alterations} does to it. */
export const spansSql = tableSql({
  name: 'spans',
  columns: `id uuid not null default app_hidden.uuid_v7(), name text not null, width int not null default 1, note varchar(20),
    spare text`,
  key: ['id'],
  indexes: ['name'],
});

export const insertSpans = `
  insert into app_public.spans (organization_id, name, note) select $1, 'Span ' || n, 'x' from generate_series(1, 3) as n`;

/** Queries that read its rows in each way that has a statement of its own. */
export const spanQueries = (id: string): readonly string[] => [
  `{ node(id: "${id}") { id ... on Span { name width note } } }`,
  '{ app { spans(first: 2) { nodes { id name width note } pageInfo { endCursor } } } }',
  '{ app { spans(first: 2, orderBy: [NAME_DESC]) { totalCount edges { cursor node { name } } } other: spans(last: 1) { nodes { note } } } }',
];

/** Changes that a person makes to a table by hand or in a migration, while the service answers requests. */
export const alterations: Readonly<Record<string, string>> = {
  'another type of the same values': 'alter column name type varchar(100)',
  'that type back': 'alter column name type text',
  'a wider number': 'alter column width type bigint',
  'that number back': 'alter column width type int',
  'another length': 'alter column note type varchar(40)',
  'no length': 'alter column note type text',
  'another collation': 'alter column note type text collate "C"',
  'several types at once':
    'alter column name type varchar, alter column note type varchar, alter column width type smallint',
  'a new column': 'add column added text',
  'a new column with a default': 'add column since timestamptz not null default now()',
  'a generated column': 'add column doubled int generated always as (2) stored',
  'a column less': 'drop column spare',
  'a column less that was added': 'drop column added',
  'null again': 'alter column width drop not null',
  'never null': 'alter column width set not null',
  'another default': 'alter column width set default 2',
  'a constraint': 'add constraint spans_width_positive check (width > 0)',
  'a constraint with another name': 'rename constraint spans_width_positive to spans_width_above_zero',
  'a constraint less': 'drop constraint spans_width_above_zero',
  'a unique key': 'add constraint spans_name_key unique (organization_id, name)',
  'a fill factor': 'set (fillfactor = 80)',
  'another storage': 'alter column name set storage external',
  'finer statistics': 'alter column name set statistics 500',
  'triggers off and on': 'disable trigger user, enable trigger user',
  'a replica identity': 'replica identity full',
  'no log': 'set unlogged',
  'a log': 'set logged',
};
