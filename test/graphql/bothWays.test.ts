import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createCard,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  expectErrors,
  type GraphTest,
  grantAccess,
  read,
  type Tenant,
} from './support.ts';

// From a unit to who may enter it, from a person to where they may go, from a card to who has it.

let graph: GraphTest;
beforeAll(async () => {
  graph = await shareService();
});

/** Ada may enter the first floor, Grace all of the headquarters, and Alan nothing. */
async function createHeadquarters() {
  const tenant = await createTenant(graph);
  const ada = await createViewer(tenant, { fullName: 'Ada', email: `Ada.${tenant.organizationId}@acme.test` });
  const grace = await createViewer(tenant, { fullName: 'Grace' });
  const alan = await createUser(tenant, { fullName: 'Alan' });
  const headquarters = await createUnit(tenant, { name: 'Headquarters', externalIdentifier: 'hq' });
  const floor = await createUnit(tenant, { name: 'Floor 1', parent: headquarters, externalIdentifier: 'floor' });
  const room = await createUnit(tenant, { name: 'Room 1', parent: floor });
  const annex = await createUnit(tenant, { name: 'Annex' });
  await grantAccess(tenant, ada, floor);
  await grantAccess(tenant, grace, headquarters);
  await grantAccess(tenant, grace, room);
  return { tenant, ada, grace, alan, headquarters, floor, room, annex };
}

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
    const { tenant, headquarters, floor, room, annex } = await createHeadquarters();

    expect(await usersWithAccess(tenant.app, headquarters)).toEqual([1, 'Grace']);
    expect(await usersWithAccess(tenant.app, floor)).toEqual([2, 'Ada', 'Grace']);
    expect(await usersWithAccess(tenant.app, room)).toEqual([2, 'Ada', 'Grace']);
    expect(await usersWithAccess(tenant.app, annex)).toEqual([0]);
  });

  it('are paged, ordered and filtered as users are', async () => {
    const { tenant, ada, room } = await createHeadquarters();

    expect(await usersWithAccess(tenant.app, room, '(first: 1)')).toEqual([2, 'Ada']);
    expect(await usersWithAccess(tenant.app, room, '(orderBy: [FULL_NAME_DESC])')).toEqual([2, 'Grace', 'Ada']);
    expect(await usersWithAccess(tenant.app, room, `(ids: ["${ada.id}"])`)).toEqual([1, 'Ada']);
  });

  it('are at most the person for the token of one', async () => {
    const { ada, grace, floor, headquarters } = await createHeadquarters();

    expect(await usersWithAccess(ada.token, floor)).toEqual([1, 'Ada']);
    expect(await usersWithAccess(grace.token, headquarters)).toEqual([1, 'Grace']);
  });
});

describe('accessibleUnits of a user', () => {
  it('are those granted and all below them, for an app token of any user', async () => {
    const { tenant, ada, grace, alan } = await createHeadquarters();

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
    const { tenant } = await createHeadquarters();
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
    const { tenant, grace, floor, room } = await createHeadquarters();

    const { totalCount, nodes } = await grantsOf(tenant.app, grace);
    expect([totalCount, ...nodes.map(shortly)]).toEqual([2, 'Grace: Headquarters', 'Grace: Room 1']);
    expect((await grantsOf(tenant.app, floor)).nodes.map(shortly)).toEqual(['Ada: Floor 1']);
    expect((await grantsOf(tenant.app, grace, '(first: 1)')).nodes.map(shortly)).toEqual(['Grace: Headquarters']);
    expect((await grantsOf(tenant.app, room, `(ids: ["${nodes[1]?.id}"])`)).nodes.map(shortly)).toEqual([
      'Grace: Room 1',
    ]);
  });

  it('are found again by their ids, by those who see them', async () => {
    const { tenant, ada, grace } = await createHeadquarters();
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
    const { ada, grace, floor, room } = await createHeadquarters();

    expect((await grantsOf(ada.token, ada)).nodes.map(shortly)).toEqual(['Ada: Floor 1']);
    expect((await grantsOf(grace.token, room)).nodes.map(shortly)).toEqual(['Grace: Room 1']);
    expect(await grantsOf(grace.token, floor)).toEqual({ totalCount: 0, nodes: [] });
  });
});

describe('an app', () => {
  const counts = `{ app { units { totalCount nodes { name } } cards { totalCount nodes { __typename name } } } }`;
  const addCard = (tenant: Tenant, user: Parameters<typeof createCard>[1], name: string) =>
    createCard(tenant, user, { type: 'IdentificationCode', name });

  it('has all units and cards of its organization, and none of another', async () => {
    const { tenant, ada } = await createHeadquarters();
    await addCard(tenant, ada, 'PIN');
    const other = await createHeadquarters();
    await addCard(other.tenant, other.ada, 'Other');

    expect(await read(graph, tenant.app, counts)).toEqual({
      app: {
        units: { totalCount: 4, nodes: ['Headquarters', 'Floor 1', 'Room 1', 'Annex'].map((name) => ({ name })) },
        cards: { totalCount: 1, nodes: [{ __typename: 'IdentificationCode', name: 'PIN' }] },
      },
    });
  });

  it('finds units and cards by id and by external identifier', async () => {
    const { tenant, ada, room } = await createHeadquarters();
    const { cardId } = await addCard(tenant, ada, 'PIN');
    await addCard(tenant, ada, 'Key');
    await tenant.owner.query(
      `update app_public.cards set external_identifier = 'key' where organization_id = $1 and name = 'Key'`,
      [tenant.organizationId],
    );
    const query = `query ($unit: ID!, $card: ID!) { app {
      byId: units(ids: [$unit]) { nodes { name } }
      byIdentifier: units(externalIdentifiers: ["floor"]) { nodes { name } }
      cardById: cards(ids: [$card]) { nodes { name externalIdentifier } }
      cardByIdentifier: cards(externalIdentifiers: ["key"]) { nodes { name externalIdentifier } }
      ofAnotherType: cards(ids: [$unit]) { nodes { name } }
      none: cards(ids: []) { nodes { name } } } }`;

    expect(await read(graph, tenant.app, query, { unit: room.id, card: cardId })).toEqual({
      app: {
        byId: { nodes: [{ name: 'Room 1' }] },
        byIdentifier: { nodes: [{ name: 'Floor 1' }] },
        cardById: { nodes: [{ name: 'PIN', externalIdentifier: null }] },
        cardByIdentifier: { nodes: [{ name: 'Key', externalIdentifier: 'key' }] },
        ofAnotherType: { nodes: [] },
        none: { nodes: [] },
      },
    });
  });

  it('finds users by e-mail address, whatever its case', async () => {
    const { tenant, ada } = await createHeadquarters();
    const other = await createTenant(graph);
    const query = 'query ($emails: [String!]) { app { users(emails: $emails) { totalCount nodes { fullName } } } }';
    const found = { app: { users: { totalCount: 1, nodes: [{ fullName: 'Ada' }] } } };
    const nobody = { app: { users: { totalCount: 0, nodes: [] } } };

    for (const email of [ada.email, ada.email.toUpperCase(), ada.email.toLowerCase()])
      expect(await read(graph, tenant.app, query, { emails: [email, 'nobody@acme.test'] })).toEqual(found);
    expect(await read(graph, tenant.app, query, { emails: [] })).toEqual(nobody);
    expect(await read(graph, other.app, query, { emails: [ada.email] })).toEqual(nobody);
    expect(await read(graph, tenant.app, query, { emails: null })).toMatchObject({ app: { users: { totalCount: 3 } } });
    const tooMany = await ask(graph, tenant.app, query, { emails: Array(1001).fill(ada.email) });
    expect(tooMany.body.errors?.[0]?.extensions).toMatchObject({ code: 'BAD_USER_INPUT', argument: 'emails' });
  });
});

test('a card leads to whom it is assigned, and an assignment to both', async () => {
  const { tenant, ada, grace } = await createHeadquarters();
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

test('a person is the same object as viewer and as a node', async () => {
  const { ada } = await createHeadquarters();
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
  const { ada } = await createHeadquarters();

  expectErrors(
    await ask(graph, ada.token, '{ viewer { fullName externalAuthenticationToken } }'),
    { viewer: { fullName: 'Ada', externalAuthenticationToken: null } },
    { code: 'FORBIDDEN', path: ['viewer', 'externalAuthenticationToken'] },
  );
});

test('updatedAt follows what is changed of an object itself, and nothing else', async () => {
  const { tenant, headquarters, floor, annex } = await createHeadquarters();
  const times = async () => {
    const { app } = await read<{ app: { units: { nodes: { name: string; createdAt: string; updatedAt: string }[] } } }>(
      graph,
      tenant.app,
      '{ app { units { nodes { name createdAt updatedAt } } } }',
    );
    return app.units.nodes.filter(({ createdAt, updatedAt }) => createdAt !== updatedAt).map(({ name }) => name);
  };
  const set = (assignment: string, unit: { uuid: string }) =>
    tenant.owner.query(`update app_public.units set ${assignment} where id = $1`, [unit.uuid]);

  expect(await times()).toEqual([]);
  await set('name = name', headquarters);
  expect(await times()).toEqual([]);
  await set(`parent_id = '${annex.uuid}'`, floor);
  expect(await times()).toEqual(['Floor 1']);
  await set(`name = 'HQ'`, headquarters);
  expect(await times()).toEqual(['HQ', 'Floor 1']);
});

test('updatedAt of a card and of a user moves with what is changed, and with nothing else', async () => {
  const tenant = await createTenant(graph);
  const user = await createUser(tenant, {
    externalIdentifier: 'ada',
    externalAuthenticationToken: 'sixteen characters',
  });
  const kinds = [
    { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2' },
    { type: 'BeaconCard', name: 'Phone', proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', major: 1, minor: 2 },
    { type: 'IdentificationCode', name: 'Code' },
  ] as const;

  type Times = { createdAt: string; updatedAt: string };
  const write = async (mutation: string) => {
    const data = await read<Record<string, Record<string, Times>>>(graph, tenant.app, `mutation { ${mutation} }`);
    return Object.values(Object.values(data)[0] ?? {})[0] as Times;
  };
  const times = '{ createdAt updatedAt }';

  for (const kind of kinds) {
    const { cardId } = await createCard(tenant, user, kind);
    const same = await write(`cardUpdate(id: "${cardId}", name: "${kind.name}") { card ${times} }`);
    expect(same.updatedAt).toBe(same.createdAt);
    const changed = await write(`cardUpdate(id: "${cardId}", name: "Other") { card ${times} }`);
    expect(changed.updatedAt > changed.createdAt).toBe(true);
    expect(changed.createdAt).toBe(same.createdAt);
  }
  const update = (token: string) =>
    write(`userUpdate(externalIdentifier: "ada", externalAuthenticationToken: "${token}") { user ${times} }`);
  const same = await update('sixteen characters');
  expect(same.updatedAt).toBe(same.createdAt);
  const changed = await update('another of sixteen');
  expect(changed.updatedAt > changed.createdAt).toBe(true);
});
