import fc from 'fast-check';
import type { Invariant } from 'rls-prover';
import { author } from './tries/try.ts';

/** A schema that was drawn: statements after those of `startProving`, by what each one brings in. */
export type Drawn = { readonly statements: readonly string[]; readonly invariants: readonly Invariant[] };

const tenant = 'tenant_id = (select app.tenant_id())';
const mine = `${tenant} and author_id = (select app.user_id())`;

/** Conditions of a policy of a table with a tenant, an author and a text, right ones and wrong ones. */
const conditions = fc.letrec<{ any: string; leaf: string }>((tie) => ({
  leaf: fc.constantFrom(
    ...[
      mine,
      mine,
      mine,
      mine,
      tenant,
      'true',
      'false',
      'body is null',
      'author_id is not null',
      'tenant_id = app.tenant_id()',
    ],
    ...[
      'author_id = app.user_id()',
      'tenant_id = coalesce(app.tenant_id(), tenant_id)',
      'author_id is not distinct from (select app.user_id())',
    ],
    ...[
      'tenant_id in (select u.tenant_id from app.users u)',
      'exists (select from app.users u where u.id = author_id)',
    ],
    ...[
      'author_id = any (array[app.user_id(), author_id])',
      'author_id = any (array[app.user_id()])',
      'pair is null',
      'pair is not null',
      'not (pair is null) and not (pair is not null)',
    ],
    ...[
      'app.may(tenant_id)',
      'app.may(tenant_id, author_id)',
      'app.may(author => author_id, tenant => tenant_id)',
      'app.is_mine(author_id)',
    ],
    ...[
      'nullif(author_id, app.user_id()) is null',
      'case when body is null then false else author_id = app.user_id() end',
      '(author_id = app.user_id()) is not false',
    ],
    ...[
      'tenant_id = app.tenant_id() and author_id = (select n.author_id from app.notes n limit 1)',
      'length(body) > 3',
      "body like 'Text%'",
    ],
    ...[
      'author_id in (select app.ids())',
      'author_id in (select app.same(app.ids()))',
      'author_id <> all (array(select app.ids()))',
      'not exists (select app.same(app.ids()))',
      'exists (select from (select app.ids() as own) t where t.own = author_id)',
      'app.is_listed(author_id)',
    ],
    ...[
      'exists (select from app.notes n where n.author_id = author_id)',
      'author_id in (select n.author_id from app.notes n)',
      'author_id <> all (array(select u.id from app.users u))',
    ],
  ),
  any: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    { weight: 3, arbitrary: tie('leaf') },
    { weight: 8, arbitrary: tie('leaf').map((leaf) => `(${mine}) and (${leaf})`) },
    { weight: 3, arbitrary: fc.constant(mine) },
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) and (${b})`),
    fc.tuple(tie('any'), tie('any')).map(([a, b]) => `(${a}) or (${b})`),
    tie('any').map((a) => `not (${a})`),
    tie('any').map((a) => `coalesce((${a}), false)`),
  ),
})).any;

const actions = fc.constantFrom(
  'no action',
  'no action',
  'no action',
  'no action',
  'cascade',
  'set null',
  'set default',
  'set null (note_id)',
);

/** A table whose rows refer to notes, perhaps with a child or as one, under policies that are drawn. */
const tables = fc
  .record({
    onDelete: actions,
    onUpdate: fc.constantFrom('no action', 'no action', 'no action', 'no action', 'cascade', 'set null', 'set default'),
    key: fc.constantFrom('(tenant_id, note_id)', '(tenant_id, note_id)', '(note_id)'),
    using: conditions,
    check: fc.option(conditions, { nil: undefined }),
    commands: fc.subarray(['select', 'insert', 'update', 'delete', 'update (body)', 'truncate'], { minLength: 1 }),
    isRestricted: fc.boolean(),
    fallback: fc.constantFrom('', '', '', 'default :B0', 'default :A0'),
    kind: fc.constantFrom('', '', '', '', '', '', '', 'inherits', 'parent', 'unforced', 'off'),
  })
  .map(({ onDelete, onUpdate, key, using, check, commands, isRestricted, fallback, kind }) => [
    ...(key === '(note_id)' ? ['alter table app.notes add unique (id)'] : []),
    `create table app.items (tenant_id uuid not null ${fallback}, id uuid not null, author_id uuid not null, note_id uuid, body text, pair app.pair, primary key (tenant_id, id))`,
    ...(kind === 'parent'
      ? [
          'create table app.notices (extra int) inherits (app.items)',
          'alter table app.notices enable row level security, force row level security',
        ]
      : []),
    ...(kind === 'inherits'
      ? [
          'create table app.base (tenant_id uuid not null, id uuid not null)',
          'alter table app.items inherit app.base',
          'alter table app.base enable row level security, force row level security',
          `create policy p on app.base to member using (${tenant})`,
          'grant select, delete on app.base to member',
        ]
      : []),
    `alter table app.items add foreign key ${key} references app.notes ${key === '(note_id)' ? '(id)' : '(tenant_id, id)'} on delete ${key === '(note_id)' || !onDelete.includes('(') ? onDelete.replace(/ \(.*/, '') : onDelete} on update ${onUpdate}`,
    ...(kind === 'off' ? [] : ['alter table app.items enable row level security']),
    ...(kind === 'off' || kind === 'unforced' ? [] : ['alter table app.items force row level security']),
    `create policy drawn on app.items to member using (${using})${check ? ` with check (${check})` : ''}`,
    ...(isRestricted ? [`create policy narrow on app.items as restrictive to member using (${mine})`] : []),
    `grant ${commands.join(', ')} on app.items to member`,
  ]);

const definer = 'security definer set search_path = pg_catalog, pg_temp';
const bodies = fc.constantFrom(
  ...[
    `select count(*)::text from app.items where ${mine}`,
    `select string_agg(body, ',') from app.items where ${mine}`,
    `select 'b'`,
  ],
  ...[
    `select count(*)::text from app.items where ${mine}`,
    `select string_agg(body, ',') from app.items where ${tenant}`,
    `select string_agg(body, ',') from app.items where tenant_id = app.tenant_id() and author_id = app.user_id()`,
  ],
  ...[
    `select string_agg(body, ',') from app.items`,
    `select app.inner_text()`,
    `select max(body) from app.seen`,
    `select 'a'`,
  ],
  ...[
    `select string_agg(n.body, ',') from app.notes n where n.tenant_id = app.tenant_id() and n.author_id = app.user_id()`,
  ],
);

/** Beside tables: functions, views, triggers and rights. */
const extras = fc.oneof(
  fc
    .record({ body: bodies, inner: bodies, isDefiner: fc.boolean() })
    .map(({ body, inner, isDefiner }) => [
      `create function app.inner_text() returns text language sql stable set search_path = app, pg_temp as $$ ${inner.includes('inner_text') ? `select string_agg(body, ',') from items` : inner} $$`,
      `create function app.texts() returns text language sql stable ${isDefiner ? definer : ''} as $$ ${body} $$`,
    ]),
  fc
    .record({
      barrier: fc.boolean(),
      invoker: fc.boolean(),
      where: conditions,
      from: fc.constantFrom('app.items', 'app.kept', 'app.notes n join app.items using (tenant_id)'),
    })
    .map(({ barrier, invoker, where, from }) => [
      'create materialized view app.kept as select * from app.items',
      `create view app.seen with (security_barrier = ${barrier}, security_invoker = ${invoker}) as select items.body, tenant_id, items.author_id from ${from.replace('app.kept', 'app.kept as items')} where ${where.replaceAll(/\b(body|author_id|pair)\b(?! =|\.)/g, '$1').replaceAll(/(?<![.\w])(body|author_id|pair)\b/g, 'items.$1')}`,
      'grant select on app.seen to member',
    ]),
  fc
    .constantFrom(
      'new.body := old.body',
      `new.author_id := old.author_id`,
      'new.tenant_id := old.tenant_id',
      `if new.body like 'run%' then execute substr(new.body, 5); end if`,
      `perform set_config('app.user_id', new.body, true)`,
      'update app.items set body = new.body',
      'null',
    )
    .map((body) => [
      `create function app.act() returns trigger language plpgsql as $$ begin ${body}; return new; end $$`,
      `create trigger act before update on app.items for each row execute function app.act()`,
    ]),
  fc
    .constantFrom('update', 'delete')
    .map((command) => [
      `create function app.tidy() returns trigger language plpgsql ${definer} as $$ begin ${command === 'delete' ? 'delete from app.notes where id = old.id' : 'update app.notes set body = old.body where tenant_id = old.tenant_id'}; return old; end $$`,
      `create trigger tidy after ${command} on app.items for each row execute function app.tidy()`,
    ]),
  fc.constant([
    `create function app.step(text, text) returns text language sql stable ${definer} as $$ select string_agg(body, ',') from app.items $$`,
    'revoke execute on function app.step(text, text) from public',
    'create aggregate app.total(text) (sfunc = app.step, stype = text)',
  ]),
  fc.constant([`create rule more as on delete to app.items do also delete from app.notes`]),
);

/** Functions that policies call: overloads, defaults, results among the parameters. */
const callees = fc.record({
  may: fc.constantFrom(
    ...[
      'tenant uuid, author uuid default app.user_id()',
      'tenant uuid, author uuid',
      'tenant text, author uuid default null',
    ].map(
      (parameters) =>
        `create function app.may(${parameters}) returns boolean language sql stable as $$ select tenant::uuid = app.tenant_id() and author = app.user_id() $$`,
    ),
    'create function app.may(out boolean, tenant uuid, author uuid default null) language sql stable as $$ select tenant is not null $$',
    'create function app.may(variadic uuid[]) returns boolean language sql stable as $$ select app.tenant_id() = any ($1) $$',
  ),
  more: fc.constantFrom(
    '',
    'create function app.may(text) returns boolean language sql stable as $$ select true $$',
    'create function app.may(uuid) returns boolean language sql stable as $$ select $1 = app.tenant_id() $$',
  ),
  ids: fc
    .record({
      query: fc.constantFrom(
        ...[
          'select app.user_id()',
          'select app.user_id() where app.user_id() is not null',
          'select 1; select app.user_id()',
        ],
        ...['select u.id from app.users u where u.id = app.user_id()', `select u.id from app.users u where ${tenant}`],
        ...['select id from app.users union select app.user_id()', 'select u.id from app.users u limit 1'],
      ),
      options: fc.constantFrom(definer, definer, '', '', 'volatile', 'strict', 'immutable'),
    })
    .map(
      ({ query, options }) =>
        `create function app.ids() returns setof uuid language sql stable ${options} as $$ ${query} $$`,
    ),
  isMine: fc.constantFrom(
    'sql stable as $$ select $1 = app.user_id() $$',
    'sql stable as $$ select $1 is not null $$',
    'plpgsql stable as $$ begin return $1 = app.user_id(); end $$',
    `plpgsql stable as $$ declare b boolean := $1 = app.user_id(); begin return b; end $$`,
    `sql stable ${definer} as $$ select $1 in (select id from app.users) $$`,
  ),
});

const same = 'create function app.same(uuid) returns setof uuid language sql stable as $$ select $1 $$';
/** Its parameter has the name of a column in the query of `ids`. */
const isListed =
  'create function app.is_listed(id uuid) returns boolean language sql stable as $$ select exists (select from (select app.ids() as own) t where id <> own) $$';

export const schemas: fc.Arbitrary<Drawn> = fc
  .record({ table: tables, more: fc.oneof(fc.constant([]), fc.array(extras, { maxLength: 2 })), callees })
  .map(({ table, more, callees: { may, more: other, isMine, ids } }) => ({
    statements: [
      'create type app.pair as (a int, b int)',
      ...[may, ...(other ? [other] : []), `create function app.is_mine(uuid) returns boolean language ${isMine}`],
      ...[ids.replace(/stable (volatile|immutable)/, '$1'), same, isListed],
      ...table,
      ...more.flat(),
    ],
    invariants: [author('app.items')],
  }));
