import { type Refuted, visible } from './support.ts';

const posts = `create table app.posts (tenant_id int not null, id int primary key, body text);
  insert into app.posts values (1, 1, 'of 1'), (2, 2, 'of 2'); `;
const view = (query: string, options = '', rights = 'select') =>
  `${posts} create view app.seen ${options} as ${query}; grant ${rights} on app.seen to client`;
const client = 'table app.seen';
const things = 'table app.things';
const shows = (condition: string, columns = '', row = '') =>
  visible(columns, `(1, 1${row && `, ${row}`}), (2, 2${row && `, ${row}`})`, `tenant_id = app.t() or (${condition})`);
const keys = `create table app.keys (k int); insert into app.keys values (1), (null); grant select on app.keys to client;`;
const shared = ['app.keys'];

/** Conditions that are true, and that other logic would call false. */
const conditions: readonly (readonly [title: string, condition: string, columns?: string, row?: string])[] = [
  ['a check that is null', "(mark <> 'x') is null", "mark text check (mark <> 'x')", 'null'],
  ['not in a set with a null', '(7 not in (select k from app.keys)) is null'],
  ['any of an array with a null', '(7 = any (array[1, null])) is null'],
  ['all of an array with a null', '(1 = all (array[1, null])) is null'],
  ['all of no rows', '7 = all (select k from app.keys where k > 100)'],
  ['an aggregate of no rows', '(select bool_and(k > 0) from app.keys where k > 100) is null'],
  ['a subquery without a row', '(select k from app.keys where k > 100) is null'],
  ['a comparison of rows with a null', '((1, null) = (1, 2)) is null'],
  ['a comparison of rows that a null does not decide', '((1, null) = (2, 2)) is false'],
  ['an array with a null that contains none', 'not (array[null::int] @> array[null::int])'],
  ['an array without a null that is null', '(array[1] = null) is null'],
  ['the length of an empty array', "array_length('{}'::int[], 1) is null"],
  ['a concatenation with a null', "('x' || mark) is null", 'mark text', 'null'],
  ['a function that skips nulls', "concat('x', mark) = 'x'", 'mark text', 'null'],
  ['the greatest value beside a null', 'greatest(1, null) = 1'],
  ['nullif of equal values', 'nullif(id, id) is null'],
  ['coalesce of nulls', 'coalesce(null, null::int) is null'],
  ['unknown that is not true', '(null::boolean) is not true'],
  ['a case without else', '(case when false then 1 end) is null'],
  ['a case whose operand is null', "case mark when null then 'a' else 'b' end = 'b'", 'mark text', 'null'],
  ['a number that is not one', "amount = 'NaN' and amount > 'infinity'", 'amount float8 not null', "'NaN'"],
  ['a sum that overflows to infinity', 'amount + 1 = amount', 'amount float8 not null', "'infinity'"],
  ['a division that loses the rest', 'tenant_id / 3 = app.t() / 3'],
  ['a shift that loses bits', 'tenant_id >> 2 = app.t() >> 2'],
  ['a sign', 'sign(tenant_id) = sign(app.t())'],
  ['a remainder of a negative number', '-7 % 2 = -1'],
  ['a precedence of operators', 'not id = 1 or id = 1'],
  ['a pattern with a wildcard', "tenant_id::text like '_'"],
  ['a pattern in a setting', "tenant_id::text ~ ('[' || app.t() || '-9]')"],
  ['a setting that is not there', "current_setting('app.unknown', true) is null"],
  ['a setting of a role', "current_setting('role') = 'none' or current_setting('role') = 'client'"],
  ['the text of the statement', "current_query() like '%things%'"],
  ['the schema of the session', "current_schema() = 'public'"],
  [
    'the day of another time zone',
    "('2026-01-01 12:00+00'::timestamptz at time zone 'Pacific/Kiritimati')::date = '2026-01-02'",
  ],
  ['an address that is unknown', 'inet_client_addr() is null or inet_client_addr() is not null'],
  ['a domain that is null', 'mark is null', 'mark app.filled', 'null'],
  ['a table of the catalogue', "exists (select from pg_catalog.pg_class where relname = 'things')"],
  ['a view of the catalogue', "exists (select from pg_catalog.pg_roles where rolname = 'client')"],
];

/** Queries whose rows come from elsewhere than from a table's rows under its policies. */
const queries: readonly (readonly [title: string, query: string])[] = [
  ['of literals', 'select 2 as tenant_id'],
  ['of values', 'select * from (values (1), (2)) v (tenant_id)'],
  ['of a series', 'select generate_series(1, 2) as tenant_id'],
  ['with the number of each row', "select ordinality::int as tenant_id from unnest(array['a', 'b']) with ordinality"],
  [
    'that is recursive',
    'with recursive r (tenant_id) as (select app.t() union all select tenant_id + 1 from r where tenant_id < 3) table r',
  ],
  [
    'of a window',
    `select other as tenant_id from (select tenant_id, lead(tenant_id) over (order by id) as other from app.posts) p where tenant_id = app.t()`,
  ],
  ['of an aggregate', 'select max(tenant_id) as tenant_id from app.posts'],
  ['of an array', 'select unnest(array_agg(tenant_id)) as tenant_id from app.posts'],
  ['of all rows without some', 'select * from app.posts except select * from app.posts where tenant_id = app.t()'],
  ['of a union', 'select * from app.notes union all select * from app.posts'],
  [
    'of a lateral subquery',
    'select o.* from (select * from app.posts where tenant_id = app.t()) p, lateral (select * from app.posts where id > p.id) o',
  ],
  [
    'of a left join',
    'select coalesce(o.tenant_id, 2) as tenant_id from app.posts p left join app.posts o on o.id > 5 where p.tenant_id = app.t()',
  ],
  ['of the rows of a cross join', 'select o.tenant_id from app.posts p join app.posts o on p.tenant_id = app.t()'],
  ['of a case', 'select case when id = 1 then 2 else 1 end as tenant_id from app.posts where tenant_id = app.t()'],
  ['of a sum', 'select tenant_id + 1 as tenant_id from app.posts where tenant_id = app.t()'],
  [
    'of a column of another name',
    'select tenant_id as id, id + 1 as tenant_id from app.posts where tenant_id = app.t()',
  ],
  [
    'of a record in JSON',
    `select r.* from app.posts p, jsonb_to_record('{"tenant_id": 2}') as r (tenant_id int) where p.tenant_id = app.t()`,
  ],
  ['of a part of a table', 'select * from app.posts tablesample system (100)'],
  ['of rows that are locked', 'select * from app.posts for share'],
  [
    'whose filter an outer join undoes',
    'select p.* from app.posts p left join app.notes n on n.tenant_id = p.tenant_id and p.tenant_id = app.t()',
  ],
  [
    'whose filter is an alternative',
    'select * from app.posts where tenant_id = app.t() or id in (select id + 1 from app.posts where tenant_id = app.t())',
  ],
];

/** From PostgreSQL's manual: views, and the logic of values and nulls. */
export const views: readonly Refuted[] = [
  {
    title: 'a view whose filter comes after a condition that fails',
    schema: view('select * from app.posts where tenant_id = app.t()'),
    client: 'select * from app.seen where case when tenant_id = 1 then 0 else body::int end = 0',
  },
  {
    title: 'a view without a check',
    schema: view('select * from app.posts where tenant_id = app.t()', 'with (security_barrier)', 'select, insert'),
    client: "insert into app.seen values (2, 9, 'x')",
  },
  {
    title: 'a view with a local check over a view without one',
    schema: `${posts} create view app.mine with (security_barrier) as select * from app.posts where tenant_id = app.t();
      create view app.seen with (security_barrier) as select * from app.mine where id > 0 with local check option;
      grant select, insert on app.seen to client`,
    client: "insert into app.seen values (2, 9, 'x')",
  },
  {
    title: 'a view of its owner that says so',
    schema: view('table app.notes', 'with (security_invoker = off)'),
    client,
  },
  {
    title: 'a view of a role without policies',
    schema: `create role keeper bypassrls; grant usage on schema app to keeper; grant select on app.notes to keeper;
      create view app.seen as table app.notes; alter view app.seen owner to keeper; grant select on app.seen to client`,
    client,
  },
  {
    title: 'a materialized view',
    schema: 'create materialized view app.seen as table app.notes; grant select on app.seen to client',
    client,
  },
  {
    title: 'a view of its invoker over a materialized view',
    schema: `create materialized view app.kept as table app.notes; grant select on app.kept to client;
      create view app.seen with (security_invoker) as table app.kept; grant select on app.seen to client`,
    client,
  },
  {
    title: 'a view that a table inherits its rights from',
    schema: `${posts} create view app.seen with (security_invoker) as table app.posts;
      grant select on app.seen, app.posts to client`,
    client,
  },
  {
    title: 'a setting that a client turns on',
    schema: shows("current_setting('app.is_admin', true) = 'on'"),
    client: ["set app.is_admin = 'on'", things],
  },
  {
    title: 'the time zone of a client',
    schema: shows("'2026-01-01 12:00+00'::timestamptz::date = '2026-01-02'::date"),
    client: ["set timezone = 'Pacific/Kiritimati'", things],
  },
  ...queries.map(([title, query]) => ({
    title: `a view ${title}`,
    schema: view(query, 'with (security_barrier)'),
    client,
  })),
  ...conditions.map(([title, condition, columns, row]) => ({
    title: `a condition: ${title}`,
    schema: `${keys} create domain app.filled as text check (value <> ''); ${shows(condition, columns, row)}`,
    client: things,
    shared,
  })),
];
