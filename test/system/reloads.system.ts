import { reloadUnderLoad } from '../development/reloadUnderLoad.ts';
import {
  createTenant,
  createUnit,
  createUser,
  type OwnGraphTest,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';

// As in test/development/reload.test.ts, which reloads three times.

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({ EXPLORERS: 'true', DATABASE_POOL_SIZE: '4' });
  tenant = await createTenant(graph);
  await createUser(tenant, { fullName: 'Grace Hopper' });
  for (let n = 1; n <= 5; n++) await createUnit(tenant, { name: `Unit ${n}` });
});
afterAll(() => graph.stop());

test('none of 2,000 requests fails across ten reloads, and each answer is of the old or of the new schema', async () => {
  const { wrong, answered, seen } = await reloadUnderLoad(graph, tenant, 10);

  expect(wrong).toEqual([]);
  expect(answered).toBe(2000);
  expect(seen.size).toBeGreaterThanOrEqual(10);
}, 120_000);
