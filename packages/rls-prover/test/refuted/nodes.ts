import { type Refuted, visible } from './support.ts';

const client = 'table app.things';
const rows = '(1, 1), (2, 2)';
const labels = "(1, 1, 'ab'), (2, 2, 'ab')";

/** Shows things of others when a condition is true, which looks as if it never were. */
const shows = (condition: string, columns = '', values = rows): string =>
  visible(columns, values, `tenant_id = app.t() or ${condition}`);
const keys =
  'create table app.keys (k int not null); insert into app.keys values (1), (2); grant select on app.keys to client;';
const caseless = `create collation app.caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);`;

const joined = (from: string) => `
  create table app.members (k int); create table app.groups (k int); create table app.shares (k int);
  insert into app.groups values (1), (2); insert into app.shares values (1), (2);
  alter table app.members enable row level security;
  create policy own on app.members to client using (k = app.t());
  grant select on app.members, app.groups, app.shares to client;
  ${visible('', rows, `exists (select from ${from} where s.k = things.tenant_id)`)}`;
const joins = { client, shared: ['app.members', 'app.groups', 'app.shares'] };

/** Compares a label with two texts that differ in their letters' case. */
const collated = (comparison: string) => `${caseless}
  create table app.labels (id int, label text collate app.caseless not null); grant select on app.labels to client;
  insert into app.labels values (1, 'ab'), (2, 'ab');
  create function app.is_equal(a text, b text) returns boolean language sql immutable as 'select a = b';
  ${shows(
    `(${comparison.replace('#', 'AB')} and ${comparison.replace('#', 'ab')})`,
    'label text collate app.caseless not null',
    labels,
  )}`;

const collations: readonly (readonly [title: string, comparison: string])[] = [
  ['reaches a function of PostgreSQL', "left(label, 2) = '#'"],
  ['reaches nullif', "nullif(label, '#') is null"],
  ['reaches a case', "case label when '#' then true else false end"],
  ['reaches coalesce', "coalesce(label, 'x') = '#'"],
  ['reaches distinct from', "label is not distinct from '#'"],
  ['reaches the comparison of rows', "(label, 1) = ('#', 1)"],
  ['reaches the comparison of arrays', "array[label] = array['#']"],
  ['reaches the overlap of arrays', "array[label] && array['#']"],
  ['reaches any', "label = any (array['#'])"],
  ['reaches a column of a subquery', "(select l.label from app.labels l where l.id = things.id) = '#'"],
  ['reaches a subquery of in', "'#' in (select l.label from app.labels l)"],
  [
    'reaches a column of a union',
    "exists (select from (select label union all select 'x') l (label) where l.label = '#')",
  ],
  ['reaches a parameter in SQL', "app.is_equal(label, '#')"],
  ['reaches unnest', "exists (select from unnest(array[label]) l where l = '#')"],
];

/** What a node of the parse tree has beside its operands. */
export const nodes: readonly Refuted[] = [
  {
    title: 'the precision of current_timestamp',
    schema: shows('current_timestamp(0) <> current_timestamp'),
    client,
  },
  {
    title: 'the precision of localtimestamp',
    schema: shows('localtimestamp(0) <> localtimestamp(6)'),
    client,
  },
  ...['current_timestamp', 'localtimestamp', 'current_time', 'localtime'].map((name) => ({
    title: `the precision of ${name} in a function`,
    schema: `create function app.whole() returns text language sql stable as 'select ${name}(0)::text';
      create function app.exact() returns text language sql stable as 'select ${name}::text';
      ${shows('app.whole() <> app.exact()')}`,
    client,
  })),
  {
    title: 'the precision of what a function returns',
    schema: `create function app.whole() returns timestamptz language sql stable as 'select current_timestamp(0)';
      create function app.exact() returns timestamptz language sql stable as 'select current_timestamp';
      ${shows('app.whole() <> app.exact()')}`,
    client,
  },
  {
    title: 'the precision of a cast to timestamptz',
    schema: shows('now()::timestamptz(0) <> now()::timestamptz(6)'),
    client,
  },
  {
    title: 'the length of a cast to varchar',
    schema: shows('label::varchar(1) <> label::varchar(2)', 'label text not null', labels),
    client,
  },
  {
    title: 'the scale of a cast to numeric',
    schema: shows(
      'amount::numeric(3, 0) <> amount::numeric(3, 1)',
      'amount numeric not null',
      '(1, 1, 1.4), (2, 2, 1.4)',
    ),
    client,
  },
  {
    title: 'the fields of an interval',
    schema: shows("interval '1' year <> interval '1' month"),
    client,
  },
  {
    title: 'a join of three by a column that the second one fills',
    schema: joined('app.members m right join app.groups g using (k) join app.shares s using (k)'),
    ...joins,
  },
  {
    title: 'a full join of three by one column',
    schema: joined('app.members m full join app.groups g using (k) join app.shares s using (k)'),
    ...joins,
  },
  {
    title: 'a natural join of three by one column',
    schema: joined('app.members m natural right join app.groups g natural join app.shares s'),
    ...joins,
  },
  {
    title: 'the order of the first row of a function',
    schema: `${keys}
      create function app.lowest() returns int language sql stable as $$ select k from app.keys order by k $$;
      create function app.highest() returns int language sql stable as $$ select k from app.keys order by k desc $$;
      ${shows('app.lowest() <> app.highest()')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'the offset of the first row of a function',
    schema: `${keys}
      create function app.first() returns int language sql stable as $$ select k from app.keys order by k $$;
      create function app.second() returns int language sql stable as $$ select k from app.keys order by k offset 1 $$;
      ${shows('app.first() <> app.second()')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'the order of the first row of a function that returns rows',
    schema: `${keys}
      create function app.lowest() returns setof int language sql stable as $$ select k from app.keys order by k limit 1 $$;
      create function app.highest() returns setof int language sql stable as $$ select k from app.keys order by k desc limit 1 $$;
      ${shows('(select app.lowest()) <> (select app.highest())')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'the offset of a subquery',
    schema: `${keys}
      ${shows('(select k from app.keys order by k limit 1) <> (select k from app.keys order by k limit 1 offset 1)')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'the order of a subquery',
    schema: `${keys}
      ${shows('(select k from app.keys order by k limit 1) <> (select k from app.keys order by k desc limit 1)')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'the order within an aggregate',
    schema: `${keys}
      ${shows('(select array_agg(k order by k) from app.keys) <> (select array_agg(k order by k desc) from app.keys)')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'the order of an array of a subquery',
    schema: `${keys}
      ${shows(`array_to_string(array(select k from app.keys order by k), ',')
        <> array_to_string(array(select k from app.keys order by k desc), ',')`)}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'distinct within an array of a subquery',
    schema: `${keys} insert into app.keys values (2);
      ${shows('array(select k from app.keys)::text <> array(select distinct k from app.keys)::text')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'the filter of an aggregate',
    schema: `${keys} ${shows('(select count(*) from app.keys) <> (select count(*) filter (where k > 1) from app.keys)')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'distinct within an aggregate',
    schema: `${keys} insert into app.keys values (2);
      ${shows('(select count(k) from app.keys) <> (select count(distinct k) from app.keys)')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'the order of a window',
    schema: `${keys}
      ${shows(`(select array_agg(n) from (select k, rank() over (order by k) as n from app.keys order by k) r)
        <> (select array_agg(n) from (select k, rank() over (order by k desc) as n from app.keys order by k) r)`)}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'groups of groups whose key is null',
    schema: `${keys} ${shows('exists (select from (select k from app.keys group by rollup (k)) g where g.k is null)')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'between symmetric',
    schema: shows('id between symmetric 9 and 0'),
    client,
  },
  {
    title: 'what JSON a text is',
    schema: shows(
      '(label is json array) <> (label is json scalar)',
      'label text not null',
      "(1, 1, '[]'), (2, 2, '[]')",
    ),
    client,
    since: 16,
  },
  {
    title: 'the default of a JSON value',
    schema: shows(
      "json_value(data, '$.a' returning int default 1 on empty) <> json_value(data, '$.a' returning int default 2 on empty)",
      'data jsonb not null',
      "(1, 1, '{}'), (2, 2, '{}')",
    ),
    client,
    since: 17,
  },
  {
    title: 'the form of a normalized text',
    schema: shows(
      '(label is nfc normalized) <> (label is nfd normalized)',
      'label text not null',
      String.raw`(1, 1, U&'\00e4'), (2, 2, U&'\00e4')`,
    ),
    client,
  },
  {
    title: 'a domain over a composite of nulls is null',
    schema: `create type app.pair as (a int, b int); create domain app.pairs as app.pair;
      ${shows('pair is null', 'pair app.pairs not null', '(1, 1, row(null, null)), (2, 2, row(null, null))')}`,
    client,
  },
  {
    title: 'a domain over a composite with a null is neither null nor not null',
    schema: `create type app.pair as (a int, b int); create domain app.pairs as app.pair;
      ${shows(
        'not (pair is null or pair is not null)',
        'pair app.pairs not null',
        '(1, 1, row(1, null)), (2, 2, row(1, null))',
      )}`,
    client,
  },
  {
    title: 'a composite of nulls is null',
    schema: `create type app.pair as (a int, b int);
      ${shows('pair is null', 'pair app.pair not null', '(1, 1, row(null, null)), (2, 2, row(null, null))')}`,
    client,
  },
  {
    title: 'a collation reaches the other parameters of a function',
    schema: `${caseless}
      create function app.are_equal(text, text, text) returns boolean language sql immutable as $$ select $2 = $3 $$;
      ${shows("app.are_equal(label, 'x', 'X')", 'label text collate app.caseless not null', labels)}`,
    client,
  },
  {
    title: 'a collation reaches the result of a function',
    schema: `${caseless}
      create function app.other(text) returns text language sql immutable as $$ select 'x'::text $$;
      ${shows("app.other(label) = 'X'", 'label text collate app.caseless not null', labels)}`,
    client,
  },
  ...[
    { title: 'a case', body: "select case $2 when 'X' then true else false end" },
    { title: 'in', body: "select $2 in ('X')" },
    { title: 'an exists', body: "select exists (select where $2 = 'X')" },
    { title: 'a function that it calls', body: "select app.are_equal($1, $2, 'X')" },
    { title: 'distinct from', body: "select $2 is not distinct from 'X'" },
    { title: 'nullif', body: "select nullif($2, 'X') is null" },
  ].map(({ title, body }) => ({
    title: `a collation reaches the body of a function by ${title}`,
    schema: `${caseless}
      create function app.are_equal(text, text, text) returns boolean language sql immutable as $$ select $2 = $3 $$;
      create function app.is_x(text, text) returns boolean language sql immutable as $$ ${body} $$;
      ${shows("app.is_x(label, 'x')", 'label text collate app.caseless not null', labels)}`,
    client,
  })),
  {
    title: 'a collation reaches what a function makes of another parameter',
    schema: `create collation app.turkish (provider = icu, locale = 'tr');
      create function app.up(text, text) returns text language sql immutable as $$ select upper($2) $$;
      ${shows("app.up(label, 'i') <> app.up('x', 'i')", 'label text collate app.turkish not null', labels)}`,
    client,
  },
  {
    title: 'a collation reaches any of an array in a function',
    schema: `${caseless}
      create function app.is_x(text, text) returns boolean language plpgsql stable as $$ begin return $2 = any ('{x}'); end $$;
      ${shows("app.is_x(label, 'X') <> app.is_x('y', 'X')", 'label text collate app.caseless not null', labels)}`,
    client,
  },
  ...[
    { title: 'texts of fixed length', parameters: 'text, char, char', body: '$2 < $3', given: "'a', 'B'" },
    { title: 'arrays', parameters: 'text, text[]', body: "$2 < '{B}'", given: "'{a}'" },
    { title: 'other parameters', parameters: 'text, text, text', body: '$2 < $3', given: "'a', 'B'" },
  ].map(({ title, parameters, body, given }) => ({
    title: `a collation reaches the order of ${title}`,
    schema: `create function app.is_less(${parameters}) returns boolean language sql immutable as $$ select ${body} $$;
      ${shows(
        `app.is_less(label, ${given}) <> app.is_less(other, ${given})`,
        'label text collate "C" not null, other text collate "und-x-icu" not null',
        "(1, 1, 'x', 'x'), (2, 2, 'x', 'x')",
      )}`,
    client,
  })),
  {
    title: 'a collation of a column reaches a function of PostgreSQL beside another column',
    schema: `create collation app.turkish (provider = icu, locale = 'tr');
      ${shows(
        'label::bytea = other::bytea and upper(label)::bytea <> upper(other)::bytea',
        'label text collate app.turkish not null, other text not null',
        "(1, 1, 'i', 'i'), (2, 2, 'i', 'i')",
      )}`,
    client,
  },
  {
    title: 'the collation of a domain',
    schema: `${caseless} create domain app.label as text collate app.caseless;
      ${shows("label = 'AB' and label = 'ab'", 'label app.label not null', labels)}`,
    client,
  },
  {
    title: 'the type of a union of two types',
    schema: shows(
      'exists (select from (select key as c union all select null::timestamp) u where u.c::text <> key::text)',
      'key date not null',
      "(1, 1, '2026-01-02'), (2, 2, '2026-01-02')",
    ),
    client,
  },
  {
    title: 'the type of a join by a column of two types',
    schema: `create table app.days (k date not null); create table app.moments (k timestamp not null);
      insert into app.days values ('2026-01-02'); insert into app.moments values ('2026-01-02'); grant select on app.days, app.moments to client;
      create function app.is_short(date) returns boolean language sql stable
        as $$ select exists (select from app.days d join app.moments m using (k) where d.k = $1 and k::text <> $1::text) $$;
      ${shows('app.is_short(key)', 'key date not null', "(1, 1, '2026-01-02'), (2, 2, '2026-01-02')")}`,
    client,
    shared: ['app.days', 'app.moments'],
  },
  {
    title: 'the type of a literal that nullif returns',
    schema: `create function app.is_other(text) returns boolean language sql immutable as $$ select nullif('x', $1) = 'x' $$;
      ${shows('app.is_other(label)', 'label text not null', labels)}`,
    client,
  },
  {
    title: 'the type of a literal that a query returns',
    schema: `${keys}
      create function app.is_x() returns boolean language sql stable as $$ select (select 'x' from app.keys limit 1) = 'x' $$;
      ${shows('app.is_x()')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'the rows behind an expression that a function in plpgsql returns',
    schema: `${keys}
      create function app.kept(x int) returns int language plpgsql stable as 'begin return x from app.keys where k > 9; end';
      ${shows('app.kept(id) is null')}`,
    client,
    shared: ['app.keys'],
  },
  ...collations.map(([title, comparison]) => ({
    title: `a collation ${title}`,
    schema: collated(comparison),
    client,
    shared: ['app.labels'],
  })),
];
