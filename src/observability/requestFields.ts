import type { ServerResponse } from 'node:http';

/** Names a request in the log and in the database. */
export type RequestId = {
  /** The answer's X-Request-Id, which the client knows: its own if that is short and plain. */
  readonly id: string;
  /** The server's own: a new UUID, which no client can choose, nor make look like another's. */
  readonly ofServer: string;
};

/** For what the service does by itself. */
export const noRequest: RequestId = { id: '', ofServer: '' };

/**
 * Fields of the request's canonical log line (wide event), metrics and span.
 * Each handler sets what it learns: names, codes and figures that we made or verified, and nothing else that a client has sent.
 */
export type RequestFields = {
  requestId?: RequestId;
  /** The path, if it is one that is served, in its one spelling; else `other`. */
  route?: string;
  /** When it came, at the earliest, by `performance.now()`, before it waited for anything. */
  arrivedAt?: number;
  /** The GraphQL operation's kind, once its document is in order. */
  operationType?: string;
  /** The GraphQL operation's name; one without a name is `anonymous`. */
  operation?: string;
  /** The OAuth client, by a verified token or authenticated itself. */
  clientId?: string;
  /** What was granted: the grant type, or `external_authentication_token`. */
  grant?: string;
  /** The first error's `extensions.code`, or the OAuth error. */
  code?: string;
  /** Why OAuth refused it, for operators alone: the answer may have to be silent about it. */
  reason?: string;
  /** SQL statements that the operation has run. */
  statements?: number;
  /** Whether the answer is one that was kept for its Idempotency-Key. */
  isReplayed?: boolean;
  /** Where a query was answered, if there is a replica. */
  server?: string;
  /** How long planning the operation took. */
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
