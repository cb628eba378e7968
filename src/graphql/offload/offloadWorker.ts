import { constants, setPriority } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { parentPort, workerData } from 'node:worker_threads';
import { createSecrets } from '../../crypto/secrets.ts';
import type { Precondition } from '../../database/driver/driver.ts';
import { createPool, stateOf } from '../../database/pool/pools.ts';
import { watchDatabase } from '../../database/pool/readiness.ts';
import { isRetryable } from '../../database/pool/unavailable.ts';
import { createEncoder } from '../../http/compression.ts';
import { createLog } from '../../log.ts';
import type { RequestId } from '../../observability/requestFields.ts';
import { tracedFrom } from '../../observability/traced.ts';
import { createReplicaPool, reconnect } from '../../replica/watchReplica.ts';
import { type AccessToken, cachedToken, InvalidTokenError, liveToken } from '../../token/accessTokens.ts';
import type { Claims } from '../../token/settings.ts';
import { createStatementUsage } from '../../token/transaction.ts';
import type { Answer } from '../answer.ts';
import { createDocumentReader } from '../document/document.ts';
import { DocumentError } from '../document/documentError.ts';
import { coerceVariables } from '../document/variables.ts';
import { createExecution } from '../execute.ts';
import { compilationOptions } from '../schema/preset.ts';
import { buildGraph } from '../schema/schema.ts';
import type { OffloadMessage, OffloadRequest, OffloadSettings } from './messages.ts';

// The other end of OffloadThread.ts.
// On Linux, 0 is only this thread. When processors are scarce, cheap operations go first.
setPriority(0, constants.priority.PRIORITY_BELOW_NORMAL);

const { config, authUrl, keys } = workerData as OffloadSettings;
const send = (message: OffloadMessage, moved: readonly ArrayBuffer[] = []) => parentPort?.postMessage(message, moved);
const log = createLog(config.logLevel, { write: (line) => send({ line }) });
const endTracing =
  config.tracing && (await (await import('../../observability/startTracing.ts')).startTracing(config.tracing, log));
// A pool of its own: statements wait only for those of other offloaded operations.
const pool = createPool(authUrl, { ...config, poolSize: 2 }, log, config.statementTimeoutMs);
// Lets the pool recover from an outage, which the main thread logs.
const login = { variable: 'AUTH_DATABASE_URL', url: authUrl, requestRoles: [] } as const;
watchDatabase({ pool, login, poolWaitMs: config.poolWaitMs, log: createLog('silent') });
const replicaPool = config.replicaUrl ? createReplicaPool(config.replicaUrl, { ...config, poolSize: 2 }, log) : null;
const secrets = createSecrets(keys.map((key) => Buffer.from(key)) as [Buffer, ...Buffer[]]);
// If this fails, the thread ends, and the next expensive operation starts another. The readiness watch logs outages.
const graph = await buildGraph(pool, compilationOptions(config, log)).catch((error: unknown) => {
  if (!isRetryable(error)) throw error;
  log.debug({ error }, 'the offload thread cannot start: the database is unavailable');
  process.exit();
});
// Room for the largest document with its plan.
const readDocument = createDocumentReader(graph.schema, config.limits, 16_000_000);
const encode = createEncoder();
const usage = createStatementUsage();
const execute = createExecution({ config, pool, replicaPool, secrets, graph, log });

const lag = monitorEventLoopDelay({ resolution: 10 });
lag.enable();
const reportState = () => {
  // The monitor counts its own timer's 10 ms.
  const eventLoopLagSeconds = Math.max(0, lag.percentile(99) / 1e9 - 0.01);
  send({ state: { pool: stateOf(pool), eventLoopLagSeconds: lag.count > 0 ? eventLoopLagSeconds : 0 } });
  lag.reset();
};
reportState();
setInterval(reportState, 5000).unref();

parentPort?.on('message', createAnswer());

function createAnswer() {
  const running = new Map<number, AbortController>();
  /** Sends usage before the outcome, so that a service that ends after its last answer has them. */
  const finish = (outcome: OffloadMessage) => {
    const used = usage.take();
    if (used.length > 0) send({ used });
    send(outcome, 'answer' in outcome ? buffersOf(outcome.answer) : []);
  };

  return async (request: OffloadRequest) => {
    if ('end' in request) {
      await endTracing?.();
      process.exit();
    }
    if ('reconnect' in request) return reconnect(request.reconnect, { primary: pool, replica: replicaPool });
    const { id } = request;
    if ('aborted' in request) return running.get(id)?.abort();

    const { query, operationName, encoding, trace, claims, tokenCheck, ...operation } = request;
    const controller = new AbortController();
    running.set(id, controller);
    try {
      const prepared = readDocument(query, operationName);
      const token = claims && tokenOf(claims, tokenCheck, operation.requestId);
      const work = async () => {
        const coerced = coerceVariables(graph.schema, prepared, operation.variables);
        const answer = await execute({ ...operation, coerced, token, prepared, signal: controller.signal });
        await token?.requireLive();
        return encoding ? { ...answer, body: '', encoded: await encode(answer.body, () => encoding) } : answer;
      };
      finish({ id, answer: await tracedFrom(trace, 'offload thread', work) });
    } catch (error) {
      if (error instanceof DocumentError) return finish({ id, refused: limitOf(error) });
      if (error instanceof InvalidTokenError) return finish({ id, refused: 'token' });
      if (isRetryable(error)) return finish({ id, refused: 'unavailable' });
      log.error({ requestId: operation.requestId, error }, 'an operation failed');
      finish({ id, failed: true });
    } finally {
      running.delete(id);
    }
  };
}

/** The memory of a long answer, which moves to the other thread: a copy would take as much again until it is collected. */
function buffersOf({ encoded }: Answer): ArrayBuffer[] {
  const content = encoded?.content;
  const isOwn = content instanceof Uint8Array && content.byteLength === content.buffer.byteLength;
  return isOwn && content.buffer instanceof ArrayBuffer ? [content.buffer] : [];
}

/** The limit that an answer exceeded while the operation was executed. */
const limitOf = ({ errors }: DocumentError) => (errors[0]?.extensions.limit === 'bytes' ? 'bytes' : 'rows');

function tokenOf(claims: Claims, tokenCheck: Precondition | null, requestId: RequestId): AccessToken {
  if (!tokenCheck) return liveToken(claims);
  // Structured cloning turned a buffer into an array of bytes.
  const values = tokenCheck.values.map((value) => (typeof value === 'string' ? value : Buffer.from(value)));
  return cachedToken(pool, claims, { ...tokenCheck, values }, requestId);
}
