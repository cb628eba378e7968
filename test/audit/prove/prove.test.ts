import { missing } from '../../../src/commands/audit/prove/loadProver.ts';
import { blocksOf } from '../../docs/pages.ts';
import { audit } from '../support.ts';
import { line, openOf, startProving } from './support.ts';

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

const about = (relation: string) => ({
  isAsked: (goal: { relation: string }) => goal.relation === relation,
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
  for (const relation of ['app_public.doors', 'app_public.door_keys']) {
    const judgements = await proving.judgeAfter(sql, about(relation));

    expect(openOf(judgements).map(line)).toEqual([]);
    expect(judgements.filter((one) => one.relation === relation && !one.isByPrivilege).length).toBeGreaterThan(5);
  }
});

test('a migration adds an invariant, which is proven or refuted by a row', async () => {
  const add = (expression: string) =>
    `insert into audit.invariants (name, relation, commands, roles, expression, rule)
     values ('own', 'app_public.users', '{update}', '{graph_app}', '${expression}', 'For a test.')`;
  const own = async (expression: string) =>
    (await proving.judgeAfter(add(expression), about('app_public.users'))).filter(
      ({ invariant }) => invariant === 'own',
    );

  expect(await own('new.organization_id = old.organization_id')).toMatchObject([{ verdict: 'proven' }]);
  expect(await own('new.full_name = old.full_name')).toMatchObject([
    { verdict: 'refuted', why: expect.stringMatching(/^graph_app of A0 .*changes/) },
  ]);
  expect(await own('app_hidden.time_zone_key(new.locale) is not null')).toMatchObject([
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
});

// What else such functions and views are asked is tested with the package.
test('a function with the rights of its owner is asked by each invariant', async () => {
  const verdictOf = async (body: string) => {
    const sql = `create function app_public.people() returns bigint language sql stable security definer set search_path = pg_catalog, pg_temp
      as $$ ${body} $$; grant execute on function app_public.people() to graph_app`;
    const judgements = await proving.judgeAfter(sql, { isAsked: () => false });
    return judgements.find(({ relation }) => relation === 'app_public.people()');
  };
  const count = (table: string) =>
    `select count(*) from ${table} where organization_id = app_hidden.current_organization_id()`;

  expect(await verdictOf(count('app_public.users'))).toMatchObject({ verdict: 'proven', role: 'graph_app' });
  // What is not for clients.
  expect(await verdictOf(count('oauth.credentials'))).toMatchObject({ verdict: 'unproven', role: 'graph_app' });
});

test('a view with the rights of its owner is asked by each invariant', async () => {
  const verdictsOf = async (query: string) => {
    const sql = `create view app_public.people with (security_barrier) as ${query}; grant select on app_public.people to graph_app`;
    const judgements = await proving.judgeAfter(sql, about('app_public.people'));
    return judgements
      .filter((one) => one.role === 'graph_app' && one.command === 'select')
      .map(({ invariant, verdict }) => `${invariant}: ${verdict}`);
  };

  expect(await verdictsOf(`select full_name from app_public.users where ${organization}`)).toEqual([
    'claims: proven',
    'organization: proven',
    'application: proven',
    'secrets: proven',
  ]);
  expect(await verdictsOf('select full_name from app_public.users')).not.toContain('organization: proven');
});
