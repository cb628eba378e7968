import { ownRows, type Tries } from './try.ts';

const sees = /bbbbbbbb-0000/;
const on = (body: string, event = 'before update', options = '') =>
  `create function app.act() returns trigger language plpgsql ${options} as $$ ${body} $$;
   create trigger act ${event} on app.notes for each row execute function app.act();`;
const then = '; select tenant_id from app.users';
const b0 = "''bbbbbbbb-0000-7000-8000-000000000000''";
const acts = {
  sees,
  names: /act on app\.notes|app\.act/,
  act: `update app.notes set body = 'select set_config(''app.tenant_id'', ${b0}, true)'${then}`,
};
const staff = `create role staff nologin; create policy staff on app.users for select to staff using (true);
  grant usage on schema app to staff; grant select on app.users to staff;`;

/** A trigger runs text, or changes who the client is. */
export const texts: Tries = {
  'runs a column': { ...acts, given: on('begin execute new.body; return new; end', 'after update') },
  'runs a part of a column': {
    ...acts,
    given: on(`begin execute format('%s', new.body); return new; end`, 'after update'),
  },
  'runs a column as XML': {
    ...acts,
    given: on(`begin perform query_to_xml(new.body, true, false, ''); return new; end`, 'after update'),
  },
  'sets a claim': {
    ...{ ...acts, act: `update app.notes set body = 'bbbbbbbb-0000-7000-8000-000000000000'${then}` },
    given: on(`begin perform set_config('app.tenant_id', new.body, true); return new; end`, 'after update'),
  },
  'sets the role': {
    ...{ ...acts, act: `update app.notes set body = 'x'${then}` },
    given: staff + on('begin set local role staff; return new; end'),
  },
  'sets the role by a function': {
    ...{ ...acts, act: `update app.notes set body = 'staff'${then}` },
    given: `${staff} create function app.become(text) returns text language sql volatile as $$ select set_config('ro' || 'le', $1, true) $$; revoke execute on function app.become(text) from public; grant execute on function app.become(text) to member;
      ${on('begin perform app.become(new.body); return new; end')}`,
    names: /app\.(act|become|notes)/,
  },
  'runs a column after it is inserted': {
    ...{
      ...acts,
      act: `insert into app.notes values (:A0, gen_random_uuid(), :A1, 'select set_config(''app.tenant_id'', ${b0}, true)')${then}`,
    },
    given: on(`begin if new.body like 'select%' then execute new.body; end if; return null; end`, 'after insert'),
  },
};

const rank =
  'alter table app.notes add column rank int not null default 0; revoke insert, update on app.notes from member; grant insert (tenant_id, id, author_id, body), update (body) on app.notes to member;';
const ranked = {
  invariants: [
    {
      name: 'rank',
      relation: 'app.notes',
      commands: ['insert', 'update'] as const,
      columns: ['rank'],
      expression: 'false',
    },
  ],
  ...{
    changes: 'select id, rank from app.notes order by id',
    names: /rank: \w+ on app\.notes/,
    act: `update app.notes set body = '7'`,
  },
};

/** An action of a foreign key updates notes that no client may update, and the trigger of that update writes the rank. */
const byAction = (action: string, act: string) => ({
  ...ranked,
  given: `alter table app.notes add column rank int not null default 0, add column parent_id uuid;
    create table app.parents (tenant_id uuid not null, id uuid not null, author_id uuid not null, primary key (tenant_id, id));
    ${ownRows('app.parents')} revoke insert, update on app.notes from member;
    alter table app.notes add foreign key (tenant_id, parent_id) references app.parents ${action}; ${on('begin new.rank := new.rank + 1; return new; end')}`,
  rows: 'insert into app.parents values (:A0, :A1, :A1); update app.notes set parent_id = :A1 where id = :A1',
  act,
});

/** A trigger writes a column that is not granted. */
export const columns: Tries = {
  'assigns a column': { ...ranked, given: rank + on('begin new.rank := 7; return new; end') },
  'assigns a column of an insert': {
    ...{
      ...ranked,
      act: `insert into app.notes (tenant_id, id, author_id) values (:A0, gen_random_uuid(), :A1)`,
      changes: 'select count(*) from app.notes where rank = 7',
    },
    given: rank + on('begin new.rank := 7; return new; end', 'before insert'),
  },
  'assigns in a branch': {
    ...ranked,
    given:
      rank +
      on(`begin if new.body is not null then for i in 1..7 loop new.rank := i; end loop; end if; return new; end`),
  },
  'assigns a column that is quoted': { ...ranked, given: rank + on('begin new."rank" := 7; return new; end') },
  'runs when a key is updated': byAction('on update cascade', 'update app.parents set id = gen_random_uuid()'),
  'runs when a reference is set to null': byAction('on delete set null (parent_id)', 'delete from app.parents'),
  'is of the parent': {
    ...{ ...ranked, invariants: ranked.invariants.map((one) => ({ ...one, relation: 'app.parts' })) },
    given: `create table app.parts (tenant_id uuid not null, id int not null, author_id uuid not null, body text, rank int not null default 0) partition by list (id);
      create table app.parts_1 partition of app.parts for values in (1); alter table app.parts_1 enable row level security, force row level security;
      ${ownRows('app.parts', 'select, update (body)')} create function app.act() returns trigger language plpgsql as $$ begin new.rank := 7; return new; end $$;
      create trigger act before update on app.parts for each row execute function app.act();`,
    ...{
      rows: 'insert into app.parts values (:A0, 1, :A1)',
      act: `update app.parts set body = 'x'`,
      changes: 'select rank from app.parts',
      names: /app\.parts/,
    },
  },
  'is generated': {
    given: `alter table app.notes add column rank int generated always as (length(body)) stored; revoke insert, update on app.notes from member; grant update (body) on app.notes to member;`,
    ...ranked,
  },
};
