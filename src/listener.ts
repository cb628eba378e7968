import type { RequestListener } from 'node:http';
import type { Config } from './config.ts';
import { createAdmission } from './http/admission.ts';
import { isHealthCheck } from './http/health.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/createMetrics.ts';
import { measureRequests } from './metrics/measureRequests.ts';
import { withPatience } from './patience.ts';

export type ListenerParts = {
  /** What answers a request that was let in. */
  readonly answer: RequestListener;
  /** Whether a further request would have to wait for a connection to the database. */
  readonly isDatabaseBusy: () => boolean;
  readonly config: Config;
  readonly metrics: Metrics;
  readonly log: Log;
};

/** Measures every request, and lets in as many as can be served soon; health checks always. */
export function createListener({ answer, isDatabaseBusy, config, metrics, log }: ListenerParts): RequestListener {
  const connections = config.replicaUrl ? 2 * config.poolSize : config.poolSize;
  const admit = createAdmission({
    // Those who have a connection, and those who compute before or after.
    mostAtOnce: Math.ceil(1.5 * connections),
    mostWaiting: config.mostWaiting,
    waitMs: config.poolWaitMs,
    isDatabaseBusy,
    onOverload: ({ refused }) => {
      if (refused === null) log.warn('overloaded: refusing what cannot be served soon');
      else log.info({ refused }, 'no longer overloaded');
    },
  });
  const measure = measureRequests(metrics);
  return (request, response) => {
    measure(request, response, () => {
      if (isHealthCheck(request)) return answer(request, response);
      // Whoever has waited for its turn may wait the less for connections.
      admit(request, response, (waitedMs) =>
        withPatience(config.poolWaitMs - waitedMs, () => answer(request, response)),
      );
    });
  };
}
