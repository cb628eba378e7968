import { mistakes } from './mistakes.ts';
import { line, openOf, startProving, touchedBy } from './support.ts';

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

it('proves the schema as it is', async () => {
  const judgements = await proving.judgeAfter();

  expect(openOf(judgements).map(line)).toEqual([]);
  const bySolver = judgements.filter(({ verdict, isByPrivilege }) => verdict === 'proven' && !isByPrivilege);
  expect(bySolver.length).toBeGreaterThan(150);
});

it.each(Object.entries(mistakes))('does not prove a policy that %s', async (_name, { sql, tried = false }) => {
  const open = openOf(await proving.judgeAfter(sql, touchedBy(sql)));

  expect(open).not.toEqual([]);
  if (tried) expect(open.map(({ verdict }) => verdict)).toContain('refuted');
});
