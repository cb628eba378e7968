import { loadConfig } from '../../src/config.ts';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { createPool } from '../../src/database/pool/pools.ts';
import { buildGraph } from '../../src/graphql/schema/schema.ts';
import { warmUp } from '../../src/graphql/schema/warmUp.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { recordStatements } from './statementRecorder.ts';

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

test('limits that refuse every operation leave nothing to warm up, and other names only these operations', async () => {
  expect((await warmedUp({ LIMIT_DEPTH: '1' })).statements).toEqual([]);
  const renamed = await warmedUp({}, ({ owner }) =>
    owner.query(`comment on column app_public.users.email is E'@name address\nWhere mail is sent.'`),
  );
  expect(renamed.statements).toContainEqual(expect.stringContaining('"app_public"."units"'));
  expect(renamed.statements).not.toContainEqual(expect.stringContaining('"email"'));
  expect(renamed.lines).toEqual([]);
});

/** The warm-up's statements on the tables, and the lines of its log. */
async function warmedUp(
  limits: Record<string, string>,
  change: (database: TestDatabase) => Promise<unknown> = async () => undefined,
) {
  await using resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  await change(database);
  const recorder = await recordStatements(database.authUrl);
  resources.defer(() => recorder.stop());
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  const SECRET_KEY = Buffer.alloc(32).toString('base64');
  // On a busy machine anything may be slow, which would ask PostgreSQL for a plan, too.
  const environment = { AUTH_DATABASE_URL: recorder.url, SECRET_KEY, SLOW_MS: '600000', ...limits };
  const config = loadConfig(environment, 'serve');
  const pool = createPool(recorder.url, config, log);
  resources.defer(() => pool.end());
  const graph = await buildGraph(pool, {});
  resources.defer(() => graph.release());
  recorder.take();

  await warmUp({ config, pool, replicaPool: null, secrets: createSecrets([Buffer.alloc(32)]), graph, log });
  return { statements: recorder.take().statements.filter((statement) => /\bapp_public\b/.test(statement)), lines };
}
