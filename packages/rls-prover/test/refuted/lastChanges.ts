import { definer, view } from './last.ts';
import { guarded, type Refuted } from './support.ts';

const notes = 'table app.notes';

const accepted = (body: string, before = '') => `
  ${before};
  ${definer('mine', 'setof text', body)}`;
const mine = 'select app.mine()';

/** Changes after everything open was accepted, written from the manual alone after all others. */
export const lastChanges: readonly Refuted[] = [
  {
    title: 'another function that fits an accepted call better',
    schema: accepted(
      'select body from app.notes where tenant_id = app.least_tenant(1)',
      "create function app.least_tenant(bigint) returns int language sql immutable as 'select 1'",
    ),
    client: mine,
    change: "create function app.least_tenant(int) returns int language sql immutable as 'select 2'",
  },
  {
    title: 'the barrier of an accepted view',
    schema: view('select * from app.notes where tenant_id::numeric = app.t() + 0.0'),
    client: "select * from app.shown where case when body like '%2' then body::int = 0 else true end",
    change: 'alter view app.shown reset (security_barrier)',
  },
  {
    title: 'the membership that brings a policy to an accepted table',
    schema: `create role staff nologin;
      create policy staff on app.notes to staff using (true);
      drop policy own on app.notes;
      create policy own on app.notes to client using (tenant_id::numeric = app.t() + 0.0)`,
    client: notes,
    change: 'grant staff to client',
  },
  {
    title: 'another table that an accepted function finds first',
    schema: `create schema extra;
      create table public.shared as select 'of all' as body;
      create function app.mine() returns setof text language sql security definer set search_path = extra, public
        as $$ select body from shared $$;
      revoke execute on function app.mine from public;
      grant execute on function app.mine to client`,
    client: mine,
    change: "create table extra.shared as select 2 as tenant_id, 'of 2' as body",
  },
  {
    title: 'an aggregate that an accepted function uses',
    schema: accepted(
      'select body from app.notes where tenant_id = (select app.tenant(n) from unnest(array[1]) n)',
      'create aggregate app.tenant(int) (sfunc = int4larger, stype = int)',
    ),
    client: mine,
    change: "create or replace aggregate app.tenant(int) (sfunc = int4larger, stype = int, initcond = '2')",
  },
  {
    title: 'the fields of a type that an accepted function uses',
    schema: accepted(
      'select body from app.notes where tenant_id = ((1, 2)::app.pair).mine',
      'create type app.pair as (mine int, other int)',
    ),
    client: mine,
    change: `alter type app.pair rename attribute mine to old;
      alter type app.pair rename attribute other to mine`,
  },
  {
    title: 'the names of columns that an accepted function reads',
    schema: accepted(
      'select d.body from app.drafts d where d.owner = 1',
      `create table app.drafts (owner int, reader int, body text);
       insert into app.drafts values (2, 1, 'of 2')`,
    ),
    client: mine,
    change: `alter table app.drafts rename owner to old;
      alter table app.drafts rename reader to owner`,
  },
  {
    title: 'the words that an accepted function leaves out',
    schema: accepted(
      "select body from app.notes where to_tsvector('app.words', body) = to_tsvector('app.words', 'of 1') or tenant_id = 1",
      'create text search configuration app.words (copy = pg_catalog.simple)',
    ),
    client: mine,
    change: 'alter text search configuration app.words drop mapping for uint, asciiword',
  },
  {
    title: 'the label of an enum that an accepted function names',
    schema: accepted(
      "select body from app.drafts where level = 'open'",
      `create type app.level as enum ('open', 'closed');
       create table app.drafts (level app.level, body text);
       insert into app.drafts values ('closed', 'of 2')`,
    ),
    client: mine,
    change: `alter type app.level rename value 'open' to 'old';
      alter type app.level rename value 'closed' to 'open'`,
  },
  {
    title: 'a trigger of a table that an accepted function changes',
    schema: `
      create table app.log (tenant_id int not null, id int generated always as identity primary key);
      create function app.note_call() returns trigger language plpgsql
        as $$ begin update app.notes set body = 'called'; return null; end $$;
      ${definer('mine', 'void', 'insert into app.log values (app.t())')}`,
    client: mine,
    change: 'create trigger note_call after insert on app.log for each row execute function app.note_call()',
  },
  {
    title: 'the action of an accepted foreign key',
    schema: `
      create table app.lines (tenant_id int not null, note_id int constraint note references app.notes);
      insert into app.lines values (2, 1);
      ${guarded('app.lines', 'tenant_id::numeric = app.t() + 0.0')}`,
    client: 'delete from app.notes',
    change: `alter table app.lines drop constraint note;
      alter table app.lines add constraint note foreign key (note_id) references app.notes on delete cascade`,
  },
  {
    title: 'the words that the policy of an accepted table leaves out',
    schema: `create text search configuration app.words (copy = pg_catalog.simple);
      drop policy own on app.notes;
      create policy own on app.notes to client
        using (to_tsvector('app.words', body) = to_tsvector('app.words', 'of 1'))`,
    client: notes,
    change: 'alter text search configuration app.words drop mapping for uint',
  },
  {
    title: 'the expression of a generated column that an accepted function reads',
    schema: accepted(
      'select d.body from app.drafts d where d.owner = 1',
      `create table app.drafts (tenant_id int, owner int generated always as (tenant_id) stored, body text);
       insert into app.drafts values (2, default, 'of 2')`,
    ),
    client: mine,
    change: 'alter table app.drafts alter owner set expression as (1)',
    since: 17,
  },
  {
    title: 'the collation of a column that an accepted function compares',
    schema: accepted(
      "select d.body from app.drafts d where d.kind = 'a'",
      `create collation app.caseless (provider = icu, locale = 'und-u-ks-level2', deterministic = false);
       create table app.drafts (tenant_id int, kind text, body text);
       insert into app.drafts values (2, 'A', 'of 2')`,
    ),
    client: mine,
    change: 'alter table app.drafts alter kind type text collate app.caseless',
  },
  {
    title: 'the members of a role that an accepted policy asks for',
    schema: `create role staff nologin;
      drop policy own on app.notes;
      create policy own on app.notes to client using (tenant_id = app.t() or pg_has_role('staff', 'member'))`,
    client: notes,
    change: 'grant staff to client',
  },
];
