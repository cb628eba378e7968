import { once } from 'node:events';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { DemoAccess } from '../pages/demo.ts';
import type { Service } from '../service/service.ts';

/** The supervisor's order to a new worker, sent by message: other users can read a process' arguments. */
export type WorkerOrder = {
  readonly config: Config;
  readonly demo: DemoAccess | null;
  /** Whether it accepts requests before it can serve them, and answers that; else it accepts none before. */
  readonly atOnce: boolean;
};

/** A worker's report to its supervisor; by `closing` it asks for no more connections. */
export type WorkerReport = { readonly graph?: 'started' | 'serving' | 'closing' };

/** Serves by the supervisor's order, and reports its state. @throws as {@link startService} does */
export async function runWorker(
  createLog: (level: string) => Log,
  stopOnSignals: (starting: Promise<Service>, log: Log) => void,
): Promise<void> {
  const [{ config, demo, atOnce }] = (await once(process, 'message')) as [WorkerOrder];
  const log = createLog(config.logLevel);
  const { startService } = await import('../service/service.ts');
  const starting = startService(config, log, { demo, listenWhenServing: !atOnce, warmsUp: true });
  stopOnSignals(starting, log);
  const service = await starting;
  const report = (message: WorkerReport) => process.send?.(message);
  report({ graph: 'started' });
  void service.serving.then(() => report({ graph: 'serving' }));
}
