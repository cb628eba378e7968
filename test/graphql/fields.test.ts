import { shareService } from '../support/sharedService.ts';
import { createAcme } from './acme.ts';
import { createTenant, type GraphTest, read } from './support.ts';

// Connections, fragments, aliases and names: the same for every type of object.

let graph: GraphTest;
beforeAll(async () => {
  graph = await shareService();
});

test('an edge has its node and a cursor, and a page the cursors of its ends', async () => {
  const { tenant, ada, headquarters } = await createAcme(graph);
  type Connection = {
    edges: { cursor: string; node: { id: string } }[];
    pageInfo: Record<string, unknown>;
    totalCount: number;
  };
  const connection =
    '{ edges { cursor node { id } } pageInfo { startCursor endCursor hasNextPage hasPreviousPage } totalCount }';

  const { app } = await read<{ app: { users: Connection; rootUnits: Connection } }>(
    graph,
    tenant.app,
    `{ app { users ${connection} rootUnits ${connection} } }`,
  );

  for (const [{ edges, pageInfo, totalCount }, id] of [
    [app.users, ada.id],
    [app.rootUnits, headquarters.id],
  ] as const) {
    const cursor = expect.stringMatching(/^[\w+/=]+$/);
    expect(edges).toEqual([{ cursor, node: { id } }]);
    expect(pageInfo).toEqual({
      startCursor: edges[0]?.cursor,
      endCursor: edges[0]?.cursor,
      hasNextPage: false,
      hasPreviousPage: false,
    });
    expect(totalCount).toBe(1);
  }
});

test('one call fetches objects that hang together through several connections, by aliases and fragments', async () => {
  const { tenant, ada, headquarters, floor } = await createAcme(graph);

  const data = await read(
    graph,
    tenant.app,
    `query Overview($first: Int = 5) {
       app {
         people: users(first: $first) { nodes { ...Person } }
         again: users(first: $first) { edges { node { ...Person } } }
         rootUnits { nodes { ...Place children { edges { node { ...Place parent { ...Place } } } } } }
       }
     }
     fragment Person on User { id cardAssignments { card { name } } }
     fragment Place on Unit { id }`,
  );

  const person = { id: ada.id, cardAssignments: ['Phone', 'Badge', 'PIN'].map((name) => ({ card: { name } })) };
  expect(data).toEqual({
    app: {
      people: { nodes: [person] },
      again: { edges: [{ node: person }] },
      rootUnits: {
        nodes: [
          { id: headquarters.id, children: { edges: [{ node: { id: floor.id, parent: { id: headquarters.id } } }] } },
        ],
      },
    },
  });
});

test('names that every object has in JavaScript are names like any other', async () => {
  const { app } = await createTenant(graph);

  const data = await read(
    graph,
    app,
    `query constructor($__proto__: Int) {
       __proto__: app { ...toString }
       then: __typename
     }
     fragment toString on App { toJSON: name hasOwnProperty: users(first: $__proto__) { valueOf: totalCount } }`,
    JSON.parse('{"__proto__": 1}'),
  );

  expect(JSON.stringify(data)).toBe(
    '{"__proto__":{"toJSON":"Acme Backend","hasOwnProperty":{"valueOf":0}},"then":"Query"}',
  );
});
