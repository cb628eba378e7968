import type { QueryConfig, QueryResult } from 'pg';

/**
 * Deletes what has expired, of every organization, and old history and changes with their deliveries.
 * That is tokens and codes, grants without a token, sessions, counts of tries, answers that were kept for idempotency keys. In batches, each
 * a transaction of its own, so that no request waits for long.
 *
 * @param query runs one statement in a transaction of its own, in a role that may call oauth.purge
 * @param signal ends it after the batch that is running
 * @returns how many rows of each kind were deleted, and what became of the history; null when another process is at it
 * @throws lock_not_available (55P03) when the history or the feed is in use; the rest is purged by then
 */
export async function purgeExpired(query: RunQuery, signal?: AbortSignal): Promise<Counts | null> {
  const rows = await repeat(query, purge, (batch) => Object.values(batch).includes(batchSize), signal);
  if (!rows) return null;
  // One that is in use keeps none of the others.
  const failures: unknown[] = [];
  const attempt = (statement: QueryConfig, goesOn: (batch: Counts) => boolean) =>
    repeat(query, statement, goesOn, signal).catch((error: unknown) => {
      failures.push(error);
      return null;
    });
  const history = await attempt(
    purgeChanges,
    ({ changes, months = 0, newMonths = 0 }) => changes === batchSize || months + newMonths > 0,
  );
  const feed = await attempt(rotateFeed, ({ feedDays = 0, newFeedDays = 0 }) => feedDays + newFeedDays > 0);
  const sent = await attempt(purgeDeliveries, ({ deliveries }) => deliveries === batchSize);
  if (failures.length > 0) throw failures[0];
  return {
    ...rows,
    ...(history ?? { changes: 0, months: 0, newMonths: 0 }),
    ...(feed ?? { feedDays: 0, newFeedDays: 0 }),
    ...(sent ?? { deliveries: 0 }),
  };
}

export type RunQuery = (query: QueryConfig) => Promise<QueryResult<Counts>>;

type Counts = Record<string, number>;

/** Of each kind. */
const batchSize = 1000;

const purge = {
  text: `
  select access_tokens as "accessTokens", refresh_tokens as "refreshTokens", grants,
    authorization_codes as "authorizationCodes", sessions, throttles, idempotency_keys as "idempotencyKeys"
  from oauth.purge($1)`,
  values: [batchSize],
};

/** Rows from before the history had partitions, partitions that were dropped, and those made ahead. */
const purgeChanges = {
  text: 'select changes, months, new_months as "newMonths" from oauth.purge_changes($1)',
  values: [batchSize],
};

/** Days of the change feed that were dropped, and those made ahead. */
const rotateFeed = { text: 'select days as "feedDays", new_days as "newFeedDays" from feed.rotate_partitions()' };

/** Deliveries to webhooks, which are kept as long as their changes. */
const purgeDeliveries = { text: 'select deliveries from oauth.purge_deliveries($1)', values: [batchSize] };

/** @returns the sums of all batches; null when there was none */
async function repeat(
  query: RunQuery,
  statement: QueryConfig,
  goesOn: (batch: Counts) => boolean,
  signal?: AbortSignal,
): Promise<Counts | null> {
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
