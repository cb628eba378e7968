import type { ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import type { Log } from '../log.ts';

/** Names a request in the log and in the database. */
export type RequestId = {
  /** The answer's X-Request-Id, which the client knows: the client's own id if it is short and plain. */
  readonly id: string;
  /** The server's own id: a new UUID, which no client can choose or imitate. */
  readonly ofServer: string;
};

/** The id of the service's own work. */
export const noRequest: RequestId = { id: '', ofServer: '' };

/**
 * Fields of the request's canonical log line (wide event), metrics and span.
 * Each handler sets the fields that it knows: names, codes and figures that we made or verified. No other text of a client is kept.
 */
export type RequestFields = {
  requestId?: RequestId;
  /** The path in its one spelling, if it is served; else `other`. */
  route?: string;
  /** The earliest time of its arrival, by `performance.now()`, before it waited for anything. */
  arrivedAt?: number;
  /** The GraphQL operation's kind, once its document is valid. */
  operationType?: string;
  /** The GraphQL operation's name; one without a name is `anonymous`. */
  operation?: string;
  /** The OAuth client, from a verified token or its own authentication. */
  clientId?: string;
  /** The grant type, or `external_authentication_token`. */
  grant?: string;
  /** The first error's `extensions.code`, or the OAuth error. */
  code?: string;
  /** Why OAuth refused it, only for operators: the answer may not be allowed to give the reason. */
  reason?: string;
  /** SQL statements that the operation has run. */
  statements?: number;
  /** Whether the answer was kept for its Idempotency-Key. */
  isReplayed?: boolean;
  /** The server that answered a query, if there is a replica. */
  server?: string;
  planningMs?: number;
  /** The trace that this request is part of, if it is recorded. */
  traceId?: string;
};

const key = Symbol('request fields');

/** The fields of the request that this response answers. */
export function fieldsOf(response: ServerResponse & { [key]?: RequestFields }): RequestFields {
  response[key] ??= {};
  return response[key];
}

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
