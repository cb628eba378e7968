import type { GraphTest } from '../support.ts';
import type { Change } from './feed.ts';

export type Event = { readonly id: string | null; readonly event: string; readonly data: string };

export type OpenStream = {
  readonly status: number;
  readonly headers: Headers;
  /** The next event; null when the stream has ended. */
  next(): Promise<Event | null>;
  /** The changes of the next events. */
  changes(count: number): Promise<Change[]>;
  /** All that comes until the stream ends. */
  rest(): Promise<Event[]>;
  close(): void;
};

export const subscription = `subscription ($after: Cursor) {
  changes(after: $after) { operation typeName id fields node { __typename id } cursor at } }`;

export type StreamRequest = {
  readonly query?: string;
  readonly variables?: Record<string, unknown>;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
};

/** Subscribes as a client of GraphQL over SSE does, in distinct connections mode. */
export async function openStream(
  { url }: Pick<GraphTest, 'url'>,
  token: string,
  { query = subscription, variables = {}, headers = {}, signal = new AbortController().signal }: StreamRequest = {},
): Promise<OpenStream> {
  const closing = new AbortController();
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    signal: AbortSignal.any([signal, closing.signal]),
    headers: {
      'Content-Type': 'application/json',
      Accept: 'text/event-stream',
      Authorization: `Bearer ${token}`,
      ...headers,
    },
    body: JSON.stringify({ query, variables }),
  });
  const events = readEvents(response);
  const next = async () => (await events.next()).value ?? null;
  return {
    status: response.status,
    headers: response.headers,
    next,
    async changes(count) {
      const changes: Change[] = [];
      while (changes.length < count) {
        const event = await next();
        if (event?.event === ':') continue;
        if (event?.event !== 'next') throw new Error(`${changes.length} of ${count} changes, then ${event?.event}`);
        changes.push(JSON.parse(event.data).data.changes);
      }
      return changes;
    },
    async rest() {
      return Array.fromAsync({ [Symbol.asyncIterator]: () => events });
    },
    close: () => closing.abort(),
  };
}

/** By the rules of HTML, section 9.2.6, as far as the service needs them; comments are events of the name `:`. */
async function* readEvents({ body }: Response): AsyncGenerator<Event> {
  let text = '';
  const decoder = new TextDecoder();
  for await (const chunk of body ?? []) {
    text += decoder.decode(chunk, { stream: true });
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const fields = new Map(
        block.split('\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1).trimStart()]),
      );
      yield { id: fields.get('id') ?? null, event: fields.get('event') ?? ':', data: fields.get('data') ?? '' };
    }
  }
}
