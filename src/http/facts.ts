import type { ServerResponse } from 'node:http';

/**
 * What is learned about a request on its way, for the log, the metrics and the trace: names, codes and figures that we made or
 * verified, and nothing else that a client has sent.
 */
export type RequestFacts = {
  /** The name that the answer, the log and the database's `graph.request_id` share. */
  requestId?: string;
  /** When it came, at the earliest, by `performance.now()`, before it waited for anything. */
  arrivedAt?: number;
  /** The GraphQL operation's kind, once its document is in order. */
  operationType?: string;
  /** The GraphQL operation's name; one without a name is `anonymous`. */
  operation?: string;
  /** Who asked, by a verified token or as an authenticated client. */
  clientId?: string;
  /** What was granted: the grant type, or `external_authentication_token`. */
  grant?: string;
  /** The first error's `extensions.code`, or the OAuth error. */
  code?: string;
  /** SQL statements that the operation has run. */
  statements?: number;
  /** Where a query was answered, if there is a replica. */
  server?: string;
  /** How long the operation was planned. */
  planningMs?: number;
  /** The trace that this request is part of, if it is recorded. */
  traceId?: string;
};

const key = Symbol('facts');

/** The facts of the request that is answered by this; whoever learns one sets it. */
export function factsOf(response: ServerResponse & { [key]?: RequestFacts }): RequestFacts {
  response[key] ??= {};
  return response[key];
}
