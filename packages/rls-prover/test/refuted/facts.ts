import { guarded, type Refuted, visible } from './support.ts';

const client = 'table app.things';

/** Rows that a check let in under other settings. Now their texts say what the check excludes. */
const inserted = (
  setting: string,
  check: string,
  column: string,
  value: string,
  isVisible = `not (${check})`,
): string => `
  set local ${setting};
  ${visible(`${column}, check (${check})`, `(1, 1, ${value}), (2, 2, ${value})`, `tenant_id = app.t() or ${isVisible}`)};
  reset ${setting.split(' ')[0]}`;

/** A document says of which tenant its lines are. All tenants share the documents. */
const documents = (action = '') => `
  create table app.documents (tenant_id int not null, id int not null, primary key (tenant_id, id));
  grant select, insert, delete on app.documents to client;
  create table app.lines (tenant_id int not null, id int primary key, document_id int not null,
    body text, foreign key (tenant_id, document_id) references app.documents ${action});
  alter table app.lines enable row level security;
  grant select, insert on app.lines to client;
  insert into app.documents values (1, 1), (2, 2);
  insert into app.lines values (1, 1, 1, 'of 1'), (2, 2, 2, 'of 2');`;
const isOfNobodyElse =
  'not exists (select from app.documents d where d.id = document_id and d.tenant_id = lines.tenant_id and d.tenant_id <> app.t())';
const shared = ['app.documents'];
const insertBoth = `with document as (insert into app.documents values (2, 9) returning id)
  insert into app.lines select 2, 9, id from document`;

/** What a constraint says, and that does not hold at each moment. */
export const facts: readonly Refuted[] = [
  {
    title: 'a foreign key within the statement that inserts both rows',
    schema: `${documents()}
      create policy own on app.lines for select to client using (tenant_id = app.t());
      create policy new on app.lines for insert to client with check (${isOfNobodyElse})`,
    client: insertBoth,
    shared,
  },
  {
    title: 'a foreign key of a table to itself',
    schema: `create table app.folders (tenant_id int not null, id int not null, parent_id int not null,
        primary key (tenant_id, id), foreign key (tenant_id, parent_id) references app.folders);
      create view app.parents as select * from app.folders; grant select on app.parents to client;
      alter table app.folders enable row level security;
      grant select, insert on app.folders to client;
      create policy own on app.folders for select to client using (tenant_id = app.t());
      create policy new on app.folders for insert to client with check (not exists (
        select from app.parents p where p.tenant_id = folders.tenant_id and p.id = folders.parent_id and p.tenant_id <> app.t()))`,
    client: 'insert into app.folders values (2, 9, 9)',
    shared: ['app.parents'],
  },
  {
    title: 'a foreign key before its cascade, in a volatile function of returning',
    schema: `${documents('on delete cascade')}
      create policy own on app.lines to client using (${isOfNobodyElse});
      create function app.peek() returns text language sql volatile as $$ select string_agg(body, ',') from app.lines $$`,
    client: 'delete from app.documents where id = 2 returning app.peek()',
    shared,
  },
  {
    title: 'a foreign key before its cascade, in a trigger',
    schema: `${documents('on delete cascade')}
      create policy own on app.lines to client using (${isOfNobodyElse});
      create function app.peek() returns trigger language plpgsql as $$
        begin raise exception '%', (select string_agg(body, ',') from app.lines); end $$;
      create trigger peek after delete on app.documents for each row execute function app.peek();
      alter trigger peek on app.documents rename to "A first"`,
    client: 'delete from app.documents where id = 2',
    shared,
  },
  {
    title: 'a foreign key that is deferred',
    schema: `${documents('deferrable initially immediate')}
      create policy own on app.lines to client using (${isOfNobodyElse})`,
    client: ['set constraints all deferred', 'delete from app.documents where id = 2', 'table app.lines'],
    shared,
  },
  {
    title: 'a foreign key whose triggers are disabled',
    schema: `${documents()}
      create policy own on app.lines to client using (${isOfNobodyElse});
      alter table app.documents disable trigger all; delete from app.documents where id = 2;
      alter table app.documents enable trigger all`,
    client: 'table app.lines',
    shared,
  },
  {
    title: 'a foreign key that triggers still do not ask',
    schema: `${documents()}
      create policy own on app.lines to client using (${isOfNobodyElse});
      alter table app.documents disable trigger all`,
    client: ['delete from app.documents where id = 2', 'table app.lines'],
    shared,
  },
  {
    title: 'a foreign key that is not enforced',
    schema: `${documents('not enforced')}
      create policy own on app.lines to client using (${isOfNobodyElse})`,
    client: ['delete from app.documents where id = 2', 'table app.lines'],
    shared,
    since: 18,
  },
  {
    title: 'a foreign key that matches simply',
    schema: `${documents()} alter table app.lines alter document_id drop not null;
      insert into app.lines values (2, 3, null, 'of 2');
      create policy own on app.lines to client using (${isOfNobodyElse})`,
    client: 'table app.lines',
    shared,
  },
  {
    title: 'a check of bytea as text',
    schema: inserted('bytea_output = escape', String.raw`key::text <> '\x32'`, 'key bytea not null', "'2'"),
    client,
  },
  {
    title: 'a check of float8 as text',
    schema: inserted(
      'extra_float_digits = 0',
      "key::text <> '0.30000000000000004'",
      'key float8 not null',
      '0.1::float8 + 0.2::float8',
    ),
    client,
  },
  {
    title: 'a check of an interval as text',
    schema: inserted('intervalstyle = iso_8601', "key::text <> '1 day'", 'key interval not null', "'1 day'"),
    client,
  },
  {
    title: 'a check of regclass as text',
    schema: inserted('search_path = app', "key::text <> 'app.notes'", 'key regclass not null', "'app.notes'"),
    client,
  },
  {
    title: 'a check of real as text',
    schema: inserted('extra_float_digits = 0', "key::text <> '0.12345679'", 'key real not null', "'0.12345679'"),
    client,
  },
  {
    title: 'a check of timestamptz as text',
    schema: inserted(
      "timezone = 'Pacific/Kiritimati'",
      "key::text <> '2026-01-01 12:00:00+00'",
      'key timestamptz not null',
      "'2026-01-01 12:00+00'",
    ).replace('reset timezone', "set local timezone = 'utc'"),
    client,
  },
  {
    title: 'a check of timestamp as text',
    schema: inserted(
      'datestyle = german',
      "key::text <> '2026-01-02 03:04:05'",
      'key timestamp not null',
      "'2026-01-02 03:04:05'",
    ),
    client,
  },
  {
    title: 'a check of regtype as text',
    schema: `create type app.kind as enum ('a');
      ${inserted('search_path = app', "key::text <> 'app.kind'", 'key regtype not null', "'app.kind'")}`,
    client,
  },
  {
    title: 'a check of regproc as text',
    schema: inserted('search_path = app', "key::text <> 'app.t'", 'key regproc not null', "'app.t'"),
    client,
  },
  {
    title: 'a check of the name of a role that is renamed',
    schema: `create role staff;
      ${visible("key regrole not null, check (key::text <> 'chief')", "(1, 1, 'staff'), (2, 2, 'staff')", "tenant_id = app.t() or not (key::text <> 'chief')")}
      alter role staff rename to chief`,
    client,
  },
  {
    title: 'a check of the label of an enum that is renamed',
    schema: `create type app.kind as enum ('a');
      ${visible("key app.kind not null, check (key::text <> 'b')", "(1, 1, 'a'), (2, 2, 'a')", "tenant_id = app.t() or not (key::text <> 'b')")}
      alter type app.kind rename value 'a' to 'b'`,
    client,
  },
  {
    title: 'a check of a domain over bytea as text',
    schema: `create domain app.bytes as bytea;
      ${inserted('bytea_output = escape', String.raw`key::text <> '\x32'`, 'key app.bytes not null', "'2'")}`,
    client,
  },
  {
    title: 'the check of a domain of bytea as text',
    schema: `set local bytea_output = escape;
      create domain app.bytes as bytea check (value::text <> '${String.raw`\x32`}');
      ${visible('key app.bytes not null', "(1, 1, '2'), (2, 2, '2')", String.raw`tenant_id = app.t() or not (key::text <> '\x32')`)};
      reset bytea_output`,
    client,
  },
  {
    title: 'a check of words by the default configuration',
    schema: inserted(
      "default_text_search_config = 'pg_catalog.english'",
      "not (key @@ 'the'::tsquery)",
      'key text not null',
      "'the'",
    ).replace('reset default_text_search_config', "set local default_text_search_config = 'pg_catalog.simple'"),
    client,
  },
  {
    title: 'a check of a date as text',
    schema: inserted('datestyle = german', "key::text <> '2026-01-02'", 'key date not null', "'2026-01-02'"),
    client,
  },
  {
    title: 'a check of a text as a date',
    schema: inserted(
      "datestyle = 'iso, dmy'",
      "key::date <> '2026-01-02'",
      'key text not null',
      "'01/02/2026'",
    ).replace('reset datestyle', "set local datestyle = 'iso, mdy'"),
    client,
  },
  {
    title: 'a check of a moment as a date',
    schema: inserted(
      "timezone = 'Pacific/Kiritimati'",
      "key::date <> '2026-01-01'",
      'key timestamptz not null',
      "'2026-01-01 12:00+00'",
    ).replace('reset timezone', "set local timezone = 'utc'"),
    client,
  },
  {
    title: 'a check of a moment as a timestamp',
    schema: inserted(
      "timezone = 'Pacific/Kiritimati'",
      "key::timestamp <> '2026-01-01 12:00'",
      'key timestamptz not null',
      "'2026-01-01 12:00+00'",
    ).replace('reset timezone', "set local timezone = 'utc'"),
    client,
  },
  {
    title: 'a check of a moment that is compared with a date',
    schema: inserted(
      "timezone = 'Pacific/Kiritimati'",
      "key <> '2026-01-01'::date",
      'key timestamptz not null',
      "'2026-01-01 00:00+00'",
    ).replace('reset timezone', "set local timezone = 'utc'"),
    client,
  },
  {
    title: 'a check of a record as text',
    schema: inserted('datestyle = german', "row(key)::text <> '(2026-01-02)'", 'key date not null', "'2026-01-02'"),
    client,
  },
  {
    title: 'a check of an array as text',
    schema: inserted('bytea_output = escape', String.raw`array[key]::text <> '{"\\x32"}'`, 'key bytea not null', "'2'"),
    client,
  },
  {
    title: 'a check by a name that a search path finds',
    schema: `create schema other; create table other.things (); grant usage on schema other to client;
      ${inserted('search_path = other, public', "key::regclass <> 'app.notes'::regclass", 'key text not null', "'things'", 'false')};
      alter policy own on app.things using (tenant_id = app.t() or not (key::regclass <> 'app.things'::regclass));
      alter table app.things drop constraint things_key_check;
      set local search_path = other; alter table app.things add check (key::regclass <> 'app.things'::regclass)`,
    client: ['set search_path = app', client],
  },
  {
    title: 'a check of a time that passes',
    schema: visible(
      'valid_until timestamptz not null, check (valid_until > clock_timestamp())',
      "(1, 1, clock_timestamp() + interval '1 ms'), (2, 2, clock_timestamp() + interval '1 ms')",
      'tenant_id = app.t() or not (valid_until > clock_timestamp())',
    ),
    client: ['select pg_sleep(0.01)', client],
  },
  {
    title: 'a check of who inserts',
    schema: visible(
      "check (current_user <> 'client')",
      '(1, 1), (2, 2)',
      "tenant_id = app.t() or not (current_user <> 'client')",
    ),
    client,
  },
  {
    title: 'a check of a claim',
    schema: `set local app.tenant_id = 2;
      ${visible('check (tenant_id = app.t())', '(2, 2)', 'true')}`,
    client,
  },
  {
    title: 'a check of a function that is replaced',
    schema: `create function app.is_right(int) returns boolean language sql immutable as 'select true';
      ${visible('check (app.is_right(id))', '(1, 1), (2, 2)', 'tenant_id = app.t() or not app.is_right(id)')}
      create or replace function app.is_right(int) returns boolean language sql immutable as 'select false'`,
    client,
  },
  {
    title: 'the check of a domain of a function that is replaced',
    schema: `create function app.is_right(int) returns boolean language sql immutable as 'select true';
      create domain app.key as int check (app.is_right(value));
      ${visible('key app.key not null', '(1, 1, 1), (2, 2, 2)', 'tenant_id = app.t() or not app.is_right(key)')}
      create or replace function app.is_right(int) returns boolean language sql immutable as 'select false'`,
    client,
  },
  {
    title: 'the check of a domain that is not valid',
    schema: `create domain app.key as int;
      ${visible('key app.key not null', '(1, 1, 1), (2, 2, 2)', 'tenant_id = app.t() or key < 5')}
      alter domain app.key add check (value >= 5) not valid`,
    client,
  },
  {
    title: 'a domain without null of an outer join',
    schema: `create domain app.key as int not null;
      create table app.keys (k app.key); grant select on app.keys to client;
      ${visible(
        '',
        '(1, 1), (2, 2)',
        'tenant_id = app.t() or exists (select from (select 1) o left join app.keys on true where k is null)',
      )}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'a primary key of a parent, which children do not share',
    schema: `create table app.keys (id int primary key, tenant_id int not null); create table app.more () inherits (app.keys);
      insert into app.keys values (1, 1); insert into app.more values (1, 2);
      grant select on app.keys to client;
      ${visible(
        '',
        '(1, 1), (2, 2)',
        `exists (select from app.keys k, app.keys l where k.id = l.id and k.tenant_id = app.t() and l.tenant_id = things.tenant_id)`,
      )}`,
    client,
    shared: ['app.keys', 'app.more'],
  },
  {
    title: 'a key that is deferred',
    schema: `create table app.keys (id int primary key deferrable, tenant_id int not null); insert into app.keys values (1, 1);
      grant select, insert on app.keys to client;
      ${visible(
        '',
        '(1, 1), (2, 2)',
        `exists (select from app.keys k, app.keys l where k.id = l.id and k.tenant_id = app.t() and l.tenant_id = things.tenant_id)`,
      )}`,
    client: ['set constraints all deferred', 'insert into app.keys values (1, 2)', client],
    shared: ['app.keys'],
  },
  {
    title: 'a unique key of nulls that differ',
    schema: `create table app.keys (id int unique, tenant_id int not null); insert into app.keys values (null, 1), (null, 2);
      grant select on app.keys to client;
      ${visible(
        '',
        '(1, 1), (2, 2)',
        `exists (select from app.keys k, app.keys l where k.id is not distinct from l.id
          and k.tenant_id = app.t() and l.tenant_id = things.tenant_id)`,
      )}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'a unique index of a part of the rows',
    schema: `create table app.keys (id int not null, tenant_id int not null, is_open boolean not null);
      create unique index on app.keys (id) where is_open; insert into app.keys values (1, 1, false), (1, 2, false);
      grant select on app.keys to client;
      ${visible(
        '',
        '(1, 1), (2, 2)',
        `exists (select from app.keys k, app.keys l where k.id = l.id and k.tenant_id = app.t() and l.tenant_id = things.tenant_id)`,
      )}`,
    client,
    shared: ['app.keys'],
  },
  {
    title: 'a not null of a parent that says nothing of its children',
    schema: `create table app.keys (k int, constraint filled check (k is not null) no inherit);
      create table app.more () inherits (app.keys); insert into app.more values (null);
      grant select on app.keys to client;
      ${visible('', '(1, 1), (2, 2)', 'tenant_id = app.t() or exists (select from app.keys where k is null)')}`,
    client,
    shared: ['app.keys', 'app.more'],
  },
  {
    title: 'an unchecked not null',
    schema: `${visible('key int', '(1, 1, null), (2, 2, null)', 'tenant_id = app.t() or key is null')}
      alter table app.things add constraint filled not null key not valid`,
    client,
    since: 18,
  },
  {
    title: 'a generated column whose function is replaced',
    schema: `create function app.tenant_of(int) returns int language sql immutable as 'select 2';
      create table app.made (id int primary key, tenant_id int generated always as (app.tenant_of(id)) stored);
      insert into app.made values (9);
      create or replace function app.tenant_of(int) returns int language sql immutable as 'select 1';
      alter table app.made enable row level security; grant select on app.made to client;
      create policy own on app.made for select to client using (app.tenant_of(id) = app.t())`,
    client: 'table app.made',
  },
  {
    title: 'a check during a trigger before it',
    schema: `create table app.marks (tenant_id int not null, id int primary key check (id > 0)); ${guarded('app.marks')}
      alter policy own on app.marks using (tenant_id = app.t()) with check (tenant_id = app.t() or id < 0);
      create function app.turn() returns trigger language plpgsql as $$ begin new.id := abs(new.id); return new; end $$;
      create trigger turn after insert on app.marks for each row execute function app.turn();
      alter table app.marks drop constraint marks_id_check; alter table app.marks add check (id > 0) not valid;
      insert into app.notes values (2, 7, 'of 2');
      create function app.seen(x app.marks) returns text language sql stable security definer
        as $$ select string_agg(body, ',') from app.notes where x.id < 0 $$`,
    client: 'select app.seen(row(1, -1))',
  },
  ...[
    ['the text of a moment', 'now()::text', "timezone', 'Pacific/Kiritimati"],
    ['the hour of a moment', "date_part('hour', now())::text::int", "timezone', 'Asia/Kolkata"],
    [
      'the comparison of a day with a moment',
      "('2026-01-02'::date < '2026-01-01 12:00+00'::timestamptz)",
      "timezone', 'Pacific/Kiritimati",
    ],
    ['the text of a number', '(app.t()::float8 / 3)::text', "extra_float_digits', '0"],
  ].map(([title, value, setting]) => ({
    title: `${title} that a client's statement changes`,
    schema: visible('', '(1, 1), (2, 2), (2, 3)', `(select ${value}) <> ${value} or tenant_id = app.t()`),
    client: `select *, set_config('${setting}', true) from app.things`,
  })),
  {
    title: 'the time zone that an update changes before the check',
    schema: `create table app.marks (tenant_id int not null, id int primary key, mark text); insert into app.marks values (1, 1);
      alter table app.marks enable row level security; grant update on app.marks to client;
      create policy own on app.marks for update to client using (tenant_id = app.t() and date_part('timezone', now()) = 0)
        with check (tenant_id = app.t() or not date_part('timezone', now()) = 0)`,
    client: [
      "set timezone = 'UTC'",
      "update app.marks set tenant_id = 2, mark = set_config('timezone', 'Pacific/Kiritimati', true)",
    ],
    column: 'tenant_id',
  },
];
