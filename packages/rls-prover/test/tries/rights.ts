import type { Tries } from './try.ts';

const right = (given: string, act: string, names: RegExp, sees = /\w/) => ({ given, act, names, sees });

/** A right on what is PostgreSQL's own, or on what no policy guards. */
export const rights: Tries = {
  'reads a column of the statistics': right(
    'grant select (starelid, stavalues1) on pg_catalog.pg_statistic to public;',
    'select count(stavalues1) from pg_catalog.pg_statistic',
    /pg_statistic/,
  ),
  'reads files': right(
    'grant execute on function pg_catalog.pg_read_file(text) to public',
    `select pg_catalog.pg_read_file('PG_VERSION')`,
    /pg_read_file/,
  ),
  'lists files': right(
    'grant execute on function pg_catalog.pg_ls_dir(text) to member',
    `select pg_catalog.pg_ls_dir('.')`,
    /pg_ls_dir/,
  ),
  'imports files': right(
    'grant execute on function pg_catalog.lo_import(text) to public',
    `select pg_catalog.lo_import('PG_VERSION')`,
    /lo_import/,
  ),
  'reads passwords': right(
    'grant select on pg_catalog.pg_authid to public',
    'select count(*) from pg_catalog.pg_authid',
    /pg_authid/,
  ),
  'reads a view of information_schema': right(
    `create view information_schema.notes as select body from app.notes; grant select on information_schema.notes to public`,
    'select body from information_schema.notes',
    /information_schema/,
    /Text of bbbbbbbb/,
  ),
  'reads a function of pg_catalog': right(
    `create function pg_catalog.bodies() returns setof text language sql security definer as $$ select body from app.notes $$;`,
    'select pg_catalog.bodies()',
    /bodies/,
    /Text of bbbbbbbb/,
  ),
  'reads a toast table': right(
    `do $$ begin execute format('grant select on %s to member; grant usage on schema pg_toast to member', (select reltoastrelid::regclass from pg_class where oid = 'app.notes'::regclass)); end $$`,
    `select has_table_privilege(reltoastrelid, 'select')::text from pg_class where oid = 'app.notes'::regclass`,
    /pg_toast/,
    /true/,
  ),
  'makes temporary tables': right(
    `do $$ begin execute format('grant temporary on database %I to member', current_database()); end $$`,
    'create temporary table x (n int); select 1 as made',
    /temporary/,
    /made/,
  ),
  'sets parameters of the system': right(
    'grant alter system on parameter log_statement to public',
    `select has_parameter_privilege('log_statement', 'alter system')::text as may`,
    /log_statement/,
    /true/,
  ),
  'writes PostgreSQL’s own catalogue': right(
    'grant update (relrowsecurity) on pg_catalog.pg_class to member',
    `select has_column_privilege('pg_catalog.pg_class', 'relrowsecurity', 'update')::text as may`,
    /pg_class/,
    /true/,
  ),
  'makes roles': right(
    'alter role member createrole',
    `select rolcreaterole::text as may from pg_roles where rolname = current_user`,
    /member/,
    /true/,
  ),
  replicates: right(
    'alter role member replication',
    `select rolreplication::text as may from pg_roles where rolname = current_user`,
    /member/,
    /true/,
  ),
  'is a function that policies may ask too late': right(
    `create function app.peek(text) returns boolean language plpgsql leakproof cost 0.0001 as $$ begin raise notice '%', $1; return true; end $$;
     create table app.heard (t text);`,
    `select prokind::text as known from pg_proc where proname = 'peek' and proleakproof`,
    /app\.peek/,
    /known/,
  ),
};
