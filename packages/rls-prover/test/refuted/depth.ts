import { guarded, type Refuted } from './support.ts';

/** Documents that all share, and lines of tenants. */
const documents = (action: string) => `
  create table app.documents (id int primary key);
  insert into app.documents values (1), (2);
  create table app.lines (tenant_id int not null default 2, id int primary key, document_id int references app.documents ${action});
  insert into app.lines values (1, 1, 1), (2, 2, 2);
  ${guarded('app.lines')}`;
const cascading = documents('on delete cascade on update cascade');

/** A client may write the body of its own cards. A trigger gives them to tenant 2. */
const given = (statement: string, declarations = '', before = '') => `
  create table app.cards (tenant_id int not null, id int primary key, body text);
  insert into app.cards values (1, 1, 'x');
  alter table app.cards enable row level security;
  create policy own on app.cards to client using (tenant_id = app.t()) with check (true);
  grant select, update (body) on app.cards to client;
  ${before};
  create function app.give() returns trigger language plpgsql as $$
    ${declarations && `declare ${declarations};`} begin ${statement}; return new; end $$;
  create trigger give before update on app.cards for each row execute function app.give()`;
const assignments: readonly (readonly [title: string, statement: string, declarations?: string, before?: string])[] = [
  [
    'an inout parameter of a procedure',
    'call app.normalize(new.tenant_id)',
    '',
    'create procedure app.normalize(inout x int) language plpgsql as $$ begin x := 2; end $$',
  ],
  [
    'an out parameter of a procedure',
    'call app.normalize(new.tenant_id)',
    '',
    'create procedure app.normalize(out x int) language plpgsql as $$ begin x := 2; end $$',
  ],
  [
    'an inout parameter by its name',
    'call app.normalize(y => 1, x => new.tenant_id)',
    '',
    'create procedure app.normalize(inout x int, y int) language plpgsql as $$ begin x := 2; end $$',
  ],
  ['a select into', 'select 2 into new.tenant_id'],
  ['a select into the row', 'select 2, new.id, new.body into new'],
  ['a select into that comes first', 'select into new.tenant_id 2'],
  [
    'an insert that returns',
    'insert into app.marks values (2) returning k into new.tenant_id',
    '',
    'create table app.marks (tenant_id int, k int generated always as (2) stored); grant insert, select on app.marks to client; '
      .replace('generated always as (2) stored', 'default 2')
      .replace('tenant_id int, k', 'tenant_id int default null, k'),
  ],
  ['a loop over rows', 'for new.tenant_id in select 2 loop null; end loop'],
  ['a loop over an array', 'foreach new.tenant_id in array array[2] loop null; end loop'],
  ['the count of rows', 'perform generate_series(1, 2); get diagnostics new.tenant_id = row_count'],
  ['a cursor', 'open rows; fetch rows into new.tenant_id', 'rows cursor for select 2'],
  ['an assignment of the row', 'new := row(2, new.id, new.body)'],
  ['an assignment with an equals sign', 'new.tenant_id = 2'],
  ['a quoted name', 'new."tenant_id" := 2'],
  ['an alias of the row', 'given.tenant_id := 2', 'given alias for new'],
  ['a copy of the row', 'copy := new; copy.tenant_id := 2; return copy', 'copy app.cards'],
  ['a function over the row', 'new := jsonb_populate_record(new, \'{"tenant_id": 2}\')'],
  [
    'a function of the database over the row',
    'new := app.moved(new)',
    '',
    'create function app.moved(app.cards) returns app.cards language sql as $$ select 2, $1.id, $1.body $$',
  ],
  ['a handler of an exception', 'begin perform 1 / 0; exception when others then new.tenant_id := 2; end'],
  [
    'an exception whose text is read',
    "begin raise exception '2'; exception when others then get stacked diagnostics new.tenant_id = message_text; end",
  ],
  ['a block with a label', '<<outside>> begin begin new.tenant_id := 2; exit outside; end; end'],
  ['a statement that is made of texts', "execute 'select 2' into new.tenant_id"],
];

/** What is a step further away than a prover may look. */
export const depth: readonly Refuted[] = [
  {
    title: 'a cascade through two views',
    schema: `${cascading} create view app.first as select * from app.documents; create view app.second as select * from app.first;
      grant select, delete on app.second to client`,
    client: 'delete from app.second where id = 2',
    shared: ['app.documents', 'app.first', 'app.second'],
  },
  {
    title: 'a cascade through three views of which one runs as its invoker',
    schema: `${cascading} create view app.first as select * from app.documents;
      create view app.second with (security_invoker) as select * from app.first; create view app.third as select * from app.second;
      grant select, delete on app.first, app.third to client; revoke delete on app.first from client; grant delete on app.first to client`,
    client: 'delete from app.third where id = 2',
    shared: ['app.documents', 'app.first', 'app.second', 'app.third'],
  },
  {
    title: 'a cascade through an update of two views',
    schema: `${cascading} create view app.first as select id as number from app.documents;
      create view app.second as select number as key from app.first; grant select, update on app.second to client`,
    client: 'update app.second set key = 9 where key = 2',
    shared: ['app.documents', 'app.first', 'app.second'],
  },
  {
    title: 'a foreign key that sets null through two views',
    schema: `${documents('on delete set null')} create view app.first as select * from app.documents;
      create view app.second as select * from app.first; grant select, delete on app.second to client`,
    client: 'delete from app.second where id = 2',
    shared: ['app.documents', 'app.first', 'app.second'],
  },
  {
    title: 'a cascade that a merge into a view of a view begins',
    schema: `${cascading} create view app.first as select * from app.documents; create view app.second as select * from app.first;
      grant select, delete on app.second to client`,
    client: 'merge into app.second d using (select 2 as id) s on s.id = d.id when matched then delete',
    shared: ['app.documents', 'app.first', 'app.second'],
    since: 17,
  },
  {
    title: 'a cascade over three tables',
    schema: `${cascading} create table app.shelves (id int primary key); insert into app.shelves values (1), (2);
      alter table app.documents add foreign key (id) references app.shelves on delete cascade;
      grant select, delete on app.shelves to client`,
    client: 'delete from app.shelves where id = 2',
    shared: ['app.documents', 'app.shelves'],
  },
  {
    title: 'a cascade that a merge begins',
    schema: `${cascading} grant select, delete on app.documents to client`,
    client: 'merge into app.documents d using (select 2 as id) s on s.id = d.id when matched then delete',
    shared: ['app.documents'],
  },
  {
    title: 'a cascade that begins at a partition',
    schema: `create table app.documents (id int primary key) partition by list (id);
      create table app.rest partition of app.documents default; insert into app.documents values (1), (2);
      create table app.lines (tenant_id int not null, id int primary key, document_id int references app.documents on delete cascade);
      insert into app.lines values (1, 1, 1), (2, 2, 2); ${guarded('app.lines')}
      grant select, delete on app.rest to client`,
    client: 'delete from app.rest where id = 2',
    shared: ['app.documents', 'app.rest'],
  },
  {
    title: 'a cascade into the child of a partition',
    schema: `create table app.documents (id int primary key); insert into app.documents values (1), (2);
      create table app.lines (tenant_id int not null, id int, document_id int) partition by list (tenant_id);
      create table app.second partition of app.lines for values in (2);
      alter table app.second add foreign key (document_id) references app.documents on delete cascade;
      insert into app.lines values (2, 2, 2); alter table app.second enable row level security;
      ${guarded('app.lines')} grant select, delete on app.documents to client`,
    client: 'delete from app.documents where id = 2',
    shared: ['app.documents'],
  },
  {
    title: 'a default that a foreign key sets',
    schema: `create table app.tenants (id int primary key); insert into app.tenants values (1), (2);
      create table app.lines (tenant_id int not null default 2 references app.tenants on delete set default, id int primary key);
      insert into app.lines values (1, 1); ${guarded('app.lines')} grant select, delete on app.tenants to client`,
    client: 'delete from app.tenants where id = 1',
    shared: ['app.tenants'],
  },
  {
    title: 'an update of a key that cascades to lines of others',
    schema: `${cascading} create policy own on app.documents to client using (id = app.t());
      alter table app.documents enable row level security; update app.lines set document_id = 1;
      grant select, update on app.documents to client; alter policy own on app.documents using (id = app.t()) with check (true)`,
    client: 'update app.documents set id = 9',
    shared: ['app.documents'],
  },
  {
    title: 'a view of its invoker below a view of its owner',
    schema: `create role keeper; grant usage on schema app to keeper;
      create table app.posts (tenant_id int not null, id int primary key); insert into app.posts values (1, 1), (2, 2);
      alter table app.posts enable row level security; grant select on app.posts to client, keeper;
      create policy of_tenant on app.posts to keeper using (tenant_id = app.t());
      create policy everyone on app.posts to client using (true);
      create view app.every with (security_invoker) as select * from app.posts; grant select on app.every to client, keeper;
      create view app.mine as select * from app.every; grant select on app.mine to client;
      alter view app.mine owner to keeper`,
    client: 'table app.mine',
    shared: ['app.posts', 'app.every'],
  },
  {
    title: 'a view of its invoker two views below a view of its owner',
    schema: `create role keeper; grant usage on schema app to keeper;
      create table app.posts (tenant_id int not null, id int primary key); insert into app.posts values (1, 1), (2, 2);
      alter table app.posts enable row level security; grant select, update on app.posts to client, keeper;
      create policy of_tenant on app.posts to keeper using (tenant_id = app.t());
      create policy everyone on app.posts to client using (true);
      create view app.every with (security_invoker) as select * from app.posts;
      create view app.middle with (security_invoker) as select * from app.every;
      grant select, update on app.every, app.middle to client, keeper;
      create view app.mine as select * from app.middle; grant select, update on app.mine to client;
      alter view app.mine owner to keeper`,
    client: 'update app.mine set id = id + 10',
    shared: ['app.posts', 'app.every', 'app.middle'],
  },
  {
    title: 'a function of its invoker within a function of its owner',
    schema: `create function app.every() returns setof app.notes language sql stable as 'table app.notes';
      create function app.mine() returns setof app.notes language sql stable security definer as 'select * from app.every()'`,
    client: 'select * from app.mine()',
  },
  {
    title: 'a function of its invoker within a view of its owner',
    schema: `create role guest; grant guest to client with inherit false;
      create function app.every() returns setof app.notes language sql stable security definer as 'table app.notes';
      revoke execute on function app.every() from public; grant execute on function app.every() to guest;
      create view app.mine as select * from app.every(); grant select on app.mine to client;
      grant execute on function app.every() to client`,
    client: 'table app.mine',
  },
  {
    title: 'a trigger of a child that a parent fires',
    schema: `${given('new.tenant_id := 2')
      .replace('before update on app.cards', 'before update on app.more')
      .replace(
        'create trigger',
        'create table app.more () inherits (app.cards); insert into app.more values (1, 3); create trigger',
      )}`,
    client: "update app.cards set body = 'mine'",
    column: 'tenant_id',
  },
  {
    title: 'a trigger that a change of another trigger fires',
    schema: `${given('new.tenant_id := 2').replace('before update', 'before update of id')};
      create function app.touch() returns trigger language plpgsql as $$ begin new.id := 7; return new; end $$;
      create trigger "a touch" before update on app.cards for each row execute function app.touch();
      drop trigger give on app.cards; create trigger give before update on app.cards for each row
        when (new.id = 7) execute function app.give()`,
    client: "update app.cards set body = 'mine'",
    column: 'tenant_id',
  },
  {
    title: 'the check of a domain with the rights of the owner, when a foreign key changes a key',
    schema: `create function app.is_key(int) returns boolean language plpgsql
        as $$ begin if $1 = 9 then raise exception '%', (select string_agg(body, ',') from app.notes); end if; return true; end $$;
      create domain app.key as int check (app.is_key(value));
      create table app.kinds (tenant_id int not null, id int primary key); insert into app.kinds values (1, 1); ${guarded('app.kinds')}
      create table app.marks (tenant_id int not null, kind app.key references app.kinds on update cascade);
      insert into app.marks values (1, 1); ${guarded('app.marks')}`,
    client: 'update app.kinds set id = 9',
    shared: ['app.kinds', 'app.marks'],
  },
  {
    title: 'a trigger two partitions below a root that has disabled it',
    schema: `create table app.events (tenant_id int not null, id int not null, mark text) partition by list (id);
      create table app.middle partition of app.events default partition by list (tenant_id);
      create table app.low partition of app.middle default; insert into app.events values (1, 1, 'x');
      alter table app.events enable row level security;
      create policy own on app.events to client using (tenant_id = app.t()) with check (true);
      grant select, update (mark) on app.events to client;
      create function app.give() returns trigger language plpgsql as $$ begin new.tenant_id := 2; return new; end $$;
      create trigger give before update on app.events for each row execute function app.give();
      alter table only app.events disable trigger give; alter table only app.middle disable trigger give`,
    client: "update app.events set mark = 'mine'",
    column: 'tenant_id',
  },
  {
    title: 'a function below an operator of an index with the rights of the owner, when a foreign key changes a key',
    schema: `create function app.told(int) returns int language plpgsql immutable
        as $$ begin if $1 = 9 then raise exception '%', (select string_agg(body, ',') from app.notes); end if; return $1; end $$;
      create function app.is_told(int, int) returns boolean language plpgsql immutable as 'begin return app.told($1) > $2; end';
      create operator app.>>> (function = app.is_told, leftarg = int, rightarg = int);
      create table app.kinds (tenant_id int not null, id int primary key); insert into app.kinds values (1, 1); ${guarded('app.kinds')}
      create table app.marks (tenant_id int not null, kind int references app.kinds on update cascade);
      create index on app.marks ((kind operator(app.>>>) 0)); insert into app.marks values (1, 1); ${guarded('app.marks')}`,
    client: 'update app.kinds set id = 9',
    shared: ['app.kinds', 'app.marks'],
  },
  ...assignments.map(([title, statement, declarations, before]) => ({
    title: `a trigger that assigns by ${title}`,
    schema: given(statement, declarations, before),
    client: "update app.cards set body = 'mine'",
    column: 'tenant_id',
    shared: before?.includes('app.marks') ? ['app.marks'] : [],
  })),
];
