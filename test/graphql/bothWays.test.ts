import { shareService } from '../support/sharedService.ts';
import { createHeadquarters } from './headquarters.ts';
import { createCard, createTenant, type GraphTest, read } from './support.ts';

// From a unit to who may enter it, from a person to where they may go, from a card to who has it.

let graph: GraphTest;
beforeAll(async () => {
  graph = await shareService();
});

type Names = { totalCount: number; nodes: { name: string }[] };
const namesOf = ({ totalCount, nodes }: Names) => [totalCount, ...nodes.map(({ name }) => name)];

const usersWithAccess = async (token: string, unit: { id: string }, args = '') => {
  const query = `query ($id: ID!) { node(id: $id) { ... on Unit { usersWithAccess${args} { totalCount nodes { name: fullName } } } } }`;
  return namesOf(
    (await read<{ node: { usersWithAccess: Names } }>(graph, token, query, { id: unit.id })).node.usersWithAccess,
  );
};
const accessibleUnits = async (token: string, user: { id: string }, args = '') => {
  const query = `query ($id: ID!) { node(id: $id) { ... on User { accessibleUnits${args} { totalCount nodes { name } } } } }`;
  return namesOf(
    (await read<{ node: { accessibleUnits: Names } }>(graph, token, query, { id: user.id })).node.accessibleUnits,
  );
};

describe('usersWithAccess', () => {
  it('are those who were granted the unit or one above it, each once', async () => {
    const { tenant, headquarters, floor, room, annex } = await createHeadquarters(graph);

    expect(await usersWithAccess(tenant.app, headquarters)).toEqual([1, 'Grace']);
    expect(await usersWithAccess(tenant.app, floor)).toEqual([2, 'Ada', 'Grace']);
    expect(await usersWithAccess(tenant.app, room)).toEqual([2, 'Ada', 'Grace']);
    expect(await usersWithAccess(tenant.app, annex)).toEqual([0]);
  });

  it('are paged, ordered and filtered as users are', async () => {
    const { tenant, ada, room } = await createHeadquarters(graph);

    expect(await usersWithAccess(tenant.app, room, '(first: 1)')).toEqual([2, 'Ada']);
    expect(await usersWithAccess(tenant.app, room, '(orderBy: [FULL_NAME_DESC])')).toEqual([2, 'Grace', 'Ada']);
    expect(await usersWithAccess(tenant.app, room, `(ids: ["${ada.id}"])`)).toEqual([1, 'Ada']);
  });

  it('are at most the person for the token of one', async () => {
    const { ada, grace, floor, headquarters } = await createHeadquarters(graph);

    expect(await usersWithAccess(ada.token, floor)).toEqual([1, 'Ada']);
    expect(await usersWithAccess(grace.token, headquarters)).toEqual([1, 'Grace']);
  });
});

describe('accessibleUnits of a user', () => {
  it('are those granted and all below them, for an app token of any user', async () => {
    const { tenant, ada, grace, alan } = await createHeadquarters(graph);

    expect(await accessibleUnits(tenant.app, ada)).toEqual([2, 'Floor 1', 'Room 1']);
    expect(await accessibleUnits(tenant.app, grace)).toEqual([3, 'Headquarters', 'Floor 1', 'Room 1']);
    expect(await accessibleUnits(tenant.app, grace, '(first: 2)')).toEqual([3, 'Headquarters', 'Floor 1']);
    expect(await accessibleUnits(tenant.app, grace, '(orderBy: [NAME_ASC])')).toEqual([
      3,
      'Floor 1',
      'Headquarters',
      'Room 1',
    ]);
    expect(await accessibleUnits(tenant.app, ada, '(externalIdentifiers: ["floor", "hq"])')).toEqual([1, 'Floor 1']);
    expect(await accessibleUnits(tenant.app, alan)).toEqual([0]);
  });

  it('are each user’s own in one operation', async () => {
    const { tenant } = await createHeadquarters(graph);
    const query =
      '{ app { users { nodes { fullName accessibleUnits(first: 2) { totalCount nodes { name usersWithAccess { nodes { fullName } } } } } } } }';

    expect(await read(graph, tenant.app, query)).toEqual({
      app: {
        users: {
          nodes: [
            {
              fullName: 'Ada',
              accessibleUnits: {
                totalCount: 2,
                nodes: [
                  { name: 'Floor 1', usersWithAccess: { nodes: [{ fullName: 'Ada' }, { fullName: 'Grace' }] } },
                  { name: 'Room 1', usersWithAccess: { nodes: [{ fullName: 'Ada' }, { fullName: 'Grace' }] } },
                ],
              },
            },
            {
              fullName: 'Grace',
              accessibleUnits: {
                totalCount: 3,
                nodes: [
                  { name: 'Headquarters', usersWithAccess: { nodes: [{ fullName: 'Grace' }] } },
                  { name: 'Floor 1', usersWithAccess: { nodes: [{ fullName: 'Ada' }, { fullName: 'Grace' }] } },
                ],
              },
            },
            { fullName: 'Alan', accessibleUnits: { totalCount: 0, nodes: [] } },
          ],
        },
      },
    });
  });
});

describe('accessGrants', () => {
  const grant = 'totalCount nodes { id createdAt user { fullName } unit { name } }';
  type Grant = { id: string; createdAt: string; user: { fullName: string }; unit: { name: string } };
  type Grants = { node: { accessGrants: { totalCount: number; nodes: Grant[] } } };
  const grantsOf = async (token: string, { id }: { id: string }, args = '') => {
    const query = `query ($id: ID!) { node(id: $id) { ... on User { accessGrants${args} { ${grant} } } ... on Unit { accessGrants${args} { ${grant} } } } }`;
    return (await read<Grants>(graph, token, query, { id })).node.accessGrants;
  };
  const shortly = ({ user, unit }: Grant) => `${user.fullName}: ${unit.name}`;

  it('lead from a user to units and from a unit to users', async () => {
    const { tenant, grace, floor, room } = await createHeadquarters(graph);

    const { totalCount, nodes } = await grantsOf(tenant.app, grace);
    expect([totalCount, ...nodes.map(shortly)]).toEqual([2, 'Grace: Headquarters', 'Grace: Room 1']);
    expect((await grantsOf(tenant.app, floor)).nodes.map(shortly)).toEqual(['Ada: Floor 1']);
    expect((await grantsOf(tenant.app, grace, '(first: 1)')).nodes.map(shortly)).toEqual(['Grace: Headquarters']);
    expect((await grantsOf(tenant.app, room, `(ids: ["${nodes[1]?.id}"])`)).nodes.map(shortly)).toEqual([
      'Grace: Room 1',
    ]);
  });

  it('are found again by their ids, by those who see them', async () => {
    const { tenant, ada, grace } = await createHeadquarters(graph);
    const other = await createTenant(graph);
    const [{ id }] = (await grantsOf(tenant.app, grace)).nodes as [Grant];
    const query =
      'query ($id: ID!) { node(id: $id) { __typename ... on AccessGrant { user { fullName } createdAt } } }';
    const found = { node: { __typename: 'AccessGrant', user: { fullName: 'Grace' }, createdAt: expect.any(String) } };

    expect(await read(graph, tenant.app, query, { id })).toEqual(found);
    expect(await read(graph, grace.token, query, { id })).toEqual(found);
    for (const token of [ada.token, tenant.basic, other.app])
      expect(await read(graph, token, query, { id })).toEqual({ node: null });
  });

  it('are the own ones for a person', async () => {
    const { ada, grace, floor, room } = await createHeadquarters(graph);

    expect((await grantsOf(ada.token, ada)).nodes.map(shortly)).toEqual(['Ada: Floor 1']);
    expect((await grantsOf(grace.token, room)).nodes.map(shortly)).toEqual(['Grace: Room 1']);
    expect(await grantsOf(grace.token, floor)).toEqual({ totalCount: 0, nodes: [] });
  });
});

test('a card leads to whom it is assigned, and an assignment to both', async () => {
  const { tenant, ada, grace } = await createHeadquarters(graph);
  const { cardId, assignmentId } = await createCard(tenant, ada, {
    type: 'NfcCard',
    name: 'Badge',
    nfcIdentifier: '04A224B2',
  });
  const query = `query ($card: ID!, $assignment: ID!) {
    card: node(id: $card) { ... on Card { name createdAt updatedAt cardAssignments { id user { fullName } card { name } } } }
    assignment: node(id: $assignment) { ... on CardAssignment { createdAt user { fullName } card { name } } } }`;
  const answer = {
    card: {
      name: 'Badge',
      createdAt: expect.any(String),
      updatedAt: expect.any(String),
      cardAssignments: [{ id: assignmentId, user: { fullName: 'Ada' }, card: { name: 'Badge' } }],
    },
    assignment: { createdAt: expect.any(String), user: { fullName: 'Ada' }, card: { name: 'Badge' } },
  };

  expect(await read(graph, tenant.app, query, { card: cardId, assignment: assignmentId })).toEqual(answer);
  expect(await read(graph, ada.token, query, { card: cardId, assignment: assignmentId })).toEqual(answer);
  expect(await read(graph, grace.token, query, { card: cardId, assignment: assignmentId })).toEqual({
    card: null,
    assignment: null,
  });
});
