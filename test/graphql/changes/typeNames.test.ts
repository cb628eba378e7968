import { shareService } from '../../support/sharedService.ts';
import { createTenant, createUnit, createUser, type GraphTest, type Tenant } from '../support.ts';
import { inShort, present, readPage, settled } from './feed.ts';

// Pages of changes of some types.

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
});

test('pages of some types have only these, and lead on behind all that was looked at', async () => {
  const start = await present(graph, tenant);
  for (const name of ['One', 'Two']) {
    await createUnit(tenant, { name });
    await createUser(tenant, { fullName: name });
  }
  await createUnit(tenant, { name: 'Three' });
  await settled(tenant);
  const page = (typeNames: string[] | null, first: number | null = null, after = start) =>
    readPage(graph, tenant, { after, first, typeNames });

  expect((await page(['User'])).nodes.map(inShort)).toEqual(['CREATE User', 'CREATE User']);
  expect((await page(['Unit', 'User'])).nodes).toEqual((await page(null)).nodes);
  expect((await page(['NfcCard'])).nodes).toEqual([]);
  expect((await page([])).nodes).toEqual([]);
  const first = await page(['User'], 1);
  expect(first.pageInfo).toMatchObject({ hasNextPage: true, endCursor: first.nodes[0]?.cursor });
  const second = await page(['User'], 1, first.pageInfo.endCursor);
  expect(second.nodes.map(inShort)).toEqual(['CREATE User']);
  expect(second.pageInfo.hasNextPage).toBe(false);
  // The unit behind the last user was looked at, too.
  const ends = [second, await page(['NfcCard'])].map(({ pageInfo }) => pageInfo.endCursor);
  for (const end of ends) expect((await page(null, null, end)).nodes).toEqual([]);
  await createUnit(tenant, { name: 'Next' });
  await settled(tenant);
  for (const end of ends) expect((await page(['Unit'], null, end)).nodes.map(inShort)).toEqual(['CREATE Unit']);
});

test('pages of a rare type look at 5,000 changes each, and miss nothing behind these', async () => {
  const start = await present(graph, tenant);
  await tenant.owner.query(
    `insert into app_public.units (organization_id, name) select $1, n::text from generate_series(1, 12000) n`,
    [tenant.organizationId],
  );
  await createUser(tenant);
  await settled(tenant);
  const found: string[] = [];
  const sizes: number[] = [];

  for (let after = start, isLast = false; !isLast; ) {
    const { nodes, pageInfo } = await readPage(graph, tenant, { after, typeNames: ['User', 'NfcCard'] });
    found.push(...nodes.map(inShort));
    sizes.push(nodes.length);
    after = pageInfo.endCursor;
    isLast = !pageInfo.hasNextPage;
  }

  expect(found).toEqual(['CREATE User']);
  expect(sizes).toEqual([0, 0, 1]);
});

test("pages of some types have none of another organization's", async () => {
  const other = await createTenant(graph);
  await createUser(other);
  await settled(other);
  expect((await readPage(graph, other, { typeNames: ['User'] })).nodes.map(inShort)).toEqual(['CREATE User']);

  expect((await readPage(graph, tenant, { typeNames: ['User'] })).nodes).toEqual([]);
});
