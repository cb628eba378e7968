import { setTimeout as delay } from 'node:timers/promises';
import type { Client, ClientBase, Pool } from 'pg';
import { logFailure } from '../../errors/errors.ts';
import type { Log } from '../../log.ts';
import { withClient } from '../pool/transactions.ts';
import { isUnavailable } from '../pool/unavailable.ts';

/** `npm run db:migrate` notifies this channel, without a payload. */
const channel = 'graph_query_service_migrations';

/** Notifies every server of the database, on any machine, of new migrations. */
export async function announceMigrations(owner: ClientBase): Promise<void> {
  await owner.query(`notify ${channel}`);
}

/** A fingerprint of the applied migrations and of the database itself, which may have been replaced. */
export async function readMigrations(database: Pool | ClientBase): Promise<string> {
  const { rows } = await database.query<{ hashes: string }>(
    `select concat(d.oid, ' ', md5(string_agg(m.hash, ' ' order by m.filename))) as hashes
     from pg_database d, graphile_migrate.migrations m
     where d.datname = current_database()
     group by d.oid`,
  );
  return rows[0]?.hashes ?? '';
}

/**
 * LISTENs and polls for migrations: calls `onChange` when the database has others than `seen`.
 * It also polls after a lost connection and every 5 s: a connection can be half-open, and a pooler in front may drop notifications. If
 * `onChange` fails, the next poll calls it again.
 */
export function watchMigrations(
  { authUrl, seen, log }: { readonly authUrl: string; readonly seen: string; readonly log: Log },
  onChange: () => Promise<unknown>,
): { stop(): Promise<void> } {
  const sleep = createWakeableSleep();
  let known = seen;
  let stopping = false;
  let isLost = false;

  const poll = async (client: Client): Promise<void> => {
    const found = await readMigrations(client);
    if (found === known) return;
    log.info('the database has other migrations; rebuilding the schema');
    await onChange().then(
      () => {
        known = found;
      },
      (error: unknown) => logFailure(log, 'error', { error }, 'the schema cannot be built; the old one serves on'),
    );
  };

  const listen = async (client: Client): Promise<void> => {
    // The next poll reports a lost connection.
    client.on('notification', sleep.wake).on('error', sleep.wake);
    await client.query(`listen ${channel}`);
    if (isLost) log.debug('LISTEN connection restored');
    isLost = false;
    while (!stopping) {
      await poll(client);
      await sleep.sleep(pollEveryMs);
    }
  };

  const config = {
    connectionString: authUrl,
    application_name: 'graph-query-service migrations',
    connectionTimeoutMillis: timeoutMs,
    query_timeout: timeoutMs,
  };
  const listening = (async () => {
    while (!stopping) {
      await withClient(config, listen).catch((error: unknown) => {
        // The readiness watch logs outages.
        const level = isUnavailable(error) ? 'debug' : 'warn';
        if (!isLost) log[level]({ error }, 'cannot LISTEN for migrations; retrying');
        isLost = true;
      });
      if (!stopping) await sleep.sleep(retryMs);
    }
  })();

  return {
    async stop() {
      stopping = true;
      sleep.wake();
      await listening;
    },
  };
}

const timeoutMs = 5000;
const pollEveryMs = 5000;
const retryMs = 1000;

/** An interruptible sleep. `wake` also ends the next sleep when none runs, so no notification is lost. */
function createWakeableSleep() {
  let waking = new AbortController();
  return {
    async sleep(ms: number): Promise<void> {
      await delay(ms, undefined, { signal: waking.signal }).catch(() => undefined);
      waking = new AbortController();
    },
    wake: (): void => waking.abort(),
  };
}
