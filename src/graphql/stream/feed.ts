import type { Pool } from 'pg';
import type { FeedPosition } from '../../../plugins/changeCursor.ts';
import { type FeedChange, type FeedReader, readFeed } from '../../../plugins/changeFeed.ts';
import { isRetryable } from '../../database/pool/unavailable.ts';
import type { Log } from '../../log.ts';
import { noRequest } from '../../observability/requestFields.ts';
import { withoutCaller } from '../../scheduling/caller.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';

export type Feed = ReturnType<typeof createFeed>;

/**
 * Fan-out of the change feed: one read for all streams of an organization.
 * While there are streams, one statement asks every 50 ms whether a transaction has ended, and if so another asks which organizations have
 * new changes. LISTEN and NOTIFY are not used: a transaction that notifies holds a lock of the whole cluster while it commits, so all
 * writers would commit one by one (PostgreSQL, src/backend/commands/async.c, PreCommit_Notify).
 */
export function createFeed(pool: Pool, log: Log) {
  const organizations = new Map<string, Live>();
  let lastXmin = '';
  let isTicking = false;

  const ask = async <Row extends object>(text: string, values: unknown[] = []) =>
    (await queryOnce<Row>(pool, oauthSettings(null, noRequest), { text, values })).rows[0];

  const deliver = async () => {
    const { xmin = '' } = (await ask<{ xmin: string }>(readXmin)) ?? {};
    if (xmin === lastXmin) return;
    lastXmin = xmin;
    const tails = [...organizations.values()].map(({ tail }) => tail);
    const asked = [
      tails.map((tail) => tail.organizationId),
      tails.map((tail) => tail.horizon),
      tails.map(({ id }) => id),
    ];
    const { changed = [] } = (await ask<{ changed: string[] }>(readChanged, asked)) ?? {};
    // Not awaited: an organization with many changes does not delay the others.
    for (const organization of changed) void readOn(organizations.get(organization));
  };

  const readOn = async (live: Live | undefined) => {
    if (!live || live.isReading) return;
    live.isReading = true;
    await readToEnd(live).catch(report);
    live.isReading = false;
    lastXmin = '';
  };

  const readToEnd = async (live: Live) => {
    for (let isFull = true; isFull; ) {
      const follower = live.followers.values().find(({ hasEnded }) => !hasEnded());
      if (!follower) return;
      const page = await readFeed(follower.reader, live.tail, pageSize).catch((error: unknown) => {
        // The client has disconnected, which ended its statement.
        if (follower.hasEnded()) return null;
        if (isRetryable(error)) throw error;
        log.error({ error }, 'a change feed cannot be read; its streams end');
        for (const { end } of live.followers) end();
        return null;
      });
      if (!page) continue;
      live.tail = page.end;
      isFull = page.changes.length === pageSize;
      for (const { offer } of live.followers) offer(page.changes);
    }
  };

  /** Logs a failure; the next tick tries again. */
  const report = (error: unknown) => {
    lastXmin = '';
    if (!isRetryable(error)) log.error({ error }, 'the change feed cannot be watched');
  };

  const tick = async () => {
    await deliver().catch(report);
    isTicking = organizations.size > 0;
    if (isTicking) setTimeout(tick, tickMs).unref();
  };

  /** Null if the shared read is ahead, so that the changes between must be read first. */
  const join = (position: FeedPosition, follower: Follower): Live | null => {
    const { organizationId } = position;
    const live = organizations.get(organizationId) ?? { tail: position, followers: new Set(), isReading: false };
    if (isAfter(live.tail, position)) return null;
    organizations.set(organizationId, live);
    live.followers.add(follower);
    // The stream's position may be older than the snapshot that the last tick has read.
    lastXmin = '';
    if (!isTicking) withoutCaller(() => setTimeout(tick, tickMs).unref());
    isTicking = true;
    return live;
  };

  const leave = ({ followers, tail: { organizationId } }: Live, follower: Follower) => {
    followers.delete(follower);
    if (followers.size === 0) organizations.delete(organizationId);
  };

  return {
    /**
     * The changes after a position, each once it is certain, without end until `signal` aborts.
     * Changes that a slow reader has not taken are not kept, but read again for it.
     *
     * @param isPresent whether the position was the end a moment ago, so that there is hardly anything to read before it joins the others
     */
    async *follow(
      reader: FeedReader,
      start: FeedPosition,
      signal: AbortSignal,
      isPresent = false,
    ): AsyncGenerator<FeedChange> {
      let position = start;
      const follower = createFollower(reader, signal);
      let live = isPresent && !signal.aborted ? join(position, follower) : null;
      while (!follower.hasEnded()) {
        if (!live) {
          const { changes, end } = await readFeed(reader, position, pageSize);
          yield* changes;
          position = end;
          if (changes.length < pageSize) live = join(position, follower);
        }
        if (!live) continue;
        try {
          for (let batch = await follower.next(); batch; batch = await follower.next()) {
            for (const change of batch) {
              if (!isAfter(change, position)) continue;
              yield change;
              position = change;
            }
          }
        } finally {
          leave(live, follower);
        }
        live = null;
      }
    },
  };
}

/** An organization with streams, which were offered all changes up to `tail`. */
type Live = { tail: FeedPosition; readonly followers: Set<Follower>; isReading: boolean };

type Follower = ReturnType<typeof createFollower>;

function createFollower(reader: FeedReader, signal: AbortSignal) {
  let batches: (readonly FeedChange[])[] = [];
  let isBehind = false;
  let hasEnded = signal.aborted;
  let wake = () => {};
  const end = () => {
    hasEnded = true;
    wake();
  };
  signal.addEventListener('abort', end, { once: true });
  return {
    reader,
    end,
    hasEnded: () => hasEnded,
    offer(batch: readonly FeedChange[]) {
      isBehind ||= batches.length === maxBatches;
      if (!isBehind) batches.push(batch);
      wake();
    },
    /** Null when the stream has ended, or is behind and has to read by itself. */
    async next(): Promise<readonly FeedChange[] | null> {
      while (batches.length === 0 && !isBehind && !hasEnded)
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      const batch = hasEnded ? null : (batches.shift() ?? null);
      if (!batch) {
        batches = [];
        isBehind = false;
      }
      return batch;
    },
  };
}

const isAfter = (one: FeedPosition, other: FeedPosition) =>
  one.horizon === other.horizon ? Number(one.id) > Number(other.id) : BigInt(one.horizon) > BigInt(other.horizon);

const tickMs = 50;
/** A change takes 300 to 400 bytes. */
const pageSize = 100;
/** How many pages a stream may be behind before it reads by itself. */
const maxBatches = 2;

const readXmin = 'select pg_snapshot_xmin(pg_current_snapshot())::text as xmin';
const readChanged = 'select feed.changed_since($1, $2, $3) as changed';
