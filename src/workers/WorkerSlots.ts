import type { Worker } from 'node:cluster';
import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { followWorker, type RunningWorker, type WorkerEnd, WorkerFailed } from './followWorker.ts';
import type { WorkerOrder } from './runWorker.ts';

export type WorkerSlotsOptions = {
  /** Starts a process that does what `runWorker` says. */
  readonly fork: () => Worker;
  /** Aborts when no worker is to be restarted or replaced any more. */
  readonly signal: AbortSignal;
  /** Called when a worker ends by its configuration and no other runs: another try would end the same way. */
  readonly onHopeless: (end: WorkerEnd) => void;
  readonly log: Log;
};

/** Slots for worker processes: a worker that ends is restarted with exponential backoff, 0.1 s to 10 s. */
export class WorkerSlots {
  readonly #options: WorkerSlotsOptions;
  readonly #running = new Set<RunningWorker>();
  readonly #slots: WorkerSlot[] = [];

  constructor(options: WorkerSlotsOptions) {
    this.#options = options;
  }

  /** Adds a slot. @throws {WorkerFailed} when its worker ends before it has started */
  async start(order: WorkerOrder): Promise<void> {
    const slot: WorkerSlot = { worker: this.#runWith(order), waitMs: firstWaitMs / 2 };
    this.#slots.push(slot);
    const end = await Promise.race([slot.worker.started, slot.worker.ended]);
    if (end) throw new WorkerFailed(end);
    this.#occupy(slot.worker, slot, order);
  }

  /** Rolling restart: replaces each worker once its successor serves; stops at one that does not. */
  async replaceAll(order: WorkerOrder): Promise<void> {
    const { signal, log } = this.#options;
    log.info('replacing the workers');
    for (const slot of this.#slots) {
      if (signal.aborted) return;
      if (!(await this.#replace(slot, order))) return log.error('a new worker does not serve; the others stay');
    }
    log.info('the workers are replaced');
  }

  /** Stops the workers that run now, those that are starting included. */
  async stop(): Promise<void> {
    await Promise.all([...this.#running].map((worker) => worker.stop()));
  }

  #runWith(order: WorkerOrder): RunningWorker {
    const worker = followWorker(this.#options.fork(), order);
    this.#running.add(worker);
    void worker.ended.then(() => this.#running.delete(worker));
    return worker;
  }

  #occupy(worker: RunningWorker, slot: WorkerSlot, order: WorkerOrder): void {
    const { signal, onHopeless, log } = this.#options;
    slot.worker = worker;
    void worker.ended.then(async (end) => {
      const isReplaced = () => slot.worker !== worker;
      if (signal.aborted || isReplaced()) return;
      if (end.code === configurationExit && this.#running.size === 0) return onHopeless(end);
      const isCrashLoop = performance.now() - worker.since < steadyMs;
      slot.waitMs = isCrashLoop ? Math.min(2 * slot.waitMs, maxWaitMs) : firstWaitMs;
      log.error({ pid: worker.pid, ...end, waitMs: slot.waitMs }, 'a worker ended; starting another');
      await delay(slot.waitMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted || isReplaced()) return;
      // While other workers answer, a new worker gets no request before it can serve.
      const atOnce = ![...this.#running].some(({ isListening }) => isListening());
      this.#occupy(this.#runWith({ ...order, atOnce }), slot, order);
    });
  }

  async #replace(slot: WorkerSlot, order: WorkerOrder): Promise<boolean> {
    const { signal } = this.#options;
    const next = this.#runWith({ ...order, atOnce: false });
    const deadline = delay(rollTimeoutMs, 'late', { signal, ref: false }).catch(() => 'late');
    const serves = (await Promise.race([next.serving, next.ended, deadline])) === undefined;
    if (!serves) await next.stop();
    else {
      const { worker } = slot;
      this.#occupy(next, slot, order);
      await worker.stop();
    }
    return serves;
  }
}

/** A slot for one worker at a time. */
type WorkerSlot = { worker: RunningWorker; waitMs: number };

const firstWaitMs = 100;
const maxWaitMs = 10_000;
/** If a worker ran for so long, its start was not the reason for its end: the backoff starts again. */
const steadyMs = 60_000;
const rollTimeoutMs = 60_000;

/** EX_CONFIG of sysexits.h: another try would end the same way. */
const configurationExit = 78;
