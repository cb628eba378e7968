import type { RequestListener, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';

/** Everything built from one schema, until the next generation replaces it. */
export type SchemaGeneration = {
  /** Answers `/graphql`. */
  readonly graphql: RequestListener;
  /** Answers the pages about it, or passes the request on. */
  readonly pages: RequestHandler;
  /** Completes its streams, which would not end by themselves. */
  endStreams(): void;
  /** Frees what only this generation needed; called when its last request has ended. */
  release(): Promise<void>;
};

/**
 * Blue/green hot swap of the schema with request draining: no request is dropped.
 *
 * @param onFailure is called when a release fails; that of an earlier generation is not awaited
 */
export function createHotSwap(first: SchemaGeneration, onFailure: (error: unknown) => void) {
  const serve = (generation: SchemaGeneration) => ({ ...generation, inFlight: new Set<ServerResponse>() });
  let current = serve(first);
  let released: Promise<unknown> = Promise.resolve();

  const enter = (response: ServerResponse) => {
    const { inFlight } = current;
    inFlight.add(response);
    // Happens once, whether the answer was sent or the client disconnected.
    response.once('close', () => inFlight.delete(response));
    return current;
  };
  const drain = async ({ inFlight, endStreams, release }: typeof current) => {
    endStreams();
    await Promise.all([...inFlight].map((response) => new Promise((resolve) => response.once('close', resolve))));
    await release();
  };
  const retire = () => {
    const earlier = released;
    released = drain(current)
      .catch(onFailure)
      .then(() => earlier);
  };

  return {
    graphql: ((request, response) => enter(response).graphql(request, response)) satisfies RequestListener,
    pages: ((request, response, next) => enter(response).pages(request, response, next)) satisfies RequestHandler,
    endStreams: () => current.endStreams(),
    /** New requests go to `next`; those in flight finish on the generation that they started with. */
    swap(next: SchemaGeneration): void {
      retire();
      current = serve(next);
    },
    /** Resolves when every generation has been released, the last one included. */
    async stop(): Promise<void> {
      retire();
      await released;
    },
  };
}
