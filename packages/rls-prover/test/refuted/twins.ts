import { guarded, type Twin, visible } from './support.ts';

const things = 'table app.things';
const shows = (condition: string, columns = '', row = '') =>
  visible(columns, `(1, 1${row && `, ${row}`}), (2, 2${row && `, ${row}`})`, `tenant_id = app.t() or (${condition})`);
const cards = (statement: string) => `
  create table app.cards (tenant_id int not null, id int primary key, body text);
  insert into app.cards values (1, 1, 'x');
  alter table app.cards enable row level security;
  create policy own on app.cards to client using (tenant_id = app.t()) with check (true);
  grant select, update (body) on app.cards to client;
  create function app.write() returns trigger language plpgsql as $$ begin ${statement}; return new; end $$;
  create trigger write before update on app.cards for each row execute function app.write()`;
const documents = `
  create table app.documents (tenant_id int not null, id int not null, primary key (tenant_id, id)); ${guarded('app.documents')}
  create table app.lines (tenant_id int not null, id int primary key, document_id int not null,
    foreign key (tenant_id, document_id) references app.documents on delete cascade);
  insert into app.documents values (1, 1), (2, 2); insert into app.lines values (1, 1, 1), (2, 2, 2); ${guarded('app.lines')}`;
const writeCards = "update app.cards set body = 'mine'";

/** Right schemas, each next to a wrong one. That one is not proven is no fault, but a false alarm. */
export const twins: readonly Twin[] = [
  {
    title: 'nothing but a table under a policy',
    schema: '',
    client: ['table app.notes', "update app.notes set body = 'mine'", 'delete from app.notes'],
    isProven: true,
  },
  {
    title: 'a default, a check and a condition of a trigger that only compute',
    schema: `create table app.events (tenant_id int not null, id int primary key, mark text default upper('x') check (length(mark) > 0));
      ${guarded('app.events')}
      create function app.nothing() returns trigger language plpgsql as $$ begin return new; end $$;
      create trigger mark before insert on app.events for each row when (new.mark is not null) execute function app.nothing()`,
    client: ['insert into app.events (tenant_id, id) values (1, 1)', 'table app.notes'],
    isProven: true,
  },
  {
    title: 'the time of the transaction asked twice',
    schema: shows('current_timestamp <> current_timestamp'),
    client: things,
    isProven: false,
  },
  {
    title: 'a column of the default collation compared with two texts',
    schema: shows("label = 'AB' and label = 'ab'", 'label text not null', "'ab'"),
    client: things,
    isProven: true,
  },
  {
    title: 'an inner join of three by one column',
    schema: `create table app.members (k int not null); create table app.groups (k int not null); create table app.shares (k int not null);
      insert into app.members values (1), (2); insert into app.groups values (1), (2); insert into app.shares values (1), (2);
      alter table app.members enable row level security; create policy own on app.members to client using (k = app.t());
      grant select on app.members, app.groups, app.shares to client;
      ${visible(
        '',
        '(1, 1), (2, 2)',
        `exists (select from app.members m join app.groups g using (k) join app.shares s using (k)
        where s.k = things.tenant_id)`,
      )}`,
    client: things,
    shared: ['app.members', 'app.groups', 'app.shares'],
    isProven: false,
  },
  {
    title: 'a check of a text, which no setting changes',
    schema: shows("not (label <> 'x')", "label text not null check (label <> 'x')", "'y'"),
    client: things,
    isProven: false,
  },
  {
    title: 'a check of a number as text',
    schema: shows("not (number::text <> '7')", "number int not null check (number::text <> '7')", '8'),
    client: things,
    isProven: false,
  },
  {
    title: 'a foreign key of which both ends are a tenant’s own',
    schema: documents,
    client: ['delete from app.documents', 'insert into app.lines values (2, 9, 2)', 'table app.lines'],
    isProven: true,
  },
  {
    title: 'a stable function that is no more than it says',
    schema: `create function app.mine() returns int language sql stable
        as $$ select nullif(current_setting('app.tenant_id', true), '')::int $$;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.mine()')}`,
    earlier: ['prepare things as table app.things', 'execute things'],
    client: 'execute things',
    isProven: true,
  },
  {
    title: 'an immutable function that only computes',
    schema: `create function app.is_short(text) returns boolean language sql immutable as $$ select $1 = 'a' $$;
      ${shows("app.is_short(label) and label = 'b'", 'label text not null', "'b'")}`,
    client: things,
    isProven: true,
  },
  {
    title: 'a domain with a name of its own in the search path of a function',
    schema: `create domain app.label as text;
      create function app.same(text) returns text language sql immutable set search_path = pg_catalog as $$ select $1::pg_catalog.text $$;
      ${shows("label = 'ab' and app.same(label) = 'a'", 'label text not null', "'ab'")}`,
    client: things,
    isProven: true,
  },
  {
    title: 'two functions of one name in two schemas, of which one is meant',
    schema: `create schema other; create function other.t() returns int language sql stable as 'select 2';
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.t()')}`,
    client: ['set search_path = other', things],
    isProven: true,
  },
  {
    title: 'a trigger that assigns a column that the client may write',
    schema: cards('new.body := upper(new.body)'),
    client: writeCards,
    column: 'tenant_id',
    isProven: true,
  },
  {
    title: 'a trigger that assigns the tenant of the client',
    schema: cards('new.tenant_id := app.t()'),
    client: writeCards,
    column: 'tenant_id',
    isProven: false,
  },
  {
    title: 'two views without a right to delete',
    schema: `create table app.documents (id int primary key); insert into app.documents values (1), (2);
      create table app.lines (tenant_id int not null, id int primary key, document_id int references app.documents on delete cascade);
      insert into app.lines values (1, 1, 1), (2, 2, 2); ${guarded('app.lines')}
      create view app.first as select * from app.documents; create view app.second as select * from app.first;
      grant select on app.second to client`,
    client: 'delete from app.second where id = 2',
    shared: ['app.documents', 'app.first', 'app.second'],
    isProven: true,
  },
  {
    title: 'a view of its invoker below a view of its owner, which both filter',
    schema: `create role keeper; grant usage on schema app to keeper; grant select on app.notes to keeper;
      create policy keepers on app.notes to keeper using (tenant_id = app.t());
      create view app.every with (security_invoker) as select * from app.notes; grant select on app.every to client, keeper;
      create view app.mine with (security_barrier) as select * from app.every; grant select on app.mine to client;
      alter view app.mine owner to keeper`,
    client: 'table app.mine',
    isProven: true,
  },
  {
    title: 'a number as text, which is null only of null',
    schema: shows('number::text is null', 'number int not null', '1'),
    client: things,
    isProven: true,
  },
  {
    title: 'a key of JSON as text that is compared with two texts',
    schema: shows("data ->> 'a' = 'x' and data ->> 'a' = 'y'", 'data jsonb not null', `'{"a": "x"}'`),
    client: things,
    isProven: true,
  },
  {
    title: 'a correlated subquery in the policy of a parent whose children are its tenant’s',
    schema: `${documents} create table app.members (tenant_id int not null, document_id int primary key);
      insert into app.members values (1, 1), (2, 2); ${guarded('app.members')}
      alter policy own on app.documents using (tenant_id = app.t()
        and 1 = (select m.tenant_id from app.members m where m.document_id = documents.id))`,
    client: ['delete from app.documents', 'table app.lines'],
    isProven: false,
  },
];
