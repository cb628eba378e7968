import type { ServerResponse } from 'node:http';
import type { OperationResult } from 'grafast-compile';
import type { Pool } from 'pg';
import { subscribe } from 'postgraphile/grafast';
import {
  encodePosition,
  type FeedChange,
  type FeedPosition,
  readEnd,
  readFeed,
  startOf,
} from '../../../plugins/changeFeed.ts';
import { isRetryable } from '../../database/pool/unavailable.ts';
import type { RequestId } from '../../observability/requestFields.ts';
import { createTurns } from '../../scheduling/turns.ts';
import type { AccessToken } from '../../token/accessTokens.ts';
import { graphSettings } from '../../token/settings.ts';
import { toBody } from '../answer.ts';
import { limitExceeded } from '../document/documentError.ts';
import { presentError } from '../errors.ts';
import { createContext, type ExecutionOptions, planInTurn, toGrafastArgs } from '../execute.ts';
import type { Operation } from '../operation.ts';
import { eventStreamMediaType } from '../response.ts';
import { Statements, type StatementsOptions } from '../statements.ts';
import type { Feed } from './feed.ts';

type Subscription = Operation & {
  readonly token: AccessToken;
  readonly lastEventId: string | null;
  /** Whether the stream may have what was read until now: it is open, and its token is live. */
  isLive(): Promise<boolean>;
};

type SubscriberOptions = Omit<ExecutionOptions, 'replicaPool'>;

/**
 * Executes subscriptions by Grafast, an event for each change.
 * Each event is executed after the client has taken the previous one, with the claims of the token, in its own transactions. The token is
 * verified once all of the event has been read, so that no event has what was written after the token was revoked.
 */
export function createSubscriber(options: SubscriberOptions, feed: Feed) {
  const { config, pool, secrets, graph, log } = options;
  // If a socket takes a write at once, the write calls back within the same turn. So a stream with much to send would not end its turn.
  const inTurn = createTurns(maxEventsPerTurn);

  return async (subscription: Subscription, stream: EventStream): Promise<void> => {
    const { prepared, token, requestId, lastEventId, isLive } = subscription;
    const { signal } = stream;
    const reader = createReader(pool, subscription, signal, config.limits.rows);
    const cursors: string[] = [];

    const followChanges: Grafast.Context['followChanges'] = async (given, isWanted) => {
      const after = startOf({ ...reader, ...secrets }, lastEventId ?? given);
      // A wrong cursor is reported in the answer, and not by the end of a stream.
      if (after) await readFeed(reader, after, 0);
      const start = after ?? (await readEnd(reader));
      // Changes that the client makes from now on are after the start.
      stream.open();
      return paced(start, after === null, isWanted);
    };

    async function* paced(start: FeedPosition, isPresent: boolean, isWanted: (change: FeedChange) => boolean) {
      try {
        for await (const change of feed.follow(reader, start, signal, isPresent)) {
          if (!isWanted(change)) continue;
          await stream.ready();
          await inTurn(msOfEvent, () => undefined);
          if (signal.aborted) return;
          cursors.push(encodePosition(change, secrets));
          yield change;
        }
      } catch (error) {
        // The client continues after the last event that it has.
        if (!signal.aborted && !isRetryable(error)) log.error({ requestId, error }, 'a stream has failed');
      }
    }

    const context = { ...createContext(token.claims, secrets, null, config), followChanges };
    const args = await toGrafastArgs(subscription, graph, context, reader.pgSettings, reader.withPgClient);
    const subscribed = await planInTurn(prepared, () => (signal.aborted ? null : subscribe(args)));
    if (!subscribed) return;
    const results = subscribed as AsyncGenerator<OperationResult> | OperationResult;
    await sendEvents(results, { stream, cursors, isLive }, (result) => toEvent(result, requestId, options));
  };
}

/**
 * Sends an event for each result, with the cursor of its change; or the one answer of a subscription that fails.
 * An event waits until the token is verified after it was read, and meanwhile the next ones are executed.
 */
async function sendEvents(
  results: AsyncGenerator<OperationResult> | OperationResult,
  {
    stream,
    cursors,
    isLive,
  }: Pick<Subscription, 'isLive'> & { readonly stream: EventStream; readonly cursors: string[] },
  toText: (result: OperationResult) => string | null,
): Promise<void> {
  if (!(Symbol.asyncIterator in results)) {
    const event = toText(results);
    if (event) stream.next(null, event);
    return;
  }
  let sent: Promise<void> = Promise.resolve();
  const send = async (before: Promise<void>, cursor: string | null, event: string) => {
    const mayBeSent = await isLive();
    await before;
    if (mayBeSent) stream.next(cursor, event);
    else stream.complete();
  };
  let heldBytes = 0;
  for await (const result of results) {
    // The client may have disconnected, which cancels its statements.
    const event = stream.signal.aborted ? null : toText(result);
    if (!event) break;
    sent = send(sent, cursors.shift() ?? null, event);
    heldBytes += Buffer.byteLength(event);
    if (heldBytes < maxEventBytes) continue;
    await sent;
    heldBytes = 0;
  }
  await sent;
}

/** Reads the feed by the claims of the token. Each statement has its own transaction, since a stream has no end. */
function createReader(pool: Pool, { token, requestId }: Subscription, signal: AbortSignal, maxRows: number) {
  const options: StatementsOptions = {
    token,
    signal,
    retryLockTimeout: '0',
    transaction: null,
    isQuery: true,
    statementCount: () => 1,
    onRan: () => undefined,
    onFailed: () => undefined,
  };
  const withPgClient: Grafast.Context['withPgClient'] = (settings, callback) =>
    new Statements({ pool, lsnCheck: null }, options).clientFor('Grafast')(settings, callback);
  return {
    organizationId: token.claims.organizationId,
    pgSettings: graphSettings(token.claims, requestId, maxRows),
    withPgClient,
  };
}

/** Null when the database does not answer: the client continues after its last event. */
function toEvent(
  { data, errors }: OperationResult,
  requestId: RequestId,
  { graph, log }: SubscriberOptions,
): string | null {
  const rules = graph.schema.extensions.constraintRules;
  const presented = errors?.map((error) => presentError(error, { requestId, rules, log }));
  if (presented?.some(({ extensions }) => extensions?.code === 'UNAVAILABLE')) return null;
  const body = toBody(data, presented ?? []);
  return Buffer.byteLength(body) > maxEventBytes ? tooLong : body;
}

/** An event takes up to 1 ms. Together, streams leave the thread to requests in between. */
const maxEventsPerTurn = 4;
/** The estimate of what the thread needs for an event. */
const msOfEvent = 1;
/** One slow reader takes this much memory, and its events that are being verified as much again. */
const maxEventBytes = 64_000;
const tooLong = toBody('null', [limitExceeded('bytes', maxEventBytes).toJSON()]);

/** An open answer of `text/event-stream`. */
export interface EventStream {
  /** Aborts when either side has ended the stream. */
  readonly signal: AbortSignal;
  /** Sends the status, once the beginning of the stream is known. */
  open(): void;
  /** Resolves when the client has taken everything that was sent. */
  ready(): Promise<void>;
  next(id: string | null, body: string): void;
  heartbeat(): void;
  complete(): void;
}

/**
 * Server-sent events of GraphQL over SSE, distinct connections mode, with backpressure.
 * At most one event waits in memory. A client that takes none for 10 s is disconnected; it has the cursor of the last event that it took.
 *
 * https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md; https://html.spec.whatwg.org/#server-sent-events
 */
export function openEventStream(response: ServerResponse): EventStream {
  const ended = new AbortController();
  let sent: Promise<void> = Promise.resolve();
  const write = (text: string) => {
    if (response.writableEnded || response.destroyed) return;
    sent = new Promise((resolve) => response.write(text, () => resolve()));
  };
  const complete = () => {
    if (ended.signal.aborted) return;
    ended.abort();
    response.end('event: complete\ndata:\n\n');
    setTimeout(() => response.destroy(), lingerMs).unref();
  };
  if (response.destroyed) ended.abort();
  response.once('close', () => ended.abort());
  response.removeHeader('Content-Length');
  response.setHeader('Content-Type', `${eventStreamMediaType}; charset=utf-8`);
  // Otherwise nginx would buffer events.
  response.setHeader('X-Accel-Buffering', 'no');
  return {
    signal: ended.signal,
    open: () => response.flushHeaders(),
    async ready() {
      const tooSlow = setTimeout(complete, maxUnsentMs);
      await sent.finally(() => clearTimeout(tooSlow));
    },
    next(id, body) {
      write(`${id === null ? '' : `id: ${id}\n`}event: next\ndata: ${body}\n\n`);
    },
    heartbeat: () => write(':\n\n'),
    complete,
  };
}

const maxUnsentMs = 10_000;

/** For events on their way to the client. */
const lingerMs = 2000;
