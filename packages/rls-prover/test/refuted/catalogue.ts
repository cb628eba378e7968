import { guarded, type Refuted } from './support.ts';

const seen = (query: string) =>
  `create view app.seen with (security_invoker) as ${query}; grant select on app.seen to client`;
const switched = "set_config('app.tenant_id', '2', true)";
const events = `create table app.events (tenant_id int not null, id int primary key, mark text);
  ${guarded('app.events')}`;
const writeAndRead = ['insert into app.events (tenant_id, id) values (1, 1)', 'table app.notes'];
const nothing = 'create function app.nothing() returns trigger language plpgsql as $$ begin return new; end $$;';
/** Says which notes its caller may read: a client its own, and the owner all. */
const tells = `create function app.told(int) returns int language plpgsql
  as $$ begin raise exception '%', (select string_agg(body, ',') from app.notes); end $$;`;

/** What the catalogue has beside tables, policies and functions, and that acts all the same. */
export const catalogue: readonly Refuted[] = [
  {
    title: 'a rule that also deletes',
    schema: `${events} create rule also as on insert to app.events do also delete from app.notes`,
    client: 'insert into app.events values (1, 1)',
  },
  {
    title: 'a rule on update that writes instead',
    schema: `${events} insert into app.events values (1, 1);
      create rule instead as on update to app.events do instead update app.notes set body = new.mark where id = new.id + 1`,
    client: "update app.events set mark = 'mine'",
  },
  {
    title: 'a rule of a view that writes instead',
    schema: `create view app.seen with (security_invoker) as select * from app.notes;
      grant select, update on app.seen to client;
      create rule instead as on update to app.seen do instead update app.notes set body = new.body where id > old.id`,
    client: "update app.seen set body = 'mine'",
  },
  {
    title: 'a default that sets the claim',
    schema: `${events} alter table app.events alter mark set default ${switched}`,
    client: ['insert into app.events (tenant_id, id) values (2, 1)', 'table app.notes'],
  },
  {
    title: 'the default of a domain that sets the claim',
    schema: `create domain app.mark as text default ${switched};
      ${events} alter table app.events alter mark type app.mark`,
    client: ['insert into app.events (tenant_id, id) values (2, 1)', 'table app.notes'],
  },
  {
    title: 'a check that sets the claim',
    schema: `${events} alter table app.events add check (${switched} is not null)`,
    client: writeAndRead,
  },
  {
    title: 'the check of a domain that sets the claim',
    schema: `create domain app.mark as text check (${switched} is not null);
      ${events} alter table app.events alter mark type app.mark`,
    client: ["insert into app.events values (2, 1, 'x')", 'table app.notes'],
  },
  {
    title: 'the check of a domain that only a cast of the client reaches',
    schema: `create domain app.mark as text check (${switched} is not null)`,
    client: ["select 'x'::app.mark", 'table app.notes'],
  },
  {
    title: 'the condition of a trigger that sets the claim',
    schema: `${events} ${nothing}
      create trigger mark before insert on app.events for each row when (${switched} is not null) execute function app.nothing()`,
    client: ['insert into app.events values (2, 1)', 'table app.notes'],
  },
  {
    title: 'the condition of a trigger for statements that sets the claim',
    schema: `${events} ${nothing}
      create trigger mark after update on app.events when (${switched} is not null) execute function app.nothing()`,
    client: ['update app.events set mark = mark', 'table app.notes'],
  },
  {
    title: 'a column of a view that sets the claim',
    schema: `create view app.seen with (security_invoker) as select *, ${switched} as mark from app.notes;
      grant select on app.seen to client`,
    client: ['table app.seen', 'table app.notes'],
  },
  {
    title: 'the order of a view that sets the claim',
    schema: `create view app.seen with (security_invoker) as select * from app.notes order by ${switched};
      grant select on app.seen to client`,
    client: ['table app.seen', 'table app.notes'],
  },
  ...[
    { title: 'the filter', query: `select * from app.notes where ${switched} is not null` },
    { title: 'the source', query: `select n.* from app.notes n, ${switched} s` },
    { title: 'the limit', query: `select * from app.notes limit ${switched}::int` },
    {
      title: 'the groups',
      query: `select tenant_id, id from app.notes group by tenant_id, id having ${switched} is not null`,
    },
    { title: 'a join', query: `select n.* from app.notes n join (select 1) o on ${switched} is not null` },
    {
      title: 'a query with a name',
      query: `with s as materialized (select ${switched} as s) select n.* from app.notes n, s`,
    },
  ].map(({ title, query }) => ({
    title: `${title} of a view that sets the claim`,
    schema: seen(query),
    client: ['table app.seen', 'table app.notes'],
  })),
  {
    title: 'a column of a view below a view that sets the claim',
    schema: `create view app.inner_view with (security_invoker) as select *, ${switched} as mark from app.notes;
      create view app.seen with (security_invoker) as select tenant_id, id, mark from app.inner_view;
      grant select on app.inner_view, app.seen to client`,
    client: ['table app.seen', 'table app.notes'],
  },
  {
    title: 'the default of a column of a view that sets the claim',
    schema: `${events} create view app.seen with (security_invoker) as table app.events; grant select, insert on app.seen to client;
      alter view app.seen alter mark set default ${switched}`,
    client: ['insert into app.seen (tenant_id, id) values (2, 1)', 'table app.notes'],
  },
  {
    title: 'the condition of a constraint trigger that sets the claim',
    schema: `${events} ${nothing}
      create constraint trigger mark after insert on app.events for each row when (${switched} is not null) execute function app.nothing()`,
    client: writeAndRead,
  },
  {
    title: 'the default of a partition that sets the claim',
    schema: `create table app.events (tenant_id int not null, id int, mark text) partition by list (tenant_id);
      create table app.rest partition of app.events default; alter table app.rest alter mark set default ${switched};
      ${guarded('app.events')} ${guarded('app.rest')}`,
    client: ['insert into app.rest (tenant_id, id) values (2, 1)', 'table app.notes'],
  },
  {
    title: 'a rule that sets the claim',
    schema: `${events} create rule also as on insert to app.events do also select ${switched}`,
    client: writeAndRead,
  },
  {
    title: 'the condition of a rule that sets the claim',
    schema: `${events} create rule also as on insert to app.events where ${switched} is not null do also select 1`,
    client: writeAndRead,
  },
  {
    title: 'a function in the internal language that sets the claim',
    schema: "create function app.put(text, text, boolean) returns text language internal as 'set_config_by_name'",
    client: ["select app.put('app.tenant_id', '2', true)", 'table app.notes'],
  },
  {
    title: 'a policy that sets the claim',
    schema: `${events} insert into app.events values (1, 1);
      alter policy own on app.events using (tenant_id = app.t() and ${switched} is not null)`,
    client: ['table app.events', 'table app.notes'],
  },
  {
    title: 'a default of a parameter that sets the claim',
    schema: `create function app.mark(mark text default ${switched}) returns int language plpgsql
      as $$ begin return 1; end $$`,
    client: ['select app.mark()', 'table app.notes'],
  },
  {
    title: 'a setting with capital letters',
    schema: `create function app.mark() returns text language sql
      as $$ select set_config('App.Tenant_Id', '2', true) $$`,
    client: ['select app.mark()', 'table app.notes'],
  },
  {
    title: 'a setting of a function with capital letters',
    schema: `create function app.count_notes() returns text language sql stable security definer
      as $$ select string_agg(body, ',') from app.notes where tenant_id = app.t() $$;
      alter function app.count_notes() set "App".Tenant_Id = '2'`,
    client: 'select app.count_notes()',
  },
  {
    title: 'a partition whose trigger for inserts moves a row on',
    schema: `create table app.events (tenant_id int not null, id int not null, kind text not null) partition by list (kind);
      create table app.open partition of app.events for values in ('open');
      create table app.closed partition of app.events for values in ('closed');
      insert into app.events values (1, 1, 'open');
      alter table app.events enable row level security;
      create policy own on app.events to client using (tenant_id = app.t()) with check (true);
      grant select, update (kind) on app.events to client;
      create function app.give() returns trigger language plpgsql as $$ begin new.tenant_id := 2; return new; end $$;
      create trigger give before insert on app.closed for each row execute function app.give()`,
    client: "update app.events set kind = 'closed'",
    column: 'tenant_id',
  },
  {
    title: 'a partition whose trigger for deletes fires when a row moves',
    schema: `create table app.events (tenant_id int not null, id int not null, kind text not null) partition by list (kind);
      create table app.open partition of app.events for values in ('open');
      create table app.closed partition of app.events for values in ('closed');
      insert into app.events values (1, 1, 'open');
      alter table app.events enable row level security;
      create policy own on app.events to client using (tenant_id = app.t()) with check (true);
      grant select, update (kind) on app.events to client;
      ${nothing}
      create trigger mark after delete on app.open for each row when (${switched} is not null) execute function app.nothing()`,
    client: ["update app.events set kind = 'closed'", 'table app.notes'],
  },
  {
    title: 'the default of a column of a view',
    schema: `create table app.events (tenant_id int not null default 1, id int primary key, mark text);
      create view app.marks as select * from app.events where tenant_id = app.t();
      alter view app.marks alter tenant_id set default 2;
      grant select, insert (id, mark) on app.marks to client`,
    client: "insert into app.marks (id, mark) values (9, 'x')",
  },
  {
    title: 'a trigger of a partition whose root has disabled it',
    schema: `create table app.events (tenant_id int not null, id int not null, mark text) partition by list (id);
      create table app.open partition of app.events default; insert into app.events values (1, 1, 'x');
      alter table app.events enable row level security;
      create policy own on app.events to client using (tenant_id = app.t()) with check (true);
      grant select, update (mark) on app.events to client;
      create function app.give() returns trigger language plpgsql as $$ begin new.tenant_id := 2; return new; end $$;
      create trigger give before update on app.events for each row execute function app.give();
      alter table only app.events disable trigger give`,
    client: "update app.events set mark = 'mine'",
    column: 'tenant_id',
  },
  {
    title: 'the default of a domain with the rights of the owner, when a foreign key sets it',
    schema: `${tells} create domain app.kind as int default app.told(1);
      create table app.kinds (tenant_id int not null, id int primary key); insert into app.kinds values (1, 1), (1, 2); ${guarded('app.kinds')}
      create table app.marks (tenant_id int not null, kind app.kind references app.kinds on delete set default);
      insert into app.marks values (1, 2); ${guarded('app.marks')}`,
    client: 'delete from app.kinds where id = 2',
    shared: ['app.kinds', 'app.marks'],
  },
  {
    title: 'an operator of a check with the rights of the owner, when a foreign key changes a key',
    schema: `${tells} create function app.is_told(int, int) returns boolean language plpgsql as 'begin return app.told($1) > $2; end';
      create operator app.>>> (function = app.is_told, leftarg = int, rightarg = int);
      create table app.kinds (tenant_id int not null, id int primary key); insert into app.kinds values (1, 1); ${guarded('app.kinds')}
      create table app.marks (tenant_id int not null, kind int references app.kinds on update cascade);
      insert into app.marks values (1, 1); ${guarded('app.marks')}
      alter table app.marks add check (kind operator(app.>>>) 0) not valid`,
    client: 'update app.kinds set id = 9',
    shared: ['app.kinds', 'app.marks'],
  },
];
