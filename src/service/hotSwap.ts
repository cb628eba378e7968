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
  // `uses` counts the requests in flight, and one until it is retired. A `Set` of requests changes with each, and V8 links each table that
  // it outgrows to the next one. Once such a table was old, no later request could die young: 5.6 kB of each were promoted, which are
  // 0.4 kB with a count.
  const serve = (generation: SchemaGeneration) => ({ ...generation, drained: Promise.withResolvers<void>(), uses: 1 });
  let current = serve(first);
  let released: Promise<unknown> = Promise.resolve();

  const enter = (response: ServerResponse) => {
    const entered = current;
    entered.uses++;
    // Happens once, whether the answer was sent or the client disconnected.
    response.once('close', () => leave(entered));
    return entered;
  };
  const leave = (generation: typeof current) => {
    if (--generation.uses === 0) generation.drained.resolve();
  };
  const drain = async (generation: typeof current) => {
    generation.endStreams();
    leave(generation);
    await generation.drained.promise;
    await generation.release();
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
