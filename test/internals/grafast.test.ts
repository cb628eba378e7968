// The assumptions of plugins/internals.ts about Grafast and @dataplan/pg. If one of these fails, a release has changed it.
import { constant, grafast, makeGrafastSchema, type Step } from 'postgraphile/grafast';
import type { GraphQLSchema } from 'postgraphile/graphql';
import { layersAbove, withPlanCache } from '../../plugins/internals.ts';
import { createTenant, createUser, read } from '../graphql/support.ts';
import { shareService } from '../support/sharedService.ts';

const resolvedPreset = { plugins: [] } as unknown as GraphileConfig.ResolvedPreset;

const answer = async (schema: GraphQLSchema, source: string) => {
  const { data } = (await grafast({ schema, source, resolvedPreset, requestContext: {} })) as { data?: unknown };
  return JSON.parse(JSON.stringify(data));
};

test('a step knows its layers, one more below each list', async () => {
  const schema = makeGrafastSchema({
    typeDefs: 'type Query { things: [Thing!]! } type Thing { layers: Int! things: [Thing!]! }',
    objects: {
      Query: { plans: { things: () => constant([{}]) } },
      Thing: { plans: { layers: ($thing: Step) => constant(layersAbove($thing)), things: () => constant([{}]) } },
    },
  });

  const data = await answer(schema, '{ things { layers things { layers things { layers } } } }');

  const [{ layers, things }] = data.things;
  expect([layers, things[0].layers, things[0].things[0].layers]).toEqual([layers, layers + 1, layers + 2]);
});

test('a schema with a plan cache of two operations plans the first anew after two others', async () => {
  let planned = 0;
  const schema = makeGrafastSchema({
    typeDefs: 'type Query { name: String }',
    objects: {
      Query: {
        plans: {
          name() {
            planned++;
            return constant('Ada');
          },
        },
      },
    },
  });
  const plannedBy = async (own: GraphQLSchema) => {
    planned = 0;
    for (const source of ['{ name }', '{ a: name }', '{ b: name }', '{ name }']) await answer(own, source);
    return planned;
  };

  expect(await plannedBy(schema)).toBe(3);
  expect(await plannedBy(withPlanCache(schema, { operations: 2, plansOfOperation: 2 }))).toBe(4);
});

test.each(['', 'orderBy: FULL_NAME_DESC'])(
  'a cursor begins with the digest of its order, by which it is taken: %s',
  async (order) => {
    const service = await shareService();
    const tenant = await createTenant(service);
    for (const fullName of ['Ada', 'Grace']) await createUser(tenant, { fullName });
    const page = (after: string | null) =>
      read<{ app: { users: { nodes: unknown[]; pageInfo: { endCursor: string } } } }>(
        service,
        tenant.app,
        `query ($after: Cursor) { app { users(first: 1, after: $after, ${order}) { nodes { id } pageInfo { endCursor } } } }`,
        { after },
      );

    const { app: first } = await page(null);
    const { app: second } = await page(first.users.pageInfo.endCursor);

    // isCursorOf refuses any other digest.
    expect(JSON.parse(atob(first.users.pageInfo.endCursor))[0]).toMatch(/^[0-9a-f]{10}$/);
    expect(second.users.nodes).toHaveLength(1);
    expect(second.users.nodes).not.toEqual(first.users.nodes);
  },
);
