import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import type { WorkerOrder, WorkerReport } from './runWorker.ts';

export type WorkerEnd = { readonly code: number | null; readonly signal: string | null };

/** A worker could not start; it has logged the reason itself. */
export class WorkerFailed extends Error {
  override name = 'WorkerFailed';
  readonly exitCode: number;

  constructor({ code, signal }: WorkerEnd) {
    super(`A worker ended (${signal ?? code}).`);
    this.exitCode = code || 1;
  }
}

export type RunningWorker = ReturnType<typeof followWorker>;

/** Sends a new worker its order and follows its state. */
export function followWorker(worker: Worker, order: WorkerOrder) {
  const reached = { started: Promise.withResolvers<void>(), serving: Promise.withResolvers<void>() };
  worker.on('message', (message: WorkerReport | null) => {
    // Other messages use the same channel.
    if (message?.graph === 'started' || message?.graph === 'serving') reached[message.graph].resolve();
    // Passes no more connections on to it, and has it close its listener.
    if (message?.graph === 'closing') worker.disconnect();
  });
  let isListening = false;
  worker.once('listening', () => {
    isListening = true;
  });
  // A worker that ends before it has read its order is reported by its end.
  worker.on('error', () => undefined);
  worker.send(order, () => undefined);
  const ended = once(worker, 'exit').then(([code, signal]): WorkerEnd => ({ code, signal }));

  return {
    pid: worker.process.pid,
    /** When it was started, by `performance.now()`. */
    since: performance.now(),
    /** Whether it accepts requests. */
    isListening: () => isListening,
    /** Resolves when it has started, even if it cannot serve yet. */
    started: reached.started.promise,
    /** Resolves when it serves. */
    serving: reached.serving.promise,
    ended,
    /** Drains it; sends SIGKILL if that takes too long. */
    async stop(): Promise<void> {
      worker.process.kill('SIGTERM');
      const deadline = setTimeout(() => worker.process.kill('SIGKILL'), stopTimeoutMs);
      await ended;
      clearTimeout(deadline);
    },
  };
}

/** A worker drains within 8 s; the rest of its stop has some time. */
const stopTimeoutMs = 14_000;
