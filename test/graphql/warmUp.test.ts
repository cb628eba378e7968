import { loadConfig } from '../../src/config.ts';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { createPool, type EvictablePool } from '../../src/database/pool/pools.ts';
import { buildGraph, type Graph } from '../../src/graphql/schema/schema.ts';
import { warmUp } from '../../src/graphql/schema/warmUp.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase, preparesStatements, type TestDatabase } from '../support/database.ts';
import { recordStatements, type StatementRecorder } from './statementRecorder.ts';

let database: TestDatabase;
let recorder: StatementRecorder;
let pool: EvictablePool;
let graph: Graph;
beforeAll(async () => {
  database = await createTestDatabase();
  recorder = await recordStatements(database.authUrl);
  pool = createPool(recorder.url, configOf({}), createLog('silent'));
  graph = await buildGraph(pool, {});
});
afterAll(async () => {
  await graph.release();
  await pool.end();
  await recorder.stop();
  await database.drop();
});

const secrets = createSecrets([Buffer.alloc(32)]);
// Every operation of a client would be logged as slow, and PostgreSQL asked for its plan.
const configOf = (limits: Record<string, string>) =>
  loadConfig(
    {
      AUTH_DATABASE_URL: recorder.url,
      SECRET_KEY: Buffer.alloc(32).toString('base64'),
      SLOW_MS: '0',
      DATABASE_PREPARED_STATEMENTS: String(preparesStatements()),
      ...limits,
    },
    'serve',
  );

test('the warm-up operations are in order, and run with claims that see no row', async () => {
  const { statements, lines } = await warmedUp({});

  for (const table of ['users', 'units', 'cards'])
    expect(statements).toContainEqual(expect.stringContaining(`"app_public"."${table}"`));
  expect(statements).toContainEqual(expect.stringContaining('"email"'));
  expect(statements.filter((statement) => !/^select/i.test(statement))).toEqual([]);
  expect(lines).toEqual([]);
});

test.each([
  ['LIMIT_DEPTH', '4'],
  ['LIMIT_FIELDS', '10'],
  ['LIMIT_TOKENS', '40'],
])('%s of %s leaves out what it refuses, and hinders no start', async (limit, value) => {
  const { statements, lines } = await warmedUp({ [limit]: value });

  expect(statements.length).toBeGreaterThan(0);
  expect(lines).toEqual([]);
});

test('limits that refuse every operation leave nothing to warm up', async () => {
  expect((await warmedUp({ LIMIT_DEPTH: '1' })).statements).toEqual([]);
});

test('a field of another name leaves out the operations that ask for it alone', async () => {
  // The last test of this database.
  await database.owner.query(`comment on column app_public.users.email is E'@name address\nWhere mail is sent.'`);
  await graph.release();
  graph = await buildGraph(pool, {});

  const renamed = await warmedUp({});
  expect(renamed.statements).toContainEqual(expect.stringContaining('"app_public"."units"'));
  expect(renamed.statements).not.toContainEqual(expect.stringContaining('"email"'));
  expect(renamed.lines).toEqual([]);
});

/** The warm-up's statements on the tables, and the lines of its log. */
async function warmedUp(limits: Record<string, string>) {
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  recorder.take();

  await warmUp({ config: configOf(limits), pool, replicaPool: null, secrets, graph, log });
  return { statements: recorder.take().statements.filter((statement) => /\bapp_public\b/.test(statement)), lines };
}
