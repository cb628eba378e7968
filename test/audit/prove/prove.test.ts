import { missing } from '../../../src/commands/audit/prove/loadProver.ts';
import { blocksOf } from '../../docs/pages.ts';
import { audit } from '../support.ts';
import { line, openOf, startProving } from './support.ts';

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

const about = (...relations: string[]) => ({
  isAsked: (goal: { relation: string }) => relations.includes(goal.relation),
});
const organization = 'organization_id = (select app_hidden.current_organization_id())';

test('`audit prove` proves the schema as it is', async () => {
  const { code, stdout, error } = await audit(proving.database, 'prove');

  expect({ code, error }).toEqual({ code: 0, error: '' });
  expect(stdout).toMatch(
    /^# Proofs\n\n\d+ proven: \d{3} by the solver, \d+ by privileges alone\. \d+ accepted with a reason\. 0 open\.$/m,
  );
  expect(stdout).toContain(
    '| organization | app_public.users | select | graph_user | proven | for all claims and rows |',
  );
});

test('says how to get a development dependency that is missing', async () => {
  const name: string = 'a-package-that-is-missing';

  await expect(import(name).catch(missing(name))).rejects.toThrow(`${name}; run \`npm ci --include=dev\``);
});

test("proves the guide's doors and keys without a line about them", async () => {
  const blocks = (await blocksOf('docs/changing-the-schema.md')).filter(({ text }) =>
    /^create (table|policy) /m.test(text),
  );
  const sql = blocks.map(({ text }) => text).join('\n');
  const relations = ['app_public.doors', 'app_public.door_keys'];
  const judgements = await proving.judgeAfter(sql, about(...relations));

  expect(openOf(judgements).map(line)).toEqual([]);
  for (const relation of relations)
    expect(judgements.filter((one) => one.relation === relation && !one.isByPrivilege).length).toBeGreaterThan(5);
});

describe('an extension', () => {
  const linesAfter = async (sql: string) => (await proving.judgeAfter(sql, { isTried: false })).map(line);
  let before: string[];
  beforeAll(async () => {
    before = await linesAfter('');
  }, 120_000);

  test.each([
    ['citext', 'create extension citext'],
    [
      'ltree and btree_gist, whose operators clients may call',
      `create extension ltree; create extension btree_gist;
       do $$ begin
         execute (select format('grant execute on function %s to graph_app, graph_user', string_agg(distinct o.oprcode::oid::regprocedure::text, ', '))
           from pg_operator o where o.oprnamespace = 'public'::regnamespace);
       end $$`,
    ],
    [
      'one with functions of names and operators of types that are built in',
      'create extension intarray; create extension pg_trgm',
    ],
    [
      'one in a schema of its own',
      'create schema team; create extension hstore schema team; create extension cube schema team',
    ],
  ])(
    'that no pinned function reaches changes no judgement: %s',
    async (_, sql) => {
      expect(await linesAfter(sql)).toEqual(before);
    },
    120_000,
  );

  test.each([
    [
      'that is not trusted',
      'create extension dblink; grant execute on function public.dblink(text) to graph_app',
      'public.dblink(text)',
    ],
    [
      'that runs text',
      'create extension tablefunc; grant execute on function public.crosstab(text) to graph_app',
      'public.crosstab(text)',
    ],
    [
      'that was given to it',
      `create extension citext; create function app_hidden.leak(text) returns text language plpgsql immutable as $$ begin execute $1; return $1; end $$;
       alter extension citext add function app_hidden.leak(text); grant execute on function app_hidden.leak(text) to graph_app`,
      'app_hidden.leak(text)',
    ],
    [
      'that a function without a search path may reach',
      `create extension citext; create function app_hidden.reached(text) returns text language sql stable as $$ select replace($1, 'a', 'b') $$;
       grant execute on function app_hidden.reached(text) to graph_app`,
      'app_hidden.reached(text)',
    ],
  ])(
    'is judged where a client reaches a function %s',
    async (_, sql, object) => {
      const added = (await linesAfter(sql)).filter((one) => !before.includes(one));

      expect(added).toContainEqual(expect.stringContaining(`claims, ${object}, call, `));
    },
    120_000,
  );
});

test('a migration adds an invariant, which is proven or refuted by a row', async () => {
  const add = (name: string, expression: string) =>
    `insert into audit.invariants (name, relation, commands, roles, expression, rule)
     values ('own_${name}', 'app_public.users', '{update}', '{graph_app}', '${expression}', 'For a test.');`;
  const migration = [
    add('organization', 'new.organization_id = old.organization_id'),
    add('name', 'new.full_name = old.full_name'),
    add('zone', 'app_hidden.time_zone_key(new.locale) is not null'),
  ].join('');

  const judgements = await proving.judgeAfter(migration, about('app_public.users'));

  const own = (name: string) => judgements.filter(({ invariant }) => invariant === `own_${name}`);
  expect(own('organization')).toMatchObject([{ verdict: 'proven' }]);
  expect(own('name')).toMatchObject([{ verdict: 'refuted', why: expect.stringMatching(/^graph_app of A0 .*changes/) }]);
  expect(own('zone')).toMatchObject([
    { verdict: 'unproven', why: expect.stringMatching(/^not understood: .*time_zone_key/) },
  ]);
});

test('a violation is accepted for one goal, with a reason', async () => {
  const open = 'alter policy select_graph_basic on app_public.cards using (true);';
  const accept = (invariant: string) =>
    `insert into audit.accepted values ('invariant', '${invariant}: select on app_public.cards', 'graph_basic', 'For a test.');`;
  const openAfter = async (sql: string) =>
    openOf(await proving.judgeAfter(sql, about('app_public.cards'))).map(({ invariant, verdict }) => [
      invariant,
      verdict,
    ]);

  expect(await openAfter(open)).toEqual([
    ['basic', 'refuted'],
    ['claims', 'refuted'],
    ['organization', 'refuted'],
  ]);
  expect(await openAfter(open + accept('basic'))).toEqual([
    ['claims', 'refuted'],
    ['organization', 'refuted'],
  ]);

  const changed = 'create policy more on app_public.cards for select to graph_basic using (name is null);';
  const judgements = openOf(await proving.judgeAfter(open + accept('basic') + changed, about('app_public.cards')));
  expect(judgements.filter(({ invariant }) => invariant === 'basic')).toMatchObject([
    { verdict: 'refuted', why: expect.stringContaining('it has changed since it was accepted') },
  ]);
});

// What else such functions and views are asked is tested with the package.
test('a function with the rights of its owner is asked by each invariant', async () => {
  const counting = (name: string, table: string) =>
    `create function app_public.${name}() returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp
       as $$ select count(*) from ${table} where organization_id = app_hidden.current_organization_id() $$;
     grant execute on function app_public.${name}() to graph_app;`;
  const migration = counting('people', 'app_public.users') + counting('passwords', 'oauth.credentials');

  const judgements = await proving.judgeAfter(migration, { isAsked: () => false });

  const of = (name: string) => judgements.find(({ relation }) => relation === `app_public.${name}()`);
  expect(of('people')).toMatchObject({ verdict: 'proven', role: 'graph_app' });
  // What is not for clients.
  expect(of('passwords')).toMatchObject({ verdict: 'unproven', role: 'graph_app' });
});

test('a view with the rights of its owner is asked by each invariant', async () => {
  const view = (name: string, query: string) =>
    `create view app_public.${name} with (security_barrier) as ${query}; grant select on app_public.${name} to graph_app;`;
  const people = 'select full_name from app_public.users';
  const migration = view('people', `${people} where ${organization}`) + view('everyone', people);

  const judgements = await proving.judgeAfter(migration, about('app_public.people', 'app_public.everyone'));

  const verdictsOf = (name: string) =>
    judgements
      .filter((one) => one.relation === `app_public.${name}` && one.role === 'graph_app' && one.command === 'select')
      .map(({ invariant, verdict }) => `${invariant}: ${verdict}`);
  expect(verdictsOf('people')).toEqual([
    'claims: proven',
    'organization: proven',
    'application: proven',
    'secrets: proven',
  ]);
  expect(verdictsOf('everyone')).toContain('secrets: proven');
  expect(verdictsOf('everyone')).not.toContain('organization: proven');
});
