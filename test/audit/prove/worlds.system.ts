import fc from 'fast-check';
import { readOptions } from '../../../src/commands/audit/prove/readOptions.ts';
import { openAttempts } from '../../policies/attempts.ts';
import { insertWorld } from '../../policies/insertWorld.ts';
import { principalsOf, settingsOf } from '../../policies/principals.ts';
import { worlds } from '../../policies/world.ts';
import { seed } from '../../support/search.ts';
import { policies } from './policies.ts';
import { startProving } from './support.ts';

/** Worlds, and a policy for each three. They take two minutes; `WORLDS=3000` takes half an hour. */
const worldCount = Number(process.env.WORLDS || 240);
/** Policies whose judgements the prover tries to refute. The others are unproven instead. */
const triedCount = 10;

const invariants = {
  organization: (row: string, claims: { organization: string }) => row.startsWith(`${claims.organization}/`),
  person: (row: string, claims: { user: string }) => row.endsWith(`/${claims.user}`),
  claims: (_row: string, claims: { organization: string }) => claims.organization !== '',
};

/** Policies are drawn, and what is proven of them is looked for in worlds that are drawn, too. A refutation was tried by the prover itself. */
describe(`what is proven of policies (SEED=${seed})`, () => {
  let proving: Awaited<ReturnType<typeof startProving>>;
  beforeAll(async () => {
    proving = await startProving();
  });
  afterAll(() => proving.stop());

  it('has no counterexample in any world', async () => {
    const counts = { proven: 0, refuted: 0, unproven: 0 };
    const proven: { policy: string; names: (keyof typeof invariants)[] }[] = [];
    const question = await proving.within(readOptions);
    for (const [place, policy] of [...new Set(fc.sample(policies, { seed, numRuns: worldCount / 3 }))].entries()) {
      const judgements = await proving.judgeAfter(alter(policy), {
        ...{ question, isTried: place < triedCount },
        isAsked: ({ invariant, relation, command, role }) =>
          invariant in invariants && relation === 'app_public.users' && command === 'select' && role === 'graph_user',
      });
      const asked = judgements.filter(({ relation }) => relation === 'app_public.users');
      expect(asked).toHaveLength(3);
      for (const { verdict } of asked) counts[verdict]++;
      const names = asked
        .filter(({ verdict }) => verdict === 'proven')
        .map(({ invariant }) => invariant as keyof typeof invariants);
      if (names.length > 0) proven.push({ policy, names });
    }
    console.log(counts, `${worldCount} worlds`);
    expect(counts.proven).toBeGreaterThan(0);
    expect(counts.refuted).toBeGreaterThan(0);

    // All that is proven is asked at once, as conditions of a query under the same role: no policy of the grammar reads its own table.
    await proving.database.owner.query(alter('true'));
    const conditions = proven.map(({ policy }) => `(${policy})`).join(', ');
    const text = `select organization_id || '/' || id || ' ' || array_to_string(array(
      select place from unnest(array[${conditions}]) with ordinality as policy (holds, place) where holds), ' ')
      from app_public.users`;
    const { attempt, close } = await openAttempts(proving.database.authUrl);
    let seen = 0;
    try {
      for (const world of fc.sample(worlds, { seed, numRuns: worldCount })) {
        await proving.database.owner.query(insertWorld(world));
        for (const principal of principalsOf(world).filter(({ role }) => role === 'graph_user')) {
          const rows = await attempt(settingsOf(principal), { text, values: [], reads: true });
          if (!Array.isArray(rows)) throw new Error(JSON.stringify(rows));
          const broken = rows.flatMap((line) => {
            const [row = '', ...places] = line.split(' ');
            seen += places.length;
            return places
              .map((place) => proven[Number(place) - 1])
              .filter((policy) => policy?.names.some((name) => !invariants[name](row, principal.claims)))
              .map((policy) => [row, policy]);
          });
          expect({ principal, broken }).toEqual({ principal, broken: [] });
        }
      }
    } finally {
      await close();
    }
    // What is proven shows rows, too.
    expect(seen).toBeGreaterThan(0);
  }, 7_200_000);
});

const alter = (policy: string) => `alter policy select_graph_user on app_public.users using (${policy})`;
