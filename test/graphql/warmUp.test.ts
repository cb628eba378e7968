import { loadConfig } from '../../src/config.ts';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { createPool } from '../../src/database/pool/pools.ts';
import { buildGraph } from '../../src/graphql/schema/schema.ts';
import { warmUp } from '../../src/graphql/schema/warmUp.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase } from '../support/database.ts';
import { recordStatements } from './statementRecorder.ts';

test('the warm-up operations are in order, and run with claims that see no row', async () => {
  await using resources = new AsyncDisposableStack();
  const database = await createTestDatabase();
  resources.defer(() => database.drop());
  const recorder = await recordStatements(database.authUrl);
  resources.defer(() => recorder.stop());
  const lines: string[] = [];
  const log = createLog('info', { write: (line) => lines.push(line) });
  const environment = { AUTH_DATABASE_URL: recorder.url, SECRET_KEY: Buffer.alloc(32).toString('base64') };
  const config = loadConfig(environment, 'serve');
  const pool = createPool(recorder.url, config, log);
  resources.defer(() => pool.end());
  const graph = await buildGraph(pool, {});
  resources.defer(() => graph.release());
  recorder.take();

  await warmUp({ config, pool, replicaPool: null, secrets: createSecrets([Buffer.alloc(32)]), graph, log });

  const statements = recorder.take().filter((statement) => /\bapp_public\b/.test(statement));
  for (const table of ['users', 'units', 'cards'])
    expect(statements).toContainEqual(expect.stringContaining(`"app_public"."${table}"`));
  expect(statements.filter((statement) => !/^select/i.test(statement))).toEqual([]);
  expect(lines).toEqual([]);
});
