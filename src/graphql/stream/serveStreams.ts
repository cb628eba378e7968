import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Pool } from 'pg';
import { decodePosition } from '../../../plugins/changeCursor.ts';
import { refusal } from '../../../plugins/refusal.ts';
import type { Config } from '../../config.ts';
import { withBudgetPerWait, withoutPermit } from '../../scheduling/caller.ts';
import { readBearer } from '../../token/bearer.ts';
import { hashToken } from '../../token/format.ts';
import { DocumentError } from '../document/document.ts';
import { limitExceeded } from '../document/measureOperations.ts';
import type { ExecutionOptions } from '../execution/execution.ts';
import type { Operation } from '../execution/operation.ts';
import { acceptsEvents } from '../request/negotiate.ts';
import { RequestError } from '../request/request.ts';
import { openEventStream } from './eventStream.ts';
import { createFeed } from './feed.ts';
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
  const subscribe = createSubscriber(options, createFeed(oauthPool, log));

  return {
    /** Resolves when the stream has ended; rejects when the request is refused, before it has an answer. */
    async serve(request: IncomingMessage, response: ServerResponse, operation: Operation): Promise<void> {
      const { token, cost } = operation;
      const bearer = readBearer(request);
      if (!token || bearer.kind !== 'token') throw new Error('A subscription was let through without a token');
      if (!acceptsEvents(request))
        throw new RequestError('A subscription is answered as text/event-stream; accept that.', { status: 406 });
      const lastEventId = readLastEventId(request);
      const maxRows = config.limits.rows;
      if (cost.rows > maxRows) throw new DocumentError([limitExceeded('rows', maxRows)]);
      await token.requireLive();
      const { organizationId } = token.claims;
      streams.refuseIfFull(organizationId);
      const stream = openEventStream(response);
      streams.add(stream, { organizationId, tokenHash: hashToken(bearer.token) });
      const subscription = { ...operation, token, lastEventId };
      await withoutPermit(() => withBudgetPerWait(config.poolWaitMs, () => subscribe(subscription, stream))).finally(
        stream.complete,
      );
    },
    close: streams.close,
  };
}

/** Where a client goes on that was cut off: by HTML, section 9.2.4. Null without the header. */
function readLastEventId({ headers }: IncomingMessage): string | null {
  const id = headers['last-event-id'];
  if (!id) return null;
  if (typeof id === 'string' && decodePosition(id)) return id;
  throw new DocumentError([
    refusal('BAD_USER_INPUT', 'Last-Event-ID: not a cursor of this feed.', { argument: 'after' }),
  ]);
}
