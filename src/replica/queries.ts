import { DatabaseError, type Pool } from 'pg';
import type { Precondition } from '../database/driver/statement.ts';
import { isUnavailable } from '../database/pool/unavailable.ts';
import type { Log } from '../log.ts';
import type { RequestId } from '../observability/requestFields.ts';
import type { AccessToken } from '../token/accessTokens.ts';
import type { Replica } from './watchReplica.ts';
import { createWriteRecorder } from './writtenLsn.ts';

/** Minimum LSNs of a replica: one for all clients, and one for the client's own writes. */
export type RequiredLsns = readonly [all: string, writer: string];

/** Read-your-writes: a query goes to the replica only if that has the client's own writes. */
export function createReplicaQueries(replica: Replica, primary: Pool, log: Log) {
  const recordWriteLsn = createWriteRecorder(primary);

  /** Resolves when each process answers this grant only from replicas that have the change. */
  const afterWrite = async ({ claims }: AccessToken, requestId: RequestId) => {
    try {
      await recordWriteLsn(claims, requestId);
    } catch (error) {
      replica.invalidate();
      const level = isUnavailable(error) ? 'debug' : 'error';
      log[level]({ requestId, error }, 'write LSN not recorded, replica disabled until caught up');
    }
  };

  return {
    afterWrite,
    /** Null when only the primary may answer. */
    requiredLsns(token: AccessToken, requestId: RequestId): RequiredLsns | null {
      const { writtenLsn } = token;
      const all = replica.required();
      if (all === null) return null;
      if (writtenLsn) return [all, writtenLsn];
      // The grant is new, and its client may know everything that was committed when it was issued.
      void afterWrite(token, requestId);
      return null;
    },
  };
}

/** The replica's results are discarded, and the primary answers instead. */
export class ReplicaUnusableError extends Error {
  override name = 'ReplicaUnusableError';
}

/** Runs before each transaction on a replica, and before its snapshot is taken. */
export const requireReplayed = (lsns: RequiredLsns): Precondition => ({
  name: 'require_replayed',
  isPinned: true,
  text: 'select app_hidden.require_replayed(greatest($1::pg_lsn, $2::pg_lsn))',
  values: lsns,
});

/** Whether a statement that failed on a replica may succeed on the primary. */
export function isRetryableOnPrimary(error: unknown): boolean {
  return !(error instanceof DatabaseError && failsOnAnyServer.test(error.code ?? ''));
}

/** SQLSTATEs caused by a value, a privilege or a limit; see `presentError`. */
const failsOnAnyServer = /^(22...|23...|42501|54000|57014|P0002)$/;
