import { bugs } from '../../policies/bugs.ts';
import { line, openOf, startProving } from './support.ts';

describe('the prover', () => {
  let proving: Awaited<ReturnType<typeof startProving>>;
  beforeAll(async () => {
    proving = await startProving();
  });
  afterAll(() => proving.stop());

  it('proves the schema as it is', async () => {
    const judgements = await proving.judgeAfter();

    expect(openOf(judgements).map(line)).toEqual([]);
    expect(judgements.filter(({ verdict, isByPrivilege }) => verdict === 'proven' && !isByPrivilege).length).toBeGreaterThan(150);
  });

  it.each(Object.entries(bugs))('does not prove a policy that %s', async (_name, bug) => {
    const open = openOf(await proving.judgeAfter(bug));
    console.log(_name, open.map(line).join('\n').slice(0, 600));

    expect(open).not.toEqual([]);
  });
});
