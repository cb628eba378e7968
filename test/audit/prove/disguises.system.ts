import { bugs } from '../../policies/bugs.ts';
import { disguises } from './disguises.ts';
import { openOf, startProving, touchedBy } from './support.ts';

// Mistakes to which the comparison with sets is held, and mistakes in disguise.

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

it.each(Object.entries(bugs))('does not prove a policy that %s', async (_name, bug) => {
  expect(openOf(await proving.judgeAfter(bug, touchedBy(bug)))).not.toEqual([]);
});

it.each(Object.entries(disguises))('does not prove a policy that %s', async (_name, sql) => {
  const open = openOf(await proving.judgeAfter(sql, { ...touchedBy(sql), isTried: false }));

  expect(open).not.toEqual([]);
});
