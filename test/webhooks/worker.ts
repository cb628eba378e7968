import type { Pool } from 'pg';
import type { Naming } from '../../plugins/ChangeNamingPlugin.ts';
import { createSecrets } from '../../src/crypto/secrets.ts';
import { createPool } from '../../src/database/pool/pools.ts';
import { buildGraph } from '../../src/graphql/schema/schema.ts';
import { createLog } from '../../src/log.ts';
import { startWebhooks } from '../../src/webhooks/startWebhooks.ts';
import { preparesStatements, type TestDatabase } from '../support/database.ts';
import { opened } from '../support/openThings.ts';
import { testSecretKey } from '../support/service.ts';
import { until } from '../support/until.ts';

export type TestWorker = { readonly logs: string[]; stop(): Promise<void> };

/** What sends webhooks, with a tick that no test waits for. */
export async function startTestWorker(
  { authUrl }: Pick<TestDatabase, 'authUrl'>,
  {
    allowsPrivate = true,
    keys = [testSecretKey],
    leaseMs = 60_000,
  }: { readonly allowsPrivate?: boolean; readonly keys?: readonly string[]; readonly leaseMs?: number } = {},
): Promise<TestWorker> {
  const logs: string[] = [];
  const log = createLog('info', { write: (line) => logs.push(line) });
  const settings = {
    poolSize: 4,
    poolWaitMs: 20_000,
    statementTimeoutMs: 10_000,
    preparedStatements: preparesStatements(),
  };
  const pool = createPool(authUrl, settings, log);
  naming ??= await namingOf(pool);
  const names = naming;
  const secrets = createSecrets(keys.map((key) => Buffer.from(key, 'base64')) as [Buffer, ...Buffer[]]);
  const webhooks = startWebhooks({
    pool,
    secrets,
    naming: () => names,
    allowsPrivate,
    log,
    leaseMs,
    tickMs: 30,
    abandonAfterMs: 300,
  });
  const closed = opened('webhook worker');
  return {
    logs,
    async stop() {
      await webhooks.stop();
      await pool.end();
      closed();
    },
  };
}

/** The deliveries of a database of which the condition holds. */
export async function countDeliveries({ owner }: TestDatabase, condition: string): Promise<number> {
  const { rows } = await owner.query(
    `select count(*)::int as found from app_public.webhook_deliveries where ${condition}`,
  );
  return rows[0].found as number;
}

/** Resolves when so many deliveries of a database have been taken. */
export const untilDelivered = (database: TestDatabase, wanted: number) =>
  until(async () => (await countDeliveries(database, "outcome = 'DELIVERED'")) === wanted);

/** The names of tables and rows in the graph. Databases of one template share them, since a schema takes longer to build than most workers run. */
async function namingOf(pool: Pool): Promise<Naming> {
  const graph = await buildGraph(pool);
  const built = graph.schema.extensions.changeNaming;
  await graph.release();
  return built;
}

let naming: Naming | undefined;
