import type { RequestHandler } from 'express';
import { isFromThisMachine } from './demo.ts';
import type { PageContext } from './page.ts';

/** Sends this machine the page with all of its context, and everybody else the page without the demo. */
export function forThisMachine(context: PageContext, create: (context: PageContext) => RequestHandler): RequestHandler {
  const [sendWhole, sendPublic] = [create(context), create({ ...context, demo: null, withOwner: null })];
  return (request, response, next) =>
    (isFromThisMachine(context.config, request) ? sendWhole : sendPublic)(request, response, next);
}
