import { shareService } from '../support/sharedService.ts';
import { createCard, createTenant, createUnit, createViewer, type GraphTest, grantAccess, read } from './support.ts';

let graph: GraphTest;
beforeAll(async () => {
  graph = await shareService();
});

/** Ada with a card of each type, and one unit with a child that she may access. */
async function createAcme() {
  const tenant = await createTenant(graph);
  const ada = await createViewer(tenant, {
    fullName: 'Ada Lovelace',
    email: 'ada@acme.test',
    locale: 'de-AT',
    timeZone: 'New York',
    externalIdentifier: 'u-1',
    externalAuthenticationToken: 'sixteen-characters-or-more',
  });
  const headquarters = await createUnit(tenant, { name: 'Headquarters', externalIdentifier: 'hq' });
  const floor = await createUnit(tenant, { name: 'Floor 1', parent: headquarters });
  await grantAccess(tenant, ada, headquarters);
  const cards = [
    await createCard(tenant, ada, {
      type: 'BeaconCard',
      name: 'Phone',
      proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
      major: 0,
      minor: 65535,
    }),
    await createCard(tenant, ada, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2C13A80' }),
    await createCard(tenant, ada, { type: 'IdentificationCode', name: 'PIN' }),
  ] as const;
  return { tenant, ada, headquarters, floor, cards };
}

const cardFragments = `
  card {
    __typename
    id
    name
    ... on BeaconCard { proximityUuid major minor }
    ... on NfcCard { nfcIdentifier }
    ... on IdentificationCode { code: name }
  }`;

const expectedCards = ([beacon, nfc, code]: Awaited<ReturnType<typeof createAcme>>['cards']) => [
  {
    __typename: 'CardAssignment',
    id: beacon.assignmentId,
    card: {
      __typename: 'BeaconCard',
      id: beacon.cardId,
      name: 'Phone',
      proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
      major: 0,
      minor: 65535,
    },
  },
  {
    __typename: 'CardAssignment',
    id: nfc.assignmentId,
    card: { __typename: 'NfcCard', id: nfc.cardId, name: 'Badge', nfcIdentifier: '04A224B2C13A80' },
  },
  {
    __typename: 'CardAssignment',
    id: code.assignmentId,
    card: { __typename: 'IdentificationCode', id: code.cardId, name: 'PIN', code: 'PIN' },
  },
];

describe('viewer', () => {
  it('is the person, with the cards and the units that the person can access', async () => {
    const { ada, headquarters, floor, cards } = await createAcme();

    const data = await read(
      graph,
      ada.token,
      `{ viewer { __typename id fullName email locale timeZone externalIdentifier
           cardAssignments { __typename id ${cardFragments} }
           accessibleUnits(first: 20) { nodes { id name } } } }`,
    );

    expect(data).toEqual({
      viewer: {
        __typename: 'User',
        id: ada.id,
        fullName: 'Ada Lovelace',
        email: 'ada@acme.test',
        locale: 'de-AT',
        timeZone: 'New York',
        externalIdentifier: 'u-1',
        cardAssignments: expectedCards(cards),
        accessibleUnits: {
          nodes: [
            { id: headquarters.id, name: 'Headquarters' },
            { id: floor.id, name: 'Floor 1' },
          ],
        },
      },
    });
  });

  it('has no external identifier, no cards and no units when there are none', async () => {
    const tenant = await createTenant(graph);
    const viewer = await createViewer(tenant);
    await createUnit(tenant);

    const data = await read(
      graph,
      viewer.token,
      '{ viewer { externalIdentifier cardAssignments { id } accessibleUnits { totalCount nodes { id } edges { cursor } } } }',
    );

    expect(data).toEqual({
      viewer: {
        externalIdentifier: null,
        cardAssignments: [],
        accessibleUnits: { totalCount: 0, nodes: [], edges: [] },
      },
    });
  });

  it('sees the own cards and no others', async () => {
    const { tenant, ada } = await createAcme();
    const other = await createViewer(tenant);
    const { assignmentId } = await createCard(tenant, other, { type: 'IdentificationCode', name: 'Other' });

    const query = '{ viewer { cardAssignments { id } } }';
    const ids = (data: { viewer: { cardAssignments: { id: string }[] } }) =>
      data.viewer.cardAssignments.map(({ id }) => id);

    expect(ids(await read(graph, other.token, query))).toEqual([assignmentId]);
    expect(ids(await read(graph, ada.token, query))).not.toContain(assignmentId);
  });

  it('can access a granted unit and all below it, but nothing above or beside it, each once', async () => {
    const tenant = await createTenant(graph);
    const viewer = await createViewer(tenant);
    const root = await createUnit(tenant, { name: 'Root' });
    const granted = await createUnit(tenant, { name: 'Granted', parent: root });
    const below = await createUnit(tenant, { name: 'Below', parent: granted });
    const deeper = await createUnit(tenant, { name: 'Deeper', parent: below });
    await createUnit(tenant, { name: 'Beside', parent: root });
    await grantAccess(tenant, viewer, granted);
    await grantAccess(tenant, viewer, below);

    const data = await read(
      graph,
      viewer.token,
      `{ viewer { accessibleUnits { totalCount nodes { id parent { id } children { totalCount nodes { id } } } } } }`,
    );

    expect(data).toEqual({
      viewer: {
        accessibleUnits: {
          totalCount: 3,
          nodes: [
            { id: granted.id, parent: null, children: { totalCount: 1, nodes: [{ id: below.id }] } },
            { id: below.id, parent: { id: granted.id }, children: { totalCount: 1, nodes: [{ id: deeper.id }] } },
            { id: deeper.id, parent: { id: below.id }, children: { totalCount: 0, nodes: [] } },
          ],
        },
      },
    });
  });
});

describe('app', () => {
  it('is the application, with all users and the units at the top', async () => {
    const { tenant, ada, headquarters, floor, cards } = await createAcme();

    const data = await read(
      graph,
      tenant.app,
      `{ app { __typename name
           users(first: 10) { nodes {
             __typename id fullName email locale timeZone externalIdentifier externalAuthenticationToken
             cardAssignments { __typename id ${cardFragments} } } }
           rootUnits(first: 10) { nodes {
             __typename id name externalIdentifier parent { id }
             children { nodes { id name externalIdentifier parent { id name } children { nodes { id } } } } } } } }`,
    );

    expect(data).toEqual({
      app: {
        __typename: 'App',
        name: 'Acme Backend',
        users: {
          nodes: [
            {
              __typename: 'User',
              id: ada.id,
              fullName: 'Ada Lovelace',
              email: 'ada@acme.test',
              locale: 'de-AT',
              timeZone: 'New York',
              externalIdentifier: 'u-1',
              externalAuthenticationToken: 'sixteen-characters-or-more',
              cardAssignments: expectedCards(cards),
            },
          ],
        },
        rootUnits: {
          nodes: [
            {
              __typename: 'Unit',
              id: headquarters.id,
              name: 'Headquarters',
              externalIdentifier: 'hq',
              parent: null,
              children: {
                nodes: [
                  {
                    id: floor.id,
                    name: 'Floor 1',
                    externalIdentifier: null,
                    parent: { id: headquarters.id, name: 'Headquarters' },
                    children: { nodes: [] },
                  },
                ],
              },
            },
          ],
        },
      },
    });
  });

  it('sees nothing of another organization, which itself sees it', async () => {
    const acme = await createAcme();
    const { app } = await createTenant(graph);
    const query = '{ app { users { totalCount nodes { id } } rootUnits { totalCount nodes { id } } } }';

    expect(await read(graph, acme.tenant.app, query)).toEqual({
      app: {
        users: { totalCount: 1, nodes: [{ id: acme.ada.id }] },
        rootUnits: { totalCount: 1, nodes: [{ id: acme.headquarters.id }] },
      },
    });
    expect(await read(graph, app, query)).toEqual({
      app: { users: { totalCount: 0, nodes: [] }, rootUnits: { totalCount: 0, nodes: [] } },
    });
  });
});

test('an edge has its node and a cursor, and a page the cursors of its ends', async () => {
  const { tenant, ada, headquarters } = await createAcme();
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
  const { tenant, ada, headquarters, floor } = await createAcme();

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
