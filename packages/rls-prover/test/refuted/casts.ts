import { type Refuted, visible } from './support.ts';

const client = 'table app.things';
const shows = (condition: string, columns = '', row = '') =>
  visible(columns, `(1, 1${row && `, ${row}`}), (2, 2${row && `, ${row}`})`, `tenant_id = app.t() or (${condition})`);
const json = (condition: string, value: string) => shows(condition, 'data jsonb not null', `'${value}'`);

const values: readonly (readonly [title: string, condition: string, columns?: string, row?: string])[] = [
  ['char that ignores blanks', "label = 'a ' and label = 'a'", 'label char(2) not null', "'a'"],
  ['char that loses blanks as text', "label::text = 'a' and octet_length(label) = 2", 'label char(2) not null', "'a'"],
  ['a name that is cut', 'label::name::text <> label', 'label text not null', "repeat('a', 70)"],
  ['a text of one byte that is cut', `label::"char" = 'a'::"char" and label = 'ab'`, 'label text not null', "'ab'"],
  ['a text of one character that is cut', "label::char = 'a'::char and label = 'ab'", 'label text not null', "'ab'"],
  ['a number that is rounded up', 'amount::int = 1 and amount <> 1', 'amount numeric not null', '0.5'],
  ['a number that is rounded to an even one', 'amount::int = 2 and amount <> 2', 'amount float8 not null', '2.5'],
  ['an integer that is a boolean', 'id::boolean and id <> 1 or id = 1 and id::boolean'],
  ['whole numbers that differ in their last digit', '9007199254740993 <> 9007199254740992'],
  ['whole numbers that are written with underscores', "'1_0'::int = 10 and 1_0 = 10"],
  ['whole numbers that are written in base 16', "'0x10'::int = 16 and 0x10 = 16"],
  ['whole numbers that are written with blanks', "' 7 '::int = 7"],
  ['booleans by another word', "'yes'::boolean and not 'of'::boolean"],
  [
    'uuids in capital letters',
    "key = 'AAAAAAAA-0000-4000-8000-000000000000' and key = 'aaaaaaaa-0000-4000-8000-000000000000'",
    'key uuid not null',
    "'aaaaaaaa-0000-4000-8000-000000000000'",
  ],
  ['uuids in braces', "'{aaaaaaaa00004000-8000000000000000}'::uuid = 'aaaaaaaa-0000-4000-8000-000000000000'::uuid"],
  ['bytes in two formats', String.raw`key = '\x41' and key = 'A'`, 'key bytea not null', "'A'"],
  ['dates in two formats', "key = '2026-01-02' and key = 'Jan 2 2026'", 'key date not null', "'2026-01-02'"],
  [
    'a day that ends at 24 o’clock',
    "key = '2026-01-02 24:00' and key = '2026-01-03'",
    'key timestamp not null',
    "'2026-01-03'",
  ],
  ['texts with escapes', String.raw`E'\x61' = 'a' and U&'\0061' = 'a'`],
  ['texts over two lines', "'a'\n'b' = 'ab'"],
  ['an empty text that is no null', "label is not null and label = ''", 'label text not null', "''"],
  ['the order of texts', "'a' < 'B' collate \"C\" or 'B' < 'a' collate \"C\""],
  ['a domain that cuts', "label::app.short = 'a' and label = 'ab'", 'label text not null', "'ab'"],
  ['an array of one that is none', "label::int[] = array[1] and label = '{1}'", 'label text not null', "'{1}'"],
  ['an array that begins elsewhere', "key[0] = 5 and key = '[0:0]={5}'", 'key int[] not null', "'[0:0]={5}'"],
  ['an array without elements', 'not (id = any (key)) and id <> all (key)', 'key int[] not null', "'{}'"],
];

/** Values that are equal, of which each has its own text. */
const equals: readonly (readonly [type: string, one: string, other: string])[] = [
  ['float8', "'0'", "'-0'"],
  ['numeric', '1.0', '1.00'],
  ['interval', "'1 month'", "'30 days'"],
  ['jsonb', "'1.0'", "'1.00'"],
  ['numrange', "'[1,2)'", "'[1.0,2)'"],
  ['numeric[]', "'{1}'", "'{1.0}'"],
  ['box', "'(2,2),(0,0)'", "'(4,1),(0,0)'"],
  ['app.amount', '1.0', '1.00'],
  ['app.price', "'(1)'", "'(1.0)'"],
  ['app.caseless_text', "'a'", "'A'"],
];

/** What a cast or a literal makes of a value. */
export const casts: readonly Refuted[] = [
  { title: 'a null in JSON as int', schema: json('data::int is null', 'null'), client, since: 18 },
  { title: 'a null in JSON as boolean', schema: json('data::boolean is null', 'null'), client, since: 18 },
  { title: 'a null in JSON as numeric', schema: json('data::numeric is null', 'null'), client, since: 18 },
  { title: 'a null in JSON as float8', schema: json('data::float8 is null', 'null'), client, since: 18 },
  {
    title: 'a null in JSON as bigint of a key',
    schema: json("(data -> 'a')::bigint is null and data -> 'a' is not null", '{"a": null}'),
    client,
    since: 18,
  },
  { title: 'a null in JSON as text', schema: json("data #>> '{}' is null", 'null'), client },
  {
    title: 'a null in JSON as the text of a key',
    schema: json("data -> 'a' is not null and data ->> 'a' is null", '{"a": null}'),
    client,
  },
  {
    title: 'a null in JSON as a record',
    schema: json(
      "(select a from jsonb_to_record(data) as r (a int)) is null and data -> 'a' is not null",
      '{"a": null}',
    ),
    client,
  },
  { title: 'a key of JSON that comes twice', schema: json("data ->> 'a' = '2'", '{"a": 1, "a": 2}'), client },
  {
    title: 'a cast of the database to text',
    schema: `create function app.hidden(int) returns text language sql immutable as $$ select 'x' $$;
      create cast (int as text) with function app.hidden(int);
      ${visible('', '(1, 1), (2, 2)', 'tenant_id::text = app.t()::text')}`,
    client,
  },
  {
    title: 'an implicit cast of the database',
    schema: `create type app.kind as enum ('a', 'b');
      create function app.number(app.kind) returns int language plpgsql stable as 'begin return app.t(); end';
      create cast (app.kind as int) with function app.number(app.kind) as implicit;
      ${visible('kind app.kind not null', "(1, 1, 'a'), (2, 2, 'b')", 'kind = app.t()')}`,
    client,
  },
  {
    title: 'a cast of the database when a row is written',
    schema: `create type app.kind as enum ('a', 'b');
      create function app.number(app.kind) returns int language sql stable as $$ select set_config('app.tenant_id', '2', true)::int $$;
      create cast (app.kind as int) with function app.number(app.kind) as assignment;
      grant insert on app.notes to client`,
    client: ["insert into app.notes values ('a'::app.kind, 9, 'x')", 'table app.notes'],
  },
  ...[
    ['text', 'app.cut', "'a '", "label = 'a ' and app.made(label) = 'a'"],
    ['timestamp', 'app.second', "'2026-01-02 03:04:05.6'", 'app.made(label) <> label'],
    ['numeric', 'app.rounded', '1.4', 'app.made(label)::text <> label::text'],
  ].map(([type, domain, row, condition]) => ({
    title: `a ${type} that a function returns as a domain that cuts or rounds it`,
    schema: `create domain app.cut as varchar(1); create domain app.second as timestamp(0); create domain app.rounded as numeric(3, 0);
      create function app.made(${type}) returns ${domain} language sql immutable as 'select $1';
      ${shows(`${condition}`, `label ${type} not null`, row)}`,
    client,
  })),
  ...[
    'coalesce(null::name, label)',
    'coalesce(label::varchar, null::name)',
    'case when id > 0 then label::varchar else null::name end',
  ].map((value) => ({
    title: `a text that becomes a name, in ${value}`,
    schema: shows(`${value}::name::text <> label`, 'label text not null', "repeat('a', 70)"),
    client,
  })),
  ...values.map(([title, condition, columns, row]) => ({
    title: `a value: ${title}`,
    schema: `create domain app.short as varchar(1); ${shows(condition, columns, row)}`,
    client,
    since: title.includes('underscores') || title.includes('base 16') ? 16 : 0,
  })),
  ...equals.map(([type, one, other]) => ({
    title: `equal values of ${type.replace('app.', '').replace('[]', ' array')} whose texts differ`,
    schema: `create domain app.amount as numeric; create type app.price as (amount numeric);
      create collation app.caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      create domain app.caseless_text as text collate app.caseless;
      ${shows('one = other and one::text::bytea <> other::text::bytea', `one ${type} not null, other ${type} not null`, `${one}, ${other}`)}`,
    client,
  })),
];
