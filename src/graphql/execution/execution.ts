import { traced } from '../../observability/tracing/traced.ts';
import { ReplicaUnusableError, requireReplayed } from '../../replica/queries.ts';
import type { Answer } from './answer.ts';
import { createServerExecution } from './executeOnServer.ts';
import type { ExecutionOptions } from './executionOptions.ts';
import { executeOnce } from './idempotency.ts';
import type { Operation } from './operation.ts';
import { settingsOf } from './operationSettings.ts';

/**
 * Executes operations: on a replica where read-your-writes allows it, else on the primary.
 * A failed field is part of the answer. Too many rows or bytes refuse a query ({@link DocumentError}). A field of a mutation is committed
 * once its answer is known, unless a part of it has failed by a fault of ours. A mutation's answer may have any number of rows; if it is
 * too long, it has only errors. Throws {@link InvalidTokenError}, too.
 */
export function createExecution(options: ExecutionOptions) {
  const { config, pool, replicaPool, secrets } = options;
  const executeOnServer = createServerExecution(options);

  const runOnReplicaOrPrimary = async (requested: Operation): Promise<Answer> => {
    if (replicaPool && requested.replicaLsns) {
      try {
        const replica = { pool: replicaPool, lsnCheck: requireReplayed(requested.replicaLsns) };
        return await executeOnServer(requested, replica, null);
      } catch (error) {
        if (!(error instanceof ReplicaUnusableError)) throw error;
      }
    }
    const primary = { pool, lsnCheck: null };
    const { idempotencyKey, token } = requested;
    if (!idempotencyKey || !token) return executeOnServer(requested, primary, null);
    const { selections } = requested.prepared.operation.selectionSet;
    const isMany = selections.length > 1 || selections.some(({ kind }) => kind !== 'Field');
    const once = { idempotencyKey, token, settings: settingsOf(requested, token.claims, config.limits.rows), isMany };
    return executeOnce(pool, secrets, once, (transaction) => executeOnServer(requested, primary, transaction));
  };

  return (requested: Operation): Promise<Answer> => traced('execute', () => runOnReplicaOrPrimary(requested));
}
