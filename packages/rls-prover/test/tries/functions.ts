import { definer, type Tries } from './try.ts';

export const everything = `select string_agg(name || tenant_id, ',') from app.users`;
const sees = /bbbbbbbb-0000/;
export const helper = (body: string, options = '') =>
  `create function app.helper() returns text language sql stable ${options} as $$ ${body} $$; revoke execute on function app.helper() from public;`;
export const outer = (body: string, options = definer) =>
  `create function app.entry() returns text language sql stable ${options} as $$ ${body} $$; grant execute on function app.entry() to member;`;
/** A domain whose check reads everything. */
export const checked = `create function app.check_name(text) returns boolean language plpgsql stable as $$ begin
        if $1 in (select name from app.users where tenant_id = :B0) then raise exception 'taken by %', (select min(tenant_id::text) from app.users where name = $1 and tenant_id = :B0); end if; return true; end $$;
      create domain app.free_name as text check (app.check_name(value));`;
export const calls = { act: 'select app.entry()', sees, names: /app\.entry/ };

/** What a function with the rights of its owner calls reads more than its own text. */
export const nested: Tries = {
  'calls another one without its schema': {
    ...calls,
    given: `create function app.people() returns text language sql stable as $$ ${everything} $$; revoke execute on function app.people() from public;
      create function app.helper() returns text language sql stable set search_path = app, pg_temp as $$ select people() $$; ${outer('select app.helper()')}`,
  },
  'calls one that reads without a schema': {
    ...calls,
    given: `create function app.helper() returns text language sql stable set search_path = app, pg_temp as $$ select string_agg(name || tenant_id, ',') from users $$;
      ${outer('select app.helper()')}`,
  },
  'calls one that exports a table': {
    ...calls,
    given: `${helper(`select table_to_xml('app.users', true, false, '')::text`)} ${outer('select app.helper()')}`,
  },
  'calls one that exports by a cursor of text': {
    ...calls,
    given: `${helper(`select (query_to_xml('select * from app.users', true, false, ''))::text`)} ${outer('select app.helper()')}`,
  },
  'uses an operator of its own': {
    ...calls,
    given: `create function app.look(text, text) returns text language sql stable as $$ ${everything} $$;
      create operator app.### (leftarg = text, rightarg = text, function = app.look); ${outer(`select 'a' operator(app.###) 'b'`)}`,
  },
  'uses a cast of its own': {
    ...calls,
    given: `create type app.key as (n int); create function app.look(app.key) returns text language sql stable as $$ ${everything} $$;
      create cast (app.key as text) with function app.look(app.key); ${outer('select row(1)::app.key::text')}`,
  },
  "asks a domain's check": {
    given: `${checked} ${outer(`select 'A name'::app.free_name::text`)}`,
    ...calls,
  },
  "asks the check of a parameter's domain": {
    ...calls,
    given: `${checked} create function app.helper(app.free_name) returns text language sql stable as $$ select $1::text $$; ${outer(`select app.helper('A name')`)}`,
  },
  "asks the check of a result's domain": {
    ...calls,
    given: `${checked} create function app.helper() returns app.free_name language sql stable as $$ select 'A name' $$; ${outer('select app.helper()')}`,
  },
  "asks the check of a variable's domain": {
    ...calls,
    given: `${checked} create function app.helper() returns text language plpgsql stable as $$ declare t app.free_name := 'A name'; begin return t; end $$; ${outer('select app.helper()')}`,
  },
  "asks the check of a column's domain in a composite": {
    ...calls,
    given: `${checked} create type app.holder as (name app.free_name); ${outer(`select j.name::text from jsonb_populate_record(null::app.holder, '{"name": "A name"}') j`)}`,
  },
  'casts where no cast is written': {
    ...calls,
    given: `create type app.key as (n text); create function app.look(text) returns app.key language sql stable as $$ select row((${everything}))::app.key $$;
      create cast (text as app.key) with function app.look(text) as implicit; revoke execute on function app.look(text) from public;
      create function app.helper(app.key) returns text language sql stable as $$ select to_jsonb($1) ->> 'n' $$; ${outer(`select app.helper(lower('A'))`)}`,
  },
  'calls a window function of text': {
    ...{ ...calls, sees: /bbbbbbbb/ },
    given: `${helper(`select string_agg(word, ',') from ts_stat('select to_tsvector(''simple'', tenant_id::text) from app.users')`)} ${outer('select app.helper()')}`,
  },
  'calls one of two that call each other': {
    ...calls,
    given: `create function app.first(n int) returns text language plpgsql stable as $$ declare t text; begin
        if n > 0 then return app.second(n - 1); end if; execute 'select string_agg(name || tenant_id, '','') from app.users' into t; return t; end $$;
      create function app.second(n int) returns text language sql stable as $$ select app.first(n) $$;
      create function app.before() returns text language sql stable ${definer} as $$ select app.first(0) $$;
      revoke execute on all functions in schema app from public; grant execute on function app.tenant_id(), app.user_id(), app.before() to member; ${outer('select app.second(0)')}`,
    names: /app\.entry/,
  },
  'calls one in another language': {
    ...calls,
    given: `create function app.helper() returns text language plpgsql stable as $$ declare t text; begin ${everything.replace(' from', ' into t from')}; return t; end $$;
      ${outer('select app.helper()')}`,
  },
};

const state = (name: string, options: string, body = `coalesce($1, '') || $2`) =>
  `create function app.${name}(text, text) returns text language sql stable ${options} as $$ select ${body} $$; revoke execute on function app.${name}(text, text) from public;`;
const reads = `(${everything})`;
const total = { act: `select app.total(name) from app.users`, sees, names: /app\.(total|step|finish|other)/ };

/** A part of an aggregate runs with rights that its caller does not have. */
export const aggregates: Tries = {
  'steps over moving windows': {
    ...{
      ...total,
      act: 'select app.total(name) over (order by id rows between 1 preceding and current row) from app.users',
    },
    given: `${state('step', '')} ${state('other', definer, reads)}
      create aggregate app.total(text) (sfunc = app.step, stype = text, msfunc = app.other, minvfunc = app.other, mstype = text);`,
  },
  'steps through a function that reads by name': {
    ...total,
    given: `create function app.finish() returns text language sql stable ${definer} as $$ ${everything} $$; revoke execute on function app.finish() from public;
      create function app.step(text, text) returns text language sql stable ${definer} as $$ select app.finish() $$; revoke execute on function app.step(text, text) from public;
      create aggregate app.total(text) (sfunc = app.step, stype = text);`,
  },
  'is an ordered set': {
    ...{ ...total, act: 'select app.total() within group (order by name) from app.users' },
    given: `create function app.finish(text) returns text language sql stable ${definer} as $$ ${everything} $$; revoke execute on function app.finish(text) from public;
      ${state('step', '')} create aggregate app.total(order by text) (sfunc = app.step, stype = text, finalfunc = app.finish);`,
  },
  'is called in a window': {
    ...{ ...total, act: 'select app.total(name) over () from app.users' },
    given: `${state('step', definer, reads)} create aggregate app.total(text) (sfunc = app.step, stype = text);`,
  },
  'takes a function that somebody else may not call as a support of an order': {
    given: `create function app.other(int, int) returns int language plpgsql stable ${definer} as $$ begin raise exception '%', (${everything}); end $$;
      revoke execute on function app.other(int, int) from public; create operator class app.odd for type int using btree as
        operator 1 <, operator 2 <=, operator 3 =, operator 4 >=, operator 5 >, function 1 app.other(int, int);
      create table app.numbers (n int); create index on app.numbers (n app.odd); grant insert on app.numbers to member;`,
    act: 'insert into app.numbers values (1), (2), (3)',
    invariants: [],
    ...{ sees, names: /app\.other/ },
  },
};

const policy = (expression: string) =>
  `alter policy users_of_tenant on app.users using (${expression}); grant execute on all functions in schema app to member;`;
const shown = { act: 'select tenant_id from app.users', sees, names: /app\.users/ };

/** A call means another function than the first of its name, or other parameters. */
export const overloads: Tries = {
  'has a default where another has fewer parameters': {
    ...shown,
    given: `create function app.may(text) returns boolean language sql stable as $$ select $1::uuid = app.tenant_id() $$;
      create function app.may(uuid, boolean default true) returns boolean language sql stable as $$ select $2 $$; ${policy('app.may(tenant_id)')}`,
  },
  'is variadic': {
    ...shown,
    given: `create function app.may(text, text) returns boolean language sql stable as $$ select $1::uuid = app.tenant_id() $$;
      create function app.may(variadic uuid[]) returns boolean language sql stable as $$ select true $$; ${policy('app.may(tenant_id, id)')}`,
  },
  'is variadic with an array': {
    ...shown,
    given: `create function app.may(variadic list uuid[]) returns boolean language sql stable as $$ select app.tenant_id() = any (list) or cardinality(list) = 2 $$;
      ${policy('app.may(tenant_id, id)')}`,
  },
  'has parameters that are results': {
    ...shown,
    given: `create function app.may(out first boolean, tenant uuid) language sql stable as $$ select first from (select true as first) x where tenant is not null $$;
      ${policy('app.may(tenant_id)')}`,
  },
  'has names that shift': {
    ...shown,
    given: `create function app.may(out tenant uuid, other uuid, claimed uuid) language sql stable as $$ select other $$;
      ${policy('app.may(tenant_id, app.tenant_id()) = tenant_id')}`,
  },
  'has an argument by its name': {
    ...shown,
    given: `create function app.may(one uuid, other uuid) returns boolean language sql stable as $$ select one = app.tenant_id() or other is not null $$;
      ${policy('app.may(other => id, one => tenant_id)')}`,
  },
  'takes any type': {
    ...shown,
    given: `create function app.may(anyelement) returns boolean language sql stable as $$ select $1::text = app.tenant_id()::text $$;
      create function app.may(uuid) returns boolean language sql stable as $$ select true $$; ${policy('app.may(tenant_id)')}`,
  },
  'is a function of the row': {
    ...shown,
    given: `create function app.mine(app.users) returns boolean language sql stable as $$ select true $$;
      ${policy('app.mine(users)')}`,
  },
};

const run = { act: '', sees, names: /app\.(run|become)/ };
const claim = `set_config(''app.tenant_id'', '':B0'', true)`.replaceAll(
  "'':B0''",
  "''bbbbbbbb-0000-7000-8000-000000000000''",
);
const then = `; select tenant_id from app.users`;

/** A function runs text, or changes who the client is. */
export const texts: Tries = {
  'runs a query as XML': {
    ...run,
    given: `create function app.run(text) returns xml language sql volatile as $$ select query_to_xml($1, true, false, '') $$;`,
    act: `select app.run('select ${claim}')${then}`,
  },
  'runs a query as statistics of words': {
    ...run,
    given: `create function app.run(text) returns bigint language sql volatile as $$ select count(*) from ts_stat($1) $$;`,
    act: `select app.run('select to_tsvector(${claim})')${then}`,
  },
  'sets a claim by a name that is made of parts': {
    ...run,
    given: `create function app.run(text, text) returns text language sql volatile as $$ select set_config('app.' || $1, $2, true) $$;`,
    act: `select app.run('tenant_id', :B0)${then}`,
  },
  'opens a cursor for text': {
    ...run,
    given: `create function app.run(text) returns text language plpgsql as $$ declare c refcursor; t text; begin open c for
      execute $1; fetch c into t; return t; end $$;`,
    act: `select app.run('select ${claim}')${then}`,
  },
  'loops over text': {
    ...run,
    given: `create function app.run(text) returns setof text language plpgsql as $$ begin return query
execute $1; end $$;`,
    act: `select app.run('select ${claim}')${then}`,
  },
  'rewrites a query of words by text': {
    ...run,
    given: `create function app.run(text) returns tsquery language sql volatile as $$ select ts_rewrite('a'::tsquery, $1) $$;`,
    act: `select app.run('select ''b''::tsquery, (left(${claim}, 1))::tsquery')${then}`,
  },
  'becomes another client by a name that is made of parts': {
    given: `create role staff nologin; create policy staff on app.users for select to staff using (true); grant usage on schema app to staff; grant select on app.users to staff;
      create function app.become(text) returns text language sql volatile as $$ select set_config('ro' || 'le', $1, true) $$;`,
    ...{ ...run, act: `select app.become('staff')${then}` },
  },
};
