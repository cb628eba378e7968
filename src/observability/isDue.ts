import { LRUCache } from 'lru-cache';
import type { Log } from '../log.ts';

/** By log, and so by service. */
const logged = new WeakMap<Log, LRUCache<string, true>>();

/** Rate limit of log lines that clients can cause at will: whether this kind is due, once a minute. */
export function isDue(log: Log, kind: string): boolean {
  const kinds = logged.get(log) ?? new LRUCache<string, true>({ max: 1000, ttl: 60_000 });
  if (kinds.has(kind)) return false;
  logged.set(log, kinds.set(kind, true));
  return true;
}
