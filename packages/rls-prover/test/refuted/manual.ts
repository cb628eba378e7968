import { guarded, type Refuted } from './support.ts';

const client = 'table app.notes';
const hidden = `create table app.hidden (tenant_id int not null, id int primary key, body text);
  insert into app.hidden values (1, 1, 'of 1'), (2, 2, 'of 2');`;
const list = 'table app.hidden';
const keeper = 'create role keeper; grant usage on schema app to keeper;';
const cards = (policies: string, grants: string, columns = 'tenant_id int not null, id int primary key, body text') => `
  create table app.cards (${columns}); insert into app.cards (id, body) values (1, 'x');
  alter table app.cards enable row level security; ${policies}; grant ${grants} on app.cards to client;`;
const everything = "returns setof app.notes language sql stable security definer as 'table app.notes'";
const secret = `create function app.secret() returns text language sql stable security definer
  as $$ select string_agg(body, ',') from app.notes $$; revoke execute on function app.secret() from public;`;
const uncalled = (parameters: string, result: string, labels = '') => `
  create function app.uncalled(${parameters}) returns ${result} language plpgsql ${labels} security definer
    as $$ begin raise exception '%', (select string_agg(body, ',') from app.notes); end $$;
  revoke execute on function app.uncalled from public;`;

/** From PostgreSQL's manual: rights, roles, functions, and commands that write. */
export const manual: readonly Refuted[] = [
  { title: 'a client that bypasses row level security', schema: 'alter role client bypassrls', client },
  { title: 'a client that is a superuser', schema: 'alter role client superuser', client },
  { title: 'a client that owns a table', schema: 'alter table app.notes owner to client', client },
  {
    title: 'a client that owns a schema',
    schema: `${keeper} create schema own authorization client; grant create on schema own to client`,
    client: ['create table own.made (tenant_id int)', 'insert into own.made values (2)'],
  },
  {
    title: 'a client that is a member of an owner',
    schema: `${keeper} alter table app.notes owner to keeper; grant keeper to client`,
    client,
  },
  {
    title: 'a client that may become the owner',
    schema: `${keeper} alter table app.notes owner to keeper; grant keeper to client with inherit false, set true`,
    client: ['set role keeper', client],
    since: 16,
  },
  {
    title: 'a client that may only pass on a membership',
    schema: `${keeper} alter table app.notes owner to keeper; grant keeper to client with admin true, inherit false, set false`,
    client: ['grant keeper to client with inherit true', client],
    since: 16,
  },
  {
    title: 'a client that is a member of a member of an owner',
    schema: `${keeper} create role staff; grant staff to client; grant keeper to staff; alter table app.notes owner to keeper`,
    client,
  },
  {
    title: 'a policy for a role that the client has',
    schema:
      'create role staff; grant staff to client; create policy staff on app.notes for select to staff using (true)',
    client,
  },
  {
    title: 'a policy for a role that the client may become',
    schema: `create role staff; grant usage on schema app to staff; grant select on app.notes to staff;
      grant staff to client with inherit false; create policy staff on app.notes for select to staff using (true)`,
    client: ['set role staff', client],
    since: 16,
  },
  {
    title: 'a policy that asks for the role of the session',
    schema: `create role staff; grant usage on schema app to staff; grant select on app.notes to staff; grant staff to client;
      create policy staff on app.notes for select to staff using (current_user <> session_user or tenant_id = app.t())`,
    client: ['set role staff', client],
  },
  { title: 'a role that reads all data', schema: `${hidden} grant pg_read_all_data to client`, client: list },
  {
    title: 'a role that writes all data',
    schema: `${hidden} grant pg_write_all_data to client`,
    client: "update app.hidden set body = 'mine'",
  },
  { title: 'a right of everybody', schema: `${hidden} grant select on app.hidden to public`, client: list },
  {
    title: 'a right of everybody in another schema',
    schema: `create schema other; grant usage on schema other to public; create table other.hidden (tenant_id int);
      insert into other.hidden values (2); grant select on other.hidden to public`,
    client: 'table other.hidden',
  },
  {
    title: 'a right on one column',
    schema: `${hidden} grant select (tenant_id) on app.hidden to client`,
    client: 'select tenant_id from app.hidden',
  },
  {
    title: 'a right to change one column',
    schema: `${hidden} grant update (body) on app.hidden to client`,
    client: "update app.hidden set body = 'mine'",
  },
  {
    title: 'a right by default privileges',
    schema: `alter default privileges in schema app grant select on tables to client; ${hidden}`,
    client: list,
  },
  { title: 'a right to truncate', schema: 'grant truncate on app.notes to client', client: 'truncate app.notes' },
  {
    title: 'a right to truncate a table to which another refers',
    schema: `create table app.marks (tenant_id int, note_id int references app.notes); insert into app.marks values (2, 2);
      ${guarded('app.marks')} grant truncate on app.marks to client`,
    client: 'truncate app.marks',
  },
  {
    title: 'a right to create triggers',
    schema: `create function app.give() returns trigger language plpgsql as $$ begin new.tenant_id := 2; return new; end $$;
      ${cards('create policy own on app.cards to client using (true) with check (true); create policy kept on app.cards as restrictive for select to client using (tenant_id = app.t())', 'select, update (body), trigger', 'tenant_id int not null default 1, id int primary key, body text')}`,
    client: [
      'create trigger give before update on app.cards for each row execute function app.give()',
      "update app.cards set body = 'mine'",
    ],
  },
  {
    title: 'a right to create in a schema of a search path',
    schema: `create function app.list() returns setof app.notes language plpgsql stable security definer set search_path = app, pg_catalog as $$ begin return query select n.* from notes n where n.tenant_id = t();
      end $$; grant create on schema app to client`,
    client: [
      "create function app.always(int, int) returns boolean language sql immutable as 'select true'",
      'create operator app.= (function = app.always, leftarg = int, rightarg = int)',
      'select * from app.list()',
    ],
  },
  {
    title: 'temporary tables that a definer finds',
    schema: `create table app.allowed (tenant_id int); insert into app.allowed values (1); set local search_path = app;
      create function app.list() returns setof app.notes language plpgsql stable security definer as $$ begin return query select n.* from app.notes n where n.tenant_id in (select a.tenant_id from allowed a);
      end $$; reset search_path; do $$ begin execute format('grant temporary on database %I to client', current_database());
      end $$`,
    client: [
      'create temporary table allowed (tenant_id int)',
      'grant select on allowed to public',
      'insert into allowed values (2)',
      'select * from app.list()',
    ],
  },
  {
    title: 'a right to set a parameter',
    schema: `create function app.own() returns trigger language plpgsql as $$ begin new.tenant_id := app.t(); return new; end $$;
      ${cards('create policy new on app.cards for insert to client with check (true)', 'insert', 'tenant_id int not null default 1, id int primary key, body text')} create trigger own before insert on app.cards for each row execute function app.own();
      grant set on parameter session_replication_role to client`,
    client: ['set session_replication_role = replica', 'insert into app.cards values (2, 9)'],
  },
  {
    title: 'a right on statistics',
    schema: `${hidden} insert into app.hidden select 2, n, 'of 2' from generate_series(10, 20) n; analyze app.hidden;
      grant select on pg_statistic to client`,
    client: "select stavalues1::text from pg_statistic where starelid = 'app.hidden'::regclass",
  },
  {
    title: 'a large object of everybody',
    schema: "select lo_from_bytea(424242, 'of 2'); grant select on large object 424242 to public",
    client: "select convert_from(lo_get(424242), 'utf8')",
  },
  { title: 'a table without row level security', schema: 'alter table app.notes disable row level security', client },
  {
    title: 'a table in the schema of information',
    schema: `create table information_schema.hidden (tenant_id int); insert into information_schema.hidden values (2);
      grant select on information_schema.hidden to client`,
    client: 'table information_schema.hidden',
  },
  {
    title: 'a function in the schema of the catalogue',
    schema: `create function pg_catalog.list_notes() ${everything}`,
    client: 'select * from list_notes()',
  },
  {
    title: 'a function in the schema of information',
    schema: `create function information_schema.list_notes() ${everything}`,
    client: 'select * from information_schema.list_notes()',
  },
  {
    title: 'a function in a schema of extensions',
    schema: `create schema extensions; grant usage on schema extensions to client;
      create function extensions.list_notes() ${everything}`,
    client: 'select * from extensions.list_notes()',
  },
  {
    title: 'a definer with a standard body',
    schema: `create function app.list() returns setof app.notes language sql stable security definer begin atomic select * from app.notes;
      end`,
    client: 'select * from app.list()',
  },
  {
    title: 'a function of a policy with a standard body',
    schema: `create function app.is_mine(int) returns boolean language sql stable return $1 >= app.t();
      alter policy own on app.notes using (app.is_mine(tenant_id))`,
    client,
  },
  {
    title: 'a function with a standard body that sets the claim',
    schema: "create function app.mark() returns text language sql return set_config('app.tenant_id', '2', true)",
    client: ['select app.mark()', client],
  },
  {
    title: 'a procedure that sets the claim',
    schema: "create procedure app.mark() language sql as $$ select set_config('app.tenant_id', '2', true) $$",
    client: ['call app.mark()', client],
  },
  {
    title: 'a procedure that sets the claim by a command',
    schema: 'create procedure app.mark() language plpgsql as $$ begin set local app.tenant_id = 2; end $$',
    client: ['call app.mark()', client],
  },
  {
    title: 'a function whose setting is the claim',
    schema: `create function app.list() returns setof app.notes language plpgsql stable set app.tenant_id = 2 as $$ begin return query table app.notes;
      end $$`,
    client: 'select * from app.list()',
  },
  {
    title: 'a definer with a default',
    schema: `create function app.list(whose int default 2) returns setof app.notes language sql stable security definer as 'select * from app.notes where tenant_id = whose'`,
    client: 'select * from app.list()',
  },
  {
    title: 'a definer of any number of arguments',
    schema: `create function app.list(variadic whose int[]) returns setof app.notes language sql stable security definer as 'select * from app.notes where tenant_id = any (whose)'`,
    client: 'select * from app.list(1, 2)',
  },
  {
    title: 'a definer of any type',
    schema: `create function app.list(anyelement) returns setof app.notes language sql stable security definer as 'select * from app.notes where tenant_id::text = $1::text'`,
    client: 'select * from app.list(2)',
  },
  {
    title: 'a definer that returns any type',
    schema: `create function app.list(anyelement) returns setof anyelement language sql stable security definer as $$ select jsonb_populate_record($1, to_jsonb(n)) from app.notes n $$`,
    client: 'select * from app.list(null::app.notes)',
  },
  {
    title: 'a procedure with a result among its parameters',
    schema:
      `create procedure app.peek(inout body text) language plpgsql security definer as $$ begin select n.body into body from app.notes n where tenant_id = 2;
      end $$`
        .replace('select n.body into body', '#variable_conflict use_variable\n select n.body into body')
        .replace('begin #variable_conflict use_variable\n', 'begin'),
    client: "call app.peek('')",
  },
  {
    title: 'a definer that returns a cursor',
    schema: `create function app.peek(refcursor) returns refcursor language plpgsql security definer as $$ begin open $1 for table app.notes;
      return $1; end $$`,
    client: ["select app.peek('peek')", 'fetch all from peek'],
  },
  {
    title: 'a definer below an operator',
    schema: `create function app.all_notes(int, int) returns text language sql stable security definer as $$ select string_agg(body, ',') from app.notes $$;
      create operator app.### (function = app.all_notes, leftarg = int, rightarg = int)`,
    client: 'select 1 operator(app.###) 1',
  },
  {
    title: 'a definer below a cast',
    schema: `create type app.key as enum ('a');
      create function app.all_notes(app.key) returns int language plpgsql stable security definer as $$ begin raise exception '%', (select string_agg(body, ',') from app.notes);
      end $$; create cast (app.key as int) with function app.all_notes(app.key)`,
    client: "select 'a'::app.key::int",
  },
  {
    title: 'a definer at the end of an aggregate',
    schema: `${uncalled('int', 'text')} create aggregate app.reveal(int) (sfunc = int4pl, stype = int, finalfunc = app.uncalled)`,
    client: 'select app.reveal(1)',
  },
  {
    title: 'a definer at each step of an aggregate',
    schema: `${uncalled('int, int', 'int')} create aggregate app.reveal(int) (sfunc = app.uncalled, stype = int, initcond = 0)`,
    client: 'select app.reveal(1)',
  },
  {
    title: 'a definer that compares for an operator class',
    schema: `create type app.kind as (a int); ${uncalled('app.kind, app.kind', 'int', 'immutable')}
      create function app.before(app.kind, app.kind) returns boolean language sql immutable as 'select true';
      ${['<<<', '<<=', '===', '>>=', '>>>'].map((name) => `create operator app.${name} (function = app.before, leftarg = app.kind, rightarg = app.kind);`).join('\n')}
      create operator class app.kinds default for type app.kind using btree as
        operator 1 app.<<<, operator 2 app.<<=, operator 3 app.===, operator 4 app.>>=, operator 5 app.>>>,
        function 1 app.uncalled(app.kind, app.kind)`,
    client: 'select k from (values (row(1)::app.kind), (row(2)::app.kind)) v (k) order by k',
  },
  {
    title: 'a definer that an event trigger calls',
    schema: `create function app.erase() returns event_trigger language plpgsql security definer as $$ begin delete from app.notes;
      end $$; revoke execute on function app.erase() from public;
      create event trigger erase on ddl_command_start execute function app.erase()`,
    client: 'alter default privileges revoke execute on functions from public',
  },
  {
    title: 'an event trigger that sets the claim',
    schema: `create function app.mark() returns event_trigger language plpgsql as $$ begin perform set_config('app.tenant_id', '2', true);
      end $$; create event trigger mark on ddl_command_start execute function app.mark()`,
    client: ['alter default privileges revoke execute on functions from public', client],
  },
  {
    title: 'a definer in the check of a domain',
    schema: `${secret} create function app.is_fine(text) returns boolean language plpgsql stable security definer as $$ begin raise exception '%', app.secret();
      end $$; create domain app.key as text check (app.is_fine(value))`,
    client: "select 'x'::app.key",
  },
  {
    title: 'an instead of trigger of a view with its owner’s rights',
    schema: `create view app.seen with (security_invoker) as table app.notes; grant select, update on app.seen to client;
      create function app.instead() returns trigger language plpgsql security definer as $$ begin update app.notes set body = new.body;
      return new; end $$; create trigger instead instead of update on app.seen for each row execute function app.instead()`,
    client: "update app.seen set body = 'mine'",
  },
  {
    title: 'a restrictive policy for reading only',
    schema: `alter policy own on app.notes using (true);
      create policy mine on app.notes as restrictive for select to client using (tenant_id = app.t())`,
    client: "update app.notes set body = 'mine'",
  },
  {
    title: 'a restrictive policy for another role',
    schema: `create role staff; alter policy own on app.notes using (true);
      create policy mine on app.notes as restrictive to staff using (tenant_id = app.t())`,
    client,
  },
  {
    title: 'deletes of rows that a client does not see',
    schema: `drop policy own on app.notes; create policy see on app.notes for select to client using (tenant_id = app.t());
      create policy remove on app.notes for delete to client using (true)`,
    client: 'delete from app.notes',
  },
  {
    title: 'inserts that are not checked',
    schema: 'create policy more on app.notes for insert to client with check (true)',
    client: "insert into app.notes values (2, 9, 'x')",
  },
  {
    title: 'updates that take a row',
    schema: `drop policy own on app.notes;
      create policy take on app.notes for update to client using (true) with check (tenant_id = app.t())`,
    client: 'update app.notes set tenant_id = 1',
  },
  {
    title: 'a merge that takes a row',
    schema: `drop policy own on app.notes; create policy see on app.notes for select to client using (true);
      create policy change on app.notes for update to client using (true) with check (tenant_id = app.t())`,
    client: 'merge into app.notes n using (select 2 as id) s on s.id = n.id when matched then update set tenant_id = 1',
  },
  {
    title: 'a conflict whose update gives a row away',
    schema: `alter policy own on app.notes using (tenant_id = app.t()) with check (true);
      create policy see on app.notes for select to client using (true)`,
    client: "insert into app.notes values (1, 1, 'x') on conflict (id) do update set tenant_id = 2",
  },
  {
    title: 'a generated column of a column that a client may change',
    schema: cards(
      'create policy own on app.cards for update to client using (tenant_id = app.t()) with check (true)',
      'update (id)',
      'tenant_id int generated always as (id) stored, id int primary key, body text',
    ),
    client: 'update app.cards set id = 2',
  },
  {
    title: 'a virtual column of a column that a client may change',
    schema: cards(
      'create policy own on app.cards for update to client using (tenant_id = app.t()) with check (true)',
      'update (id)',
      'tenant_id int generated always as (id) virtual, id int primary key, body text',
    ),
    client: 'update app.cards set id = 2',
    since: 18,
  },
  {
    title: 'a generated column of a column that a client inserts',
    schema: cards(
      'create policy new on app.cards for insert to client with check (id > 0)',
      'insert (id)',
      'tenant_id int generated always as (id) stored, id int primary key, body text',
    ),
    client: 'insert into app.cards (id) values (2)',
  },
  {
    title: 'a tenant that a sequence counts',
    schema: cards(
      'create policy new on app.cards for insert to client with check (true)',
      'insert (id)',
      'tenant_id int generated always as identity, id int primary key, body text',
    ),
    client: 'insert into app.cards (id) values (2)',
  },
  {
    title: 'a tenant by default',
    schema: cards(
      'create policy new on app.cards for insert to client with check (true)',
      'insert (id)',
      'tenant_id int default 2, id int primary key, body text',
    ),
    client: 'insert into app.cards (id) values (2)',
  },
  {
    title: 'a tenant by the default of a domain',
    schema: `create domain app.tenant as int default 2;
      ${cards('create policy new on app.cards for insert to client with check (true)', 'insert (id)', 'tenant_id app.tenant, id int primary key, body text')}`,
    client: 'insert into app.cards (id) values (2)',
  },
  {
    title: 'a partition with a right of its own',
    schema: `create table app.posts (tenant_id int, id int) partition by list (tenant_id);
      create table app.second partition of app.posts for values in (2); insert into app.posts values (2, 2);
      ${guarded('app.posts')} grant select on app.second to client`,
    client: 'table app.second',
  },
  {
    title: 'a partition into which a client inserts',
    schema: `create table app.posts (tenant_id int, id int) partition by list (tenant_id);
      create table app.second partition of app.posts for values in (2);
      ${guarded('app.posts')} grant insert on app.second to client`,
    client: 'insert into app.second values (2, 9)',
  },
  {
    title: 'a child with a right of its own',
    schema: `create table app.more () inherits (app.notes); insert into app.more values (2, 9, 'of 2');
      grant select on app.more to client`,
    client: 'table app.more',
  },
  {
    title: 'a partition that was attached with a policy of its own',
    schema: `create table app.posts (tenant_id int, id int) partition by range (id);
      ${guarded('app.posts')} create table app.old (tenant_id int, id int); insert into app.old values (2, 2);
      ${guarded('app.old', 'true')} alter table app.posts attach partition app.old for values from (0) to (9)`,
    client: 'table app.old',
  },
  {
    title: 'a parent that shows the rows of a child',
    schema: `create table app.parents (id int); create table app.posts (tenant_id int) inherits (app.parents);
      insert into app.posts values (2, 2); ${guarded('app.posts')} grant select, delete on app.parents to client`,
    client: 'delete from app.parents',
    shared: ['app.parents'],
  },
  {
    title: 'a parent that changes the rows of a child',
    schema: `create table app.parents (id int, body text); create table app.posts (tenant_id int) inherits (app.parents);
      insert into app.posts values (2, 'of 2', 2); ${guarded('app.posts')} grant select, update on app.parents to client`,
    client: "update app.parents set body = 'mine'",
    shared: ['app.parents'],
  },
  {
    title: 'a root that routes a row to a partition',
    schema: `create table app.parents (tenant_id int, id int) partition by list (tenant_id);
      create table app.second partition of app.parents for values in (2); ${guarded('app.second')}
      grant select, insert on app.parents to client`,
    client: 'insert into app.parents values (2, 9)',
    shared: ['app.parents'],
  },
  {
    title: 'a view of a parent that deletes the rows of a child',
    schema: `create table app.parents (id int, body text); create table app.posts (tenant_id int) inherits (app.parents);
      insert into app.posts values (2, 'of 2', 2); ${guarded('app.posts')}
      create view app.seen as table app.parents; grant select, delete on app.seen to client`,
    client: 'delete from app.seen',
    shared: ['app.parents', 'app.seen'],
  },
  {
    title: 'a parent that shows the text of a child',
    schema: `create table app.parents (id int, body text); create table app.posts (tenant_id int) inherits (app.parents);
      insert into app.posts values (2, 'of 2', 2); ${guarded('app.posts')} grant select on app.parents to client`,
    client: 'table app.parents',
    shared: ['app.parents'],
  },
];
