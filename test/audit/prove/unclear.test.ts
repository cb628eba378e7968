import { type Catalogue, readCatalogue } from 'rls-prover';
import { compareAccess } from '../../../src/commands/audit/compareAccess.ts';
import { readOptions } from '../../../src/commands/audit/prove/readOptions.ts';
import { proveUnclear } from '../../../src/commands/audit/proveUnclear.ts';
import type { Access } from '../../../src/commands/audit/readAccess.ts';
import { createTestDatabase, type TestDatabase } from '../../support/database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

test('what no example tells of a policy is proven where it can be', async () => {
  const before = await catalogueAfter('select');
  const after = await catalogueAfter(`
    alter policy select_graph_app on app_public.users using ((select app_hidden.current_organization_id()) = organization_id);
    alter policy select_graph_app on app_public.cards using (${organization} or name = 'Visitor');
    alter policy select_graph_app on app_public.units using (${organization} and name <> 'Vault');
    alter policy select_graph_user on app_public.users using (${organization} and left(id::text, 4) = 'aaaa');
    alter policy update_graph_app on app_public.users using (${organization} and true) with check (${organization} and email is not null)`);

  const unclear = compareAccess(accessOf(before), accessOf(after));
  const found = await proveUnclear(unclear, accessOf(before), accessOf(after), after);

  expect(unclear.map(({ verdict }) => verdict)).toEqual(found.map(() => 'unclear'));
  expect(found.map(({ verdict, object }) => `${verdict}: ${object}`)).toEqual([
    'wider: app_public.cards.select_graph_app',
    'narrower: app_public.units.select_graph_app',
    'equal: app_public.users.select_graph_app',
    'unclear: app_public.users.select_graph_user',
    // E-mail addresses are not null.
    'equal: app_public.users.update_graph_app',
  ]);
});

async function catalogueAfter(statement: string): Promise<Catalogue> {
  const client = await database.owner.connect();
  try {
    await client.query(`begin; ${statement}`);
    return await readCatalogue(await readOptions(client));
  } finally {
    await client.query('rollback');
    client.release();
  }
}

/** Access of which no example is known. */
function accessOf({ relations }: Catalogue): Access {
  const policies = [...relations.values()].flatMap((relation) =>
    relation.policies.map(
      (policy) => [`${relation.name}.${policy.name}`, { ...policy, holds: new Set<string>() }] as const,
    ),
  );
  const nothing = () => new Map<string, Set<string>>();
  return {
    ...{ grants: nothing(), callers: nothing(), bypasses: nothing(), outcomes: nothing(), notProbed: [] },
    ...{ rowSecurity: new Map(), definitions: new Map(), policies: new Map(policies) },
  };
}

const organization = 'organization_id = (select app_hidden.current_organization_id())';
