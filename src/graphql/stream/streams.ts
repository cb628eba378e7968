import type { Pool } from 'pg';
import { isUnavailable } from '../../database/pool/unavailable.ts';
import type { Log } from '../../log.ts';
import { noRequest } from '../../observability/requestFields.ts';
import { withoutCaller } from '../../scheduling/caller.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';
import { RequestError } from '../request/request.ts';
import type { EventStream } from './eventStream.ts';

export type Streams = ReturnType<typeof createStreams>;

/**
 * The open streams of this process: limits, heartbeats, and their end with the token or the server.
 * Tokens are verified together, up to 100 in one statement.
 */
export function createStreams(pool: Pool, log: Log) {
  const streams = new Map<EventStream, Owner>();
  let isClosed = false;
  let timers: NodeJS.Timeout[] = [];

  const start = () => {
    timers = [
      setInterval(() => {
        for (const stream of streams.keys()) stream.heartbeat();
      }, heartbeatMs),
      setInterval(() => {
        endInvalid().catch((error: unknown) => {
          if (!isUnavailable(error)) log.error({ error }, 'the tokens of streams cannot be verified');
        });
      }, verifyMs),
    ];
    for (const timer of timers) timer.unref();
  };
  const stop = () => {
    for (const timer of timers) clearInterval(timer);
    timers = [];
  };

  const endInvalid = async () => {
    // A client with several streams uses one token for them.
    const byToken = Map.groupBy(streams, ([, { tokenHash }]) => tokenHash.toString('hex'));
    const tokens = [...byToken.values()];
    for (let from = 0; from < tokens.length; from += maxTokens) {
      const part = tokens.slice(from, from + maxTokens);
      const statement = { text: areLive, values: [part.map(([first]) => first?.[1].tokenHash)] };
      const { rows } = await queryOnce<{ isLive: boolean }>(pool, oauthSettings(null, noRequest), statement);
      for (const [index, open] of part.entries())
        if (!rows[index]?.isLive) for (const [stream] of open) stream.complete();
    }
  };

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
const maxTokens = 100;

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

const areLive = `
  select exists (select from oauth.verify_access_token(token.hash)) as "isLive"
  from unnest($1::bytea[]) with ordinality as token (hash, place)
  order by place`;
