import { readFile } from 'node:fs/promises';
import { rolledBack } from '../../../src/database/pool/transactions.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

// An acceptance holds for what was looked at: the database keeps a hash of it.

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

const before = `
  create function app_hidden.is_known(text) returns boolean language sql stable as $$ select $1 is null $$;
  create function app_hidden.is_open(text) returns boolean language sql stable as $$ select app_hidden.is_known($1) $$;
  alter policy select_graph_basic on app_public.cards using (app_hidden.is_open(name));
  create view app_public.card_names with (security_invoker = true) as select name from app_public.cards;
  grant select on app_public.card_names to graph_basic;`;

/** Whether an acceptance from before the statement is one of what is there after it. */
const isKept = (goal: string, role: string, statement: string, first = '') =>
  rolledBack(database.owner, async (client) => {
    await client.query(before + first);
    await client.query('insert into audit.accepted values ($1, $2, $3, $4)', ['invariant', goal, role, 'For a test.']);
    await client.query(statement);
    const { rows } = await client.query<{ isKept: boolean; hash: string }>(
      `select hash, hash = audit.hash_of(object, who) as "isKept" from audit.accepted where object = $1 and who = $2`,
      [goal, role],
    );
    expect(rows).toEqual([{ hash: expect.stringMatching(/^[0-9a-f]{16}$/), isKept: expect.any(Boolean) }]);
    return rows[0]?.isKept;
  });

const reading = (statement: string) => isKept('basic: select on app_public.cards', 'graph_basic', statement);
const deleting = (statement: string) => isKept('own: delete on app_public.cards', 'graph_app', statement);

test.each([
  ['a condition', 'alter policy select_graph_basic on app_public.cards using (true)'],
  ['another policy', 'create policy more on app_public.cards for select to graph_basic using (false)'],
  ['a policy of all commands', 'create policy more on app_public.cards to graph_basic using (false)'],
  ['a policy of everybody', 'create policy more on app_public.cards for select to public using (false)'],
  ['a policy less', 'drop policy select_graph_basic on app_public.cards'],
  ['a right', 'revoke select on app_public.cards from graph_basic'],
  [
    'a right to columns',
    'revoke select on app_public.cards from graph_basic; grant select (name) on app_public.cards to graph_basic',
  ],
  ['row security', 'alter table app_public.cards no force row level security'],
  [
    'a function',
    `create or replace function app_hidden.is_open(text) returns boolean language sql stable as 'select true'`,
  ],
  [
    'a function that it calls',
    `create or replace function app_hidden.is_known(text) returns boolean language sql stable as 'select true'`,
  ],
  ['the volatility of a function', 'alter function app_hidden.is_known(text) immutable'],
  [
    'the default of a parameter',
    `drop function app_hidden.is_known(text) cascade; create function app_hidden.is_known(text default 'x') returns boolean language sql stable as $$ select $1 is null $$`,
  ],
  ['the owner of a function', 'alter function app_hidden.is_known(text) owner to graph_helper'],
])('does not outlive a change of %s', async (_what, statement) => {
  expect(await reading(statement)).toBe(false);
  expect(await isKept('basic: select on app_public.card_names', 'graph_basic', statement)).toBe(false);
});

test('does not outlive a change of a trigger that the command fires', async () => {
  const trigger = (event: string) => `
    create function app_hidden.act() returns trigger language plpgsql as $$ begin return old; end $$;
    create trigger act before ${event} on app_public.cards for each row execute function app_hidden.act();`;

  expect(await deleting(trigger('delete'))).toBe(false);
  expect(await deleting(trigger('insert or delete'))).toBe(false);
  expect(await deleting(trigger('insert'))).toBe(true);
});

test('does not outlive an action of a foreign key of its table', async () => {
  const key = (action: string) =>
    `alter table app_public.cards add unit_id uuid, add foreign key (organization_id, unit_id) references app_public.units ${action}`;

  expect(await deleting(key('on delete cascade'))).toBe(false);
  expect(await deleting(key(''))).toBe(true);
});

test('does not outlive that a role which its role may become passes by policies', async () => {
  const first = 'alter role graph_basic noinherit; create role passing; grant passing to graph_basic;';
  const isKeptAfter = (statement: string) =>
    isKept('basic: select on app_public.cards', 'graph_basic', statement, first);

  expect(await isKeptAfter('alter role passing bypassrls')).toBe(false);
  expect(await isKeptAfter('alter role passing superuser')).toBe(false);
  expect(await isKeptAfter('alter role passing createdb')).toBe(true);
});

test('of a trigger does not outlive a change of its arguments or its condition', async () => {
  const trigger = (more: string) =>
    `create or replace trigger act before delete on app_public.cards for each row ${more};`;
  const first = `create function app_hidden.act() returns trigger language plpgsql as $$ begin return old; end $$; ${trigger('execute function app_hidden.act()')}`;
  const isKeptAfter = (statement: string) =>
    isKept('claims: trigger on act on app_public.cards', 'everybody', statement, first);

  expect(await isKeptAfter('select')).toBe(true);
  expect(await isKeptAfter(trigger(`execute function app_hidden.act('x')`))).toBe(false);
  expect(await isKeptAfter(trigger('when (old.name is null) execute function app_hidden.act()'))).toBe(false);
});

test('does not outlive a change of the query of a view', async () => {
  const query =
    'create or replace view app_public.card_names with (security_invoker = true) as select upper(name) as name from app_public.cards';

  expect(await isKept('basic: select on app_public.card_names', 'graph_basic', query)).toBe(false);
  expect(await reading(query)).toBe(true);
});

test.each([
  ['a column', 'alter table app_public.cards add column color text'],
  ['an index', 'create index on app_public.cards (name)'],
  ['a policy of another command', 'create policy more on app_public.cards for delete to graph_basic using (true)'],
  ['a policy of another role', 'create policy more on app_public.cards for select to graph_user using (true)'],
  ['a right of another role', 'revoke select on app_public.cards from graph_user'],
  ['another table', 'create policy more on app_public.users for select to graph_basic using (true)'],
])('outlives a change of %s', async (_what, statement) => {
  expect(await reading(statement)).toBe(true);
});

/** The acceptances of this version that no longer hold after a change. */
const endedBy = (statements: string): Promise<string[]> =>
  rolledBack(database.owner, async (client) => {
    await client.query(statements);
    const { rows } = await client.query<{ object: string }>(
      `select object from audit.accepted where kind in ('invariant', 'definer') and hash is distinct from audit.hash_of(object, who) order by 1`,
    );
    return rows.map(({ object }) => object);
  });

const moving = ['ancestors: update on app_public.units', 'app_hidden.units_move_subtrees()'];

test.each([
  ['nothing', 'select'],
  [
    'new columns',
    `alter table app_public.units add column color text default 'red' constraint units_color_text check (app_hidden.is_text(color));
     alter table oauth.throttles add column seen_at timestamptz default now();
     create type app_public.finish as enum ('matt', 'glossy'); alter table app_public.units add column finish app_public.finish`,
  ],
  ['an index', 'create index on app_public.units (name); create index on oauth.access_tokens (expires_at)'],
  ['comments', `comment on table oauth.throttles is 'x'; comment on function audit.record_rows() is 'x'`],
  [
    'a view and a function',
    `create view app_public.places with (security_invoker = true) as select * from app_public.units; grant select on app_public.places to graph_app;
     create function app_public.units_shout(app_public.units) returns text language sql stable as 'select upper($1.name)'`,
  ],
  [
    'policies and rights of other roles',
    `create policy more on oauth.throttles for select to graph_user using (true); grant select on oauth.throttles to graph_user;
     create policy more on app_public.units for update to graph_worker using (true); create role another; grant graph_app to another`,
  ],
  [
    'a trigger of another command',
    'create trigger again before delete on app_public.units for each row execute function app_hidden.units_delete_ancestors()',
  ],
  ['partitions', "select feed.create_partition('2031-03-04'), audit.create_partition('2031-03-01 00:00+00')"],
  ['extensions', 'create extension citext; create extension ltree; create extension pg_trgm; create extension hstore'],
  [
    'what only speed depends on',
    'alter table app_public.units set (fillfactor = 70); create statistics on organization_id, name from app_public.units; analyze app_public.units',
  ],
])('%s end no acceptance', async (_what, statements) => {
  expect(await endedBy(statements)).toEqual([]);
});

test('the guide for changes of the schema ends no acceptance', async () => {
  const guide = await readFile(new URL('../../../docs/changing-the-schema.md', import.meta.url), 'utf8');
  const steps = [...guide.matchAll(/^```sql\n(.*?)^```$/gms)].map(([, step]) => step);

  expect(steps.length).toBeGreaterThan(5);
  expect(await endedBy(`set local client_min_messages = error; ${steps.join('\n')}`)).toEqual([]);
});

test.each([
  [
    'a default of a column that a policy reads',
    `alter table oauth.authorization_codes alter column organization_id set default app_hidden.uuid_v7()`,
    ['oauth.purge_rows(text, integer)', 'oauth.purge_tokens(integer)'],
  ],
  [
    'an attribute of an owner',
    'alter role graph_purger bypassrls',
    ['oauth.purge_rows(text, integer)', 'oauth.purge_tokens(integer)'],
  ],
  [
    'a cascade to a table of before',
    `alter table app_public.cards add column unit_id uuid, add foreign key (organization_id, unit_id) references app_public.units on update cascade`,
    moving,
  ],
])('%s ends those that depend on it', async (_what, statements, ended) => {
  expect(await endedBy(statements)).toEqual(ended);
});
