import { createRequire } from 'node:module';
import { fileSeconds } from './fileSeconds.ts';

type Sequencing = typeof import('@jest/test-sequencer', { with: { 'resolution-mode': 'require' }});

const { default: TestSequencer }: Sequencing = createRequire(import.meta.url)('@jest/test-sequencer');

type Tests = Parameters<InstanceType<Sequencing['default']>['sort']>[0];

/**
 * Longest processing time first (Graham 1969), for the workers of one run and for the shards of CI.
 * Jest's own sequencer knows times only where it has run before. In a new clone it sorts by size, so that a small file that takes long may
 * run alone at the end. Its shards have equal numbers of files, however long these take.
 */
export default class Sequencer extends TestSequencer {
  override async sort(tests: Tests): Promise<Tests> {
    const sorted = await super.sort(tests);
    return sorted.toSorted((one, other) => secondsOf(other) - secondsOf(one));
  }

  /** The same for the same files, on every machine. */
  override shard(tests: Tests, { shardIndex, shardCount }: { shardIndex: number; shardCount: number }): Tests {
    const shards = Array.from({ length: shardCount }, () => ({ seconds: 0, tests: [] as Tests }));
    const byPath = tests.toSorted((one, other) => (one.path < other.path ? -1 : 1));
    for (const test of byPath.toSorted((one, other) => secondsOf(other) - secondsOf(one))) {
      const shortest = shards.reduce((one, other) => (other.seconds < one.seconds ? other : one));
      shortest.tests.push(test);
      shortest.seconds += secondsOf(test);
    }
    return shards[shardIndex - 1]?.tests ?? [];
  }
}

const secondsOf = ({ path }: { path: string }) =>
  fileSeconds[path.slice(path.lastIndexOf('/test/') + '/test/'.length)] ?? 5;
