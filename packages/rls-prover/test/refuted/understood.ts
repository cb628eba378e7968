import { type Refuted, visible } from './support.ts';

const things = 'table app.things';
const rows = '(1, 1), (2, 2)';
const shows = (condition: string, columns = '', row = '') =>
  visible(columns, `(1, 1${row && `, ${row}`}), (2, 2${row && `, ${row}`})`, `tenant_id = app.t() or (${condition})`);

/** Members of whom a client sees its own tenant's. The other column may be anything. */
const members = `create table app.members (gone int, tenant_id int not null, k int not null); alter table app.members drop column gone;
  insert into app.members values (1, 2), (2, 1);
  alter table app.members enable row level security; grant select on app.members to client;
  create policy own on app.members to client using (tenant_id = app.t());`;
const aliases: readonly (readonly [title: string, condition: string, before?: string])[] = [
  ['an alias swaps', 'exists (select from app.members m (k, tenant_id) where m.tenant_id = things.tenant_id)'],
  ['an alias shifts', 'exists (select from app.members m (own, tenant_id) where m.tenant_id = things.tenant_id)'],
  [
    'a subquery swaps',
    'exists (select from (select tenant_id, k from app.members) m (k, tenant_id) where m.tenant_id = things.tenant_id)',
  ],
  [
    'a query with a name swaps',
    'exists (with m (k, tenant_id) as (select tenant_id, k from app.members) select from m where m.tenant_id = things.tenant_id)',
  ],
  [
    'a join swaps',
    'exists (select from (app.members m cross join (select 1) one (n)) as j (k, tenant_id) where j.tenant_id = things.tenant_id)',
  ],
  [
    'a view swaps',
    'exists (select from app.swapped m where m.tenant_id = things.tenant_id)',
    `create view app.swapped (k, tenant_id) with (security_invoker) as select tenant_id, k from app.members;
      grant select on app.swapped to client;`,
  ],
  [
    'a renamed view swaps',
    'exists (select from app.swapped m where m.tenant_id = things.tenant_id)',
    `create view app.swapped with (security_invoker) as select * from app.members; grant select on app.swapped to client;
      alter view app.swapped rename tenant_id to x; alter view app.swapped rename k to tenant_id;
      alter view app.swapped rename x to k;`,
  ],
  ['a table swaps later', 'exists (select from app.members m where m.k = things.tenant_id)', ''],
  [
    'a union takes from its first query',
    `exists (select from (select k as tenant_id from app.members union select tenant_id from app.members) m where m.tenant_id = things.tenant_id)`,
  ],
  [
    'a function swaps',
    'exists (select from app.list() m where m.tenant_id = things.tenant_id)',
    "create function app.list() returns table (k int, tenant_id int) language sql stable as 'select tenant_id, k from app.members';",
  ],
  ['a table of the outer query shadows', 'exists (select from app.members things where things.tenant_id = app.t())'],
  [
    'a join by another name merges',
    'exists (select from app.members m join (select 2 as k) o using (k) where o.k = things.tenant_id)',
  ],
  [
    'an alias of a join has',
    'exists (select from app.members m join (select 2 as k) o using (k) as j where j.k = things.tenant_id)',
  ],
];

const posts = `create table app.posts (tenant_id int not null, id int primary key, body text, note text);
  insert into app.posts values (1, 1, 'of 1'), (2, 2, 'of 2');`;
/** Functions with their owner's rights whose body is one query. */
const definers: readonly (readonly [title: string, query: string])[] = [
  ['has an alternative', 'select p.* from app.posts p where p.tenant_id = app.t() or p.id > 1'],
  [
    'has a subquery among its columns',
    'select p.tenant_id, p.id, (select o.body from app.posts o where o.id = 2), p.note from app.posts p where p.tenant_id = app.t()',
  ],
  ['joins what it does not filter', 'select o.* from app.posts p join app.posts o on true where p.tenant_id = app.t()'],
  [
    'joins by an outer join',
    'select o.* from app.posts o left join app.posts p on p.id = o.id and p.tenant_id = app.t()',
  ],
  [
    'has a query with a name',
    'with every as (select * from app.posts) select p.* from every p left join app.notes n on n.tenant_id = app.t()',
  ],
  [
    'has a union',
    'select p.* from app.posts p where p.tenant_id = app.t() union all select p.* from app.posts p where p.id = 2',
  ],
  [
    'has a lateral subquery',
    'select o.* from app.posts p, lateral (select * from app.posts o where o.id > p.id) o where p.tenant_id = app.t()',
  ],
  ['has an aggregate', "select app.t(), 1, string_agg(p.body, ','), null from app.posts p"],
  [
    'has an aggregate of a join',
    "select app.t(), 1, string_agg(o.body, ','), null from app.posts p, app.posts o where p.tenant_id = app.t()",
  ],
  ['compares with null', 'select p.* from app.posts p where p.tenant_id = app.t() or p.note = null'],
  [
    'compares with a text that ends late',
    String.raw`select p.* from app.posts p where p.tenant_id = app.t() and p.body <> '\' and p.body <> ' or true --'`,
  ],
  ['orders by a condition', 'select p.* from app.posts p order by p.tenant_id = app.t() limit 1'],
  ['filters groups', 'select p.* from app.posts p group by p.id having count(*) > 0 or p.tenant_id = app.t()'],
  [
    'filters what a window counts',
    `select o.tenant_id, o.id, o.other, o.note from (select *, lead(body) over (order by id) as other from app.posts) o where o.tenant_id = app.t()`,
  ],
  ['runs a text as XML', "select app.t(), 1, query_to_xml('table app.posts', true, false, '')::text, null"],
  ['writes a table as XML', "select app.t(), 1, table_to_xml('app.posts', true, false, '')::text, null"],
  [
    'runs a text for words',
    "select word::int, 1, word, null from ts_stat('select array_to_tsvector(array[tenant_id::text]) from app.posts')",
  ],
  [
    'rewrites words by a text',
    `select 2, 1, ts_rewrite('a'::tsquery, 'select ''a''::tsquery, to_tsquery(''simple'', body) from app.posts where id = 2 and false')::text, null`,
  ],
  ['reads a view of its own', 'select p.* from app.every p where p.tenant_id is not null'],
  ['calls a function that reads', 'select p.* from app.list_all() p where p.tenant_id = app.t() or p.tenant_id > 1'],
  ['reads the rows of a child', 'select c.* from app.child c where c.id > 0'],
];

const moment = (value: string) => ['moment timestamp not null', `'${value}'`] as const;
/** Values that a cast there and back changes. */
const trips: readonly (readonly [title: string, condition: string, columns?: string, row?: string, set?: string])[] = [
  ['a timestamp by date', 'moment::date::timestamp <> moment', ...moment('2026-01-02 03:04')],
  [
    'a timestamp by a function that returns date',
    'app.day(moment)::timestamp <> moment',
    ...moment('2026-01-02 03:04'),
  ],
  [
    'a timestamp by timestamptz',
    'moment::timestamptz::timestamp <> moment',
    ...moment('2026-03-08 02:30'),
    "set timezone = 'America/New_York'",
  ],
  [
    'a timestamptz by timestamp',
    'moment::timestamp::timestamptz <> moment',
    'moment timestamptz not null',
    "'2026-11-01 05:30+00'",
    "set timezone = 'America/New_York'",
  ],
  [
    'a date by timestamptz',
    "moment::timestamptz = moment::timestamptz and moment::timestamptz::text = moment::text || ' 00:00:00-05'",
    'moment date not null',
    "'2026-01-02'",
    "set timezone = 'America/New_York'",
  ],
  ['a text by uuid', 'label::uuid::text <> label', 'label text not null', "'AAAAAAAA-0000-4000-8000-000000000000'"],
  ['a text by int', 'label::int::text <> label', 'label text not null', "'01'"],
  ['a text by boolean', 'label::boolean::text <> label', 'label text not null', "'yes'"],
  ['a text by date', 'label::date::text <> label', 'label text not null', "'2 Jan 2026'"],
  ['a text by bytea', 'label::bytea::text <> label', 'label text not null', "'a'"],
  ['a text by bpchar', 'label::bpchar::text <> label', 'label text not null', "'a '"],
  ['a text by name', 'label::name::text <> label', 'label text not null', "repeat('a', 70)"],
  ['a text by json', 'label::jsonb::text <> label', 'label text not null', "'[1,2]'"],
  ['an int by boolean', 'number::boolean::int <> number', 'number int not null', '7'],
  ['an int by oid', 'number::oid::bigint <> number', 'number int not null', '-1'],
  ['an int by real', 'number::real::int <> number', 'number int not null', '16777217'],
  ['a bigint by float8', 'number::float8::bigint <> number', 'number bigint not null', '9007199254740993'],
  ['a text by "char" that a function returns', 'app.first(label) <> label', 'label text not null', "'ab'"],
  ['a text by a domain that cuts', 'label::app.short::text <> label', 'label text not null', "'ab'"],
  ['an empty text by bytea', "label::bytea = '' and label = ''", 'label text not null', "''"],
];

/** What a client sets, and what then means something else in the text of a function. */
const settings: readonly (readonly [title: string, set: string, body: string])[] = [
  ['comparisons with null', 'transform_null_equals = on', 'select null::int = null'],
  [
    'comparisons of null with a value',
    'transform_null_equals = on',
    'select not (7 = null) is true and (7 = null) is not null',
  ],
  [
    'where a text ends',
    'standard_conforming_strings = off',
    String.raw`select 'a' = '\' and app.t()::text = ' or true --'`,
  ],
  ['texts with escapes', 'standard_conforming_strings = off', String.raw`select '\141' = 'a'`],
  ['arrays of null', 'array_nulls = off', "select 'null' = any ('{null}'::text[])"],
  ['overlaps with null', 'array_nulls = off', "select array['null'] && '{null}'::text[]"],
  ['the order of day and month', "datestyle = 'iso, dmy'", "select '01/02/2026'::date > '2026-01-15'::date"],
  [
    'the time zone of a moment',
    "timezone = 'Pacific/Kiritimati'",
    "select '2026-01-01 12:00'::timestamptz < '2026-01-01 00:00+00'::timestamptz",
  ],
  [
    'the day of a moment',
    "timezone = 'Pacific/Kiritimati'",
    "select '2026-01-01 12:00+00'::timestamptz::date = '2026-01-02'::date",
  ],
  ['where names are found', 'search_path = other', "select 'notes'::regclass <> 'app.notes'::regclass"],
  ['how bytes are written', 'bytea_output = escape', "select 'a'::bytea::text = 'a'"],
  ['how numbers are written', 'extra_float_digits = 0', "select (0.1::float8 + 0.2::float8)::text = '0.3'"],
  ['how intervals are written', 'intervalstyle = iso_8601', "select interval '1 day'::text = 'P1D'"],
  ['how names are written', 'search_path = app', "select 'app.notes'::regclass::text = 'notes'"],
  ['who the role is', 'role = none', "select current_setting('role') = 'none'"],
];

const keeper = `create role keeper; grant usage on schema app to keeper;
  create table app.posts (tenant_id int not null, id int); insert into app.posts values (1, 1), (2, 2);
  alter table app.posts enable row level security; create policy own on app.posts using (tenant_id = app.t());
  create view app.seen with (security_barrier) as table app.posts; grant select on app.seen to client;
  grant select on app.posts to keeper;`;

/** What the README calls understood, in forms that a reader of names or of one policy at a time takes for others. */
export const understood: readonly Refuted[] = [
  ...aliases.map(([title, condition, before = '']) => ({
    title: `columns that ${title}`,
    schema: `${members} ${before} ${visible('', rows, condition)}`,
    client: things,
    shared: ['app.members', ...(before.includes('app.swapped') ? ['app.swapped'] : [])],
  })),
  ...definers.map(([title, query]) => ({
    title: `a definer that ${title}`,
    schema: `${posts} create view app.every as table app.posts; create table app.child () inherits (app.posts);
      insert into app.child values (2, 3, 'of 2');
      create function app.list_all() returns setof app.posts language sql stable as 'table app.posts';
      create function app.list() returns setof app.posts language sql stable security definer as $$ ${query} $$`,
    client: [
      ...(title === 'compares with null' ? ['set transform_null_equals = on'] : []),
      ...(title.includes('text that ends') ? ['set standard_conforming_strings = off'] : []),
      'select * from app.list()',
    ],
  })),
  ...trips.map(([title, condition, columns, row, set]) => ({
    title: `there and back: ${title}`,
    schema: `create domain app.short as varchar(1);
      create function app.day(timestamp) returns date language sql immutable as 'select $1';
      create function app.first(text) returns "char" language sql immutable as 'select $1';
      ${shows(condition, columns, row)}`,
    client: [...(set ? [set] : []), things],
  })),
  ...settings.map(([title, set, body]) => ({
    title: `a client decides: ${title}`,
    schema: `create schema other; create table other.notes (); grant usage on schema other to client;
      set local search_path = other;
      create function app.is_open() returns boolean language sql stable as $$ ${body} $$;
      reset search_path; ${shows('app.is_open()')}`,
    client: [`set ${set}`, things],
  })),
  {
    title: 'a view whose owner owns the table',
    schema: `${keeper} alter table app.posts owner to keeper; alter view app.seen owner to keeper`,
    client: 'table app.seen',
  },
  {
    title: 'a view whose owner is a member of the owner of the table',
    schema: `${keeper} create role chief; grant keeper to chief; alter table app.posts owner to keeper; alter view app.seen owner to chief`,
    client: 'table app.seen',
  },
  {
    title: 'a view whose owner has another policy',
    schema: `${keeper} create policy all_posts on app.posts to keeper using (true); alter view app.seen owner to keeper`,
    client: 'table app.seen',
  },
  {
    title: 'a view whose owner is a member of a role with another policy',
    schema: `${keeper} create role chief; grant chief to keeper; create policy all_posts on app.posts to chief using (true);
      alter view app.seen owner to keeper`,
    client: 'table app.seen',
  },
  {
    title: 'a view whose owner a restrictive policy does not bind',
    schema: `${keeper} alter policy own on app.posts using (true);
      create policy mine on app.posts as restrictive to client using (tenant_id = app.t()); alter view app.seen owner to keeper`,
    client: 'table app.seen',
  },
  {
    title: 'a policy that asks a view whose owner sees all',
    schema: `${keeper} create view app.tenants as select tenant_id as k from app.posts; grant select on app.tenants to client;
      ${visible('', rows, 'tenant_id in (select k from app.tenants)')}`,
    client: things,
    shared: ['app.tenants'],
  },
  {
    title: 'a check of a policy that finds no row',
    schema: `create policy none on app.notes for update to client using (false) with check (true); drop policy own on app.notes;
        create policy mine on app.notes for update to client using (tenant_id = app.t())`,
    client: 'update app.notes set tenant_id = 2',
  },
  {
    title: 'an update through a view without a check',
    schema: `create view app.mine with (security_barrier) as select * from app.notes where tenant_id = app.t();
      grant select, update on app.mine to client`,
    client: 'update app.mine set tenant_id = 2',
  },
  {
    title: 'an aggregate whose step sets the claim',
    schema: "create aggregate app.put(text, boolean) (sfunc = set_config, stype = text, initcond = 'app.tenant_id')",
    client: ["select app.put('2', true)", 'table app.notes'],
  },
  ...[
    ["set_config(E'app.tenant\\x5fid', '2', true)", 'an escape'],
    ["set_config('app.' || 'tenant_id', '2', true)", 'two texts'],
    ["set_config(n, '2', true) from (values ('app.tenant_id')) v (n)", 'a column'],
    ["set_config(reverse('di_tnanet.ppa'), '2', true)", 'a function'],
    ["set_config((select string_agg(x, '.') from unnest(array['app', 'tenant_id']) x), '2', true)", 'a subquery'],
    ['set_config(current_setting($$app.name$$), $$2$$, true)', 'another setting'],
  ].map(([call, title]) => ({
    title: `a name of the claim from ${title}`,
    schema: `create function app.mark() returns text language sql as $f$ select ${call} $f$`,
    client: ["set app.name = 'app.tenant_id'", 'select app.mark()', 'table app.notes'],
  })),
  {
    title: 'a function of a row that is not there',
    schema: `create table app.keys (k int not null); grant select on app.keys to client;
      create function app.find(int) returns int language sql stable as 'select k from app.keys where k = $1';
      ${shows('app.find(7) is null')}`,
    client: things,
    shared: ['app.keys'],
  },
  {
    title: 'a column without null that an outer join of a view makes null',
    schema: `create table app.keys (k int not null); grant select on app.keys to client;
      create view app.joined with (security_invoker) as select o.n, k from (select 1) o (n) left join app.keys on k = o.n;
      grant select on app.joined to client; ${shows('exists (select from app.joined where k is null)')}`,
    client: things,
    shared: ['app.keys', 'app.joined'],
  },
  {
    title: 'a field without null of a record that is null',
    schema: `create table app.keys (k int not null); ${shows('(null::app.keys).k is null')}`,
    client: things,
  },
  {
    title: 'a function with two statements of which the first writes',
    schema: `create function app.is_fine() returns boolean language sql volatile security definer
        as 'update app.notes set body = body || tenant_id; select true';
      ${shows('app.is_fine() is null')}`,
    client: things,
  },
  {
    title: 'a foreign key whose texts are equal without case',
    schema: `create collation app.caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
      create table app.kinds (kind text collate app.caseless primary key, tenant_id int not null);
      insert into app.kinds values ('A', 1); grant select on app.kinds to client;
      ${visible(
        'kind text collate app.caseless not null references app.kinds',
        "(1, 1, 'A'), (2, 2, 'a')",
        'tenant_id = app.t() or not exists (select from app.kinds k where k.kind::bytea = things.kind::bytea)',
      )}`,
    client: things,
    shared: ['app.kinds'],
  },
];
