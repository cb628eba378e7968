import type { RequestListener } from 'node:http';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../observability/metrics/createMetrics.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import { createAdmission } from '../../scheduling/admission.ts';
import { createWaitBudget, withCaller } from '../../scheduling/caller.ts';
import { measureRequests } from '../middleware/measureRequests.ts';
import { createTenants } from './tenants.ts';

export type ListenerOptions = {
  /** Serves an admitted request. */
  readonly answer: RequestListener;
  /** Answers a shed request. */
  readonly refuse: RequestListener;
  readonly config: Config;
  readonly metrics: Metrics;
  readonly routeOf: (url: string) => string;
  readonly log: Log;
};

/** Admission control: measures every request and sheds load; health checks are always served. */
export function createListener({ answer, refuse, config, metrics, routeOf, log }: ListenerOptions): RequestListener {
  const tenants = createTenants(config.trustedProxies);
  const admit = createAdmission({
    connections: config.replicaUrl ? 2 * config.poolSize : config.poolSize,
    maxWaiting: config.maxWaiting,
    waitMs: config.poolWaitMs,
    onOverload: ({ tenant, refused }) => {
      if (refused === undefined) log.warn({ tenant }, 'overload: shedding requests');
      else log.info({ refused }, 'overload over');
    },
  });
  const measure = measureRequests(metrics, routeOf);
  return (request, response) => {
    measure(request, response, () => {
      const { route } = fieldsOf(response);
      if (route === '/healthz' || route === '/readyz') return answer(request, response);
      const path = tenants.pathOf(request, route);
      admit({
        path,
        hasLeft: () => response.closed,
        refuse: () => refuse(request, response),
        begin(permit, waitedMs) {
          response.once('prefinish', permit.end).once('close', () => {
            permit.end();
            // If the client disconnected, it is unknown whether the credential is valid.
            if (response.statusCode === 401 || !response.writableFinished) tenants.forget(request);
          });
          // Released while a body is read, as its client may be slow; then the request queues again. A body that came with the headers is
          // complete by then.
          setImmediate(() => request.complete || permit.pause());
          const onIdentified = (organizationId: string) => tenants.remember(request, organizationId);
          // The time in the queue is taken from the wait budget for connections.
          const caller = { path, permit, waitBudget: createWaitBudget(config.poolWaitMs - waitedMs), onIdentified };
          withCaller(caller, () => answer(request, response));
        },
      });
    });
  };
}
