import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { hasCode } from '../../../src/errors/errors.ts';
import { type OpenStream, openStream } from '../../graphql/changes/eventStream.ts';
import { type Change, pageQuery } from '../../graphql/changes/feed.ts';
import { ask } from '../../graphql/client.ts';
import type { Tenant } from '../../graphql/support.ts';
import { type Receiver, verified } from '../../webhooks/receiver.ts';

export type FollowedChange = Pick<Change, 'operation' | 'typeName' | 'id' | 'cursor'>;

/** Where changes come from, after the cursor that it has stored itself. */
export type Source = {
  /** The next changes; none when there is nothing new. Rejects when it was cut off, and then goes on by itself. */
  next(): Promise<readonly FollowedChange[]>;
  /** What it goes on from, and what it has dealt with. */
  cursor: string | null;
  close(): void;
};

export type Follower = {
  readonly name: string;
  readonly source: Source;
  /** What it follows; null for everything. */
  readonly typeNames: readonly string[] | null;
  /** By id how often it was updated since it was created. */
  readonly copy: ReadonlyMap<string, number>;
  /** All that was ever in it. */
  readonly known: ReadonlySet<string>;
  readonly seen: number;
  /** Of all changes in their order. */
  digest(): string;
  /** What cannot be, were nothing missed and all in order. */
  readonly violations: readonly string[];
  /** Why it was cut off, and how often. */
  readonly cuts: ReadonlyMap<string, number>;
  stop(): Promise<void>;
};

/** Replays changes on a map that is empty at first. */
export function startFollower(name: string, source: Source, typeNames: readonly string[] | null = null): Follower {
  const copy = new Map<string, number>();
  const known = new Set<string>();
  const sequence = createHash('sha256');
  const violations: string[] = [];
  const cuts = new Map<string, number>();
  let seen = 0;
  let isFollowing = true;

  const replay = ({ operation, typeName, id, cursor }: FollowedChange) => {
    const [of, updates] = [`${typeName} ${id}`, copy.get(id)];
    if ((operation === 'CREATE') !== (updates === undefined))
      violations.push(`${operation} of ${of}, which is ${updates === undefined ? 'absent' : 'there'}, at ${cursor}`);
    if (operation === 'DELETE') copy.delete(id);
    else copy.set(id, operation === 'CREATE' ? 0 : (updates ?? 0) + 1);
    known.add(id);
    sequence.update(`${operation} ${of}\n`);
    seen++;
  };
  const follow = async () => {
    while (isFollowing) {
      try {
        const changes = await source.next();
        for (const change of changes) replay(change);
        if (changes.length === 0) await delay(50);
      } catch (error) {
        const reason = error instanceof Cut ? error.message : 'connection';
        if (isFollowing) cuts.set(reason, (cuts.get(reason) ?? 0) + 1);
        if (!(error instanceof Cut) && !isNetwork(error)) throw error;
        await delay(100);
      }
    }
  };
  const following = follow();
  return {
    ...{ name, source, typeNames, copy, known, violations, cuts },
    get seen() {
      return seen;
    },
    digest: () => sequence.copy().digest('hex'),
    async stop() {
      isFollowing = false;
      source.close();
      await following;
    },
  };
}

/** The service has said why it does not answer. */
class Cut extends Error {}

const isNetwork = (error: unknown) =>
  error instanceof TypeError ||
  hasCode(error, 'ECONNREFUSED', 'ECONNRESET') ||
  (error instanceof Error && ['AbortError', 'TimeoutError'].includes(error.name));

/** Page by page. */
export function pagesOf(serviceUrl: () => string, { app }: Tenant, first: number): Source {
  const query = pageQuery.replace(' fields node { __typename id }', '').replace(/\n *edges .*/, '');
  return {
    cursor: null,
    async next() {
      const { status, body } = await ask({ url: serviceUrl() }, app, query, { after: this.cursor, first });
      const page = (body.data as { app?: { changes?: Page } } | null | undefined)?.app?.changes;
      if (!page) throw new Cut(body.errors?.[0]?.extensions.code ?? String(status));
      this.cursor = page.pageInfo.endCursor;
      return page.nodes;
    },
    close: () => undefined,
  };
}

type Page = { readonly nodes: readonly FollowedChange[]; readonly pageInfo: { readonly endCursor: string } };

/** From a webhook. What is delivered again is passed over, and what its secret has not signed is an error. */
export function webhookOf({ received }: Receiver, secret: string): Source {
  const known = new Set<string>();
  let taken = 0;
  return {
    cursor: null,
    async next() {
      const changes = received.slice(taken).map((delivery) => {
        const { data } = verified(secret, delivery);
        const id = String(delivery.headers['webhook-id']);
        const isNew = !known.has(id);
        known.add(id);
        return isNew ? [data as FollowedChange] : [];
      });
      taken += changes.length;
      this.cursor = changes.flat().at(-1)?.cursor ?? this.cursor;
      return changes.flat();
    },
    close: () => undefined,
  };
}

/** From a stream; by turns an argument or a header says where it goes on. */
export function streamOf(serviceUrl: () => string, { app }: Tenant, start: string): Source {
  let stream: OpenStream | null = null;
  let opened = 0;
  const query = 'subscription ($after: Cursor) { changes(after: $after) { operation typeName id cursor } }';
  const open = async (after: string) => {
    const isByHeader = opened++ % 2 === 0;
    const made = await openStream({ url: serviceUrl() }, app, {
      query,
      variables: isByHeader ? {} : { after },
      headers: isByHeader ? { 'Last-Event-ID': after } : {},
    });
    if (made.status === 200) return made;
    made.close();
    throw new Cut(String(made.status));
  };
  return {
    cursor: start,
    async next() {
      stream ??= await open(this.cursor ?? start);
      try {
        const event = await stream.next();
        if (event?.event === ':') return [];
        if (event?.event !== 'next') throw new Cut(event?.event ?? 'end');
        const { data, errors } = JSON.parse(event.data);
        if (!data?.changes) throw new Cut(errors?.[0]?.extensions.code ?? event.data);
        if (event.id !== data.changes.cursor) throw new Error(`The event ${event.id} has the change ${event.data}`);
        this.cursor = event.id;
        return [data.changes];
      } catch (error) {
        stream?.close();
        stream = null;
        throw error;
      }
    },
    close: () => stream?.close(),
  };
}
