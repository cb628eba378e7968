import type { RequestHandler } from 'express';
import type { Pool } from 'pg';
import type { Config } from './config.ts';
import type { Log } from './log.ts';

/** What the parts of the service are built from. */
export type PartsContext = {
  config: Config;
  /** The specification's `{base_url}`. */
  url: string;
  /** Connections as the authenticator. */
  pool: Pool;
  /** SECRET_KEY, then SECRET_KEY_PREVIOUS if there is one. */
  keys: readonly [Buffer, ...Buffer[]];
  log: Log;
};

/** Everything that answers requests, in request order; the database answers and is migrated by now. */
export async function createParts(_context: PartsContext): Promise<Parts> {
  return { mounts: [], stop: async () => undefined };
}

export type Parts = { mounts: RequestHandler[]; stop(): Promise<void> };
