import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';

/** Answers a request, or prepares it for the next handler; a handler never fails. */
export type Handler = (request: IncomingMessage, response: ServerResponse, next: () => void) => void;

/** A chain of handlers (middleware): a request passes each in turn, and the last one answers. */
export function inOrder(handlers: readonly Handler[]): RequestListener {
  return (request, response) => {
    const pass = (index: number) => handlers[index]?.(request, response, () => pass(index + 1));
    pass(0);
  };
}
