import { glob, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { fileSeconds } from './fileSeconds.ts';
import Sequencer from './sequencer.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const sequencer = new Sequencer({ contexts: [], globalConfig: {} } as never);

it('gives each test of the whole system to one shard of CI, and none more than five minutes of them', async () => {
  const run = await readFile(join(root, '.ci/run'), 'utf8');
  const shardCount = Number(/% (\d+)/.exec(run)?.[1]);
  const left = new RegExp(/--testPathIgnorePatterns (.+)/.exec(run)?.[1]?.replaceAll(' ', '|') ?? '^$');
  const files = (await Array.fromAsync(glob('{test,packages/*/test}/**/*.{system,search}.ts', { cwd: root }))).filter(
    (file) => !left.test(file),
  );
  const tests = files.map((file) => ({ path: join(root, file) }) as never);
  const shards = Array.from({ length: shardCount }, (_, index) =>
    sequencer.shard(tests, { shardIndex: index + 1, shardCount }).map(({ path }) => path.slice(root.length)),
  );

  expect(run).toContain(`/${shardCount}`);
  expect(shards.flat().toSorted()).toEqual(files.toSorted());
  for (const shard of shards) {
    const seconds = shard.reduce((sum, file) => sum + (fileSeconds[file.replace(/^.*?\btest\//, '')] ?? 5), 0);
    expect(seconds).toBeLessThanOrEqual(300);
    expect(seconds).toBeGreaterThan(100);
  }
});

it('knows no file that is not there', async () => {
  const paths = await Array.fromAsync(glob('{test,packages/*/test}/**/*.ts', { cwd: root }));
  const files = new Set(paths.map((path) => path.replace(/^.*?\btest\//, '')));

  expect(Object.keys(fileSeconds).filter((file) => !files.has(file))).toEqual([]);
});
