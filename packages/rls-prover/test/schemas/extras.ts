import fc from 'fast-check';
import { definer } from '../tries/try.ts';
import { conditions, mine, tenant } from './conditions.ts';
import { doors, events, marks, namesakes, nestedViews, partitions } from './places.ts';

const ofNotes = 'from app.notes n where n.tenant_id = app.tenant_id() and n.author_id = app.user_id()';

/** Reads that the text of a function does not show: by a call, by a default, as a field of a row, in a view's columns. */
const hidden = fc.constantFrom(
  'select app.inner_text()',
  'select app.given()',
  `select string_agg(n.leak, ',') ${ofNotes}`,
  'select max(body) from app.shown',
);

const bodies = fc.constantFrom(
  `select count(*)::text from app.items where ${mine}`,
  `select count(*)::text from app.items where ${mine}`,
  `select string_agg(body, ',') from app.items where ${mine}`,
  `select string_agg(body, ',') from app.items where ${tenant}`,
  "select string_agg(body, ',') from app.items where tenant_id = app.tenant_id() and author_id = app.user_id()",
  `select string_agg(body, ',') from app.items`,
  `select string_agg(n.body, ',') ${ofNotes}`,
  'select max(body) from app.seen',
  `select 'a'`,
  `select 'b'`,
);

const isDefiner = fc.boolean();
const optionsOf = (isOwners: boolean) => (isOwners ? definer : '');

/** A function without parameters, and what it may call or read. */
const functions = fc
  .record({
    body: fc.oneof(bodies, hidden),
    inner: fc.constantFrom('', `where ${mine}`),
    options: fc.constantFrom(definer, definer, 'security definer', ''),
  })
  .map(({ body, inner, options }) => {
    const read = `select string_agg(body, ',') from app.items ${inner}`;
    return [
      `create function app.inner_text() returns text language sql stable as $$ ${read} $$`,
      'create function app.given(t text default app.inner_text()) returns text language sql stable as $$ select t $$',
      `create function app.leak(app.notes) returns text language sql stable as $$ ${read} $$`,
      `create view app.shown as select (${read}) as body`,
      `create function app.texts() returns text language sql stable ${options} as $$ ${body} $$`,
    ];
  });

/** Two functions that call each other. */
const cycles = fc
  .record({ body: bodies, isFirst: isDefiner, isSecond: isDefiner, isRevoked: fc.boolean() })
  .map(({ body, isFirst, isSecond, isRevoked }) => [
    `create function app.first(n int) returns text language plpgsql stable ${optionsOf(isFirst)} as $$ begin if n > 0 then return app.second(n - 1); end if; return (${body}); end $$`,
    `create function app.second(n int) returns text language sql stable ${optionsOf(isSecond)} as $$ select app.first(n) $$`,
    ...(isRevoked ? ['revoke execute on function app.first(int) from public'] : []),
  ]);

/** A domain whose check reads, where a value of it is made. */
const domains = fc
  .record({
    body: bodies,
    isCheckers: isDefiner,
    isCasters: isDefiner,
    isRevoked: fc.boolean(),
    use: fc.constantFrom(
      'function app.checking(app.checked) returns text language sql stable :options as $$ select $1::text $$',
      'function app.checking(text) returns app.checked language sql stable :options as $$ select $1 $$',
      'function app.checking(text) returns text language sql stable :options as $$ select $1::app.checked::text $$',
      'function app.checking(text) returns text language plpgsql stable :options as $$ declare t app.checked := $1; begin return t; end $$',
      '',
    ),
  })
  .map(({ body, isCheckers, isCasters, isRevoked, use }) => [
    `create function app.check_text(text) returns boolean language plpgsql stable ${optionsOf(isCheckers)} as $$ begin if $1 like 'ask%' then raise exception '%', (${body}); end if; return true; end $$`,
    'create domain app.checked as text check (app.check_text(value))',
    use
      ? `create ${use.replace(':options', optionsOf(isCasters))}`
      : 'alter table app.items add column label app.checked',
    ...(isRevoked ? ['revoke execute on function app.check_text(text) from public'] : []),
  ]);

const views = fc
  .record({
    barrier: fc.boolean(),
    invoker: fc.boolean(),
    where: conditions,
    from: fc.constantFrom('app.items', 'app.kept', 'app.notes n join app.items using (tenant_id)'),
    body: fc.constantFrom(
      'items.body',
      'items.body',
      'items.body',
      `(select string_agg(n.body, ',') from app.notes n)`,
    ),
  })
  .map(({ barrier, invoker, where, from, body }) => [
    'create materialized view app.kept as select * from app.items',
    `create view app.seen with (security_barrier = ${barrier}, security_invoker = ${invoker}) as select ${body} as body, tenant_id, items.author_id from ${from.replace('app.kept', 'app.kept as items')} where ${where.replaceAll(/\b(body|author_id|pair)\b(?! =|\.)/g, '$1').replaceAll(/(?<![.\w])(body|author_id|pair)\b/g, 'items.$1')}`,
    'grant select on app.seen to member',
  ]);

/** A view that clients may write, with the rights of an owner who is no superuser, by whatever name. */
const ownedViews = fc
  .record({
    owner: fc.constantFrom('keeper', '"Owner of all"', '"is.here"'),
    policy: fc.constantFrom('true', tenant, mine, mine, mine),
    rights: fc.subarray(['select', 'insert', 'update', 'delete'], { minLength: 1 }),
    granted: fc.subarray(['select', 'insert', 'update', 'delete'], { minLength: 1 }),
    where: fc.constantFrom('', `where ${tenant}`, `where ${mine}`, `where ${mine}`),
    check: fc.constantFrom('', 'with local check option', 'with cascaded check option'),
    invoker: fc.boolean(),
  })
  .map(({ owner, policy, rights, granted, where, check, invoker }) => [
    `create role ${owner}`,
    `grant usage on schema app to ${owner}`,
    `grant ${rights.join(', ')} on app.items to ${owner}`,
    `create policy of_owner on app.items to ${owner} using (${policy})`,
    `create view app.owned with (security_barrier, security_invoker = ${invoker}) as select * from app.items ${where} ${check}`,
    `alter view app.owned owner to ${owner}`,
    `grant ${granted.join(', ')} on app.owned to member`,
  ]);

const triggers = fc
  .constantFrom(
    'new.body := old.body',
    `new.author_id := old.author_id`,
    'new.tenant_id := old.tenant_id',
    'new.tenant_id := :B0',
    'new.author_id := :A2',
    `if new.body like 'run%' then execute substr(new.body, 5); end if`,
    `perform set_config('app.user_id', new.body, true)`,
    'update app.items set body = new.body',
    'call app.normalize(new.tenant_id)',
    'null',
  )
  .map((body) => [
    'create procedure app.normalize(inout t uuid) language plpgsql as $$ begin t := :B0; end $$',
    `create function app.act() returns trigger language plpgsql as $$ begin ${body}; return new; end $$`,
    `create trigger act before update on app.items for each row execute function app.act()`,
  ]);

const ownersTriggers = fc
  .constantFrom('update', 'delete')
  .map((command) => [
    `create function app.tidy() returns trigger language plpgsql ${definer} as $$ begin ${command === 'delete' ? 'delete from app.notes where id = old.id' : 'update app.notes set body = old.body where tenant_id = old.tenant_id'}; return old; end $$`,
    `create trigger tidy after ${command} on app.items for each row execute function app.tidy()`,
  ]);

const aggregates = fc.constant([
  `create function app.step(text, text) returns text language sql stable ${definer} as $$ select string_agg(body, ',') from app.items $$`,
  'revoke execute on function app.step(text, text) from public',
  'create aggregate app.total(text) (sfunc = app.step, stype = text)',
]);

/** Columns by which items form a chain, or a cycle with notes. */
const links = [
  { table: 'items', column: 'parent_id' },
  { table: 'notes', column: 'item_id' },
  { table: 'notes', column: 'item_id' },
].map(({ table, column }) => [
  `alter table app.${table} add column ${column} uuid`,
  `alter table app.${table} add foreign key (tenant_id, ${column}) references app.items on delete cascade`,
]);

/** Keys by which a deletion reaches rows at some depth, also through notes that the client may not delete. */
const keys = fc
  .record({
    link: fc.constantFrom(...links, [
      'grant delete on app.users to member',
      'create policy leave on app.users for delete to member using (tenant_id = app.tenant_id() and id = app.user_id())',
    ]),
    isOnNotes: fc.constantFrom(true, true, true, false),
    isRevoked: fc.constantFrom(true, true, true, false),
  })
  .map(({ link, isOnNotes, isRevoked }) => [
    ...[...link, 'grant delete on app.items to member'],
    ...(isRevoked ? ['revoke delete on app.notes from member'] : []),
    ...(isOnNotes
      ? ['alter table app.items add foreign key (tenant_id, note_id) references app.notes on delete cascade']
      : []),
  ]);

const rules = fc.constant([`create rule more as on delete to app.items do also delete from app.notes`]);

/** A policy beside the first one, for one command. */
const policies = fc
  .record({
    command: fc.constantFrom('select', 'insert', 'update', 'delete'),
    to: fc.constantFrom('member', 'public'),
    condition: conditions,
  })
  .map(({ command, to, condition }) => [
    `create policy more on app.items for ${command} to ${to} ${command === 'insert' ? 'with check' : 'using'} (${condition})`,
  ]);

const kinds = {
  ...{ functions, cycles, domains, views, ownedViews, triggers, ownersTriggers, keys },
  ...{ aggregates, rules, policies, namesakes, events, partitions, doors, nestedViews, marks },
};

/** The kinds with many parts that must meet, for a fault of the prover to show. */
const often: readonly string[] = [
  ...['functions', 'domains', 'ownedViews', 'keys'],
  ...['events', 'partitions', 'doors', 'nestedViews', 'marks'],
];

/** Beside tables: functions, domains, views, triggers and rights; of each kind one at most, since they have names. */
export const extras: fc.Arbitrary<readonly string[]> = fc
  .uniqueArray(
    fc.oneof(
      ...Object.entries(kinds).map(([kind, drawn]) => ({
        weight: often.includes(kind) ? 4 : 1,
        arbitrary: drawn.map((statements: readonly string[]) => ({ kind, statements })),
      })),
    ),
    { minLength: 1, maxLength: 2, selector: ({ kind }) => kind },
  )
  .map((drawn) => drawn.flatMap(({ statements }) => statements));
