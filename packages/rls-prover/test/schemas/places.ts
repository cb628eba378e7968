import fc from 'fast-check';
import { definer, ownRows } from '../tries/try.ts';
import { mine, tenant } from './conditions.ts';

/** What a statement does not name but runs: defaults, checks, rules, `when`, triggers of partitions, and functions of other names. */

const calls = fc.constantFrom(
  ...[
    `set_config('app.tenant_id', :B0, true)`,
    `set_config('App.User_Id', :B1, true)`,
    `set_config('app.trace', 'x', true)`,
  ],
  ...[`current_setting('app.tenant_id', true)`, 'now()::text', `lower('A')`, `app.any_text()`, `'a'`],
);

const places: readonly ((call: string) => readonly string[])[] = [
  (call) => [`alter table app.events add more text default ${call}`],
  (call) => [`create domain app.more as text default ${call}`, 'alter table app.events add more app.more'],
  (call) => [`alter table app.events add check (${call} is not null)`],
  (call) => [
    `create domain app.more as text check (value is null or ${call} is not null)`,
    `alter table app.events add more app.more default 'x'`,
  ],
  (call) => [
    'create function app.noted() returns trigger language plpgsql as $$ begin return null; end $$',
    `create trigger noted after insert on app.events for each row when (${call} is not null) execute function app.noted()`,
  ],
  (call) => [`create policy more on app.events for insert to member with check (${mine} and ${call} is null)`],
  (call) => [
    `create view app.listed with (security_invoker) as select tenant_id, author_id, ${call} as more from app.events`,
    'grant select on app.listed to member',
  ],
];
const rules = fc.constantFrom(
  ...['also delete from app.notes', 'also insert into app.notes values (new.tenant_id, new.id, new.author_id)'],
  ...['instead nothing', `instead update app.notes set body = 'x'`],
);

/** A place of the catalogue that calls a function, or a rule, on a table whose policies are right. */
export const events = fc
  .oneof(
    { weight: 4, arbitrary: fc.tuple(fc.constantFrom(...places), calls).map(([place, call]) => place(call)) },
    { weight: 1, arbitrary: rules.map((rule) => [`create rule more as on insert to app.events do ${rule}`]) },
  )
  .map((statements) => [
    // The owner, whose user_id is empty, stores no text in the rows of the tests.
    'create function app.any_text() returns text language sql stable as $$ select max(n.body) from app.notes n where n.author_id = app.user_id() $$',
    'create table app.events (tenant_id uuid not null, id uuid not null default gen_random_uuid(), author_id uuid not null)',
    ...[ownRows('app.events'), ...statements],
  ]);

/** A partitioned table: policies of the root and of a partition, rights on both, and a trigger that fires when a row moves. */
export const partitions = fc
  .record({
    using: fc.constantFrom(mine, mine, mine, tenant),
    ofPartition: fc.constantFrom(
      ...['', 'alter table app.parts_2 enable row level security', ownRows('app.parts_2', 'select')],
      ...['grant select on app.parts_2 to member', 'grant update (body) on app.parts_1 to member'],
    ),
    granted: fc.constantFrom('update (kind)', 'update (kind, body)', 'update', 'delete'),
    act: fc.constantFrom('', '', 'new.tenant_id := :B0', 'new.author_id := :A2', `new.body := 'x'`, 'null'),
    on: fc.constantFrom('insert on app.parts_2', 'insert on app.parts', 'update on app.parts', 'insert on app.parts_1'),
  })
  .map(({ using, ofPartition, granted, act, on }) => [
    'create table app.parts (tenant_id uuid not null, id uuid not null default gen_random_uuid(), author_id uuid not null, kind int not null default 1, body text) partition by list (kind)',
    ...[1, 2].map((kind) => `create table app.parts_${kind} partition of app.parts for values in (${kind})`),
    'alter table app.parts enable row level security, force row level security',
    `create policy own on app.parts to member using (${using})`,
    `grant select, insert, ${granted} on app.parts to member`,
    ...(ofPartition ? [ofPartition] : []),
    ...(act
      ? [
          `create function app.moving() returns trigger language plpgsql as $$ begin ${act}; return new; end $$`,
          `create trigger moving before ${on} for each row execute function app.moving()`,
        ]
      : []),
  ]);

/** A view that is written by a trigger in place of its table. */
export const doors = fc
  .record({
    isInvoker: fc.boolean(),
    options: fc.constantFrom('', '', definer),
    command: fc.constantFrom('insert', 'update', 'delete'),
    where: fc.constantFrom(mine, mine, tenant),
    act: fc.constantFrom(
      'insert into app.items (tenant_id, id, author_id) values (new.tenant_id, new.id, new.author_id)',
      `update app.items set body = 'x' where id = old.id`,
      'update app.items set author_id = :A2',
      'delete from app.items where id = old.id',
      ...['delete from app.notes', 'null', `perform set_config('app.tenant_id', :B0, true)`],
    ),
  })
  .map(({ isInvoker, options, command, where, act }) => [
    `create view app.doors with (security_barrier, security_invoker = ${isInvoker}) as select tenant_id, id, author_id, body from app.items where ${where}`,
    `create function app.go() returns trigger language plpgsql ${options} as $$ begin ${act}; return coalesce(new, old); end $$`,
    `create trigger go instead of ${command} on app.doors for each row execute function app.go()`,
    'grant select, insert, update, delete on app.doors to member',
  ]);

/** Three views over each other, each with its owner's or its invoker's rights, of two owners. */
export const nestedViews = fc
  .tuple(
    ...[1, 2, 3].map(() =>
      fc.record({
        isInvoker: fc.boolean(),
        where: fc.constantFrom('', '', `where ${tenant}`, `where ${mine}`),
        isHolders: fc.boolean(),
      }),
    ),
  )
  .chain((views) =>
    fc.record({
      views: fc.constant(views),
      policy: fc.constantFrom('true', tenant, mine),
      granted: fc.constantFrom('select', 'select, update', 'select, insert, delete'),
    }),
  )
  .map(({ views, policy, granted }) => [
    ...[
      'create role holder',
      'grant usage on schema app to holder',
      'grant select, insert, update, delete on app.items to holder',
    ],
    `create policy of_holder on app.items to holder using (${policy})`,
    ...views.flatMap(({ isInvoker, where, isHolders }, index) => [
      `create view app.deep_${index + 1} with (security_barrier, security_invoker = ${isInvoker}) as select * from app.${index === 0 ? 'items' : `deep_${index}`} ${where}`,
      `grant ${granted} on app.deep_${index + 1} to member, holder`,
      ...(isHolders ? [`alter view app.deep_${index + 1} owner to holder`] : []),
    ]),
  ]);

/** A check that a setting decides, or a key, from which a policy would follow if it held of each row at each moment. */
export const marks = fc
  .record({
    check: fc.constantFrom(
      ...[
        'mark = tenant_id::text',
        'mark = tenant_id::text || author_id::text',
        `mark = tenant_id::text or code::text = '\\x01'`,
      ],
      ...[`mark = tenant_id::text or at::text = '2024-02-01'`, 'mark is not null and tenant_id::text = mark'],
    ),
    isValid: fc.constantFrom('', '', 'not valid'),
    using: fc.constantFrom(
      ...[`mark = current_setting('app.tenant_id', true)`, `mark = app.tenant_id()::text`, mine, mine],
      `${mine} and mark = app.tenant_id()::text`,
    ),
  })
  .map(({ check, isValid, using }) => [
    `create table app.marks (tenant_id uuid not null, id uuid not null default gen_random_uuid(), author_id uuid not null, at date not null default '2024-02-01', code bytea not null default '\\x01', mark text)`,
    `alter table app.marks add check (${check}) ${isValid}`,
    'alter table app.marks enable row level security, force row level security',
    `create policy own on app.marks to member using (${using})`,
    'grant select, insert, update, delete on app.marks to member',
  ]);

const inApp = 'set search_path = app, pg_catalog';

/** A function, type or operator that has the name of one of PostgreSQL's, where a search path finds it, or a table. */
export const namesakes = fc.constantFrom(
  ...['items', 'notes', 'users'].map((name) => [
    `create function app.${name}() returns int language sql immutable as $$ select 1 $$`,
  ]),
  [
    'create function app.current_setting(text, boolean) returns text language sql stable as $$ select :B0::text $$',
    `alter function app.tenant_id() ${inApp}`,
  ],
  [
    'create function app.same(uuid, uuid) returns boolean language sql immutable as $$ select true $$',
    'create operator app.= (leftarg = uuid, rightarg = uuid, function = app.same)',
    `alter function app.is_mine(uuid) ${inApp}`,
  ],
  [
    'create function app.same(uuid, uuid) returns boolean language sql immutable as $$ select true $$',
    'create operator app.= (leftarg = uuid, rightarg = uuid, function = app.same)',
  ],
  ['create domain app.uuid as pg_catalog.text', `alter function app.user_id() ${inApp}`],
  [`alter function app.is_mine(uuid) set transform_null_equals = on`],
  [`alter function app.is_mine(uuid) set row_security = off`],
  [`alter function app.is_mine(uuid) set DateStyle = 'German'`],
);
