import type { Pool } from 'pg';
import { isUnavailable } from '../../database/pool/unavailable.ts';
import type { Log } from '../../log.ts';
import { withoutCaller } from '../../scheduling/caller.ts';
import { RequestError } from '../request/request.ts';
import type { EventStream } from './eventStream.ts';
import { createTokenCheck } from './tokenCheck.ts';

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
