import { reloadUnderLoad, startReloadTest } from '../development/reloadUnderLoad.ts';
import type { OwnGraphTest, Tenant } from '../graphql/support.ts';

// As in test/development/reload.test.ts, which reloads three times.

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  ({ graph, tenant } = await startReloadTest());
});
afterAll(() => graph.stop());

test('none of 2,000 requests fails across ten reloads, and each answer is of the old or of the new schema', async () => {
  const { wrong, answered, seen } = await reloadUnderLoad(graph, tenant, 10);

  expect(wrong).toEqual([]);
  expect(answered).toBe(2000);
  expect(seen.size).toBeGreaterThanOrEqual(10);
}, 120_000);
