import { hash } from 'node:crypto';
import type { IncomingMessage, RequestListener } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Metrics } from '../observability/metrics.ts';
import { fieldsOf } from '../observability/requestFields.ts';
import { createAdmission } from '../scheduling/admission.ts';
import { createWaitBudget, withCaller } from '../scheduling/caller.ts';
import { type Refusal, refusalFor } from './answerErrors.ts';
import {
  exposedHeaders,
  giveRequestId,
  isAllowed,
  logRequests,
  measureRequests,
  type Origin,
  securityHeaders,
} from './middleware.ts';
import { isOfAuthzen } from './requestTarget.ts';

type ListenerOptions = {
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

/**
 * The flow in which a request waits before its credential is verified.
 * It is the flow of the organization for which the same credential was last verified. Otherwise it is that of the address, below one tenant
 * for all unverified requests together. Requests for tokens and pages have another such tenant.
 *
 * @param trustedProxies how many reverse proxies in front are trusted about the client's address
 */
export function createTenants(trustedProxies: number) {
  const organizations = new LRUCache<string, string>({ max: maxRemembered });
  // A connection usually carries the same credential again.
  const lastOf = new WeakMap<Socket, { readonly authorization: string; readonly key: string }>();
  const keyOf = ({ socket, headers: { authorization } }: IncomingMessage) => {
    if (!authorization) return null;
    const last = lastOf.get(socket);
    if (last?.authorization === authorization) return last.key;
    // Without the scheme, which has many spellings.
    const key = hash('sha256', authorization.replace(/^\S+ +/, ''));
    lastOf.set(socket, { authorization, key });
    return key;
  };
  return {
    pathOf(request: IncomingMessage, route: string | undefined): readonly string[] {
      const key = keyOf(request);
      const organizationId = key && organizations.get(key);
      if (organizationId) return [organizationId];
      const isOfApi = route === '/graphql' || isOfAuthzen(route);
      return [isOfApi ? 'strangers' : 'sign-in', networkOf(addressOf(request, trustedProxies))];
    },
    remember(request: IncomingMessage, organizationId: string): void {
      const key = keyOf(request);
      if (key) organizations.set(key, organizationId);
    },
    /** Forgets a credential that is no longer verified. */
    forget(request: IncomingMessage): void {
      const key = keyOf(request);
      if (key) organizations.delete(key);
    },
  };
}

/** The same as express' `request.ip`. */
function addressOf({ socket, headers }: IncomingMessage, trustedProxies: number): string {
  const forwarded = String(headers['x-forwarded-for'] ?? '').split(',');
  const addresses = [socket.remoteAddress ?? '', ...forwarded.filter(Boolean).reverse()];
  return addresses[Math.min(trustedProxies, addresses.length - 1)]?.trim() ?? '';
}

const maxRemembered = 10_000;

/**
 * The rate-limit key of an address: IPv4 itself, IPv6 its /64.
 * One customer has at least a /64 (RFC 6177). A zone, and a port that a proxy has added, are ignored.
 */
export function networkOf(address: string): string {
  const ip = bareAddress(address);
  return isIPv6(ip) ? `${groupsOf(ip).slice(0, 4).join(':')}::/64` : ip;
}

/** The /48 of an IPv6 address, all of which one customer may have (RFC 6177); else null. */
export function siteOf(address: string): string | null {
  const ip = bareAddress(address);
  return isIPv6(ip) ? `${groupsOf(ip).slice(0, 3).join(':')}::/48` : null;
}

/** An address without port and zone; an IPv4 address in IPv6 notation becomes plain. */
function bareAddress(address: string): string {
  const bare = /^\[(.*)\](?::\d+)?$/.exec(address)?.[1] ?? /^([\d.]+):\d+$/.exec(address)?.[1] ?? address;
  const [ip = ''] = bare.split('%', 1);
  return /^::ffff:([\d.]+)$/i.exec(ip)?.[1] ?? ip;
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(ip: string): string[] {
  // The URL parser writes every address in one form (RFC 5952).
  const canonical = new URL(`http://[${ip}]`).hostname.slice(1, -1);
  const [head = [], tail = []] = canonical.split('::').map((part) => part.split(':').filter((group) => group !== ''));
  return [...head, ...Array<string>(8 - head.length - tail.length).fill('0'), ...tail];
}

type RefusalOptions = { log: Log; isHttps: boolean; corsOrigins: readonly Origin[] };

/**
 * Load shedding's answer: 503 in the form of the route.
 * It has the headers of every answer, written at once. In an overload this is the service's most frequent work, and the handlers of
 * other requests would delay it (`bench overload`).
 */
export function createRefusal({ log, isHttps, corsOrigins }: RefusalOptions): RequestListener {
  const logRequest = logRequests(log);
  const ownHeaders = Object.fromEntries(securityHeaders(isHttps));
  return (request, response) => {
    const { accept = '', origin = '' } = request.headers;
    const { type, body } = refusalFor(fieldsOf(response).route, accept, overload);
    const id = giveRequestId(request, response);
    logRequest(request, response, () => undefined);
    response.writeHead(503, {
      ...ownHeaders,
      'X-Request-Id': id,
      'Content-Type': `${type}; charset=utf-8`,
      'Content-Length': Buffer.byteLength(body),
      'Retry-After': '2',
      'Cache-Control': 'no-store',
      Pragma: 'no-cache',
      ...(corsOrigins.length > 0 && { Vary: 'Origin' }),
      ...(isAllowed(corsOrigins, origin) && {
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposedHeaders.join(),
      }),
      // Otherwise the rest of a large body would have to be read before the next request.
      ...(isLarge(request) && { Connection: 'close' }),
    });
    response.end(body);
  };
}

const overload: Refusal = {
  code: 'UNAVAILABLE',
  error: 'temporarily_unavailable',
  description: 'There are too many requests at the moment; try again later.',
};

const isLarge = ({ headers }: IncomingMessage) =>
  'transfer-encoding' in headers || Number(headers['content-length'] ?? 0) > 65_536;
