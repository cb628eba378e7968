import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pool } from 'pg';
import { decodePosition } from '../../../plugins/changeCursor.ts';
import { refusal } from '../../../plugins/refusal.ts';
import type { Config } from '../../config.ts';
import type { Secrets } from '../../crypto/secrets.ts';
import { withBudgetPerWait, withoutPermit } from '../../scheduling/caller.ts';
import { readBearer } from '../../token/bearer.ts';
import { hashToken } from '../../token/format.ts';
import { DocumentError } from '../document/documentError.ts';
import type { ExecutionOptions } from '../execution/executionOptions.ts';
import type { Operation } from '../execution/operation.ts';
import { isExpensive } from '../offload/isExpensive.ts';
import { acceptsEvents } from '../request/negotiate.ts';
import { RequestError } from '../request/request.ts';
import { openEventStream } from './eventStream.ts';
import { Feed } from './feed.ts';
import { createStreams } from './streams.ts';
import { createSubscriber } from './subscribe.ts';

export type StreamOptions = Omit<ExecutionOptions, 'replicaPool' | 'config'> & {
  readonly config: ExecutionOptions['config'] & Pick<Config, 'poolWaitMs'>;
  readonly oauthPool: Pool;
};

/** Answers subscriptions by event streams, which end with the client, the token or the server. */
export function createStreamServer({ oauthPool, ...options }: StreamOptions) {
  const { config, log } = options;
  const streams = createStreams(oauthPool, log);
  const subscribe = createSubscriber(options, new Feed(oauthPool, log));

  return {
    /** Resolves when the stream has ended; rejects if the request is refused, which sends no answer yet. */
    async serve(request: IncomingMessage, response: ServerResponse, operation: Operation): Promise<void> {
      const { token } = operation;
      const bearer = readBearer(request);
      if (!token || bearer.kind !== 'token') throw new Error('A subscription was let through without a token');
      if (!acceptsEvents(request))
        throw new RequestError('A subscription is answered as text/event-stream; accept that.', { status: 406 });
      const lastEventId = readLastEventId(request, options.secrets);
      refuseExpensive(operation);
      await token.requireLive();
      const { organizationId } = token.claims;
      streams.refuseIfFull(organizationId);
      const stream = openEventStream(response);
      // The client disconnected while the token was verified.
      if (stream.signal.aborted) return;
      streams.add(stream, { organizationId, tokenHash: hashToken(bearer.token) });
      const subscription = { ...operation, token, lastEventId, isLive: () => streams.isLive(stream) };
      await withoutPermit(() => withBudgetPerWait(config.poolWaitMs, () => subscribe(subscription, stream))).finally(
        stream.complete,
      );
    },
    close: streams.close,
  };
}

/** Events are planned and executed in this thread, since the offload thread executes only queries. */
function refuseExpensive(operation: Operation): void {
  const hasManyRows = operation.cost.rows > maxRowsOfEvent;
  if (!hasManyRows && !isExpensive(operation, maxPlanningMs)) return;
  const message =
    'An event of a subscription may have less than the answer to a query: select less, or read it by one.';
  throw new DocumentError([refusal('LIMIT_EXCEEDED', message, { limit: hasManyRows ? 'rows' : 'fields' })]);
}

/** A stream is planned once. */
const maxPlanningMs = 60;
/** As many as a page may have. */
const maxRowsOfEvent = 1000;

/** Where a disconnected client continues: HTML, section 9.2.4. Null without the header. */
function readLastEventId({ headers }: IncomingMessage, secrets: Secrets): string | null {
  const id = headers['last-event-id'];
  if (!id) return null;
  if (typeof id === 'string' && decodePosition(id, secrets)) return id;
  throw new DocumentError([
    refusal('BAD_USER_INPUT', 'Last-Event-ID: not a cursor of this feed.', { argument: 'after' }),
  ]);
}
