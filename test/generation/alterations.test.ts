import { ask, createTenant, type OwnGraphTest, startGraphTest, type Tenant } from '../graphql/support.ts';
import { alterations, insertSpans, spanQueries, spansSql } from './alterations.ts';

// Sessions keep prepared statements, with the types that their columns had.

let graph: OwnGraphTest;
let tenant: Tenant;
let queries: readonly string[];
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    await database.owner.query(spansSql);
  });
  await graph.database.owner.query(insertSpans, [tenant.organizationId]);
  const { body } = await ask(graph, tenant.app, '{ app { spans { nodes { id } } } }');
  const { app } = body.data as { app: { spans: { nodes: { id: string }[] } } };
  queries = spanQueries(app.spans.nodes[0]?.id ?? '');
});
afterAll(() => graph.stop());

const answers = () =>
  Promise.all(
    queries.map(async (query) => {
      const { status, body } = await ask(graph, tenant.app, query);
      return { status, body };
    }),
  );

test.each(Object.entries(alterations))('%s: nobody but the owner notices', async (_what, alteration) => {
  // Compiled, too, and prepared on more than one connection.
  for (let round = 0; round < 3; round++) await answers();
  const before = await answers();
  expect(before.every(({ status, body }) => status === 200 && body.errors === undefined)).toBe(true);

  await graph.database.owner.query(`alter table app_public.spans ${alteration}`);

  for (let round = 0; round < 3; round++) expect(await answers()).toEqual(before);
});
