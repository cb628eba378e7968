import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  expectRefused,
  type GraphTest,
  grantAccess,
  type OwnGraphTest,
  startGraphTest,
  type Tenant,
} from './support.ts';

const repeat = (count: number, write: (index: number) => string) =>
  Array.from({ length: count }, (_, i) => write(i)).join(' ');

/** Fields below a unit, this many levels deep, with this many connections among them. */
function nested(levels: number, connections = levels): string {
  return connections > 0 && levels > 2
    ? `children { nodes { ${nested(levels - 2, connections - 1)} } }`
    : levels > 1
      ? `parent { ${nested(levels - 1, 0)} }`
      : 'id';
}

describe('a document', () => {
  let graph: GraphTest;
  let tenant: Tenant;
  beforeAll(async () => {
    graph = await shareService();
    tenant = await createTenant(graph);
  });

  /** Each limit: a document of exactly this size, written for any size. */
  const documents: [limit: string, most: number, write: (size: number) => string][] = [
    [
      'tokens',
      5000,
      (size) => `{ app { users(externalIdentifiers: [${repeat(size - 15, (i) => `"${i}"`)}]) { totalCount } } }`,
    ],
    ['depth', 310, (size) => `{ app { rootUnits { nodes { ${nested(size - 3, 100)} } } } }`],
    ['aliases', 50, (size) => `{ app { ${repeat(size, (i) => `a${i}: name`)} } }`],
    ['rootFields', 20, (size) => `{ ${repeat(size, () => '__typename')} }`],
    ['directives', 20, (size) => `{ app { ${repeat(size, () => 'name @include(if: true)')} } }`],
    ['fields', 1000, (size) => `{ app { ${repeat(size - 1, () => 'name')} } }`],
    ['connections', 110, (size) => `{ app { ${repeat(size, () => 'users { totalCount }')} } }`],
  ];

  it.each(documents.filter(([limit]) => limit !== 'tokens'))(
    'may have exactly the %s that the limit says',
    async (_limit, most, write) => {
      const { status, body } = await ask(graph, tenant.app, write(most));

      expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
    },
  );

  it.each(documents)('may not have more %s', async (limit, most, write) => {
    expectRefused(await ask(graph, tenant.app, write(most + 1)), 400, { code: 'LIMIT_EXCEEDED', limit });
  });

  it('may have exactly 5,000 tokens, and then meets the next limit', async () => {
    const [, most, write] = documents[0] ?? [];
    const answer = await ask(graph, tenant.app, String(write?.(Number(most))));

    // A filter takes at most 1,000 values.
    expectRefused(answer, 400, { code: 'BAD_USER_INPUT', argument: 'externalIdentifiers' });
  });

  it.each([
    ['aliases', (i: number) => `fragment F${i} on App { a${i}: name ...F${i + 1} ...F${i + 1} }`, 'name'],
    ['fields', (i: number) => `fragment F${i} on App { ...F${i + 1} ...F${i + 1} }`, 'name'],
    ['connections', (i: number) => `fragment F${i} on App { ...F${i + 1} ...F${i + 1} }`, 'users { totalCount }'],
    ['directives', (i: number) => `fragment F${i} on App { ...F${i + 1} @include(if: true) ...F${i + 1} }`, 'name'],
  ])('cannot hide %s in fragments that double forty times', async (limit, write, last) => {
    const document = `{ app { ...F0 } } ${repeat(40, write)} fragment F40 on App { ${last} }`;

    const { status, body } = await ask(graph, tenant.app, document);

    expect({ status, limits: body.errors?.map(({ extensions }) => extensions.limit) }).toMatchObject({
      status: 400,
      limits: expect.arrayContaining([limit]),
    });
  });

  it('may spread a fragment in itself no more than the specification allows', async () => {
    const document = '{ app { ...F } } fragment F on App { name ...F }';

    expectRefused(await ask(graph, tenant.app, document), 400, { code: 'GRAPHQL_VALIDATION_FAILED' });
  });

  it('may have a body of exactly 1,000,000 bytes and not one more', async () => {
    const post = (bytes: number) => {
      const frame = JSON.stringify({ query: '{ __typename }', extensions: { x: '' } });
      return postBody(frame.replace('""', `"${'x'.repeat(bytes - frame.length)}"`));
    };

    expect(await post(1_000_000)).toEqual({ status: 200, body: { data: { __typename: 'Query' } } });
    expect(await post(1_000_001)).toMatchObject(exceeds(413, 'body'));
  });

  // Those of the body itself: three objects and a list, three members, two commas.
  it.each([
    ['lists and objects', 100_000, (count: number) => Array(count - 3).fill([])],
    [
      'members of objects',
      20_000,
      (count: number) => [Object.fromEntries(Array.from({ length: count - 3 }, (_, index) => [index, 1]))],
    ],
    ['values', 150_000, (count: number) => Array(count - 1).fill(1)],
  ])('may have a body of at most so many %s: %d', async (_what, max, write) => {
    const post = (count: number) =>
      postBody(JSON.stringify({ query: 'query { __typename }', variables: { x: write(count) } }));

    expect(await post(max)).toEqual({ status: 200, body: { data: { __typename: 'Query' } } });
    expect(await post(max + 1)).toMatchObject(exceeds(413, 'body'));
  });

  it('may have a document of exactly 100,000 bytes and not one more', async () => {
    const post = (bytes: number) => {
      const query = '{ __typename } #ä';
      return postBody(JSON.stringify({ query: query + 'x'.repeat(bytes - Buffer.byteLength(query)) }));
    };

    expect(await post(100_000)).toEqual({ status: 200, body: { data: { __typename: 'Query' } } });
    expect(await post(100_001)).toMatchObject(exceeds(400, 'document'));
  });

  it('may give its mutations as many rows in lists as the limit says, and not one more', async () => {
    const users = (count: number) => Array.from({ length: count }, () => ({ externalIdentifier: '' }));
    const document = `mutation($many: [UserSyncInput!]!, $few: [UserSyncInput!]!) {
      ${Array.from({ length: 9 }, (_, index) => `u${index}: usersSync(users: $many) { results { outcome } }`).join(' ')}
      last: usersSync(users: $few) { results { outcome } } }`;
    const send = (few: number) => ask(graph, tenant.app, document, { many: users(1000), few: users(few) });

    expect(await send(1000)).toMatchObject({ status: 200, body: { data: { last: { results: { length: 1000 } } } } });
    expectRefused(await send(1001), 400, { code: 'LIMIT_EXCEEDED', limit: 'rows' });
  });

  const postBody = async (body: string) => {
    const headers = {
      Authorization: `Bearer ${tenant.app}`,
      'Content-Type': 'application/json',
      Accept: 'application/graphql-response+json',
    };
    const response = await fetch(`${graph.url}/graphql`, { method: 'POST', headers, body });
    return { status: response.status, body: (await response.json()) as unknown };
  };

  const exceeds = (status: number, limit: string) => ({
    status,
    body: { errors: [{ extensions: { code: 'LIMIT_EXCEEDED', limit } }] },
  });
});

describe('an answer', () => {
  let graph: OwnGraphTest;
  let tenant: Tenant;
  beforeAll(async () => {
    graph = await startGraphTest({ LIMIT_ROWS: '20' });
    tenant = await createTenant(graph);
    for (let i = 0; i < 12; i++) await createUser(tenant);
    const root = await createUnit(tenant);
    for (let i = 0; i < 4; i++) await createUnit(tenant, { parent: root });
  });
  afterAll(() => graph.stop());

  const tooMany = { code: 'LIMIT_EXCEEDED', limit: 'rows' };

  it('may have exactly as many rows as the limit says', async () => {
    const { status, body } = await ask(
      graph,
      tenant.app,
      '{ app { a: users { nodes { id } } b: users(first: 8) { edges { node { id } } } } }',
    );

    expect({ status, errors: body.errors }).toEqual({ status: 200, errors: undefined });
  });

  it('may not have one more, over all connections together', async () => {
    const document = '{ app { a: users { nodes { id } } b: users(first: 9) { edges { node { id } } } } }';

    expectRefused(await ask(graph, tenant.app, document), 400, tooMany);
  });

  it('cannot multiply its rows by going up and down the tree', async () => {
    const upAndDown = (times: number): string =>
      times > 0 ? `parent { children { nodes { ${upAndDown(times - 1)} } } }` : 'id';
    const document = (times: number) =>
      `{ app { rootUnits { nodes { children { nodes { ${upAndDown(times)} } } } } } }`;

    // 1 root, 4 children, and 4 again for each of them.
    expect((await ask(graph, tenant.app, document(0))).status).toBe(200);
    expectRefused(await ask(graph, tenant.app, document(1)), 400, tooMany);
    expectRefused(await ask(graph, tenant.app, document(30)), 400, tooMany);
  });

  it('is counted for people, too', async () => {
    const person = await createViewer(tenant);
    const root = await createUnit(tenant);
    for (let i = 0; i < 20; i++) await createUnit(tenant, { parent: root });
    await grantAccess(tenant, person, root);

    expect((await ask(graph, person.token, '{ viewer { accessibleUnits(first: 20) { nodes { id } } } }')).status).toBe(
      200,
    );
    expectRefused(await ask(graph, person.token, '{ viewer { accessibleUnits { nodes { id } } } }'), 400, tooMany);
  });
});
