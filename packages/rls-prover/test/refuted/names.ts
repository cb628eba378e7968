import { type Refuted, visible } from './support.ts';

const client = 'table app.things';
const shows = (condition: string, columns = '', rows = '(1, 1), (2, 2)') =>
  visible(columns, rows, `tenant_id = app.t() or ${condition}`);
const labels = "(1, 1, 'ab'), (2, 2, 'ab')";

/** Lists the notes of a tenant with its owner's rights. */
const lists = (body: string, settings = '') => `
  create function app.list() returns setof app.notes language plpgsql stable security definer ${settings}
    as $$ ${body} $$`;

/** Names that mean something else than they seem to. */
export const names: readonly Refuted[] = [
  {
    title: 'a domain called text in the search path of a function',
    schema: `create domain app.text as varchar(1);
      create function app.short(pg_catalog.text) returns pg_catalog.text language sql immutable set search_path = app, pg_catalog
        as $$ select $1::text $$;
      ${shows("(label = 'ab' and app.short(label) = 'a')", 'label pg_catalog.text not null', labels)}`,
    client,
  },
  {
    title: 'a domain called int4 in the search path of a function',
    schema: `create domain app.int4 as numeric(3, 1);
      create function app.half(pg_catalog.int4) returns boolean language sql immutable set search_path = app, pg_catalog
        as $$ select '1.4'::int4 <> '1'::int4 $$;
      ${shows('app.half(id)')}`,
    client,
  },
  {
    title: 'an enum called int4 in the search path of a function',
    schema: `create type app.int4 as enum ('2', '1');
      create function app.is_before() returns boolean language sql immutable set search_path = app, pg_catalog
        as $$ select '2'::int4 < '1'::int4 $$;
      ${shows('app.is_before()')}`,
    client,
  },
  {
    title: 'a type called bool in the search path of a client',
    schema: `create domain app.bool as pg_catalog.text;
      create function app.is_true() returns boolean language sql stable as $$ select 'false'::bool is not null and 'f'::bool::text = 'f' $$;
      ${shows('app.is_true()')}`,
    client: ['set search_path = app, pg_catalog', client],
  },
  {
    title: 'a domain called text in the search path of a client',
    schema: `create domain app.text as varchar(1);
      create function app.short(pg_catalog.text) returns pg_catalog.text language sql immutable as $$ select $1::text $$;
      ${shows("(label = 'ab' and app.short(label) = 'a')", 'label pg_catalog.text not null', labels)}`,
    client: ['set search_path = app, pg_catalog', client],
  },
  {
    title: 'an enum called date in the search path of a client',
    schema: `create type app.date as enum ('2026-01-02', '2026-01-01');
      create function app.is_before() returns boolean language sql immutable as $$ select '2026-01-02'::date < '2026-01-01'::date $$;
      ${shows('app.is_before()')}`,
    client: ['set search_path = app, pg_catalog', client],
  },
  {
    title: 'a domain called int4 in the type of a variable',
    schema: `create domain app.int4 as pg_catalog.numeric;
      create function app.is_split(pg_catalog.text) returns boolean language plpgsql immutable set search_path = app, pg_catalog
        as $$ declare part int4 := $1; begin return part = 1.5; end $$;
      ${shows("app.is_split('1.5')")}`,
    client,
  },
  {
    title: 'a setting for conflicts of variables with columns',
    schema: lists(
      'declare tenant_id int := app.t(); begin return query select n.* from app.notes n where n.tenant_id = tenant_id; end',
      'set plpgsql.variable_conflict = use_column',
    ),
    client: 'select * from app.list()',
  },
  {
    title: 'a directive for conflicts of variables with columns',
    schema: lists(`
      #variable_conflict use_column
      declare tenant_id int := app.t(); begin return query select n.* from app.notes n where n.tenant_id = tenant_id; end`),
    client: 'select * from app.list()',
  },
  {
    title: 'a setting of the database for conflicts of variables with columns',
    schema: `do $$ begin execute format('alter database %I set plpgsql.variable_conflict = use_column', current_database()); end $$;
      set local plpgsql.variable_conflict = use_column;
      ${lists('declare tenant_id int := app.t(); begin return query select n.* from app.notes n where n.tenant_id = tenant_id; end')}`,
    client: 'select * from app.list()',
  },
  {
    title: 'a setting that makes variables win over columns',
    schema: `create function app.list(tenant_id int) returns setof app.notes language plpgsql stable security definer
      set plpgsql.variable_conflict = use_variable
      as $$ begin return query select n.* from app.notes n where tenant_id = app.t(); end $$`,
    client: 'select * from app.list(1)',
  },
  {
    title: 'a parameter called like a column in SQL',
    schema: `create function app.list(tenant_id int) returns setof app.notes language sql stable security definer
      as $$ select n.* from app.notes n where tenant_id = tenant_id and list.tenant_id = app.t() $$`,
    client: 'select * from app.list(1)',
  },
  {
    title: 'a parameter called like a column in a policy',
    schema: `create table app.members (id int not null); insert into app.members values (1); grant select on app.members to client;
      create function app.is_member(id int) returns boolean language sql stable
        as $$ select exists (select from app.members where id = id and app.t() is not null) $$;
      ${visible('', '(1, 1), (2, 2)', '(app.is_member(id) and id = id)')}`,
    client,
    shared: ['app.members'],
  },
  {
    title: 'a column that an inner query takes from the outer one',
    schema: `create table app.members (member_id int not null); insert into app.members values (1);
      alter table app.members enable row level security; grant select on app.members to client;
      create policy own on app.members to client using (member_id = app.t());
      ${visible('', '(1, 1), (2, 2)', 'tenant_id in (select tenant_id from app.members)')}`,
    client,
    shared: ['app.members'],
  },
  {
    title: 'a query called like a table',
    schema: visible(
      '',
      '(1, 1), (2, 2)',
      'exists (with notes as (select 2 as tenant_id union all select 1) select from notes where notes.tenant_id = things.tenant_id)',
    ),
    client,
  },
  {
    title: 'an operator of equality in the search path of a function',
    schema: `create function app.always(int, int) returns boolean language sql immutable as 'select true';
      create operator app.= (function = app.always, leftarg = int, rightarg = int);
      create function app.is_mine(int) returns boolean language sql stable set search_path = app, pg_catalog
        as $$ select $1 = app.t() $$;
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id)')}`,
    client,
  },
  {
    title: 'an operator of equality in the search path of a client',
    schema: `create function app.always(int, int) returns boolean language sql immutable as 'select true';
      create operator app.= (function = app.always, leftarg = int, rightarg = int);
      create function app.is_mine(int) returns boolean language sql stable as $$ select $1 = app.t() $$;
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id)')}`,
    client: ['set search_path = app, pg_catalog', client],
  },
  {
    title: 'an operator for another type that fits better',
    schema: `create function app.always(int, bigint) returns boolean language sql immutable as 'select true';
      create operator app.= (function = app.always, leftarg = int, rightarg = bigint);
      create function app.is_mine(int) returns boolean language sql stable set search_path = pg_catalog, app
        as $$ select $1 = any (array[app.t()::bigint]) $$;
      alter function app.is_mine(int) set search_path = app, pg_catalog;
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id)')}`,
    client,
  },
  {
    title: 'a function called like one of PostgreSQL in the search path of a function',
    schema: `create function app.current_setting(text, boolean) returns text language sql immutable as $$ select '2' $$;
      create function app.mine() returns int language sql stable set search_path = app, pg_catalog
        as $$ select current_setting('app.tenant_id', true)::int $$;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.mine()')}`,
    client,
  },
  {
    title: 'a function called like one of PostgreSQL in the search path of a client',
    schema: `create function app.current_setting(text, boolean) returns text language sql immutable as $$ select '2' $$;
      create function app.mine() returns int language sql stable
        as $$ select nullif(current_setting('app.tenant_id', true), '')::int $$;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.mine()')}`,
    client: ['set search_path = app, pg_catalog', client],
  },
  {
    title: 'a function of PostgreSQL for which another overload fits better',
    schema: `create function app.length(varchar) returns int language sql immutable as 'select 0';
      create function app.is_empty(varchar) returns boolean language sql immutable set search_path = pg_catalog, app
        as $$ select length($1) = 0 and $1 = 'ab' $$;
      ${shows('app.is_empty(label)', 'label varchar not null', labels)}`,
    client,
  },
  {
    title: 'a table called like another one in the search path of a client',
    schema: `create schema low; create table low.members (id int not null); create table app.members (id int not null);
      insert into low.members values (2); grant usage on schema low to client;
      grant select on low.members, app.members to client;
      alter table app.members enable row level security; create policy own on app.members to client using (id = app.t());
      set local check_function_bodies = off;
      create function app.is_member(int) returns boolean language sql stable
        as $$ select exists (select from members m where m.id = $1) $$;
      ${visible('', '(1, 1), (2, 2)', 'app.is_member(tenant_id)')}`,
    client: ['set search_path = low', client],
    shared: ['low.members', 'app.members'],
  },
  {
    title: 'a relation of the catalogue called like a table',
    schema: `create table app.pg_class (relname name, tenant_id int); insert into app.pg_class values ('x', 1);
      grant select on app.pg_class to client; alter table app.pg_class enable row level security;
      create policy own on app.pg_class to client using (tenant_id = app.t());
      create function app.is_known(int) returns boolean language sql stable
        as $$ select not exists (select from pg_class where relname = 'notes') and $1 is not null $$;
      ${shows('not app.is_known(id)')}`,
    client,
  },
  {
    title: 'a field that is a function of the row',
    schema: `create table app.members (tenant_id int not null, id int primary key); insert into app.members values (1, 1), (2, 2);
      create function app.owner_id(app.members) returns int language plpgsql stable as 'begin return app.t(); end';
      alter table app.members enable row level security; grant select on app.members to client;
      set local search_path = app; create policy own on app.members to client using (members.owner_id = app.t()); reset search_path`,
    client: 'table app.members',
  },
  {
    title: 'two schemas whose names differ in their case',
    schema: `create schema "App"; grant usage on schema "App" to client;
      create function "App".t() returns int language sql stable as 'select 2';
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = "App".t()')}`,
    client,
  },
  {
    title: 'two columns whose names differ in their case',
    schema: visible('"Tenant_Id" int not null', '(1, 1, 1), (2, 2, 1)', '"Tenant_Id" = app.t()'),
    client,
  },
  {
    title: 'an overload for a wider integer',
    schema: `create function app.is_mine(int) returns boolean language sql stable as 'select $1 = app.t()';
      create function app.is_mine(bigint) returns boolean language sql stable as 'select true';
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id::bigint)')}`,
    client,
  },
  {
    title: 'an overload for a domain over the integers',
    schema: `create domain app.key as int;
      create function app.is_mine(int) returns boolean language sql stable as 'select $1 = app.t()';
      create function app.is_mine(app.key) returns boolean language sql stable as 'select true';
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id::app.key)')}`,
    client,
  },
  {
    title: 'an overload for a literal whose type is unknown',
    schema: `create function app.is_one(text) returns boolean language sql immutable as $$ select true $$;
      create function app.is_one(int) returns boolean language sql immutable as $$ select $1 = 7 $$;
      ${shows("app.is_one('1')")}`,
    client,
  },
  {
    title: 'comparisons with null that a client makes true',
    schema: `create function app.is_nothing(text) returns boolean language sql stable as 'select $1 = null';
      ${shows('app.is_nothing(label)', 'label text', '(1, 1, null), (2, 2, null)')}`,
    client: ['set transform_null_equals = on', client],
  },
  {
    title: 'texts whose backslashes a client makes escapes',
    schema: String.raw`create function app.is_short(text) returns boolean language sql stable as $$ select '\\' = $1 $$;
      ${shows("app.is_short('\\')")}`,
    client: ['set standard_conforming_strings = off', client],
  },
  {
    title: 'dates that a client reads in another order',
    schema: `create function app.is_february() returns boolean language sql stable
        as $$ select '01/02/2026'::date = '2026-02-01'::date $$;
      ${shows('app.is_february()')}`,
    client: ["set datestyle = 'iso, dmy'", client],
  },
  {
    title: 'arrays whose nulls a client makes texts',
    schema: `create function app.is_text() returns boolean language sql stable as $$ select ('{null}'::text[])[1] = 'null' $$;
      ${shows('app.is_text()')}`,
    client: ['set array_nulls = off', client],
  },
  {
    title: 'an alias that is a star',
    schema: `create table app.members (k int not null); create table app.groups (k int not null);
      insert into app.members values (1); insert into app.groups values (1), (2); grant select on app.members, app.groups to client;
      ${visible('', '(1, 1), (2, 2)', 'exists (select from app.members "*" join app.groups g on true where "*".k = app.t() and g.k = things.tenant_id)')}`,
    client,
    shared: ['app.members', 'app.groups'],
  },
  {
    title: 'two columns of one name beside one that is called like the second',
    schema: visible(
      '',
      '(1, 1), (2, 2)',
      `exists (select from (select things.tenant_id as a, things.tenant_id as a, app.t() as "a 1") x where x."a 1" = app.t() and id = id)`,
    ),
    client,
  },
  {
    title: 'a parameter that is called like the number of another one',
    schema: `create function app.is_mine(x int, "$1" int) returns boolean language sql stable security definer as 'select $1 = app.t()';
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(app.t(), tenant_id)')}`,
    client,
  },
  {
    title: 'a parameter that is called like a column without a name',
    schema: `create table app.keys (k int not null); insert into app.keys values (1), (2); grant select on app.keys to client;
      create function app.is_mine(abs int) returns boolean language sql stable
        as $$ select exists (select from (select abs(k) from app.keys) s where abs = app.t()) $$;
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id)')}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'a parameter that is called like a column of all that a function yields',
    schema: `create function app.is_mine(value int) returns boolean language sql stable
        as $$ select exists (select from (select * from generate_series(1, 2) as g (value)) s where value = app.t()) $$;
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id)')}`,
    client,
  },
  {
    title: 'a parameter that is called like a column of a union whose first query is not understood',
    schema: `create table app.keys (k int not null); insert into app.keys values (1), (2); grant select on app.keys to client;
      create function app.is_mine(k int) returns boolean language sql stable as $$ select exists (select from (
        (select k from app.keys intersect select 1) union (select a.k as n from app.keys a)) s where k = app.t()) $$;
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id)')}`,
    client,
    shared: ['app.keys'],
  },
];
