import type { IncomingMessage, ServerResponse } from 'node:http';
import { setTimeout } from 'node:timers/promises';
import type { Pool } from 'pg';
import { decodePosition } from '../../../plugins/changeFeed.ts';
import { refusal } from '../../../plugins/refusal.ts';
import type { Config } from '../../config.ts';
import type { Secrets } from '../../crypto/secrets.ts';
import { isUnavailable } from '../../database/pool/unavailable.ts';
import type { Log } from '../../log.ts';
import { noRequest } from '../../observability/requestFields.ts';
import { withBudgetPerWait, withoutCaller, withoutPermit } from '../../scheduling/caller.ts';
import { hashToken, readBearer } from '../../token/accessTokens.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { DocumentError } from '../document/documentError.ts';
import type { ExecutionOptions } from '../execute.ts';
import { isExpensive, type Operation } from '../operation.ts';
import { RequestError } from '../request.ts';
import { acceptsEvents } from '../response.ts';
import { Feed } from './feed.ts';
import { createSubscriber, type EventStream, openEventStream } from './subscribe.ts';

type StreamOptions = Omit<ExecutionOptions, 'replicaPool' | 'config'> & {
  readonly config: ExecutionOptions['config'] & Pick<Config, 'poolWaitMs'>;
  readonly oauthPool: Pool;
};

/** Answers subscriptions by event streams, which end with the client, the token or the server. */
export interface StreamServer {
  /** Resolves when the stream has ended; rejects if the request is refused, which sends no answer yet. */
  serve(request: IncomingMessage, response: ServerResponse, operation: Operation): Promise<void>;
  /** Completes all streams, so that their clients connect elsewhere. */
  close(): void;
}

export function createStreamServer({ oauthPool, ...options }: StreamOptions): StreamServer {
  const { config, log } = options;
  const streams = createStreams(oauthPool, log);
  const subscribe = createSubscriber(options, new Feed(oauthPool, log));

  return {
    async serve(request, response, operation) {
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

/** The open streams of this process: limits, heartbeats, and their end with the token or the server. */
export function createStreams(pool: Pool, log: Log) {
  const streams = new Map<EventStream, Owner>();
  const isTokenLive = createTokenCheck(pool);
  let isClosed = false;
  let timers: NodeJS.Timeout[] = [];

  const report = (error: unknown) => {
    if (!isUnavailable(error)) log.error({ error }, 'the tokens of streams cannot be verified');
  };
  const start = () => {
    timers = [
      setInterval(() => {
        for (const stream of streams.keys()) stream.heartbeat();
      }, heartbeatMs),
      setInterval(() => {
        endInvalid().catch(report);
      }, verifyMs),
    ];
    for (const timer of timers) timer.unref();
  };
  const stop = () => {
    for (const timer of timers) clearInterval(timer);
    timers = [];
  };

  const endInvalid = () =>
    Promise.all(
      streams.entries().map(async ([stream, { tokenHash }]) => {
        if (!(await isTokenLive(tokenHash))) stream.complete();
      }),
    );

  return {
    /** @throws {RequestError} 429 when there are too many, 503 when the server drains */
    refuseIfFull(organizationId: string): void {
      if (isClosed) throw new RequestError('The server is stopping; connect anew.', { code: 'UNAVAILABLE' });
      const ofOrganization = [...streams.values()].filter((owner) => owner.organizationId === organizationId).length;
      if (ofOrganization >= maxOfOrganization || streams.size >= maxOfProcess) throw tooMany();
    },
    /** Until the stream has ended. */
    add(stream: EventStream, owner: Owner): void {
      streams.set(stream, owner);
      if (timers.length === 0) withoutCaller(start);
      stream.signal.addEventListener('abort', () => {
        streams.delete(stream);
        if (streams.size === 0) stop();
      });
      if (isClosed) stream.complete();
    },
    /** Whether the stream is open and its token is live, by a statement that begins after the call. False if the database does not answer. */
    async isLive(stream: EventStream): Promise<boolean> {
      const owner = streams.get(stream);
      try {
        return owner !== undefined && (await isTokenLive(owner.tokenHash));
      } catch (error) {
        report(error);
        return false;
      }
    },
    /** Completes all streams, so that their clients connect elsewhere. */
    close(): void {
      isClosed = true;
      for (const stream of streams.keys()) stream.complete();
    },
  };
}

type Owner = { readonly organizationId: string; readonly tokenHash: Buffer };

const maxOfOrganization = 50;
const maxOfProcess = 1000;
const heartbeatMs = 15_000;
/** A revoked token's stream ends within 5 s. */
const verifyMs = 2000;

const tooMany = () =>
  new RequestError(
    `At most ${maxOfOrganization} streams of an organization and ${maxOfProcess} of a process are open at once.`,
    {
      code: 'LIMIT_EXCEEDED',
      status: 429,
      limit: 'streams',
      headers: { 'Retry-After': '5' },
    },
  );

/**
 * Verifies the tokens of streams in batches: a statement every 5 ms at most, for up to 100 tokens, however many events there are.
 * A token is verified by a statement that begins after the call. So it is false if the revocation was acknowledged before. It is false, too,
 * while the organization is not served here: its streams complete, and other organizations' streams are verified by the same statement.
 */
function createTokenCheck(pool: Pool): (tokenHash: Buffer) => Promise<boolean> {
  const waiting = new Map<string, Waiting>();
  let isRunning = false;

  const verify = async (batch: readonly Waiting[]) => {
    const statement = { name: 'verify_tokens_of_streams', text: areLive, values: [batch.map(({ hash }) => hash)] };
    try {
      const { rows } = await queryOnce<{ isLive: boolean }>(pool, oauthSettings(null, noRequest), statement);
      for (const [index, { resolve }] of batch.entries()) resolve(rows[index]?.isLive === true);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  };
  const run = async () => {
    isRunning = true;
    while (waiting.size > 0) {
      await setTimeout(batchMs);
      const batch = [...waiting].slice(0, maxTokens);
      for (const [key] of batch) waiting.delete(key);
      await verify(batch.map(([, token]) => token));
    }
    isRunning = false;
  };

  return (hash) => {
    const key = hash.toString('latin1');
    const token = waiting.get(key) ?? { hash, ...Promise.withResolvers<boolean>() };
    waiting.set(key, token);
    if (!isRunning) void withoutCaller(run);
    return token.promise;
  };
}

type Waiting = PromiseWithResolvers<boolean> & { readonly hash: Buffer };

const batchMs = 5;

const maxTokens = 100;

const areLive = `
  select coalesce((
    select app_hidden.is_served(live.organization_id) from oauth.verify_access_token(token.hash) as live), false) as "isLive"
  from unnest($1::bytea[]) with ordinality as token (hash, place)
  order by place`;
