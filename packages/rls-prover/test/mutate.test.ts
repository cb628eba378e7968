import { type Mutation, mutate } from 'rls-prover';
import { startProving } from './support.ts';

let proving: Awaited<ReturnType<typeof startProving>>;
let mutations: readonly Mutation[];
let lintsAsked = 0;
beforeAll(async () => {
  proving = await startProving();
  mutations = await proving.after('', (client) =>
    mutate(
      {
        ...{ ...proving.options, client },
        isWeakened: (relation) => relation !== 'app.secrets',
        swaps: [['app.user_id()', 'app.tenant_id()']],
        async findLints() {
          lintsAsked++;
          const { rows } = await client.query(
            `select relname from pg_class where relname = 'users' and not relforcerowsecurity`,
          );
          return rows.map(({ relname }) => `not forced: ${relname}`);
        },
      },
      proving.prover,
    ),
  );
});
afterAll(() => proving.stop());

const find = (mutant: string) => mutations.find((one) => one.mutant === mutant);

test('proofs notice a policy without a part of it', () => {
  const [weaker] = mutations.filter(({ mutant }) =>
    mutant.startsWith('own_notes on app.notes: using without (author_id'),
  );

  expect(weaker?.noticedBy).toContain(`proof author: select on app.notes ${proving.member}`);
  expect(weaker?.survives).toBeNull();
});

test('proofs notice a claim in the place of another', () => {
  const [swapped] = mutations.filter(({ mutant }) => mutant.endsWith('with app.tenant_id() for app.user_id()'));

  expect(swapped?.noticedBy).toContain(`proof author: select on app.notes ${proving.member}`);
});

test('lints are asked for what no proof notices', () => {
  expect(find('app.users: not forced')).toEqual({
    ...{ mutant: 'app.users: not forced', noticedBy: ['lint not forced: users'], survives: null },
  });
  expect(lintsAsked).toBeLessThan(mutations.length);
});

test('what nothing notices survives, with the reason', () => {
  expect(find('app.notes: not forced')).toMatchObject({ noticedBy: [], survives: 'no invariant speaks of it' });
});

test('a table that is left out is not weakened', () => {
  expect(mutations.filter(({ mutant }) => mutant.includes('app.secrets'))).toEqual([]);
});
