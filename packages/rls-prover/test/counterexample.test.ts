import type { Options } from 'rls-prover';
import { ofTenant, startProving } from './support.ts';

// The statements of a counterexample show it.

let proving: Awaited<ReturnType<typeof startProving>>;
beforeAll(async () => {
  proving = await startProving();
});
afterAll(() => proving.stop());

const [a1, a2, b1] = [
  'aaaaaaaa-0000-7000-8000-000000000001',
  'aaaaaaaa-0000-7000-8000-000000000002',
  'bbbbbbbb-0000-7000-8000-000000000001',
];
const [tenantA, tenantB] = ['aaaaaaaa-0000-7000-8000-000000000000', 'bbbbbbbb-0000-7000-8000-000000000000'];

/** The statements of a refuted goal, and how many rows the last one reads or changes when they are run. */
async function shownBy(statements: string, goal: string, changes: Partial<Options> = {}) {
  const isAsked: Options['isAsked'] = (one) => `${one.invariant}: ${one.command} on ${one.relation}` === goal;
  const judgements = await proving.judgeAfter(statements, { isAsked, ...changes });
  const found = judgements.find((one) => isAsked(one));
  const shown = found?.counterexample ?? [];
  const rows = await proving.after(statements, async (client) => {
    await proving.options.examples?.insert(client);
    let count: number | null = null;
    for (const statement of shown) count = (await client.query(statement)).rowCount;
    return count;
  });
  return { verdict: found?.verdict, shown, rows };
}

test('that a client reads: its claims, its role and the row by its key', async () => {
  const { shown, rows } = await shownBy(
    'alter policy users_of_tenant on app.users using (true)',
    'tenant: select on app.users',
  );

  expect(shown).toEqual([
    `select set_config('app.tenant_id', '${tenantA}', true)`,
    `select set_config('app.user_id', '${a1}', true)`,
    `set local role "${proving.member}"`,
    `select "tenant_id", "id", "name" from app.users where "tenant_id" = '${tenantB}' and "id" = '${b1}'`,
  ]);
  expect(rows).toBe(1);
});

test('with the values that the solver found, in rows by their keys', async () => {
  const { shown, rows } = await shownBy(
    `alter policy users_of_tenant on app.users using (${ofTenant} or name = 'Root')`,
    'tenant: select on app.users',
  );

  expect(shown[0]).toMatch(/^update app.users set "name" = 'Root' where "tenant_id" = /);
  expect(rows).toBe(1);
});

test('of a delete through a view, which reads as its owner', async () => {
  const view = `create view app.all_notes as select tenant_id, id, author_id from app.notes; grant delete on app.all_notes to member`;

  const { verdict, shown, rows } = await shownBy(view, 'author: delete on app.all_notes');

  expect(verdict).toBe('refuted');
  expect(shown.at(-1)).toMatch(/^delete from app.all_notes where /);
  expect(rows).toBeGreaterThan(0);
});

test('of an insert in the name of somebody else, which no example is by itself', async () => {
  const policy = `alter policy own_notes on app.notes with check (${ofTenant} and id <> '${a2}' and exists (select from app.users u where u.id = author_id))`;

  const { verdict, shown, rows } = await shownBy(policy, 'author: insert on app.notes');

  expect(verdict).toBe('refuted');
  expect(shown.at(-1)).toContain(`'${a2}'`);
  expect(rows).toBe(1);
});

test('tries a principal only as its roles', async () => {
  const { examples } = proving.options;
  const principals = examples?.principals.map((principal) => ({ ...principal, roles: ['somebody_else'] })) ?? [];
  const goal = 'tenant: select on app.users';
  const policy = 'alter policy users_of_tenant on app.users using (true)';

  expect((await shownBy(policy, goal)).verdict).toBe('refuted');
  expect(
    (await shownBy(policy, goal, { examples: examples ? { ...examples, principals } : undefined } as Partial<Options>))
      .verdict,
  ).toBe('unproven');
});

describe('a function with the rights of its owner', () => {
  const judged = async (condition: string) => {
    const judgements = await proving.judgeAfter(
      `create function app.entry(tenant uuid) returns setof uuid language plpgsql stable security definer set search_path = pg_catalog, pg_temp
         as $$ begin return query select n.id from app.notes n where ${condition}; end $$`,
      { isAsked: () => false },
    );
    return judgements.find(({ relation }) => relation === 'app.entry(uuid)');
  };

  test('is refuted by calling it, with the row that it shows', async () => {
    const judgement = await judged('n.tenant_id = tenant');

    expect(judgement).toMatchObject({
      verdict: 'refuted',
      why: expect.stringMatching(/^member_\w+ of A as A1 is shown id \w+.* of app\.notes; runs with/),
    });
    expect(judgement?.counterexample?.at(-1)).toMatch(/^select to_jsonb\(f\) as row from app\.entry\('.*'::uuid\) f$/);
  });

  test('is not refuted by a row that the caller may see', async () => {
    expect(await judged('n.author_id = app.user_id()')).toMatchObject({ verdict: 'unproven', counterexample: null });
  });
});
