import type { Pool } from 'pg';
import { type FeedChange, type FeedPosition, type FeedReader, readFeed } from '../../../plugins/changeFeed.ts';
import { isRetryable, isUnavailable } from '../../database/pool/unavailable.ts';
import type { Log } from '../../log.ts';
import { noRequest } from '../../observability/requestFields.ts';
import { repeat } from '../../repeat.ts';
import { withoutCaller } from '../../scheduling/caller.ts';
import { oauthSettings } from '../../token/settings.ts';
import { queryOnce } from '../../token/transaction.ts';

/**
 * Fan-out of the change feed: one read for all streams of an organization.
 * While there are streams, one statement asks every 50 ms whether a transaction has ended, and if so another asks which organizations have
 * new changes. LISTEN and NOTIFY are not used: a transaction that notifies locks the whole cluster while it commits. So all writers would
 * commit one by one (PostgreSQL, src/backend/commands/async.c, PreCommit_Notify).
 */
export class Feed {
  readonly #pool: Pool;
  readonly #log: Log;
  readonly #organizations = new Map<string, Live>();
  #lastXmin = '';
  #isTicking = false;

  constructor(pool: Pool, log: Log) {
    this.#pool = pool;
    this.#log = log;
  }

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
    let live = isPresent && !signal.aborted ? this.#join(position, follower, false) : null;
    while (!follower.hasEnded()) {
      if (!live) {
        const { changes, end } = await readFeed(reader, position, pageSize);
        yield* changes;
        position = end;
        if (changes.length < pageSize) live = this.#join(position, follower, changes.length === 0);
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
        this.#leave(live, follower);
      }
      live = null;
    }
  }

  /**
   * Null if the shared read is ahead, so that the changes between must be read first.
   * If the stream has just read them and found none, the shared read goes back to its position instead. Otherwise a stream that is shown
   * none of them, such as those of a table that was dropped, would read without end.
   */
  #join(position: FeedPosition, follower: Follower, foundNone: boolean): Live | null {
    const { organizationId } = position;
    const live = this.#organizations.get(organizationId) ?? { tail: position, followers: new Set(), isReading: false };
    if (isAfter(live.tail, position)) {
      if (!foundNone) return null;
      live.tail = position;
    }
    this.#organizations.set(organizationId, live);
    live.followers.add(follower);
    // The stream's position may be older than the snapshot that the last tick has read.
    this.#lastXmin = '';
    if (!this.#isTicking) withoutCaller(() => this.#tickLater());
    this.#isTicking = true;
    return live;
  }

  #leave({ followers, tail: { organizationId } }: Live, follower: Follower): void {
    followers.delete(follower);
    if (followers.size === 0) this.#organizations.delete(organizationId);
  }

  #tickLater(): void {
    setTimeout(() => this.#tick(), tickMs).unref();
  }

  async #tick(): Promise<void> {
    await this.#deliver().catch((error: unknown) => this.#report(error));
    this.#isTicking = this.#organizations.size > 0;
    if (this.#isTicking) this.#tickLater();
  }

  async #deliver(): Promise<void> {
    const { xmin = '' } = (await this.#ask<{ xmin: string }>(readXmin)) ?? {};
    if (xmin === this.#lastXmin) return;
    this.#lastXmin = xmin;
    const tails = [...this.#organizations.values()].map(({ tail }) => tail);
    const asked = [
      tails.map((tail) => tail.organizationId),
      tails.map((tail) => tail.horizon),
      tails.map(({ id }) => id),
    ];
    const { changed = [] } = (await this.#ask<{ changed: string[] }>(readChanged, asked)) ?? {};
    // Not awaited: an organization with many changes does not delay the others.
    for (const organization of changed) void this.#readOn(this.#organizations.get(organization));
  }

  async #ask<Row extends object>(text: string, values: unknown[] = []): Promise<Row | undefined> {
    return (await queryOnce<Row>(this.#pool, oauthSettings(null, noRequest), { text, values })).rows[0];
  }

  async #readOn(live: Live | undefined): Promise<void> {
    if (!live || live.isReading) return;
    live.isReading = true;
    await this.#readToEnd(live).catch((error: unknown) => this.#report(error));
    live.isReading = false;
    this.#lastXmin = '';
  }

  async #readToEnd(live: Live): Promise<void> {
    for (let isFull = true; isFull; ) {
      const follower = live.followers.values().find(({ hasEnded }) => !hasEnded());
      if (!follower) return;
      const { tail } = live;
      const page = await readFeed(follower.reader, tail, pageSize).catch((error: unknown) => {
        // The client has disconnected, which ended its statement.
        if (follower.hasEnded()) return null;
        if (isRetryable(error)) throw error;
        this.#log.error({ error }, 'a change feed cannot be read; its streams end');
        for (const { end } of live.followers) end();
        return null;
      });
      if (!page) continue;
      // A stream that is behind has joined meanwhile, and is offered what is before this page first.
      if (live.tail !== tail) continue;
      live.tail = page.end;
      isFull = page.changes.length === pageSize;
      for (const { offer } of live.followers) offer(page.changes);
    }
  }

  /** Logs a failure; the next tick tries again. */
  #report(error: unknown): void {
    this.#lastXmin = '';
    if (!isRetryable(error)) this.#log.error({ error }, 'the change feed cannot be watched');
  }
}

/** An organization with streams, which were offered all changes up to `tail`. */
type Live = { tail: FeedPosition; readonly followers: Set<Follower>; isReading: boolean };

/** A stream that is offered the changes of its organization. */
interface Follower {
  readonly reader: FeedReader;
  end(): void;
  hasEnded(): boolean;
  offer(batch: readonly FeedChange[]): void;
  /** Null when the stream has ended, or is behind and has to read by itself. */
  next(): Promise<readonly FeedChange[] | null>;
}

function createFollower(reader: FeedReader, signal: AbortSignal): Follower {
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
    offer(batch) {
      isBehind ||= batches.length === maxBatches;
      if (!isBehind) batches.push(batch);
      wake();
    },
    async next() {
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

/**
 * Lag of the change feed: the age of the position up to which all changes are certain.
 * A transaction that stays open anywhere in the cluster holds the feed back. Other roles cannot see its age. So each second's transaction
 * ids are remembered until all below them have ended.
 */
export function watchFeedLag(pool: Pool, log: Log) {
  let samples: readonly Sample[] = [];

  const sample = async () => {
    const { rows } = await queryOnce<Snapshot>(pool, oauthSettings(null, noRequest), { text: readSnapshot });
    const { xmin = 0n, xmax = 0n } = Object.fromEntries(
      Object.entries(rows[0] ?? {}).map(([name, id]) => [name, BigInt(id)]),
    );
    const taken = [...samples, { at: performance.now(), xmax }];
    const certain = taken.findLastIndex((past) => past.xmax <= xmin);
    samples = taken.slice(Math.max(0, certain)).slice(-maxSamples);
  };
  const report = (error: unknown) => {
    if (!isUnavailable(error)) log.error({ error }, 'the lag of the change feed cannot be read');
  };
  const sampling = repeat(() => sample().catch(report), everyMs);

  return {
    /** In seconds. */
    get: () => ((samples.at(-1)?.at ?? 0) - (samples[0]?.at ?? 0)) / 1000,
    stop: sampling.stop,
  };
}

type Sample = { readonly at: number; readonly xmax: bigint };
type Snapshot = { readonly xmin: string; readonly xmax: string };

const everyMs = 1000;
/** A day; what is older counts as a day. */
const maxSamples = 86_400;

const readSnapshot = `
  select pg_snapshot_xmin(now)::text as xmin, pg_snapshot_xmax(now)::text as xmax from pg_current_snapshot() as now`;
