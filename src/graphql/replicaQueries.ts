import { DatabaseError, type Pool } from 'pg';
import type { Replica } from '../database/replica.ts';
import { isUnavailable } from '../database/unavailable.ts';
import type { RequestId } from '../http/facts.ts';
import type { Log } from '../log.ts';
import type { AccessToken } from '../token/accessTokens.ts';
import type { Precondition } from '../token/implicitTransaction.ts';
import { createWriteRecorder } from '../token/writes.ts';

/** What a replica must have replayed to be asked: for everybody, and for whoever asks. */
export type RequiredLsns = readonly [everybody: string, writer: string];

export type ReplicaQueries = {
  /** Null when the primary is to be asked. */
  requiredBy(token: AccessToken, requestId: RequestId): RequiredLsns | null;
  /** Resolves when no process answers a token of this one's grant by a replica that has not what this one may have changed. */
  changedBy(token: AccessToken, requestId: RequestId): Promise<void>;
};

/** Which queries may be answered by the replica: a client that wrote something reads it, wherever it asks next. */
export function createReplicaQueries(replica: Replica, primary: Pool, log: Log): ReplicaQueries {
  const recordWriteLsn = createWriteRecorder(primary);

  const changedBy = async ({ claims }: AccessToken, requestId: RequestId) => {
    try {
      await recordWriteLsn(claims, requestId);
    } catch (error) {
      replica.invalidate();
      if (isUnavailable(error)) log.debug({ requestId, error }, 'a change could not be noted');
      else log.error({ requestId, error }, 'a change could not be noted');
    }
  };

  return {
    changedBy,
    requiredBy(token, requestId) {
      const { writtenLsn } = token;
      const everybody = replica.required();
      if (everybody === null) return null;
      if (writtenLsn) return [everybody, writtenLsn];
      // The grant is new, and its holder may know what was there when it was given.
      void changedBy(token, requestId);
      return null;
    },
  };
}

/** Nothing that was had from a replica is an answer; the primary has to be asked. */
export class ReplicaUnfit extends Error {
  override name = 'ReplicaUnfit';
}

/** Goes before each transaction on a replica, and before its snapshot is taken. */
export const requireReplayed = (lsns: RequiredLsns): Precondition => ({
  name: 'require_replayed',
  isPinned: true,
  text: 'select app_hidden.require_replayed(greatest($1::pg_lsn, $2::pg_lsn))',
  values: lsns,
});

/** Whether a statement that failed so on a replica may succeed on the primary. What a client asks wrongly is wrong everywhere. */
export function mayDiffer(error: unknown): boolean {
  return !(error instanceof DatabaseError && sameEverywhere.test(error.code ?? ''));
}

/** SQLSTATE: what a value, a right or a limit makes of it; see `presentError`. */
const sameEverywhere = /^(22...|23...|42501|54000|57014|P0002)$/;
