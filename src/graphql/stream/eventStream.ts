import type { ServerResponse } from 'node:http';
import type { Answer } from '../execution/answer.ts';
import { eventStreamMediaType, graphqlMediaType } from '../request/negotiate.ts';

export type EventStream = ReturnType<typeof openEventStream>;

/**
 * Server-sent events of GraphQL over SSE, distinct connections mode, with backpressure.
 * At most one event waits in memory. A client that takes none for 10 s is disconnected; it has the cursor of the last event that it took.
 *
 * https://github.com/enisdenjo/graphql-sse/blob/master/PROTOCOL.md; https://html.spec.whatwg.org/#server-sent-events
 */
export function openEventStream(response: ServerResponse) {
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
    /** Aborts when either side has ended the stream. */
    signal: ended.signal,
    /** Sends the status, once the beginning of the stream is known. */
    open: () => response.flushHeaders(),
    /** Resolves when the client has taken everything that was sent. */
    async ready(): Promise<void> {
      const tooSlow = setTimeout(complete, maxUnsentMs);
      await sent.finally(() => clearTimeout(tooSlow));
    },
    next(id: string | null, body: string): void {
      write(`${id === null ? '' : `id: ${id}\n`}event: next\ndata: ${body}\n\n`);
    },
    heartbeat: () => write(':\n\n'),
    complete,
  };
}

/** The answer to a query or mutation as an event stream; a refused request gets JSON. */
export function toEventStream(answer: Answer): Answer {
  if (answer.status === 200)
    return { ...answer, body: `event: next\ndata: ${answer.body}\n\nevent: complete\ndata:\n\n` };
  return { ...answer, headers: { ...answer.headers, 'Content-Type': `${graphqlMediaType}; charset=utf-8` } };
}

const maxUnsentMs = 10_000;
/** For events on their way to the client. */
const lingerMs = 2000;
