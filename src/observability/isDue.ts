import { LRUCache } from 'lru-cache';
import type { Log } from '../log.ts';

/** By log, and so by service: how many lines of each kind there were in this minute. */
const logged = new WeakMap<Log, LRUCache<string, { lines: number }>>();

/** Rate limit of log lines that clients can cause at will: whether one more of this kind is due, at most `maxPerMinute`. */
export function isDue(log: Log, kind: string, maxPerMinute = 1): boolean {
  const kinds = logged.get(log) ?? new LRUCache<string, { lines: number }>({ max: 1000, ttl: 60_000 });
  logged.set(log, kinds);
  const counted = kinds.get(kind) ?? { lines: 0 };
  if (counted.lines === 0) kinds.set(kind, counted);
  counted.lines++;
  return counted.lines <= maxPerMinute;
}
