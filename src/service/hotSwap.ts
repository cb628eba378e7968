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

export type HotSwap = Pick<SchemaGeneration, 'graphql' | 'pages' | 'endStreams'> & {
  /** New requests go to `next`; those in flight finish on the generation that they started with. */
  swap(next: SchemaGeneration): void;
  /** Resolves when every generation has been released, the last one included. */
  stop(): Promise<void>;
};

/**
 * Blue/green hot swap of the schema with request draining: no request is dropped.
 *
 * @param onFailure is called when a release fails; that of an earlier generation is not awaited
 */
export function createHotSwap(first: SchemaGeneration, onFailure: (error: unknown) => void): HotSwap {
  let current = serve(first);
  const draining = new Set<Promise<void>>();

  const drain = () => {
    const drained = current
      .drain()
      .catch(onFailure)
      .finally(() => draining.delete(drained));
    draining.add(drained);
  };

  return {
    graphql: (request, response) => current.graphql(request, response),
    pages: (request, response, next) => current.pages(request, response, next),
    endStreams: () => current.endStreams(),
    swap(next) {
      drain();
      current = serve(next);
    },
    async stop() {
      drain();
      await Promise.all(draining);
    },
  };
}

/** Counts a generation's requests in flight, so that it is released after the last one. */
function serve({ graphql, pages, endStreams, release }: SchemaGeneration) {
  let inFlight = 0;
  const drained = Promise.withResolvers<void>();
  let isDraining = false;
  const check = () => {
    if (isDraining && inFlight === 0) drained.resolve();
  };

  const count = (response: ServerResponse) => {
    inFlight += 1;
    // Happens once, whether the answer was sent or the client disconnected.
    response.once('close', () => {
      inFlight -= 1;
      check();
    });
  };
  const drain = async () => {
    isDraining = true;
    endStreams();
    check();
    await drained.promise;
    await release();
  };
  const counted: Pick<SchemaGeneration, 'graphql' | 'pages'> = {
    graphql(request, response) {
      count(response);
      graphql(request, response);
    },
    pages(request, response, next) {
      count(response);
      return pages(request, response, next);
    },
  };
  return { ...counted, endStreams, drain };
}
