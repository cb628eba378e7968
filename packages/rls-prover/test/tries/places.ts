import { ownRows, type Tries } from './try.ts';

const sees = /bbbbbbbb-0000/;
const b0 = "'bbbbbbbb-0000-7000-8000-000000000000'";
const then = '; select tenant_id from app.users';
const become = (setting = 'app.tenant_id') => `set_config('${setting}', ${b0}, true)`;
const events = (columns = '', more = '') =>
  `create table app.events (tenant_id uuid not null, author_id uuid not null, body text ${columns}); ${ownRows('app.events')} ${more}`;
const insert = `insert into app.events (tenant_id, author_id) values (:A0, :A1)`;
const insertInB = insert.replace(':A0', ':B0');

/** A place that no command names sets a claim, or does more than the command. */
export const places: Tries = {
  'is a rule': {
    ...{ act: insert, changes: 'select count(*) from app.notes', names: /rule r on app\.events/ },
    given: events('', 'create rule r as on insert to app.events do also delete from app.notes;'),
  },
  'is the default of a column': {
    ...{ sees, act: insertInB + then, names: /default of more on app\.events/ },
    given: events(`, more text default ${become()}`),
  },
  'is the default of a column, in capitals': {
    ...{ sees, act: insertInB + then, names: /default of more on app\.events/ },
    given: events(`, more text default ${become('App.Tenant_Id')}`),
  },
  'is the default of a domain': {
    ...{ sees, act: insertInB + then, names: /default of app\.d/ },
    given: `create domain app.d as text default ${become()}; ${events(', more app.d')}`,
  },
  'is a check': {
    ...{ sees, act: insert + then, names: /check c on app\.events/ },
    given: events(`, constraint c check (${become()} is not null)`),
  },
  'is the check of a domain': {
    ...{
      sees,
      act: `insert into app.events (tenant_id, author_id, more) values (:B0, :A1, 'x')${then}`,
      names: /app\.d/,
    },
    given: `create domain app.d as text constraint c check (value is null or ${become()} is not null); ${events(', more app.d')}`,
  },
  'is the condition of a trigger': {
    ...{ sees, act: insert + then, names: /trigger act on app\.events/ },
    given: `${events()} create function app.act() returns trigger language plpgsql as $$ begin return null; end $$;
      create trigger act after insert on app.events for each row when (${become()} is not null) execute function app.act();`,
  },
  'is a column of a view': {
    ...{ sees, act: `select more from app.v${then}`, names: /query on app\.v/ },
    given: `${events()} create view app.v with (security_invoker) as select body, ${become()} as more from app.notes; grant select on app.v to member;`,
  },
  'is a policy': {
    ...{
      sees,
      act: `select from app.events${then}`,
      rows: 'insert into app.events values (:A0, :A2)',
      names: /policy more on app\.events/,
    },
    given: events('', `create policy more on app.events for select to member using (${become()} is null);`),
  },
  'runs another trigger when a row moves to another partition': {
    ...{
      act: `update app.parts set part = 2`,
      changes: 'select rank from app.parts',
      names: /rank: update on app\.parts/,
    },
    given: `create table app.parts (tenant_id uuid not null, author_id uuid not null, part int not null, rank int not null default 0) partition by list (part);
      create table app.one partition of app.parts for values in (1); create table app.two partition of app.parts for values in (2);
      ${ownRows('app.parts', 'select, update (part)')}
      create function app.act() returns trigger language plpgsql as $$ begin new.rank := 7; return new; end $$;
      create trigger act before insert on app.two for each row execute function app.act();`,
    rows: 'insert into app.parts values (:A0, :A1, 1)',
    invariants: [
      {
        name: 'rank',
        relation: 'app.parts',
        commands: ['update'],
        columns: ['rank'],
        expression: 'new.rank = old.rank',
      },
    ],
  },
  'is a setting of a role': {
    ...{ sees: /bbbbbbbb|\[\]/, act: 'select 1 where false', names: /settings of the role/ },
    given: 'alter role member set transform_null_equals = on;',
  },
};

const shown = { act: 'select tenant_id from app.users', sees, names: /app\.users/ };
const policy = (expression: string) =>
  `alter policy users_of_tenant on app.users using (tenant_id = (select app.tenant_id()) or (${expression}));`;
const first = (name: string, order: string) =>
  `create function app.${name}() returns uuid language sql stable as $$ select t.id from app.list t order by t.${order} $$; grant execute on function app.${name}() to member;`;
const list = `create table app.list (id uuid not null, a int not null, b int not null); grant select on app.list to member;`;
const listed = 'insert into app.list values (gen_random_uuid(), 1, 2), (gen_random_uuid(), 2, 1)';
const orders = `create collation app.loose (provider = icu, locale = 'und-u-ks-level1', deterministic = false);`;

/** A value that is not what it seems. */
export const seeming: Tries = {
  'a time that is rounded': { ...shown, given: policy('current_timestamp(0) <> current_timestamp') },
  'the first rows of two functions': {
    ...{ ...shown, rows: listed },
    given: list + first('one', 'a') + first('two', 'b') + policy('app.one() <> app.two()'),
  },
  'a join by using of three': {
    ...{ ...shown, rows: 'insert into app.p values (1); insert into app.q values (1); insert into app.r values (2)' },
    given: `create table app.p (x int not null); create table app.q (x int not null); create table app.r (x int not null, y int not null default 1); grant select on app.p, app.q, app.r to member;
      ${policy('not exists (select from app.p join app.q using (x) join app.r using (x)) and exists (select from app.p join app.q using (x)) and exists (select from app.r)')}`,
  },
  'a full join by using': {
    ...{ ...shown, rows: 'insert into app.p values (1); insert into app.q values (2)' },
    given: `create table app.p (x int not null); create table app.q (x int not null); grant select on app.p, app.q to member;
      ${policy('exists (select from app.p full join app.q using (x) where x = 2)')}`,
  },
  'a name by another search path': {
    ...{ ...shown, act: 'set local search_path = app; select tenant_id from app.users' },
    given: `create function app.named() returns text language sql stable set search_path = pg_catalog, pg_temp as $$ select 'app.notes'::regclass::text $$;
      grant execute on function app.named() to member; ${policy(`app.named() <> 'app.notes'::regclass::text`)}`,
  },
  'a domain of a domain of a composite': {
    ...{ ...shown, rows: 'select 1' },
    given: `create type app.pair as (a int, b int); create domain app.two as app.pair; create domain app.three as app.two;
      alter table app.users add column pair app.three not null default row(null, null)::app.pair; ${policy('pair is null')}`,
  },
  'a collation that reaches a function': {
    ...shown,
    given: `${orders} create function app.same(a text, b text) returns boolean language sql stable as $$ select a = b and a collate "C" <> b collate "C" $$; grant execute on function app.same(text, text) to member;
      ${policy(`app.same('A' collate app.loose, 'a')`)}`,
  },
  'a collation of nullif': {
    ...shown,
    given: `${orders} ${policy(`nullif('A' collate app.loose, 'a') is null`)}`,
  },
  'a stable function that is none': {
    ...shown,
    given: `create function app.any() returns double precision language plpgsql stable as $$ begin return random(); end $$; grant execute on function app.any() to member; ${policy('app.any() <> app.any()')}`,
  },
  'a check by a cast that a setting decides': {
    ...shown,
    given: `alter table app.users add column hash bytea not null default 'x' check (left(hash::text, 1) = '\\'); ${policy(`left(hash::text, 1) <> '\\'`)}`,
    act: 'set local bytea_output = escape; select tenant_id from app.users',
  },
  'a setting that is no claim': {
    ...shown,
    given: `create function app.next() returns text language sql volatile as $$ select set_config('app.step', 'x' || coalesce(current_setting('app.step', true), ''), true) $$; grant execute on function app.next() to member;
      ${policy(`current_setting('app.step', true) = 'a' and app.next() is not null and current_setting('App.Step', true) <> 'a'`)}`,
    act: `select set_config('app.step', 'a', true); select tenant_id from app.users`,
  },
  'a domain that has the name of a built-in type': {
    ...shown,
    given: `create type app.uuid as enum ('${'bbbbbbbb-0000-7000-8000-000000000000'}'); create function app.one(t text) returns boolean language sql stable set search_path = app, pg_catalog as $$ select t::uuid is not null $$; select 1;
      create function app.two() returns boolean language sql stable set search_path = app, pg_catalog as $$ select 'bbbbbbbb-0000-7000-8000-000000000000'::uuid::text = 'bbbbbbbb-0000-7000-8000-000000000000' $$; grant execute on function app.one(text), app.two() to member;
      ${policy('app.two()')}`,
  },
};

const parent = (by: string) => `
  create table app.parents (tenant_id uuid not null, id uuid not null, primary key (tenant_id, id)); alter table app.parents enable row level security;
  create policy none on app.parents for all to member using (false); ${by}
  alter table app.notes add column parent_id uuid, add foreign key (tenant_id, parent_id) references app.parents on delete cascade;`;
const parents = 'insert into app.parents values (:B0, :B1); update app.notes set parent_id = :B1 where id = :B1';
const gone = { rows: parents, changes: 'select count(*) from app.notes', names: /delete on app\.notes/ };

/** What is below something else, at any depth. */
export const deep: Tries = {
  'a cascade through two views': {
    ...{ ...gone, act: 'delete from app.outer' },
    given: parent(
      `create view app.inner as select * from app.parents; create view app.outer as select * from app.inner; grant select, delete on app.outer to member;`,
    ),
  },
  "an invoker's view below an owner's view": {
    ...{ act: 'select id from app.above', sees: /bbbbbbbb/, names: /app\.above/ },
    given: `create role other nologin; grant usage on schema app to other; grant select on app.users to other;
      create policy of_other on app.users for select to other using (false); create policy all_users on app.users for select to member using (true);
      create view app.below with (security_invoker) as select * from app.users; grant select on app.below to other;
      create view app.above as select * from app.below; alter view app.above owner to other; grant select on app.above to member;`,
  },
  'a procedure that changes its argument': {
    ...{
      act: `update app.notes set body = 'x'`,
      changes: 'select rank from app.notes order by id',
      names: /rank: update on app\.notes/,
    },
    given: `alter table app.notes add column rank int not null default 0; revoke update on app.notes from member; grant update (body) on app.notes to member;
      create procedure app.normalize(inout r int) language plpgsql as $$ begin r := 7; end $$; grant execute on procedure app.normalize(int) to member;
      create function app.act() returns trigger language plpgsql as $$ begin call app.normalize(new.rank); return new; end $$;
      create trigger act before update on app.notes for each row execute function app.act();`,
    invariants: [
      {
        name: 'rank',
        relation: 'app.notes',
        commands: ['update'],
        columns: ['rank'],
        expression: 'new.rank = old.rank',
      },
    ],
  },
  'a correlated query of the policy of a parent': {
    ...{ ...gone, act: 'delete from app.parents' },
    given: `${parent('')} drop policy none on app.parents; grant select, delete on app.parents to member;
      create policy few on app.parents for all to member using ((select u.tenant_id from app.users u where u.id = parents.id limit 1) is distinct from tenant_id);`,
  },
};
