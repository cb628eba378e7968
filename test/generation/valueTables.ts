import type { Pool } from 'pg';
import type { Tenant } from '../graphql/support.ts';
import { define, sqlBody } from './doors.ts';
import { tableSql } from './tables.ts';

type Sample = { readonly type: string; readonly text: string; readonly value: unknown };

export const bc = '0044-03-15';

/** Values that PostgreSQL reads, and what a client gets for them. */
export const samples: readonly Sample[] = [
  { type: 'date', text: '0044-03-15 BC', value: `${bc} BC` },
  { type: 'date', text: '0001-01-01', value: '0001-01-01' },
  { type: 'date', text: '12345-01-01', value: '12345-01-01' },
  { type: 'date', text: '-infinity', value: '-infinity' },
  { type: 'timestamp', text: '0044-03-15 00:00 BC', value: `${bc}T00:00:00.000000 BC` },
  { type: 'timestamp', text: '12345-01-01 01:02:03.4', value: '12345-01-01T01:02:03.400000' },
  { type: 'timestamp', text: 'infinity', value: 'infinity' },
  { type: 'timestamptz', text: '0044-03-15 00:00Z BC', value: `${bc}T00:00:00.000000+00:00 BC` },
  { type: 'timestamptz', text: '2024-01-01 00:00Z', value: '2024-01-01T00:00:00.000000+00:00' },
  { type: 'timestamptz', text: 'infinity', value: 'infinity' },
  { type: 'time', text: '24:00', value: '24:00:00.000000' },
  { type: 'time', text: '12:00:00.1', value: '12:00:00.100000' },
  { type: 'timetz', text: '24:00+02', value: '24:00:00.000000+02:00' },
  { type: 'timetz', text: '00:00:00.000001-05:30', value: '00:00:00.000001-05:30' },
  { type: 'float4', text: '1.5', value: 1.5 },
  { type: 'float8', text: '-1e300', value: -1e300 },
  { type: 'oid', text: '4294967295', value: 4294967295 },
  { type: 'char(3)', text: 'ab', value: 'ab' },
  { type: 'inet', text: '2001:db8::/32', value: '2001:db8::/32' },
  { type: 'inet', text: '::1/128', value: '::1' },
  { type: 'inet', text: '10.0.0.1/32', value: '10.0.0.1' },
  { type: 'app_public.day', text: '0044-03-15 BC', value: `${bc} BC` },
  { type: 'app_public.day', text: 'infinity', value: 'infinity' },
];

const column = (index: number) => `c${index}`;
const columns = samples.map(({ type }, index) => `${column(index)} ${type}, ${column(index)}s ${type}[]`).join(', ');
const values = samples.map(({ text, type }) => `'${text}'::${type}, array['${text}', null]::${type}[]`).join(', ');
export const selection = samples.map((_, index) => `${column(index)} ${column(index)}s`).join(' ');
export const answered = Object.fromEntries(
  samples.flatMap(({ value }, index) => [
    [column(index), value],
    [`${column(index)}s`, [value, null]],
  ]),
);

export const intervals: readonly (readonly [text: string, parts: Readonly<Record<string, number>>])[] = [
  ['-1.5 seconds', { seconds: -1.5 }],
  ['-0.5 seconds', { seconds: -0.5 }],
  ['-00:00:00.000001', { seconds: -0.000001 }],
  ['1 year -2 days 25:00:00.5', { years: 1, days: -2, hours: 25, seconds: 0.5 }],
  ['-1 mon -00:01:59.25', { months: -1, minutes: -1, seconds: -59.25 }],
];

export const tables = ['kept', 'spans', 'odds', 'weights', 'grids', 'documents', 'periods'];

/** Tables with a column of each type and its array, functions that take and return them, and rows. */
export async function createValueTables({ organizationId }: Tenant, owner: Pool): Promise<void> {
  await owner.query(`
  create domain app_public.day as date;
  create type app_public.every as (${columns});
  create type app_public.float8s as (ratio float8, ratios float8[]);
  ${tableSql({ name: 'kept', columns: `id int, parent_id int, ${columns}, every app_public.every`, key: ['id'], indexes: ['parent_id, id'] })}
  alter table app_public.kept add constraint kept_parent_id_fkey foreign key (organization_id, parent_id) references app_public.kept;
  comment on constraint kept_parent_id_fkey on app_public.kept is E'@fieldName parent\\n@foreignFieldName children';
  ${define('kept_again(k app_public.kept)', `returns app_public.every ${sqlBody('select k.every', 'stable')}`, 'Every.')}
  ${samples.map(({ type }, n) => define(`kept_field${n}(k app_public.kept)`, `returns ${type} ${sqlBody(`select k.${column(n)}`, 'stable')}`, 'One.')).join('\n')}
  ${samples.map(({ type }, n) => define(`echo${n}(value ${type}, list ${type}[])`, `returns ${type}[] ${sqlBody('select value || list')}`, '@mutation\nThe same.')).join('\n')}
  ${tableSql({ name: 'spans', columns: `id int, spans interval[], days daterange, hours tstzrange, hour_list tstzrange[], ${intervals.map((_, n) => `s${n} interval`).join(', ')}`, key: ['id'] })}
  ${tableSql({ name: 'odds', columns: 'id int, ratio float8, small real, ratios float8[], pair app_public.float8s, place point, wait interval, needed float8 not null', key: ['id'] })}
  ${tableSql({ name: 'weights', columns: 'ratio float8', key: ['ratio'] })}
  ${tableSql({ name: 'grids', columns: 'id int, ints int[], texts text[], days date[], bools bool[], datas jsonb[], boxes box[], pairs app_public.pair[]', key: ['id'] }).replace('create table', 'create type app_public.pair as (word text, amount int); create table')}
  create domain app_public.settings as jsonb check (value is not null);
  ${tableSql({ name: 'documents', columns: 'id int not null, data jsonb not null, text json not null, settings app_public.settings not null', key: ['id'] })}
  ${tableSql({ name: 'periods', columns: 'id int not null, ints int4range, days daterange, list daterange[]', key: ['id'] })}
  ${tables.map((table) => define(`${table}_whole(item app_public.${table})`, `returns text ${sqlBody('select item::text', 'stable')}`, 'The row.')).join('\n')}
  ${tables.map((table) => define(`list_${table}()`, `returns setof app_public.${table} ${sqlBody(`select * from app_public.${table}`)}`, '@mutation\nAll.')).join('\n')}`);
  const insert = (statement: string) => owner.query(statement, [organizationId]);
  await insert(
    `insert into app_public.kept select $1, id, nullif(id - 1, 0), ${values}, row (${values})::app_public.every from generate_series(1, 2) id`,
  );
  await insert(
    `insert into app_public.spans values ($1, 1, array[${intervals.map(([text]) => `'${text}'`).join(', ')}]::interval[],
     '[-infinity,infinity]', '["0044-03-15 00:00Z BC",infinity]', array['[2024-01-01 00:00Z,]', null]::tstzrange[],
     ${intervals.map(([text]) => `'${text}'`).join(', ')})`,
  );
  await insert('insert into app_public.spans values ($1, 2)');
  await insert(
    `insert into app_public.odds values ($1, 1, 'NaN', 'Infinity', '{1,-Infinity,2}', row ('NaN', '{NaN}'), '(1,NaN)', '2562047788 hours', 1),
     ($1, 2, 1, 1, '{}', null, null, 'infinity', '-Infinity')`,
  );
  await insert(`insert into app_public.weights values ($1, 'NaN'), ($1, 1.5)`);
  await insert(
    `insert into app_public.grids values ($1, 1, '{{1,2},{3,NULL}}', '[2:2][0:1][1:1]={{{"a,b"},{"{{"}}}', '{{2024-01-01},{infinity}}',
     '{{t},{f}}', array[['[1, [2]]', '{"a": 9007199254740993}']]::jsonb[], '{{(1,1),(0,0);(3,3),(2,2)}}', '{{"(a,1)"},{"(b,2)"}}'),
     ($1, 2, '[3:4]={5,6}', '{"{{"}', '{}', '{t}', array['[[1]]']::jsonb[], null, '{}')`,
  );
  await insert(
    `insert into app_public.documents values ($1, 1, 'null', 'null', 'null'), ($1, 2, '[null]', '{"a": null}', '1')`,
  );
  await insert(
    `insert into app_public.periods values ($1, 1, 'empty', 'empty', '{empty}'), ($1, 2, '(,)', '(,)', '{"(,)"}')`,
  );
}
