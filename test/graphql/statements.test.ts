import { createTestDatabase, preparesStatements } from '../support/database.ts';
import { startTestService } from '../support/service.ts';
import { until } from '../support/until.ts';
import { recordStatements, type StatementRecorder } from './statementRecorder.ts';
import {
  createCard,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  grantAccess,
  type OwnGraphTest,
  read,
  type Tenant,
  type TestUnit,
} from './support.ts';

let graph: OwnGraphTest;
let recorder: StatementRecorder;
let tenant: Tenant;
let person: string;
beforeAll(async () => {
  const database = await createTestDatabase();
  recorder = await recordStatements(database.authUrl);
  // One connection, so that a request waits for the end of the transaction before, which its client does not wait for. For a slow
  // operation the service would request the plan, which is a statement, too.
  const service = await startTestService(
    { ownerUrl: database.ownerUrl, authUrl: recorder.url },
    { DATABASE_POOL_SIZE: '1', SLOW_MS: '600000' },
  );
  graph = { ...service, database };
  await createRows();
});
afterAll(async () => {
  await graph.stop();
  await recorder.stop();
  await graph.database.drop();
});

/** Three roots with three children with three children each, all granted; three users with three cards each. */
async function createRows(): Promise<void> {
  tenant = await createTenant(graph);
  const viewer = await createViewer(tenant, { externalIdentifier: 'u-0' });
  person = viewer.token;
  const three = [0, 1, 2];
  for (const index of three) {
    const user = index === 0 ? viewer : await createUser(tenant, { externalIdentifier: `u-${index}` });
    for (const card of three) await createCard(tenant, user, { type: 'IdentificationCode', name: `PIN ${card}` });
    const root = await createUnit(tenant, { name: `Root ${index}` });
    await grantAccess(tenant, viewer, root);
    for (const _child of three) {
      const child = await createUnit(tenant, { name: 'Child', parent: root });
      for (const _grandchild of three) await createUnit(tenant, { name: 'Grandchild', parent: child });
    }
  }
}

/** The statements of one request beside the token's, and the number of round trips and transactions. */
async function run(token: string, query: string): Promise<Ran> {
  recorder.take();
  await read(graph, token, query);
  const { roundTrips, statements: all } = recorder.take();
  const isAboutToken = (statement: string) => /\b(require|verify)_access_token\b/.test(statement);
  return {
    roundTrips,
    // Each begins with its claims.
    transactions: all.filter((statement) => statement.includes('set_config')).length,
    statements: all.filter((text) => /\b(app_public|app_hidden|oauth)\b/.test(text) && !isAboutToken(text)),
    proofs: all.filter(isAboutToken).length,
  };
}

type Ran = { roundTrips: number; transactions: number; statements: string[]; proofs: number };

test.each([
  ['the viewer', () => person, '{ viewer { id fullName email } }'],
  [
    'the viewer with the accessible units',
    () => person,
    '{ viewer { id fullName accessibleUnits(first: 20) { nodes { id name } } } }',
  ],
  [
    'the viewer with cards, units, their parents and children',
    () => person,
    `{ viewer { cardAssignments { card { id name } } accessibleUnits { nodes { name parent { name } children { nodes { name } } } } } }`,
  ],
  [
    'users with their cards',
    () => tenant.app,
    `{ app { users(first: 50) { nodes { id fullName cardAssignments { id card { __typename name ... on NfcCard { nfcIdentifier } } } } } } }`,
  ],
  [
    'units three levels deep',
    () => tenant.app,
    '{ app { rootUnits { nodes { name children { nodes { name children { nodes { name } } } } } } } }',
  ],
  [
    'users and units with everything on their pages but the count',
    () => tenant.app,
    `{ app { name
         users(first: 2) { edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }
         rootUnits(orderBy: NAME_DESC) { nodes { id } edges { cursor } } } }`,
  ],
  ['a filtered page', () => tenant.app, '{ app { users(externalIdentifiers: ["u-1"]) { nodes { id email } } } }'],
  ['a count alone', () => tenant.app, '{ app { users { totalCount } } }'],
])('%s: with the look at the token one transaction and one round trip', async (_what, token, query) => {
  // Past the beginnings of the token and of the connection.
  await run(token(), query);
  await run(token(), query);
  const { roundTrips, transactions, statements, proofs } = await run(token(), query);

  expect(statements).toEqual([expect.stringMatching(/select/i)]);
  expect(proofs).toBe(1);
  expect(transactions).toBe(1);
  expect(roundTrips).toBe(1);
});

test('deeper levels of children are read by a statement for every eight of them', async () => {
  const chain = await createTenant(graph);
  let parent: TestUnit | undefined;
  for (let level = 0; level < 20; level++) parent = await createUnit(chain, parent ? { parent } : {});
  const nested = (levels: number): string => (levels === 0 ? 'name' : `children { nodes { ${nested(levels - 1)} } }`);

  const counts: number[] = [];
  for (const levels of [1, 5, 8, 9, 16, 17]) {
    const { statements } = await run(chain.app, `{ app { rootUnits { nodes { ${nested(levels)} } } } }`);
    counts.push(statements.length);
  }

  expect(counts).toEqual([1, 1, 2, 2, 3, 3]);
});

test('several statements share one transaction', async () => {
  const unit = await createUnit(tenant, {});
  const user = await createUser(tenant);
  const query = `{ a: node(id: "${unit.id}") { id } b: node(id: "${user.id}") { id } app { name } }`;
  recorder.take();
  await read(graph, tenant.app, query);
  // The end of a transaction is not waited for by the client.
  await until(() => recorder.take().statements.includes('commit'));
  const { roundTrips, transactions, statements } = await run(tenant.app, query);

  expect(statements).toHaveLength(3);
  expect(transactions).toBe(1);
  // The first begins it; its end may have been seen, too. Where none are prepared, each statement has a round trip of its own.
  if (preparesStatements()) expect([3, 4]).toContain(roundTrips);
});

test('a mutation that selects what it has written is one statement', async () => {
  const created = await run(
    tenant.app,
    'mutation { userCreate(fullName: "A", email: "a@acme.test", externalIdentifier: "a") { user { id fullName } } }',
  );
  const updated = await run(
    tenant.app,
    'mutation { userUpdate(externalIdentifier: "a", fullName: "B") { user { id fullName } } }',
  );
  const deleted = await run(tenant.app, 'mutation { userDelete(externalIdentifier: "a") { user { id } } }');

  for (const { roundTrips, transactions, statements } of [created, updated, deleted]) {
    expect(statements).toHaveLength(1);
    expect(transactions).toBe(1);
    // The second commits, when the answer is known.
    expect(roundTrips).toBe(2);
  }
});

test('the number of statements does not depend on the number of rows', async () => {
  const query = '{ app { users { nodes { cardAssignments { card { name } } } } } }';
  const few = await run(tenant.app, query);

  for (let index = 0; index < 20; index++) {
    const user = await createUser(tenant);
    await createCard(tenant, user, { type: 'IdentificationCode', name: 'PIN' });
  }

  expect(await run(tenant.app, query)).toEqual(few);
});
