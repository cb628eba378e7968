import type { Pool, PoolClient, QueryConfig, QueryResult } from 'pg';
import type { Log } from '../log.ts';
import type { Metrics, PartitionState } from '../observability/metrics.ts';
import { noRequest } from '../observability/requestFields.ts';
import { repeat } from '../repeat.ts';
import { oauthSettings } from '../token/settings.ts';
import { queryOnce } from '../token/transaction.ts';

/**
 * Purges what has expired soon after the start, and then every hour, until the process stops.
 * If there are several processes, one purges at a time. It logs what it deleted, and why a purge failed.
 */
export function startPurging(
  pool: Pool,
  log: Log,
  metrics: Pick<Metrics, 'purged' | 'showPartitions'> | null,
  intervals = { firstMs: 60_000, everyMs: 3_600_000 },
) {
  const purge = async (signal: AbortSignal) => {
    try {
      const purged = await purgeExpired((query) => queryOnce(pool, oauthSettings(null, noRequest), query), signal);
      if (purged) {
        log.info({ purged }, 'purged what has expired');
        metrics?.purged.setToCurrentTime();
      }
    } catch (error) {
      log.warn({ error }, 'could not purge what has expired; trying again later');
    }
    if (!metrics) return;
    await queryOnce<PartitionState>(pool, oauthSettings(null, noRequest), readPartitions).then(
      ({ rows }) => metrics.showPartitions(rows),
      (error: unknown) => log.warn({ error }, 'the partitions cannot be read; trying again later'),
    );
  };
  return repeat(purge, intervals.everyMs, intervals.firstMs);
}

const readPartitions = {
  text: `
  select relation as "table", extract(epoch from since)::float8 as since, extract(epoch from until)::float8 as until,
    in_default::float8 as "inDefault"
  from oauth.partition_state()`,
};

/**
 * Deletes what has expired, of every organization, and old history and changes with their deliveries.
 * These are tokens and codes, grants without a token, sessions, counts of tries, answers that were kept for idempotency keys. Each batch is
 * a transaction of its own, so that no request waits for long.
 *
 * @param query runs one statement in a transaction of its own, in a role that may call the functions
 * @param signal ends it after the batch that is running
 * @returns how many rows of each kind were deleted, and the outcome for the history; null when another process purges
 * @throws the first failure, after purging the rest: such as lock_not_available (55P03) when the history or the feed is in use
 */
export async function purgeExpired(query: RunQuery, signal?: AbortSignal): Promise<Counts | null> {
  const [first, ...others] = subjects;
  const tokens = await repeatBatches(query, first, signal);
  if (!tokens) return null;
  // If one is in use, the others are still purged.
  const failures: unknown[] = [];
  const purged: Counts[] = [tokens];
  for (const subject of others) {
    const counts = await repeatBatches(query, subject, signal).catch((error: unknown) => void failures.push(error));
    purged.push(counts ?? Object.fromEntries(Object.keys(subject.counts).map((name) => [name, 0])));
  }
  if (failures.length > 0) throw failures[0];
  return Object.assign({}, ...purged);
}

export type RunQuery = (query: QueryConfig) => Promise<QueryResult<Counts>>;

type Counts = Record<string, number>;

/** A function that purges rows, the names of its counts, and whether there may be more: when a batch is full, unless given. */
type Subject = {
  readonly call: string;
  readonly counts: Readonly<Record<string, string>>;
  readonly goesOn?: (batch: Counts) => boolean;
};

/** Rows of each kind. */
const batchSize = 1000;

const isFull = (batch: Counts) => Object.values(batch).includes(batchSize);

const subjects: readonly [Subject, ...Subject[]] = [
  {
    call: `oauth.purge_tokens(${batchSize})`,
    counts: { accessTokens: 'access_tokens', refreshTokens: 'refresh_tokens', grants: 'grants' },
  },
  { call: `oauth.purge_rows('authorization_codes', ${batchSize})`, counts: { authorizationCodes: 'purged' } },
  { call: `oauth.purge_rows('sessions', ${batchSize})`, counts: { sessions: 'purged' } },
  { call: `oauth.purge_rows('throttles', ${batchSize})`, counts: { throttles: 'purged' } },
  { call: `oauth.purge_rows('idempotency_keys', ${batchSize})`, counts: { idempotencyKeys: 'purged' } },
  {
    // Rows from before the history had partitions, dropped partitions, and those made ahead.
    call: `oauth.purge_changes(${batchSize})`,
    counts: { changes: 'changes', months: 'months', newMonths: 'new_months' },
    goesOn: ({ changes, months = 0, newMonths = 0 }) => changes === batchSize || months + newMonths > 0,
  },
  {
    // Dropped days of the change feed, and those made ahead.
    call: 'feed.rotate_partitions()',
    counts: { feedDays: 'days', newFeedDays: 'new_days' },
    goesOn: ({ feedDays = 0, newFeedDays = 0 }) => feedDays + newFeedDays > 0,
  },
  // Deliveries to webhooks, which are kept as long as their changes.
  { call: `oauth.purge_rows('deliveries', ${batchSize})`, counts: { deliveries: 'purged' } },
];

/** @returns the sums of all batches; null when there was none */
async function repeatBatches(
  query: RunQuery,
  { call, counts, goesOn = isFull }: Subject,
  signal?: AbortSignal,
): Promise<Counts | null> {
  const columns = Object.entries(counts).map(([name, column]) => `${column} as "${name}"`);
  const statement = { text: `select ${columns.join(', ')} from ${call}` };
  let total: Counts | null = null;
  let batch: Counts | undefined;
  do {
    batch = (await query(statement)).rows[0];
    if (batch) total = sum(total ?? {}, batch);
  } while (batch && goesOn(batch) && !signal?.aborted);
  return total;
}

const sum = (total: Counts, batch: Counts): Counts =>
  Object.fromEntries(Object.entries(batch).map(([name, count]) => [name, count + (total[name] ?? 0)]));

/**
 * Deletes some of a grant's expired tokens: more at a time than are issued at a time.
 * So a grant that lives for years does not accumulate them.
 */
export async function deleteExpiredTokens(database: PoolClient, grantId: string): Promise<void> {
  for (const table of ['access_tokens', 'refresh_tokens']) {
    await database.query({
      name: `delete_expired_${table}`,
      // Skips tokens that another request is deleting, rather than waiting.
      text: `
        delete from oauth.${table}
        where token_hash in (
          select token_hash from oauth.${table}
          where grant_id = $1 and expires_at <= now()
          order by expires_at
          limit 20
          for update skip locked)`,
      values: [grantId],
    });
  }
}
