import { setTimeout as delay } from 'node:timers/promises';
import type { Naming } from '../../plugins/ChangeNamingPlugin.ts';
import { type Config, ConfigError, requireSetting } from '../config.ts';
import { createSecrets } from '../crypto/secrets.ts';
import { findMigrationProblem } from '../database/migrations/migrate.ts';
import { watchMigrations } from '../database/migrations/watchMigrations.ts';
import { openDatabase } from '../database/openDatabase.ts';
import { createPool } from '../database/pool/pools.ts';
import type { ServerLogins } from '../database/roles/roles.ts';
import { describeFailure, logFailure, StartupError } from '../errors/errors.ts';
import { buildGraph, type Graph } from '../graphql/schema/schema.ts';
import type { Log } from '../log.ts';
import { createResources, type Resources, requireSecretKey, secretKeys } from '../service/openConnections.ts';
import { startWebhooks } from '../webhooks/startWebhooks.ts';

/**
 * `npm run worker`: sends webhooks and serves nothing, for a service with WEBHOOK_WORKER=false.
 * It needs the schema for the names of tables and columns, and builds it again after migrations. It waits while the database is
 * unavailable or behind.
 */
export async function startWebhookWorker(config: Config, log: Log): Promise<{ stop(): Promise<void> }> {
  const resources = createResources();
  const stopping = new AbortController();
  const stop = async () => {
    stopping.abort();
    await resources.disposeAsync();
  };
  try {
    const keys = await secretKeys(config);
    const secrets = createSecrets(keys);
    const { authUrl, oauthUrl } = await openLogins(config, log, resources);
    const open = (url: string, poolSize: number) => {
      const pool = createPool(url, { ...config, poolSize }, log);
      resources.defer(() => pool.end());
      return pool;
    };
    const [pool, catalogue] = [open(oauthUrl ?? authUrl, config.poolSize), open(authUrl, 1)];
    const build = async (): Promise<Graph> => {
      const problem = await findMigrationProblem(catalogue);
      if (problem !== null) throw new StartupError(problem);
      await requireSecretKey(pool, keys);
      return buildGraph(catalogue);
    };

    const starting = retry(build, stopping.signal, log).then((first) => {
      if (!first) return;
      let graph = first;
      const watching = watchMigrations({ authUrl, seen: first.migrations, log }, async () => {
        const old = graph;
        graph = await build();
        await old.release();
      });
      const naming = () => graph.schema.extensions.changeNaming as Naming;
      const allowsPrivate = config.webhookPrivateAddresses;
      const webhooks = startWebhooks({ pool, secrets, naming, allowsPrivate, log, signal: stopping.signal });
      resources.defer(() => graph.release());
      resources.defer(watching.stop);
      resources.defer(webhooks.stop);
      log.info('sending webhooks');
    });
    resources.defer(() => starting);
    return { stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The logins; for an embedded database, those of its server, which is started if none runs. */
async function openLogins({ database }: Config, log: Log, resources: Resources): Promise<ServerLogins> {
  const { authUrl, oauthUrl } = database.kind === 'own' ? database : await openEmbedded(database, log, resources);
  return { authUrl: requireSetting(authUrl, 'AUTH_DATABASE_URL'), oauthUrl };
}

async function openEmbedded(database: Config['database'], log: Log, resources: Resources) {
  const opened = await openDatabase(database, log);
  resources.defer(opened.close);
  return opened;
}

/** @returns null when it was stopped before */
async function retry<T>(work: () => Promise<T>, signal: AbortSignal, log: Log): Promise<T | null> {
  let logged = '';
  while (!signal.aborted) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      // Once until it changes: it is tried again every second.
      const cause = describeFailure(error);
      if (cause !== logged) logFailure(log, 'warn', { error }, 'cannot send webhooks yet; retrying');
      logged = cause;
      await delay(1000, undefined, { signal }).catch(() => undefined);
    }
  }
  return null;
}
