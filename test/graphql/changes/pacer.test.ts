import { setImmediate as turnEnds } from 'node:timers/promises';
import { createPacer } from '../../../src/graphql/stream/pacer.ts';

test('pieces of work are spread over turns of the event loop, first come, first served', async () => {
  const turn = createPacer(2);
  const done: string[] = [];
  const work = async (name: string) => {
    for (let piece = 1; piece <= 3; piece++) {
      await turn();
      done.push(`${name}${piece}`);
    }
  };
  const working = Promise.all(['a', 'b', 'c'].map(work));

  const turns: string[] = [];
  while (done.length < 9) {
    const before = done.length;
    await turnEnds();
    turns.push(done.slice(before).join(' '));
  }
  await working;

  expect(turns.filter(Boolean)).toEqual(['a1 b1', 'c1 a2', 'b2 c2', 'a3 b3', 'c3']);
});
