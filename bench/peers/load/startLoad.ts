import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { LoadOrder, LoadResult } from './loadProcess.ts';

export type Load = {
  /** Keeps all connections busy for a while. @throws when an answer is an error */
  run(order: LoadOrder): Promise<LoadResult>;
  stop(): void;
};

/** The process that sends. */
export function startLoad(): Load {
  const child = fork(join(import.meta.dirname, 'loadProcess.ts'), { serialization: 'advanced' });
  return {
    async run(order) {
      child.send(order);
      const [answer] = (await once(child, 'message')) as [LoadResult | { error: string }];
      if ('error' in answer) throw new Error(answer.error);
      return answer;
    },
    stop: () => child.disconnect(),
  };
}
