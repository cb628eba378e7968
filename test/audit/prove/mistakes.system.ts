import { bugs } from '../../policies/bugs.ts';
import { isWhole } from '../../support/search.ts';
import { disguises } from './disguises.ts';
import { mistakes } from './mistakes.ts';
import { line, openOf, startProving, touchedBy } from './support.ts';

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
    expect(openOf(await proving.judgeAfter(bug, touchedBy(bug)))).not.toEqual([]);
  });

  it.each(part(Object.entries(mistakes)))('does not prove a policy that %s', async (_name, { sql, tried = false }) => {
    const open = openOf(await proving.judgeAfter(sql, touchedBy(sql)));

    expect(open).not.toEqual([]);
    if (tried) expect(open.map(({ verdict }) => verdict)).toContain('refuted');
  });

  it.each(part(Object.entries(disguises)))('does not prove a policy that %s', async (_name, sql) => {
    const open = openOf(await proving.judgeAfter(sql, { ...touchedBy(sql), isTried: false }));

    expect(open).not.toEqual([]);
  });
});
