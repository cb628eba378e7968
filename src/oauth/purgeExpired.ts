import type { QueryConfig, QueryResult } from 'pg';

/** How many rows of each kind were deleted. */
export type Purged = {
  readonly accessTokens: number;
  readonly refreshTokens: number;
  readonly grants: number;
  readonly authorizationCodes: number;
  readonly sessions: number;
  readonly throttles: number;
  /** Of the history. */
  readonly changes: number;
};

/**
 * Deletes what has expired of every organization: tokens and codes, grants without a token, sessions, counts of tries; and
 * of the history what is too old. In batches, each a transaction of its own, so that nobody waits for long.
 *
 * @param query runs one statement in a transaction of its own, in a role that may call oauth.purge
 * @param signal ends it after the batch that is running
 * @returns null when another process is at it
 */
export async function purgeExpired(query: RunQuery, signal?: AbortSignal): Promise<Purged | null> {
  let purged: Purged | null = null;
  let batch: Purged | undefined;
  do {
    const { rows } = await query({ text: purge, values: [batchSize] });
    batch = rows[0];
    if (batch) purged = sum(purged, batch);
  } while (batch && Object.values(batch).includes(batchSize) && !signal?.aborted);
  return purged;
}

export type RunQuery = (query: QueryConfig) => Promise<QueryResult<Purged>>;

/** Of each kind. */
const batchSize = 1000;

const purge = `
  select access_tokens as "accessTokens", refresh_tokens as "refreshTokens", grants,
    authorization_codes as "authorizationCodes", sessions, throttles, oauth.purge_changes($1) as changes
  from oauth.purge($1)`;

function sum(purged: Purged | null, batch: Purged): Purged {
  if (!purged) return batch;
  return {
    accessTokens: purged.accessTokens + batch.accessTokens,
    refreshTokens: purged.refreshTokens + batch.refreshTokens,
    grants: purged.grants + batch.grants,
    authorizationCodes: purged.authorizationCodes + batch.authorizationCodes,
    sessions: purged.sessions + batch.sessions,
    throttles: purged.throttles + batch.throttles,
    changes: purged.changes + batch.changes,
  };
}
