import type { RequestListener, ServerResponse } from 'node:http';
import type { RequestHandler } from 'express';

/** What answers requests until the next edition does. */
export type Edition = {
  /** Answers `/graphql`. */
  readonly graphql: RequestListener;
  /** Answers the pages about it, or passes on. */
  readonly pages: RequestHandler;
  /** Gives back what only this edition needed; called when its last request has ended. */
  release(): Promise<void>;
};

export type Exchange = Pick<Edition, 'graphql' | 'pages'> & {
  /** From now on new requests go to `next`; those in flight finish on the edition that they began with. */
  replace(next: Edition): void;
  /** Resolves when every edition has been released, the last one included. */
  stop(): Promise<void>;
};

/**
 * What can be exchanged while it serves, without dropping a request.
 *
 * @param onFailure hears of a release that failed; nobody waits for that of an earlier edition
 */
export function createExchange(first: Edition, onFailure: (error: unknown) => void): Exchange {
  let current = serve(first);
  const retiring = new Set<Promise<void>>();

  const retire = () => {
    const retired = current
      .retire()
      .catch(onFailure)
      .finally(() => retiring.delete(retired));
    retiring.add(retired);
  };

  return {
    graphql: (request, response) => current.graphql(request, response),
    pages: (request, response, next) => current.pages(request, response, next),
    replace(next) {
      retire();
      current = serve(next);
    },
    async stop() {
      retire();
      await Promise.all(retiring);
    },
  };
}

/** An edition that counts what it has in flight, so that it knows when it is at rest. */
function serve({ graphql, pages, release }: Edition) {
  let inFlight = 0;
  const atRest = Promise.withResolvers<void>();
  let isRetired = false;
  const check = () => {
    if (isRetired && inFlight === 0) atRest.resolve();
  };

  const count = (response: ServerResponse) => {
    inFlight += 1;
    // Comes once, whether the answer was sent or the client went away.
    response.once('close', () => {
      inFlight -= 1;
      check();
    });
  };
  const retire = async () => {
    isRetired = true;
    check();
    await atRest.promise;
    await release();
  };
  const counted: Pick<Edition, 'graphql' | 'pages'> = {
    graphql(request, response) {
      count(response);
      graphql(request, response);
    },
    pages(request, response, next) {
      count(response);
      return pages(request, response, next);
    },
  };
  return { ...counted, retire };
}
