import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import { LRUCache } from 'lru-cache';
import { isOfAuthzen } from '../requestTarget.ts';
import { networkOf } from './networkOf.ts';

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
