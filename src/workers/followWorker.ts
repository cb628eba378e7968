import type { Worker } from 'node:cluster';
import { once } from 'node:events';
import type { WorkerOrder, WorkerReport } from './runWorker.ts';

/** How a process ended. */
export type WorkerEnd = { readonly code: number | null; readonly signal: string | null };

export type RunningWorker = {
  readonly pid: number | undefined;
  /** When it was begun, in milliseconds since 1970. */
  readonly since: number;
  /** Resolves when it answers, be it that it cannot serve yet. */
  readonly started: Promise<void>;
  /** Resolves when it serves. */
  readonly serving: Promise<void>;
  readonly ended: Promise<WorkerEnd>;
  /** Lets it finish what is in flight; kills it when that takes longer than it should. */
  stop(): Promise<void>;
};

/** Gives a new process its order and follows what becomes of it. */
export function followWorker(worker: Worker, order: WorkerOrder): RunningWorker {
  const reached = { started: Promise.withResolvers<void>(), serving: Promise.withResolvers<void>() };
  worker.on('message', (message: WorkerReport | null) => {
    // Others talk over the same channel.
    if (message?.graph === 'started' || message?.graph === 'serving') reached[message.graph].resolve();
  });
  // One that ends before it has read its order says so by its end.
  worker.on('error', () => undefined);
  worker.send(order, () => undefined);
  const ended = once(worker, 'exit').then(([code, signal]): WorkerEnd => ({ code, signal }));

  return {
    pid: worker.process.pid,
    since: Date.now(),
    started: reached.started.promise,
    serving: reached.serving.promise,
    ended,
    async stop() {
      worker.process.kill('SIGTERM');
      const impatience = setTimeout(() => worker.process.kill('SIGKILL'), patienceMs);
      await ended;
      clearTimeout(impatience);
    },
  };
}

/** The 10 s in which a worker drains, and some for what it does then. */
const patienceMs = 14_000;
