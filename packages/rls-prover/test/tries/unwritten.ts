import { calls, checked, everything, helper, outer } from './functions.ts';
import type { Tries } from './try.ts';

/** Clients may have the application's schema in their search path. */
const path = 'set local search_path = app;';
/** An operator of a type of its own, which reads everything. */
const compared = `create type app.pair as (a text, b text); create function app.look(app.pair, app.pair) returns boolean language plpgsql stable as $$ begin
    raise exception '%', (${everything}); end $$;
  create operator app.= (leftarg = app.pair, rightarg = app.pair, function = app.look);`;
const leak = `create function app.leak(app.notes) returns text language sql stable as $$ ${everything} $$; revoke execute on function app.leak(app.notes) from public;`;

/** A function with the rights of its owner calls another one without a name and parentheses. */
export const unwritten: Tries = {
  'as a field of a row': {
    ...{ ...calls, act: `${path} select app.entry()` },
    given: `${path} ${leak} ${outer('select n.leak from app.notes n where n.tenant_id = app.tenant_id() and n.author_id = app.user_id()', 'security definer')}`,
  },
  'as a field of an expression, in a function that it calls': {
    ...{ ...calls, act: `${path} select app.entry()` },
    given: `${path} ${leak} create function app.helper() returns text language sql stable as $$ select (n).leak from app.notes n limit 1 $$; ${outer('select app.helper()', 'security definer')}`,
  },
  'as the default of a parameter': {
    ...calls,
    given: `${helper(everything)} create function app.given(t text default app.helper()) returns text language sql stable as $$ select t $$; ${outer('select app.given()')}`,
  },
  'by an operator of a type of its own': {
    ...{ ...calls, act: `${path} select app.entry()` },
    given: `${compared} alter table app.notes add pair app.pair default row('a', 'b')::app.pair;
      ${outer(`select string_agg(n.body, ',') from app.notes n where n.pair = n.pair and n.tenant_id = app.tenant_id() and n.author_id = app.user_id()`, 'security definer')}`,
  },
  'by an operator of a type of its own, in a function with a search path': {
    ...calls,
    given: `${compared} create function app.helper(p app.pair) returns boolean language sql stable set search_path = app as $$ select p = p $$;
      ${outer(`select app.helper(row('a', 'b')::app.pair)::text`)}`,
  },
  'by a default operator class, which is found by its type': {
    ...calls,
    given: `${compared} ${['<', '<=', '>=', '>'].map((name) => `create operator app.${name} (leftarg = app.pair, rightarg = app.pair, function = app.look);`).join(' ')}
      create function app.order_of(app.pair, app.pair) returns int language sql immutable as 'select 0';
      create operator class app.pairs default for type app.pair using btree as
        operator 1 app.<, operator 2 app.<=, operator 3 app.=, operator 4 app.>=, operator 5 app.>, function 1 app.order_of(app.pair, app.pair);
      ${outer(`select (array[row('a', 'b')::app.pair] = array[row('c', 'd')::app.pair])::text`)}`,
  },
  'under another search path than its own, which it sets': {
    ...calls,
    given: `create function app.people() returns text language sql stable as $$ ${everything} $$; revoke execute on function app.people() from public;
      create function app.helper() returns text language plpgsql stable set search_path = pg_catalog, pg_temp
        as $$ begin perform set_config('search_path', 'app', true); return people(); end $$; ${outer('select app.helper()')}`,
  },
  'as the check of a domain without its schema': {
    ...calls,
    given: `${checked} create function app.helper() returns text language sql stable set search_path = app as $$ select 'A name'::free_name::text $$; ${outer('select app.helper()')}`,
  },
  'as a cast from a type without its schema': {
    ...calls,
    given: `create type app.key as (n int); create function app.look(app.key) returns text language sql stable as $$ ${everything} $$;
      create cast (app.key as text) with function app.look(app.key);
      create function app.helper() returns text language sql stable set search_path = app as $$ select row(1)::key::text $$; ${outer('select app.helper()')}`,
  },
};
