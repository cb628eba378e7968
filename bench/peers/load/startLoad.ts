import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoadOrder, LoadResult } from './loadProcess.ts';

export type Load = {
  /** Keeps all connections busy for a while. @throws when an answer is an error */
  run(order: LoadOrder): Promise<LoadResult>;
  stop(): void;
};

type Answer = LoadResult | { readonly error: string };

/** The process that sends. */
export function startLoad(): Load {
  const child = fork(join(import.meta.dirname, 'loadProcess.ts'), { serialization: 'advanced' });
  const ended = once(child, 'exit').then(() => {
    throw new Error('The process that sends has ended.');
  });
  // At the end it is stopped on purpose.
  ended.catch(() => undefined);
  return {
    async run(order) {
      child.send(order);
      const answer = await Promise.race([once(child, 'message') as Promise<[Answer]>, ended]);
      if ('error' in answer[0]) throw new Error(answer[0].error);
      return answer[0];
    },
    stop: () => child.disconnect(),
  };
}
