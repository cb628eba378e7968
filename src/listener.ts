import type { IncomingMessage, RequestListener } from 'node:http';
import type { Config } from './config.ts';
import { isHealthCheck } from './http/health.ts';
import { createTenants } from './http/tenants.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics/createMetrics.ts';
import { measureRequests } from './metrics/measureRequests.ts';
import { createAdmission, type Permit } from './scheduling/admission.ts';
import { createWaitBudget, withCaller } from './scheduling/caller.ts';

export type ListenerParts = {
  /** What answers a request that was let in. */
  readonly answer: RequestListener;
  /** What answers one that cannot be served soon. */
  readonly refuse: RequestListener;
  readonly config: Config;
  readonly metrics: Metrics;
  readonly log: Log;
};

/** Measures every request, and lets in as many as can be served soon; health checks always. */
export function createListener({ answer, refuse, config, metrics, log }: ListenerParts): RequestListener {
  const tenants = createTenants(config.trustedProxies);
  const admit = createAdmission({
    connections: config.replicaUrl ? 2 * config.poolSize : config.poolSize,
    maxWaiting: config.mostWaiting,
    waitMs: config.poolWaitMs,
    onOverload: ({ tenant, refused }) => {
      if (refused === undefined) log.warn({ tenant }, 'overloaded: refusing what cannot be served soon');
      else log.info({ refused }, 'no longer overloaded');
    },
  });
  const measure = measureRequests(metrics);
  return (request, response) => {
    measure(request, response, () => {
      if (isHealthCheck(request)) return answer(request, response);
      const path = tenants.pathOf(request);
      admit({
        path,
        hasLeft: () => response.closed,
        refuse: () => refuse(request, response),
        begin(permit, waitedMs) {
          response.once('prefinish', permit.end).once('close', () => {
            permit.end();
            // Whether its credential is in force is not known of one that has left.
            if (response.statusCode === 401 || !response.writableFinished) tenants.forget(request);
          });
          pauseUntilRead(permit, request);
          const onIdentified = (organizationId: string) => tenants.remember(request, organizationId);
          // What has waited here may wait the less for connections.
          const caller = { path, permit, waitBudget: createWaitBudget(config.poolWaitMs - waitedMs), onIdentified };
          withCaller(caller, () => answer(request, response));
        },
      });
    });
  };
}

/** A client that is slow to send a body keeps no other request waiting. What has read it waits for its turn again. */
function pauseUntilRead(permit: Permit, request: IncomingMessage): void {
  setImmediate(() => {
    // A body that comes together with its headers is there by now.
    if (!request.complete) permit.pause();
  });
}
