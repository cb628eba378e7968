import { isUnavailable } from '../../database/pool/unavailable.ts';
import { errorCodes, rootOf } from '../errors.ts';
import { type Answer, isTransient } from './answer.ts';
import { toLimitedBody } from './answerBody.ts';
import { createPartExecution, type Executed, type Execution, nullAt } from './executePart.ts';
import type { ExecutionOptions } from './executionOptions.ts';
import { fieldsOf } from './mutationFields.ts';
import { isQueryOf, type Operation, type QueryTarget } from './operation.ts';
import { settingsOf } from './operationSettings.ts';
import { createSlowOperations } from './slowOperations.ts';
import type { Transaction } from './transaction.ts';

/** Executes an operation on one server: a query as a whole, a mutation field by field. */
export function createServerExecution(options: ExecutionOptions) {
  const { config, pool, replicaPool, log } = options;
  const { limits } = config;
  const executePart = createPartExecution(options);
  const reportIfSlow = createSlowOperations({ pool, slowMs: config.slowMs, log });

  return async (requested: Operation, server: QueryTarget, transaction: Transaction | null): Promise<Answer> => {
    const { prepared, token, signal } = requested;
    const startedAt = performance.now();
    const isQuery = isQueryOf(prepared);
    const isReplica = server.pool === replicaPool;
    const settings = token && settingsOf(requested, token.claims, limits.rows);
    const execution: Execution = {
      ...{ server, transaction, settings, isReplica },
      ...{ ran: [], shownSecrets: [], isReplicaUnusable: false, planningMs: 0 },
    };
    const parts = isQuery ? [{ key: null, requested }] : fieldsOf(requested);
    const executed: Executed[] = [];
    let length = 0;
    for (const part of parts) {
      const { data, ...failures } = await executePart(part, execution);
      // If an answer is too long, it has no data in the end.
      executed.push({ ...failures, data: length > limits.bytes && part.key !== null ? nullAt(part.key) : data });
      length += data?.length ?? 0;
    }
    if (signal.aborted && !transaction) return { status: errorCodes.UNAVAILABLE.status, body: '' };

    const { ran, shownSecrets, planningMs } = execution;
    const presented = executed.flatMap((part) => part.presented);
    const code = presented.map(({ extensions }) => String(extensions?.code))[0];
    const wasUnavailable = executed.some(({ errors }) => errors.some((error) => isUnavailable(rootOf(error))));
    const durationMs = performance.now() - startedAt;
    reportIfSlow(requested, { durationMs, planningMs, code, wasUnavailable, ran, settings });

    const data = isQuery ? executed[0]?.data : toObject(executed);
    // After a fault of ours the operation's one transaction is rolled back, and with it the other fields.
    const isUndone = transaction !== null && isTransient(presented);
    const body = toLimitedBody(isUndone ? 'null' : data, presented, isQuery, limits);
    const isRetryable = presented.some(({ extensions }) => extensions?.code === 'UNAVAILABLE');
    const ofServer = replicaPool && isQuery ? { server: isReplica ? 'replica' : 'primary' } : {};
    const fields = { statements: ran.length, planningMs, ...ofServer, ...(code && { code }) };
    const status = isRetryable ? errorCodes.UNAVAILABLE.status : 200;
    return { status, body, isTransient: isTransient(presented), shownSecrets, fields };
  };
}

/** The data of all fields of a mutation, each of which is an object with one member. */
const toObject = (parts: readonly Executed[]) => `{${parts.map(({ data }) => data?.slice(1, -1)).join(',')}}`;
