import {
  ask,
  createCard,
  createTenant,
  createUnit,
  createUser,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
  type TestUnit,
} from '../graphql/support.ts';
import { rareFunctions } from './rareFunctions.ts';

// Shapes of functions that are seldom, each called.

let graph: OwnGraphTest;
let tenant: Tenant;
let depot: TestUnit;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    await database.owner.query(rareFunctions);
  });
  depot = await createUnit(tenant, { name: 'Depot' });
});
afterAll(() => graph.stop());

const run = (query: string, variables: object = {}) => read<object>(graph, tenant.app, query, { ...variables });

const whole = {
  name: 'a"b,(c)',
  part: {
    label: 'x\\y',
    colours: ['red', 'green'],
    more: { a: [1, null, 'b"'] },
    span: { start: { value: 1, inclusive: true }, end: null },
    wait: { hours: 1 },
    raw: 'AAEC',
    n: '1.50',
    ok: false,
  },
  parts: [{ label: '', colours: [] }, { label: null }],
};

test('nested composites, as PostgreSQL reads them', async () => {
  const query = 'mutation ($whole: WholeInput!) { wholeText(whole: $whole) { result } }';

  const { wholeText } = (await run(query, { whole: { ...whole, units: [depot.id] } })) as {
    wholeText: { result: string };
  };

  const { rows } = await graph.database.owner.query(
    'select w.*, (w.part).*, (w.parts[1]).label as first, w.parts[2] is null as second from (select ($1::app_public.whole).*) w',
    [wholeText.result],
  );
  expect(rows[0]).toMatchObject({
    name: 'a"b,(c)',
    label: 'x\\y',
    colours: '{red,green}',
    more: { a: [1, null, 'b"'] },
    span: '[1,)',
    n: '1.50',
    ok: false,
    first: '',
    second: true,
    units: [depot.uuid],
  });
});

test('nested composites, there and back by JSON', async () => {
  const selection =
    'name part { label colours more span { start { value inclusive } end { value } } wait { hours } raw n ok text } parts { label colours }';
  const query = `mutation ($whole: WholeInput!) { wholeBack(whole: $whole) { result { ${selection} } } }`;

  const part = { ...whole.part, text: 'part x\\y' };
  const parts = [{ label: '', colours: [] }, null];
  expect(await run(query, { whole })).toEqual({ wholeBack: { result: { name: whole.name, part, parts } } });
});

test('what is absent is no key of the JSON, at any depth', async () => {
  const json = 'mutation ($whole: WholeInput!) { wholeJson(whole: $whole) { result } }';
  const keys = 'mutation ($wholes: [WholeInput!]) { wholesJson(wholes: $wholes) { result } }';

  for (const given of [
    {},
    { name: null },
    { part: {} },
    { part: { label: null }, parts: [] },
    { parts: [{ n: '1', ok: true }, {}] },
  ])
    expect(await run(json, { whole: given })).toEqual({ wholeJson: { result: given } });
  expect(await run(json, { whole: { units: [depot.id] } })).toEqual({ wholeJson: { result: { units: [depot.uuid] } } });
  expect(await run(keys, { wholes: [{ name: 'a' }, { name: null, units: [] }] })).toEqual({
    wholesJson: { result: ['name', 'name,units'] },
  });
  expect(await run(keys)).toEqual({ wholesJson: { result: [] } });
});

test('domains over arrays, texts and composites, and what breaks them', async () => {
  const query =
    'mutation ($texts: [String!]!, $short: Short, $whole: WholeInput) { domains(texts: $texts, short: $short, whole: $whole) { result } }';
  const codes = async (variables: Record<string, unknown>) =>
    (await ask(graph, tenant.app, query, variables)).body.errors?.map(({ extensions }) => extensions.code);

  expect(await run(query, { texts: ['a', 'b'], short: 'c', whole: { name: 'd' } })).toEqual({
    domains: { result: '{a,b} c d' },
  });
  expect(await codes({ texts: ['a', 'b', 'c'] })).toEqual(['BAD_USER_INPUT']);
  expect(await codes({ texts: [], short: 'much too long' })).toEqual(['BAD_USER_INPUT']);
  expect(await codes({ texts: [], whole: {} })).toEqual(['BAD_USER_INPUT']);
});

test('a function that returns no row has a payload without it', async () => {
  expect(await run('mutation { doorPatch(door: { name: "a" }) { door { name } } }')).toEqual({
    doorPatch: { door: null },
  });
});

test('the row type of a table', async () => {
  const query = 'mutation ($door: DoorRowInput!) { doorRow(door: $door) { result } }';

  expect(await run(query, { door: { unitId: depot.uuid, name: 'a', tags: ['b'] } })).toEqual({
    doorRow: { result: 't a {b}' },
  });
});

test('ids of an interface and of its types, and rows of an interface', async () => {
  const user = await createUser(tenant);
  const nfc = await createCard(tenant, user, { type: 'NfcCard', name: 'N', nfcIdentifier: '04A224B2C13A80' });
  const code = await createCard(tenant, user, { type: 'IdentificationCode', name: 'I' });
  const query = 'mutation ($card: ID!, $others: [ID!]) { cardText(card: $card, others: $others) { result } }';
  const told = async (variables: Record<string, unknown>) => {
    const { body } = await ask(graph, tenant.app, query, variables);
    return body.errors?.map(({ message, extensions: { code: told, argument } }) => [message, told, argument]);
  };

  for (const { cardId } of [nfc, code]) expect(await told({ card: cardId, others: [nfc.cardId] })).toBeUndefined();
  expect(await told({ card: user.id })).toEqual([['card is not the id of a Card.', 'BAD_USER_INPUT', 'card']]);
  expect(await told({ card: nfc.cardId, others: [nfc.cardId, code.cardId] })).toEqual([
    ['others[1] is not the id of a NfcCard.', 'BAD_USER_INPUT', 'others'],
  ]);
  expect(
    await run('mutation { cardsAll(first: 2) { cards { __typename name ... on NfcCard { nfcIdentifier } } } }'),
  ).toEqual({
    cardsAll: {
      cards: [
        { __typename: 'IdentificationCode', name: 'I' },
        { __typename: 'NfcCard', name: 'N', nfcIdentifier: '04A224B2C13A80' },
      ],
    },
  });
  expect(await run('mutation { cardAny(name: "N") { card { __typename id } } }')).toEqual({
    cardAny: { card: { __typename: 'NfcCard', id: nfc.cardId } },
  });
});

test('what it returns is not asked for, and it is called all the same', async () => {
  const { owner } = graph.database;
  await owner.query('insert into app_public.doors (organization_id, unit_id, name) values ($1, $2, $3)', [
    tenant.organizationId,
    depot.uuid,
    'Gone',
  ]);

  expect(await run('mutation { nothing(gone: "Gone") { __typename } }')).toEqual({
    nothing: { __typename: 'NothingPayload' },
  });

  const { rows } = await owner.query("select from app_public.doors where name = 'Gone'");
  expect(rows).toEqual([]);
  expect(
    await read(
      graph,
      null,
      '{ __type(name: "Mutation") { fields(includeDeprecated: true) { name deprecationReason } } }',
    ),
  ).toMatchObject({
    __type: { fields: expect.arrayContaining([{ name: 'nothing', deprecationReason: 'Use another.' }]) },
  });
});

test('JSON that is nested too deep, or has what is no Unicode text', async () => {
  const mutation =
    'mutation ($value: JSON) { wholeBack(whole: { part: { more: $value } }) { result { part { more } } } }';
  const query = `query ($value: JSON!) { node(id: "${depot.id}") { ... on Unit { json(value: $value) } } }`;
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
  // JSON.stringify could not write some of them.
  const told = async (document: string, value: string) => {
    const body = `{ "query": ${JSON.stringify(document)}, "variables": { "value": ${value} } }`;
    const headers = { Authorization: `Bearer ${tenant.app}`, 'Content-Type': 'application/json' };
    const response = await fetch(`${graph.url}/graphql`, { method: 'POST', headers, body });
    const { errors = [] } = (await response.json()) as { errors?: { extensions: object }[] };
    return errors.map(({ extensions }) => extensions);
  };

  for (const value of [nested(500), '{ "a": "b" }']) {
    expect(await told(mutation, value)).toEqual([]);
    expect(await told(query, value)).toEqual([]);
  }
  for (const value of [nested(501), nested(5000), nested(40_000), '{ "a\\u0000": 1 }', '[["\\ud800"]]']) {
    expect(await told(mutation, value)).toEqual([
      { code: 'BAD_USER_INPUT', argument: expect.stringMatching(/^(whole|value)$/) },
    ]);
    expect(await told(query, value)).toEqual([{ code: 'BAD_USER_INPUT', argument: 'value' }]);
  }
});

test('a parameter without a name', async () => {
  expect(await run('mutation { unnamed(arg0: "a") { result } }')).toEqual({ unnamed: { result: 'a' } });
});

test.each<[string, object]>([
  ['first(first: 5000)', { first: 'first 5000' }],
  ['list(times: 2, word: "a")', { list: ['a1', 'a2'] }],
  ['whole(whole: { name: "n", part: { label: "l" } }, patch: { note: null })', { whole: 'Depot n l {"note": null}' }],
])('a field of a row with the arguments of %s', async (selection, expected) => {
  expect(await run(`{ node(id: "${depot.id}") { ... on Unit { ${selection} } } }`)).toEqual({ node: expected });
});

test('in lists within lists, in one statement, on the offload thread too', async () => {
  const list =
    '{ app { unitsNamed(names: ["Depot"]) { nodes { name first(first: 1) list(times: 2, word: "b") children { nodes { first(first: 2) } } } } } }';
  await createUnit(tenant, { name: 'Below', parent: depot });

  expect(await run(list)).toEqual({
    app: {
      unitsNamed: {
        nodes: [{ name: 'Depot', first: 'first 1', list: ['b1', 'b2'], children: { nodes: [{ first: 'first 2' }] } }],
      },
    },
  });
  expect(
    await run(
      `query ($names: [String!]!) { app { unitsNamed(names: $names, notNames: ["Annex"]) { totalCount nodes { name } } } }`,
      { names: ['Depot', 'Annex'] },
    ),
  ).toEqual({
    app: { unitsNamed: { totalCount: 1, nodes: [{ name: 'Depot' }] } },
  });
  const long =
    '{ app { unitsNamed(names: ["Depot"]) { nodes { children(first: 1000) { nodes { children(first: 5) { nodes { name } } first(first: 3) } } } } } }';
  expect(await run(long)).toEqual({
    app: { unitsNamed: { nodes: [{ children: { nodes: [{ children: { nodes: [] }, first: 'first 3' }] } }] } },
  });
});
