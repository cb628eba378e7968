import type { WorkerEnd } from './followWorker.ts';

/** A worker could not start; it has logged the reason itself. */
export class WorkerFailed extends Error {
  override name = 'WorkerFailed';
  readonly exitCode: number;

  constructor({ code, signal }: WorkerEnd) {
    super(`A worker ended (${signal ?? code}).`);
    this.exitCode = code || 1;
  }
}
