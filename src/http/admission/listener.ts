import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createFairQueue, type Permit, type RefusedError } from 'fair-queue';
import type { Config } from '../../config.ts';
import type { Log } from '../../log.ts';
import type { Metrics } from '../../observability/metrics/createMetrics.ts';
import { fieldsOf } from '../../observability/requestFields.ts';
import { createWaitBudget, withCaller } from '../../scheduling/caller.ts';
import { type Clock, systemClock } from '../../scheduling/clock.ts';
import { measureRequests } from '../middleware/measureRequests.ts';
import { createTenants } from './tenants.ts';
import { watchOverload } from './watchOverload.ts';

export type ListenerOptions = {
  /** Serves an admitted request. */
  readonly answer: RequestListener;
  /** Answers a refused request. */
  readonly refuse: RequestListener;
  readonly config: AdmissionSettings;
  readonly metrics: Metrics;
  readonly routeOf: (url: string) => string;
  readonly log: Log;
};

/** Admission control: measures every request, and queues it fairly for a permit; health checks are always served. */
export function createListener(
  { answer, refuse, config, metrics, routeOf, log }: ListenerOptions,
  clock: Clock = systemClock,
): RequestListener {
  const { trustedProxies, poolWaitMs } = config;
  const tenants = createTenants(trustedProxies);
  const connections = config.replicaUrl ? 2 * config.poolSize : config.poolSize;
  const slots = Math.ceil(slotsOfConnection * connections);
  const slotsInOverload = Math.max(2, Math.floor(slotsOfConnectionInOverload * connections));
  const queue = createFairQueue(
    {
      ...{ slots, reserve: slots, burstMs: burstMsOfSlot * slots },
      ...{ maxWaiting: config.maxWaiting, waitMs: poolWaitMs, overloadWaitMs, overloadMs, calmMs },
    },
    clock,
  );
  const noteRefusal = watchOverload(log, clock, (isOverloaded) =>
    queue.setSlots(isOverloaded ? slotsInOverload : slots),
  );
  const measure = measureRequests(metrics, routeOf);

  const admit = (request: IncomingMessage, response: ServerResponse, route: string | undefined) => {
    const path = tenants.pathOf(request, route);
    const refuseRequest = (error: RefusedError) => {
      // The client has disconnected.
      if (error.reason === 'cancelled') return;
      noteRefusal(path[0], error);
      refuse(request, response);
    };
    const begin = (permit: Permit, waitedMs: number) => {
      response
        .once('prefinish', () => permit.release())
        .once('close', () => {
          // If the client disconnected, it is unknown whether the credential is valid.
          if (response.statusCode === 401 || !response.writableFinished) tenants.forget(request);
        });
      const reading = pauseWhileReading(request, permit, refuseRequest);
      // The time in the queue is taken from the wait budget for connections.
      const waitBudget = createWaitBudget(poolWaitMs - waitedMs);
      const onIdentified = (organizationId: string) => tenants.remember(request, organizationId);
      withCaller({ path, permit, waitBudget, onIdentified, requeue: reading.end }, () => answer(request, response));
    };
    const permit = queue.submit({ path, costMs }, { begin, refuse: refuseRequest });
    response.once('close', () => permit.release());
  };

  return (request, response) => {
    measure(request, response, () => {
      const { route } = fieldsOf(response);
      if (route === '/healthz' || route === '/readyz') answer(request, response);
      else admit(request, response, route);
    });
  };
}

type AdmissionSettings = Pick<Config, 'poolSize' | 'poolWaitMs' | 'maxWaiting' | 'replicaUrl' | 'trustedProxies'>;

/** More than one, since some requests compute while others wait for PostgreSQL. */
const slotsOfConnection = 1.5;
/**
 * As few as keep the thread and PostgreSQL busy. In a model of both at ten times the load, the 99th percentile of what is served was 34 ms
 * with 15 slots and 9 ms with three, with the same number served. With two it was 8 ms, and a sixth fewer were served.
 */
const slotsOfConnectionInOverload = 0.3;
/** The estimate of how long a request is served. */
const costMs = 2;
/** See the connections, which have the same. */
const burstMsOfSlot = 50;
/** Enough requests come in this time to keep the permits in use, and those that are served have not waited longer. */
const overloadWaitMs = 2;
/** The queue fills within a part of a hundredth of this time, in which requests wait longer. */
const overloadMs = 10_000;
/** Shorter than clients are asked to wait, so that those that come again are served as before. */
const calmMs = 1000;

/**
 * Releases the permit while a body is read, as its client may be slow; then the request queues again.
 * A body that came with the headers is complete by then.
 */
function pauseWhileReading(request: IncomingMessage, permit: Permit, refuse: (error: RefusedError) => void) {
  let isPaused = false;
  setImmediate(() => {
    if (request.complete) return;
    isPaused = true;
    permit.pause();
  });
  return {
    /** Resolves when the request has its permit again; never if it is refused. */
    async end(): Promise<void> {
      if (!isPaused) return;
      isPaused = false;
      await new Promise<void>((resolve) => permit.requeue({ begin: () => resolve(), refuse }));
    },
  };
}
