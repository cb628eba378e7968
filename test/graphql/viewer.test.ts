import { shareService } from '../support/sharedService.ts';
import { cardFragments, createAcme, expectedCards } from './acme.ts';
import { createHeadquarters } from './headquarters.ts';
import {
  ask,
  createCard,
  createTenant,
  createUnit,
  createViewer,
  expectErrors,
  type GraphTest,
  grantAccess,
  read,
} from './support.ts';

let graph: GraphTest;
beforeAll(async () => {
  graph = await shareService();
});

describe('viewer', () => {
  it('is the person, with the cards and the units that the person can access', async () => {
    const { ada, headquarters, floor, cards } = await createAcme(graph);

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
    const { tenant, ada } = await createAcme(graph);
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

test('a person is the same object as viewer and as a node', async () => {
  const { ada } = await createHeadquarters(graph);
  const user = '__typename id fullName accessGrants { totalCount } accessibleUnits { totalCount }';

  const { viewer, node } = await read<{ viewer: object; node: object }>(
    graph,
    ada.token,
    `{ viewer { ${user} } node(id: "${ada.id}") { ... on User { ${user} } } }`,
  );

  expect(viewer).toEqual(node);
  expect(viewer).toMatchObject({
    __typename: 'User',
    id: ada.id,
    accessGrants: { totalCount: 1 },
    accessibleUnits: { totalCount: 2 },
  });
});

test('the viewer does not read the own external authentication token', async () => {
  const { ada } = await createHeadquarters(graph);

  expectErrors(
    await ask(graph, ada.token, '{ viewer { fullName externalAuthenticationToken } }'),
    { viewer: { fullName: 'Ada', externalAuthenticationToken: null } },
    { code: 'FORBIDDEN', path: ['viewer', 'externalAuthenticationToken'] },
  );
});
