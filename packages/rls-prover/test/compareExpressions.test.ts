import { compareExpressions, readCatalogue } from 'rls-prover';
import { ofTenant, startProving } from './support.ts';

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

const compare = (before: string, after: string, relation = 'app.users') =>
  proving.after('', async (client) =>
    compareExpressions(
      {
        ...{ relation, before, after, roles: [proving.member] },
        catalogue: await readCatalogue({ ...proving.options, client }),
      },
      proving.prover,
    ),
  );

test.each([
  ['equal', ofTenant, '(select app.tenant_id()) = tenant_id'],
  // A name is not null.
  ['equal', ofTenant, `${ofTenant} and name is not null`],
  ['wider', ofTenant, `${ofTenant} or name = 'Guest'`],
  ['narrower', ofTenant, `${ofTenant} and name <> 'Guest'`],
  ['unclear', ofTenant, 'id = (select app.user_id())'],
])('is %s for all claims and rows', async (relationship, before, after) => {
  expect(await compare(before, after)).toBe(relationship);
});

test('is unclear of a relation that is not there', async () => {
  expect(await compare('true', 'true', 'app.nothing')).toBe('unclear');
});
