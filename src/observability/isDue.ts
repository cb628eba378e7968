import { LRUCache } from 'lru-cache';

/** Rate limit of log lines that clients can cause as often as they like: whether one of this kind is due, once a minute. */
export function isDue(kind: string): boolean {
  if (logged.has(kind)) return false;
  logged.set(kind, true);
  return true;
}

const logged = new LRUCache<string, true>({ max: 1000, ttl: 60_000 });
