import { setTimeout as delay } from 'node:timers/promises';
import { Client, type ClientBase, type Pool } from 'pg';
import type { Log } from '../log.ts';
import { isUnavailable } from './unavailable.ts';

/** What `npm run db:migrate` says on this channel, with nothing else in it: look again. */
const channel = 'graph_query_service_migrations';

/** Tells every server of the database, on whichever machine, that there are migrations to look at. */
export async function announceMigrations(owner: ClientBase): Promise<void> {
  await owner.query(`notify ${channel}`);
}

/** Which migrations the database has; another text when there are others, or when another database has taken its place. */
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
 * Calls `onChange` whenever the database has other migrations than `seen`. It is told of them on a connection of its own, and
 * looks for itself when that was lost meanwhile, and every 5 s: a connection can be dead without a sign, and a pooler in front
 * may keep what it hears to itself. When `onChange` fails it is called again at the next look.
 */
export function watchMigrations(
  { authUrl, seen, log }: { readonly authUrl: string; readonly seen: string; readonly log: Log },
  onChange: () => Promise<unknown>,
): { stop(): Promise<void> } {
  const nap = createNap();
  let known = seen;
  let stopping = false;
  let isLost = false;

  const look = async (client: Client): Promise<void> => {
    const found = await readMigrations(client);
    if (found === known) return;
    log.info('the database has other migrations; building the schema anew');
    await onChange().then(
      () => {
        known = found;
      },
      (error: unknown) => log.error({ error }, 'the schema cannot be built; the old one serves on'),
    );
  };

  const listenOnce = async (): Promise<void> => {
    const client = new Client({
      connectionString: authUrl,
      application_name: 'graph-query-service migrations',
      connectionTimeoutMillis: patienceMs,
      query_timeout: patienceMs,
    });
    // What is lost shows at the next look.
    client.on('notification', nap.end).on('error', nap.end);
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
      if (isLost) log.debug('hears of migrations again');
      isLost = false;
      while (!stopping) {
        await look(client);
        await nap.take(lookEveryMs);
      }
    } finally {
      // Should the server no longer answer, nobody waits for its goodbye.
      await Promise.race([client.end().catch(() => undefined), delay(1000, undefined, { ref: false })]);
    }
  };

  const listening = (async () => {
    while (!stopping) {
      await listenOnce().catch((error: unknown) => {
        // Of outages tells the watch on the database.
        const level = isUnavailable(error) ? 'debug' : 'warn';
        if (!isLost) log[level]({ error }, 'cannot hear of migrations; trying again');
        isLost = true;
      });
      if (!stopping) await nap.take(retryMs);
    }
  })();

  return {
    async stop() {
      stopping = true;
      nap.end();
      await listening;
    },
  };
}

const patienceMs = 5000;
const lookEveryMs = 5000;
const retryMs = 1000;

/** Sleeps until its time is over or somebody ends it, be it before it has begun. */
function createNap() {
  let wake: (() => void) | null = null;
  let isOver = false;
  return {
    async take(ms: number): Promise<void> {
      const alarm = Promise.withResolvers<void>();
      wake = alarm.resolve;
      const timer = setTimeout(alarm.resolve, isOver ? 0 : ms);
      await alarm.promise;
      clearTimeout(timer);
      wake = null;
      isOver = false;
    },
    end(): void {
      isOver = true;
      wake?.();
    },
  };
}
