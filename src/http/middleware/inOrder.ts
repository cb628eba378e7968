import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** What answers a request, or prepares it for the next one; none of these fails. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A chain of handlers (middleware): a request passes through these; the last one answers. */
export function inOrder(handlers: readonly Handler[]): RequestListener {
  return (request, response) => {
    const pass = (index: number) => handlers[index]?.(request, response, () => pass(index + 1));
    pass(0);
  };
}
