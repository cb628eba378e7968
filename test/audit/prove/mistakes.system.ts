import { bugs } from '../../policies/bugs.ts';
import { isWhole } from '../../support/search.ts';
import { mistakes } from './mistakes.ts';
import { line, openOf, startProving } from './support.ts';

/** Every so many; all of them in `npm run test:system`. */
const part = <Entry>(entries: Entry[]) => entries.filter((_, index) => isWhole || index % 6 === 0);

describe('the prover', () => {
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

  it.each(part(Object.entries(bugs)))('does not prove a policy that %s', async (_name, bug) => {
    expect(openOf(await proving.judgeAfter(bug))).not.toEqual([]);
  });

  it.each(part(Object.entries(mistakes)))('does not prove a policy that %s', async (name, { sql, tried = false }) => {
    const open = openOf(await proving.judgeAfter(sql));
    if (process.env.SHOW) console.log(name, open.map(line).join('\n').slice(0, 900));

    expect(open).not.toEqual([]);
    if (tried) expect(open.map(({ verdict }) => verdict)).toContain('refuted');
  });
});
