import { setImmediate as turnEnds } from 'node:timers/promises';
import { createTurns } from '../../src/scheduling/turns.ts';
import { asTenant } from '../support/asTenant.ts';

/** What was done in each turn of the event loop, until so many pieces are done. */
async function watch(done: readonly string[], count: number): Promise<string[]> {
  const turns: string[] = [];
  while (done.length < count) {
    const before = done.length;
    await turnEnds();
    turns.push(done.slice(before).join(' '));
  }
  return turns.filter(Boolean);
}

test('so many pieces begin in each turn of the event loop, also when one follows at once on another', async () => {
  const inTurn = createTurns(2);
  const done: string[] = [];
  const work = async (name: string) => {
    for (let piece = 1; piece <= 3; piece++) await inTurn(1, () => done.push(`${name}${piece}`));
  };
  const working = Promise.all(['a', 'b', 'c'].map(work));

  const turns = await watch(done, 9);
  await working;

  expect(turns.map((turn) => turn.split(' ').length)).toEqual([2, 2, 2, 2, 1]);
});

test('a piece has so many turns, in which other work goes on', async () => {
  const inTurn = createTurns(1, 3);
  const turnsOf: number[] = [];
  let turn = 0;
  const counting = (async () => {
    while (turnsOf.length < 4) {
      await turnEnds();
      turn++;
    }
  })();

  await Promise.all([1, 2, 3, 4].map(() => inTurn(1, () => turnsOf.push(turn))));
  await counting;

  const gaps = turnsOf.slice(1).map((at, index) => at - (turnsOf[index] ?? 0));
  expect(gaps).toEqual([3, 3, 3]);
});

test('a tenant waits for one piece of another, however many wait and whatever they cost', async () => {
  const inTurn = createTurns(1);
  const done: string[] = [];
  const piece = (tenant: string, name: string) => asTenant(tenant, () => inTurn(20, () => done.push(name)));
  const working = [1, 2, 3, 4].map((n) => piece('busy', `busy${n}`));
  await turnEnds();
  working.push(piece('neighbour', 'neighbour'));

  await Promise.all(working);

  expect(done.indexOf('neighbour')).toBeLessThanOrEqual(2);
  expect(done).toHaveLength(5);
});

test('what a piece throws reaches its caller, and the next turn goes on', async () => {
  const inTurn = createTurns(1);
  const failing = inTurn(1, () => {
    throw new Error('broken');
  });

  await expect(failing).rejects.toThrow('broken');
  expect(await inTurn(1, () => 'done')).toBe('done');
});
