import { shareService } from '../support/sharedService.ts';
import {
  createCard,
  createTenant,
  createUnit,
  createViewer,
  type GraphTest,
  globalId,
  grantAccess,
  issueToken,
  read,
} from './support.ts';

let graph: GraphTest;
let acme: Awaited<ReturnType<typeof createAcme>>;
beforeAll(async () => {
  graph = await shareService();
  acme = await createAcme();
});

async function createAcme() {
  const tenant = await createTenant(graph);
  const person = await createViewer(tenant, { fullName: 'Ada Lovelace' });
  const root = await createUnit(tenant, { name: 'Root' });
  const granted = await createUnit(tenant, { name: 'Granted', parent: root });
  const below = await createUnit(tenant, { name: 'Below', parent: granted });
  await grantAccess(tenant, person, granted);
  const beacon = await createCard(tenant, person, {
    type: 'BeaconCard',
    name: 'Phone',
    proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
    major: 1,
    minor: 2,
  });
  const nfc = await createCard(tenant, person, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2' });
  const code = await createCard(tenant, person, { type: 'IdentificationCode', name: 'PIN' });
  return { tenant, person, root, granted, below, beacon, nfc, code };
}

/** The objects that the person may see, as `node(id:)` shows them. */
const visibleToPerson = () => {
  const { person, granted, below, beacon, nfc, code } = acme;
  return [
    { __typename: 'User', id: person.id, fullName: 'Ada Lovelace' },
    { __typename: 'Unit', id: granted.id, unitName: 'Granted' },
    { __typename: 'Unit', id: below.id, unitName: 'Below' },
    {
      __typename: 'BeaconCard',
      id: beacon.cardId,
      name: 'Phone',
      proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e',
      major: 1,
      minor: 2,
    },
    { __typename: 'NfcCard', id: nfc.cardId, name: 'Badge', nfcIdentifier: '04A224B2' },
    { __typename: 'IdentificationCode', id: code.cardId, name: 'PIN' },
    { __typename: 'CardAssignment', id: beacon.assignmentId, card: { id: beacon.cardId } },
  ];
};

/** The objects that only an application sees: the unit above, to which the person has no access. */
const visibleToAppOnly = () => [{ __typename: 'Unit', id: acme.root.id, unitName: 'Root' }];

const query = `query($id: ID!) {
  node(id: $id) {
    __typename id
    ... on User { fullName }
    ... on Unit { unitName: name }
    ... on CardAssignment { card { id } }
    ... on Card { name }
    ... on BeaconCard { proximityUuid major minor }
    ... on NfcCard { nfcIdentifier }
  }
}`;
const node = async (token: string, id: string) => (await read<{ node: unknown }>(graph, token, query, { id })).node;

test('an application refetches each type of its organization by id', async () => {
  for (const expected of [...visibleToPerson(), ...visibleToAppOnly()])
    expect(await node(acme.tenant.app, expected.id)).toEqual(expected);
});

test('a person refetches what is visible to the person, and nothing for the rest', async () => {
  const { person } = acme;
  const stranger = await createViewer(acme.tenant);

  for (const expected of visibleToPerson()) {
    expect(await node(person.token, expected.id)).toEqual(expected);
    expect(await node(stranger.token, expected.id)).toBeNull();
  }
  for (const { id } of [...visibleToAppOnly(), stranger]) expect(await node(person.token, id)).toBeNull();
});

test('a basic token and another organization see nothing by any id', async () => {
  const other = await createTenant(graph);
  const otherPerson = await createViewer(other);

  for (const { id } of [...visibleToPerson(), ...visibleToAppOnly()])
    for (const token of [acme.tenant.basic, other.app, other.basic, otherPerson.token])
      expect(await node(token, id)).toBeNull();
});

test('a token with the scopes app and basic sees what one with app sees', async () => {
  const token = await issueToken(acme.tenant, ['app', 'basic']);

  expect(await node(token, acme.person.id)).toMatchObject({ id: acme.person.id });
});

test('a person’s colleague, the colleague’s card and their assignment are not visible to the person', async () => {
  const colleague = await createViewer(acme.tenant);
  const { assignmentId, cardId } = await createCard(acme.tenant, colleague, {
    type: 'IdentificationCode',
    name: 'PIN',
  });

  for (const id of [colleague.id, assignmentId, cardId]) {
    expect(await node(acme.person.token, id)).toBeNull();
    expect(await node(colleague.token, id)).toMatchObject({ id });
  }
});

test('the id of one type with the key of another finds nothing, whatever is asked of it', async () => {
  const { person, granted, beacon, nfc, code } = acme;
  const types = [
    'User',
    'Unit',
    'CardAssignment',
    'BeaconCard',
    'NfcCard',
    'IdentificationCode',
    'Card',
    'AccessGrant',
    'App',
  ];

  for (const id of [person.id, granted.id, beacon.assignmentId, beacon.cardId, nfc.cardId, code.cardId]) {
    const [own = '', uuid = ''] = Buffer.from(id, 'base64url').toString().split(':');
    expect(await node(acme.tenant.app, globalId(own, uuid))).toMatchObject({ __typename: own, id });
    for (const type of types) if (type !== own) expect(await node(acme.tenant.app, globalId(type, uuid))).toBeNull();
  }
});

test('an id that the service cannot have issued is null', async () => {
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const { id } = acme.person;

  for (const invented of [
    '',
    ' ',
    'garbage',
    `${id} `,
    `${id}==`,
    id.slice(0, -1),
    encode('User:'),
    encode('User:1'),
    encode(`User:${'0'.repeat(36)}`),
    encode('["User",1]'),
    encode('Query'),
    '\0',
    'half \ud83d pair',
    'ä'.repeat(50),
    'x'.repeat(10_000),
    globalId('User', '01900000-0000-7000-8000-000000000000'),
  ])
    expect(await node(acme.tenant.app, invented)).toBeNull();
  expect(await node(acme.tenant.app, id)).toMatchObject({ id });
});

test('several nodes are fetched in one request, those that are there beside those that are not', async () => {
  const { person, root } = acme;

  const data = await read(
    graph,
    person.token,
    `query($a: ID!, $b: ID!, $c: ID!) {
       a: node(id: $a) { id }
       b: node(id: $b) { id }
       c: node(id: $c) { id }
       viewer { id }
     }`,
    { a: person.id, b: root.id, c: 'garbage' },
  );

  expect(data).toEqual({ a: { id: person.id }, b: null, c: null, viewer: { id: person.id } });
});

test('a unit refetched by a person has only the parent and the children that the person may see', async () => {
  const { tenant, person, root, granted, below } = acme;
  const query = `query($id: ID!) { node(id: $id) { ... on Unit { parent { id } children { nodes { id } } } } }`;

  expect(await read(graph, person.token, query, { id: granted.id })).toEqual({
    node: { parent: null, children: { nodes: [{ id: below.id }] } },
  });
  expect(await read(graph, tenant.app, query, { id: granted.id })).toEqual({
    node: { parent: { id: root.id }, children: { nodes: [{ id: below.id }] } },
  });
});
