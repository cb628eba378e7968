import { ask, createTenant, createUser, type OwnGraphTest, startGraphTest, type Tenant } from '../graphql/support.ts';
import { until } from '../support/until.ts';

// The log of an operation that was slow or failed: enough to see why, without text that a client has sent.

let service: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  service = await startGraphTest({ SLOW_MS: '0' });
  tenant = await createTenant(service);
});
afterAll(() => service.stop());

type Line = Record<string, unknown> & {
  statements: { sql: string; durationMs: number }[];
  document: string;
  plan?: string[];
};

/** The lines about the request that asks this, the last of them about the operation. */
async function described(query: string, variables: Record<string, unknown> = {}, on = service): Promise<Line> {
  const answer = await ask(on, tenant.app, query, variables);
  const requestId = answer.headers.get('X-Request-Id');
  const find = () =>
    on.logs.map((line) => JSON.parse(line)).find((line) => line.requestId === requestId && 'document' in line);
  await until(() => find() !== undefined);
  return find();
}

const query = `query Find($ids: [String!] = ["marker-default"]) { # marker-comment
  app {
    markerAlias: users(first: 471, externalIdentifiers: $ids) { nodes { id email } }
    more: users(externalIdentifiers: ["marker-literal"], orderBy: [EMAIL_ASC]) { totalCount }
  }
}`;

test('the document, the SQL and the plan of a slow operation are logged, without values', async () => {
  await createUser(tenant, { email: 'marker-email@acme.test', externalIdentifier: 'marker-row' });

  const line = await described(query, { ids: ['marker-row'] });

  expect(line).toMatchObject({
    msg: 'an operation was slow',
    operation: 'Find',
    clientId: `client-${tenant.applicationId}`,
    durationMs: expect.any(Number),
    planningMs: expect.any(Number),
  });
  expect(line.document).toBe(
    'query Find($ids: [String!]) { app { users(first: _, externalIdentifiers: $ids) { nodes { id email } } ' +
      'users(externalIdentifiers: _, orderBy: _) { totalCount } } }',
  );
  expect(line.statements.map(({ sql }) => sql).join()).toContain('"app_public"."users"');
  // Ids and times are drawn, and so may have any figure.
  const logged = { ...line, requestId: '', clientId: '' };
  const text = JSON.stringify(logged, (_key, value) => (typeof value === 'number' ? 0 : value));
  expect(text).not.toMatch(/marker|471/);
});

test('the plan is that of the caller, with its policies, where PostgreSQL gives one without values', async () => {
  const { rows } = await service.database.owner.query('show server_version_num');
  const hasGenericPlans = Number(rows[0].server_version_num) >= 160_000;

  const line = await described('query Plan { app { rootUnits(first: 3) { nodes { externalIdentifier } } } }');

  if (hasGenericPlans) expect(line.plan?.join('\n')).toMatch(/InitPlan \d[\s\S]* on units [\s\S]*organization_id = /);
  else expect(line.plan).toBeUndefined();
});

test('the plan is logged once in a while, since what is slow comes often', async () => {
  const again = 'query Again { app { users(first: 5) { nodes { locale } } } }';
  await described(again);

  expect((await described(again)).plan).toBeUndefined();
});

test('an operation is described in the offload thread as in the main thread', async () => {
  const line = await described(
    'query Long { app { rootUnits(first: 1000) { nodes { children(first: 1000) { nodes { name } } } } } }',
  );

  expect(line).toMatchObject({ operation: 'Long', msg: 'an operation was slow' });
  expect(line.document).toContain('children(first: _)');
});

test('of one that is neither slow nor failed only the request is logged', async () => {
  const quiet = await startGraphTest({ SLOW_MS: '60000' });
  const own = await createTenant(quiet);
  await ask(quiet, own.app, 'query Quick { app { name } }');
  const lines = () => quiet.logs.map((line) => JSON.parse(line)).filter(({ operation }) => operation === 'Quick');
  await until(() => lines().length > 0);
  await quiet.stop();

  expect(lines()).toEqual([
    expect.objectContaining({
      msg: 'request',
      statements: 1,
      clientId: `client-${own.applicationId}`,
    }),
  ]);
});
