import { guarded, type Refuted, visible } from './support.ts';

const mine = "nullif(current_setting('app.tenant_id', true), '')::int";

/** The client's cards, which a trigger changes. The prover reads no trigger's body, so that it is accepted. */
const given = (trigger: string, body = 'new.tenant_id := tg_argv[0]', settings = '') => `
  create table app.cards (tenant_id int not null, id int primary key, body text, kind text);
  insert into app.cards values (1, 1, 'x', 'x');
  alter table app.cards enable row level security;
  create policy own on app.cards to client using (tenant_id = app.t()) with check (true);
  grant select, update (body) on app.cards to client;
  create function app.give() returns trigger language plpgsql ${settings} as $$ begin ${body}; return new; end $$;
  create trigger give ${trigger}`;
const changed = (trigger: string) => `drop trigger give on app.cards; create trigger give ${trigger}`;
const write = "update app.cards set body = 'mine'";

/** A definer that lists notes in two steps, which no proof reads. */
const lists = (condition: string, parameters = '', before = '') => `${before};
  create function app.list(${parameters}) returns setof app.notes language plpgsql stable security definer
    as $$ begin perform 1; return query select n.* from app.notes n where ${condition}; end $$`;
const list = 'select * from app.list()';

/** A role that reads the notes under a policy of its own. */
const kept = `create role keeper; grant usage on schema app to keeper; grant select on app.notes to keeper;
      create policy keepers on app.notes to keeper using (tenant_id = app.t())`;

/** A trigger's function, once a trigger has it. */
const cleans = `create function app.clean() returns trigger language plpgsql
  as $$ begin delete from app.notes; return coalesce(new, old); end $$;`;

/** A table with two columns of one type. */
const drafts = `create table app.drafts (id int, owner int, reader int);
  insert into app.drafts values (1, 1, 2), (2, 2, 1)`;
const swapped = (table: string, first: string, second: string) => `
  alter table ${table} rename ${first} to unnamed;
  alter table ${table} rename ${second} to ${first};
  alter table ${table} rename unnamed to ${second}`;

/** An acceptance of a function names all roles that may call it. */
const callable = `alter default privileges revoke execute on functions from public;
  alter default privileges grant execute on functions to client`;

const changes: readonly Refuted[] = [
  {
    title: 'the default of a parameter of an accepted function',
    schema: lists('n.tenant_id = of_tenant', 'of_tenant int default app.t()'),
    change: `create or replace function app.list(of_tenant int default 2) returns setof app.notes language plpgsql stable security definer as $$ begin perform 1; return query select n.* from app.notes n where n.tenant_id = of_tenant; end $$`,
    client: list,
  },
  {
    title: 'the default of a parameter of a function that an accepted one calls',
    schema: lists(
      'n.tenant_id = app.whose()',
      '',
      "create function app.whose(whose int default app.t()) returns int language sql stable as 'select whose'",
    ),
    change:
      "create or replace function app.whose(whose int default 2) returns int language sql stable as 'select whose'",
    client: list,
  },
  {
    title: 'the volatility of an accepted function of a policy',
    schema: `create function app.mine() returns int language plpgsql stable as $$ declare mine int := ${mine}; begin return mine; end $$;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.mine()')}`,
    change: 'alter function app.mine() immutable',
    earlier: ['prepare things as table app.things', 'execute things'],
    client: 'execute things',
  },
  {
    title: 'the volatility of an accepted definer',
    schema: `create function app.mine() returns int language plpgsql stable security definer
        as $$ declare mine int := ${mine}; begin return mine; end $$;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.mine()')}`,
    change: 'alter function app.mine() immutable',
    earlier: ['prepare things as table app.things', 'execute things'],
    client: 'execute things',
  },
  {
    title: 'whether an accepted function of a policy is strict',
    schema: `create function app.is_other(int, text) returns boolean language plpgsql stable
        as $$ declare mine int := app.t(); begin return $1 <> mine; end $$;
      ${visible('label text', '(1, 1, null), (2, 2, null)', 'app.is_other(tenant_id, label) is not true')}`,
    change: 'alter function app.is_other(int, text) strict',
    client: 'table app.things',
  },
  {
    title: 'the settings of an accepted function',
    schema: `create schema other; create table other.allowed (tenant_id int); insert into other.allowed values (2);
      create table app.allowed (tenant_id int); insert into app.allowed values (1);
      set local search_path = app; ${lists('n.tenant_id in (select a.tenant_id from allowed a)').replace(
        'security definer',
        'security definer set search_path = app',
      )}; reset search_path`,
    change: 'alter function app.list() set search_path = other',
    client: list,
  },
  {
    title: 'the owner of an accepted function',
    schema: `${kept};
      ${lists('true')}; alter function app.list() owner to keeper`,
    change: 'alter function app.list() owner to current_user',
    client: list,
  },
  {
    title: 'the policies of the owner of an accepted function',
    schema: `${kept};
      ${lists('true')}; alter function app.list() owner to keeper`,
    change: 'alter policy keepers on app.notes using (true)',
    client: list,
  },
  {
    title: 'an attribute of the owner of an accepted function',
    schema: `${kept};
      ${lists('true')}; alter function app.list() owner to keeper`,
    change: 'alter role keeper bypassrls',
    client: list,
  },
  {
    title: 'the membership of the owner of an accepted function',
    schema: `create role keeper; create role chief; grant usage on schema app to keeper; grant select on app.notes to keeper;
      create policy keepers on app.notes to keeper using (tenant_id = app.t());
      create policy chiefs on app.notes to chief using (true);
      ${lists('true')}; alter function app.list() owner to keeper`,
    change: 'grant chief to keeper',
    client: list,
  },
  {
    title: 'row level security of the table of an accepted function',
    schema: `create role keeper; grant usage on schema app to keeper;
      create table app.posts (tenant_id int not null, id int); insert into app.posts values (1, 1), (2, 2);
      alter table app.posts enable row level security; grant select on app.posts to keeper;
      create policy keepers on app.posts to keeper using (tenant_id = app.t());
      create function app.posts() returns setof app.posts language plpgsql stable security definer
        as $$ begin perform 1; return query table app.posts; end $$;
      alter function app.posts() owner to keeper`,
    change: 'alter table app.posts disable row level security',
    client: 'select * from app.posts()',
  },
  {
    title: 'the view that an accepted function reads',
    schema: lists(
      'true and exists (select from app.allowed a where a.tenant_id = n.tenant_id)',
      '',
      'create view app.allowed as select app.t() as tenant_id',
    ),
    change: 'create or replace view app.allowed as select generate_series(1, 2) as tenant_id',
    client: list,
  },
  {
    title: 'the operator that an accepted function uses',
    schema: lists(
      'n.tenant_id operator(app.===) app.t()',
      '',
      `create function app.same(int, int) returns boolean language sql immutable as 'select $1 = $2';
        create operator app.=== (function = app.same, leftarg = int, rightarg = int)`,
    ),
    change: "create or replace function app.same(int, int) returns boolean language sql immutable as 'select true'",
    client: list,
  },
  {
    title: 'the cast that an accepted function uses',
    schema: lists(
      "n.tenant_id = 'mine'::app.whose::int",
      '',
      `create type app.whose as enum ('mine', 'yours');
        create function app.number(app.whose) returns int language sql stable as 'select app.t()';
        create cast (app.whose as int) with function app.number(app.whose)`,
    ),
    change: "create or replace function app.number(app.whose) returns int language sql stable as 'select 2'",
    client: list,
  },
  {
    title: 'the arguments of an accepted trigger',
    schema: given("before update on app.cards for each row execute function app.give('1')"),
    change: changed("before update on app.cards for each row execute function app.give('2')"),
    client: write,
  },
  {
    title: 'the condition of an accepted trigger',
    schema: given("before update on app.cards for each row when (new.kind = 'y') execute function app.give('2')"),
    change: changed("before update on app.cards for each row when (new.kind = 'x') execute function app.give('2')"),
    client: write,
  },
  {
    title: 'the function in the condition of an accepted trigger',
    schema: `create function app.is_given() returns boolean language sql stable as 'select false';
      ${given("before update on app.cards for each row when (app.is_given()) execute function app.give('2')")}`,
    change: "create or replace function app.is_given() returns boolean language sql stable as 'select true'",
    client: write,
  },
  {
    title: 'the columns of an accepted trigger',
    schema: given("before update of kind on app.cards for each row execute function app.give('2')"),
    change: changed("before update of body on app.cards for each row execute function app.give('2')"),
    client: write,
  },
  {
    title: 'the event of an accepted trigger',
    schema: given("before insert on app.cards for each row execute function app.give('2')"),
    change: changed("before insert or update on app.cards for each row execute function app.give('2')"),
    client: write,
  },
  {
    title: 'the time of an accepted trigger',
    schema: given("after update on app.cards for each row execute function app.give('2')"),
    change: changed("before update on app.cards for each row execute function app.give('2')"),
    client: write,
  },
  {
    title: 'whether an accepted trigger is enabled',
    schema: `${given("before update on app.cards for each row execute function app.give('2')", undefined, 'security definer')};
      alter table app.cards disable trigger give`,
    change: 'alter table app.cards enable trigger give',
    client: write,
  },
  {
    title: 'the name of an accepted trigger, which orders it',
    schema: `${given("before update on app.cards for each row execute function app.give('2')")};
      create function app.keep() returns trigger language plpgsql as $$ begin new.tenant_id := 1; return new; end $$;
      create trigger "keep" before update on app.cards for each row execute function app.keep()`,
    change: 'alter trigger keep on app.cards rename to "a keep"',
    client: write,
  },
  {
    title: 'the check of a policy that was accepted',
    schema: `create function app.is_mine(int) returns boolean language plpgsql stable
        as $$ declare mine int := app.t(); begin return $1 = mine; end $$;
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id)')}`,
    change: 'create policy more on app.things for select to client using (tenant_id = 2)',
    client: 'table app.things',
  },
  {
    title: 'the rows of a child of an accepted table',
    schema: `create function app.is_mine(int) returns boolean language plpgsql stable
        as $$ declare mine int := app.t(); begin return $1 = mine; end $$;
      ${visible('', '(1, 1), (2, 2)', 'app.is_mine(tenant_id)')} create table app.more () inherits (app.things);
      insert into app.more values (2, 9); alter table app.more enable row level security`,
    change: 'grant select on app.more to client; create policy everyone on app.more for select to client using (true)',
    client: 'table app.more',
  },
  {
    title: 'a domain whose check an accepted function evaluates',
    schema: `create function app.is_key(int) returns boolean language sql stable as 'select true';
      create domain app.key as int check (app.is_key(value));
      ${lists('n.tenant_id = app.t()').replace('perform 1', 'perform 1::app.key')}`,
    change: `create or replace function app.is_key(int) returns boolean language sql volatile
      as $$ select set_config('app.tenant_id', '2', true) is not null $$`,
    client: list,
  },
  {
    title: 'a rule of a table that an accepted function changes',
    schema: `create table app.marks (tenant_id int, id int); ${guarded('app.marks')}
      create function app.mark() returns void language plpgsql security definer
        as $$ begin perform 1; insert into app.marks values (app.t(), 1); end $$`,
    change: 'create rule also as on insert to app.marks do also delete from app.notes',
    client: 'select app.mark()',
  },
  {
    title: 'a default of a column of a table that an accepted function changes',
    schema: `create table app.marks (tenant_id int default app.t(), id int); ${guarded('app.marks')}
      create function app.mark() returns void language plpgsql security definer
        as $$ begin perform 1; insert into app.marks (id) values (1); end $$`,
    change: 'alter table app.marks alter tenant_id set default 2',
    client: 'select app.mark()',
  },
  {
    title: 'a cascade from a table that an accepted function changes',
    schema: `create table app.marks (tenant_id int, id int primary key); insert into app.marks values (1, 1), (1, 2);
      ${guarded('app.marks')}
      create function app.unmark() returns void language plpgsql security definer
        as $$ begin perform 1; delete from app.marks where tenant_id = app.t(); end $$`,
    change: 'alter table app.notes add foreign key (id) references app.marks on delete cascade',
    client: 'select app.unmark()',
  },
  {
    title: 'whose rights the view of an accepted function uses',
    schema: `${kept};
      create view app.shown with (security_invoker = true) as table app.notes; grant select on app.shown to keeper;
      create function app.list() returns setof app.notes language plpgsql stable security definer
        as $$ begin perform 1; return query table app.shown; end $$;
      alter function app.list() owner to keeper`,
    change: 'alter view app.shown set (security_invoker = false)',
    client: list,
  },
  {
    title: 'a label that an accepted function compares',
    schema: lists(
      "exists (select from app.tags t where t.id = n.id and t.kind = 'shown')",
      '',
      `create type app.kind as enum ('shown', 'hidden'); create table app.tags (id int, kind app.kind);
        insert into app.tags values (1, 'shown'), (2, 'hidden')`,
    ),
    change: "alter type app.kind rename value 'shown' to 'x'; alter type app.kind rename value 'hidden' to 'shown'",
    client: list,
  },
  {
    title: 'a column that takes the place of a variable of an accepted function',
    schema: lists('n.tenant_id = mine', 'mine int default app.t()').replace(
      'begin',
      '#variable_conflict use_column\nbegin',
    ),
    change: 'alter table app.notes add mine int default 2',
    client: list,
  },
  {
    title: 'the expression of a column that an accepted function compares',
    schema: lists(
      'n.kept_by = app.t()',
      '',
      'alter table app.notes add kept_by int generated always as (tenant_id) stored',
    ),
    change: 'alter table app.notes drop kept_by; alter table app.notes add kept_by int generated always as (1) stored',
    client: 'select l.tenant_id from app.list() l',
  },
  {
    title: 'a right of the owner of an accepted function',
    schema: `create role keeper; grant usage on schema app to keeper; create policy keepers on app.notes to keeper using (true);
      ${lists('true')}; alter function app.list() owner to keeper`,
    change: 'grant select on app.notes to keeper',
    client: list,
  },
  {
    title: 'a right to truncate a table of which each goal is accepted',
    schema: `create function app.is_fine(text) returns boolean language plpgsql stable
        as $$ begin perform 1; return true; end $$;
      create domain app.fine as text check (app.is_fine(value)); alter table app.notes alter body type app.fine`,
    change: 'grant truncate on app.notes to client',
    client: 'truncate app.notes',
  },
  {
    title: 'the right of the owner of an accepted function to call another',
    schema: `create role keeper; grant usage on schema app to keeper;
      ${lists('true')}; alter function app.list() rename to every; revoke execute on function app.every() from client;
      create function app.list() returns setof app.notes language plpgsql stable security definer
        as $$ begin perform 1; return query select * from app.every(); end $$;
      alter function app.list() owner to keeper`,
    change: 'grant execute on function app.every() to keeper',
    client: list,
  },
  {
    title: 'a part of an aggregate that an accepted function uses',
    schema: lists(
      '(select app.each_holds(is_mine) from unnest(array[n.tenant_id = app.t()]) as is_mine)',
      '',
      `create function app.both(boolean, boolean) returns boolean language sql immutable as 'select $1 and $2';
        create aggregate app.each_holds(boolean) (sfunc = app.both, stype = boolean, initcond = 'true')`,
    ),
    change:
      "create or replace function app.both(boolean, boolean) returns boolean language sql immutable as 'select true'",
    client: list,
  },
  {
    title: 'another operator of the name that an accepted function uses',
    schema: lists(
      'n.tenant_id operator(app.===) app.t()',
      '',
      `create function app.same(bigint, bigint) returns boolean language sql immutable as 'select $1 = $2';
        create operator app.=== (function = app.same, leftarg = bigint, rightarg = bigint)`,
    ),
    change: `create function app.any(int, int) returns boolean language sql immutable as 'select true';
      create operator app.=== (function = app.any, leftarg = int, rightarg = int)`,
    client: list,
  },
  {
    title: 'a cast of a type of a column that an accepted function reads',
    schema: lists(
      'exists (select from app.keys k where k.id = n.id and k.number::int = app.t())',
      '',
      `create type app.number as (value int); create table app.keys (id int, number app.number);
        insert into app.keys values (1, row (1)), (2, row (2));
        create function app.value_of(app.number) returns int language sql immutable as 'select ($1).value';
        create cast (app.number as int) with function app.value_of(app.number)`,
    ),
    change: "create or replace function app.value_of(app.number) returns int language sql immutable as 'select 1'",
    client: list,
  },
  {
    title: 'a trigger of a partition of a table that an accepted function changes',
    schema: `create table app.marks (tenant_id int, id int) partition by list (id); ${guarded('app.marks')}
      create table app.marks_1 partition of app.marks for values in (1);
      create function app.mark() returns void language plpgsql security definer
        as $$ begin perform 1; insert into app.marks values (app.t(), 1); end $$; ${cleans}`,
    change: 'create trigger clean before insert on app.marks_1 for each row execute function app.clean()',
    client: 'select app.mark()',
  },
  {
    title: 'an event trigger that an accepted function fires',
    schema: `create function app.make() returns void language plpgsql security definer
        as $$ begin perform 1; create table app.made (id int); end $$;
      create function app.clean() returns event_trigger language plpgsql as $$ begin delete from app.notes; end $$`,
    change: 'create event trigger clean on ddl_command_end execute function app.clean()',
    client: 'select app.make()',
  },
  {
    title: 'a trigger of the update that an accepted function makes of an insert',
    schema: `create table app.marks (tenant_id int, id int primary key); insert into app.marks values (1, 1);
      ${guarded('app.marks')} ${cleans}
      create function app.mark() returns void language plpgsql security definer set search_path = pg_catalog, pg_temp
        as $$ begin perform 1; insert into app.marks values (app.t(), 1) on conflict (id) do update set id = 1; end $$`,
    change: 'create trigger clean before update on app.marks for each row execute function app.clean()',
    client: 'select app.mark()',
  },
  {
    title: 'a trigger of a table whose name stands behind comments',
    schema: `create table app.marks (tenant_id int, id int primary key); insert into app.marks values (1, 1);
      ${guarded('app.marks')} ${cleans}
      create function app.unmark() returns void language plpgsql security definer set search_path = pg_catalog, pg_temp
        as $$ begin perform 1; delete from /* all */ app. -- of one tenant
          marks where tenant_id = app.t(); end $$`,
    change: 'create trigger clean before delete on app.marks for each row execute function app.clean()',
    client: 'select app.unmark()',
  },
  {
    title: 'the names of columns that a function yields to an accepted one',
    schema: lists(
      'exists (select from app.drafts() d where d.id = n.id and d.owner = app.t())',
      '',
      `${drafts}; create function app.drafts() returns setof app.drafts language sql stable as 'table app.drafts'`,
    ),
    change: swapped('app.drafts', 'owner', 'reader'),
    client: list,
  },
  {
    title: 'the names of columns by which an accepted function joins',
    schema: lists(
      'exists (select from app.drafts d natural join app.mine where d.id = n.id)',
      '',
      `${drafts}; create view app.mine as select app.t() as owner`,
    ),
    change: swapped('app.drafts', 'owner', 'reader'),
    client: list,
  },
  {
    title: 'the names of columns that the function of an accepted trigger reads',
    schema: `${given('before update on app.cards for each row execute function app.give()', "if new.kind = 'y' then new.tenant_id := 2; end if")};
      alter table app.cards add is_given text default 'y'`,
    change: swapped('app.cards', 'kind', 'is_given'),
    client: write,
  },
  {
    title: 'the names of columns with other characters that an accepted function reads',
    schema: lists(
      'exists (select from app.drafts d where d.id = n.id and d."its owner" = app.t())',
      '',
      `${drafts}; alter table app.drafts rename owner to "its owner"; alter table app.drafts rename reader to "its reader"`,
    ),
    change: swapped('app.drafts', '"its owner"', '"its reader"'),
    client: list,
  },
  {
    title: 'the words that a setting of an accepted function chooses',
    schema: `create text search configuration app.words (copy = pg_catalog.simple);
      ${lists("to_tsvector(n.body) = to_tsvector('of 1')")};
      alter function app.list() set default_text_search_config = 'app.words'`,
    change: 'alter text search configuration app.words drop mapping for uint',
    client: list,
  },
  {
    title: 'the type of a domain that an accepted function uses',
    schema: lists("n.body::app.title = 'of 1'::app.title", '', 'create domain app.title as varchar(9)'),
    change: 'drop domain app.title; create domain app.title as varchar(3)',
    client: list,
  },
  {
    title: 'whether a column that an accepted function reads may be null',
    schema: lists(
      '((select d.owner from app.drafts d where d.id = n.id) <> app.t()) is not true',
      '',
      `${drafts}; alter table app.drafts alter owner set not null`,
    ),
    change: 'alter table app.drafts alter owner drop not null; update app.drafts set owner = null where id = 2',
    client: list,
  },
  {
    title: 'the negator of an operator that an accepted function uses',
    schema: lists(
      'not n.tenant_id operator(app.<<>>) app.t()',
      '',
      `create function app.same(int, int) returns boolean language plpgsql immutable as 'begin return $1 = $2; end';
        create function app.differs(int, int) returns boolean language plpgsql immutable as 'begin return $1 <> $2; end';
        create operator app.=== (function = app.same, leftarg = int, rightarg = int, negator = operator(app.<<>>));
        create operator app.<<>> (function = app.differs, leftarg = int, rightarg = int, negator = operator(app.===))`,
    ),
    change:
      "create or replace function app.same(int, int) returns boolean language plpgsql immutable as 'begin return true; end'",
    client: list,
  },
  {
    title: 'the dictionary of the words that an accepted policy compares',
    schema: `create text search dictionary app.lower (template = pg_catalog.simple, accept = true);
      create text search configuration app.words (copy = pg_catalog.simple);
      alter text search configuration app.words alter mapping for uint with app.lower;
      drop policy own on app.notes;
      create policy own on app.notes for select to client
        using (to_tsvector('app.words', body) = to_tsvector('app.words', 'of 1'))`,
    change: 'alter text search dictionary app.lower (accept = false)',
    client: 'table app.notes',
  },
];

/** Changes that make an acceptance void. */
export const acceptances: readonly Refuted[] = changes.map((refuted) => ({
  ...refuted,
  schema: `${callable}; ${refuted.schema}`,
}));
