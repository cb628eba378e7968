import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  expectRefused,
  type GraphTest,
  globalId,
  grantAccess,
  read,
  type Tenant,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let viewer: string;
beforeAll(async () => {
  graph = await shareService();
  tenant = await createTenant(graph);
  const person = await createViewer(tenant);
  viewer = person.token;
  await createUser(tenant);
  const root = await createUnit(tenant, { name: 'Root' });
  await createUnit(tenant, { name: 'Child', parent: root });
  await createUnit(tenant, { name: 'Second child', parent: root });
  await createUnit(tenant, { name: 'Second root' });
  await grantAccess(tenant, person, root);
});

/** Each connection as a document around its arguments, and the token that may ask for it. */
type Connection = { wrap: (args: string, fields: string) => string; token: () => string };

const users: Connection = { wrap: (args, fields) => `app { users${args} ${fields} }`, token: () => tenant.app };
const rootUnits: Connection = { wrap: (args, fields) => `app { rootUnits${args} ${fields} }`, token: () => tenant.app };
const connections: Record<string, Connection> = {
  users,
  rootUnits,
  accessibleUnits: { wrap: (args, fields) => `viewer { accessibleUnits${args} ${fields} }`, token: () => viewer },
  children: {
    wrap: (args, fields) => `app { rootUnits { nodes { children${args} ${fields} } } }`,
    token: () => tenant.app,
  },
};

const refused = (argument: string) => ({ code: 'BAD_USER_INPUT', argument });

describe.each(Object.entries(connections))('%s', (_name, connection) => {
  const { wrap, token } = connection;
  const run = (args: string) => ask(graph, token(), `{ ${wrap(`(${args})`, '{ nodes { id } }')} }`);

  it.each([
    ['first: 1001', 'first'],
    ['first: -1', 'first'],
    ['first: 2147483647', 'first'],
    ['last: 1001', 'last'],
    ['last: -1', 'last'],
    ['first: 1, last: 1', 'first'],
    ['first: 0, last: 0', 'first'],
    ['ids: ["garbage"]', 'ids'],
    ['ids: [""]', 'ids'],
    [`orderBy: [${Array(11).fill('PRIMARY_KEY_ASC')}]`, 'orderBy'],
  ])('refuses (%s)', async (args, argument) => {
    expectRefused(await run(args), 400, refused(argument));
  });

  it.each([
    'first: 1000',
    'first: 0',
    'last: 1000',
    'first: null, last: 1',
    'ids: null',
    'orderBy: null',
    'after: null',
  ])('takes (%s)', async (args) => {
    expect(await run(args)).toMatchObject({ status: 200, body: { data: expect.any(Object) } });
    expect((await run(args)).body.errors).toBeUndefined();
  });

  it('refuses a bad page through a variable and its default', async () => {
    const query = (type: string) => `query($size: ${type}) { ${wrap('(first: $size)', '{ nodes { id } }')} }`;
    const wrong = { ...refused('first'), variable: 'size' };

    expectRefused(await ask(graph, token(), query('Int'), { size: 1001 }), 400, refused('first'));
    expectRefused(await ask(graph, token(), query('Int = -1')), 400, refused('first'));
    expectRefused(await ask(graph, token(), query('Int'), { size: 1.5 }), 400, wrong);
    expectRefused(await ask(graph, token(), query('Int'), { size: '10' }), 400, wrong);
    await read(graph, token(), query('Int'), { size: 1000 });
    await read(graph, token(), query('Int = 1'));
    await read(graph, token(), query('Int'), { size: null });
  });

  it('refuses more than 1,000 values of a filter and takes 1,000', async () => {
    const query = `query($ids: [ID!], $names: [String!]) { ${wrap('(ids: $ids, externalIdentifiers: $names)', '{ totalCount }')} }`;
    const ids = Array(1000).fill(globalId('Unit', '01900000-0000-7000-8000-000000000000'));
    const names = Array(1000).fill('nobody');

    expectRefused(await ask(graph, token(), query, { ids: [...ids, ids[0]] }), 400, refused('ids'));
    expectRefused(
      await ask(graph, token(), query, { names: [...names, 'nobody'] }),
      400,
      refused('externalIdentifiers'),
    );
    await read(graph, token(), query, { ids, names });
  });

  it('refuses an external identifier that is not Unicode text', async () => {
    const query = `query($names: [String!]) { ${wrap('(externalIdentifiers: $names)', '{ totalCount }')} }`;

    for (const name of ['\0', 'half \ud83d pair'])
      expectRefused(await ask(graph, token(), query, { names: [name] }), 400, refused('externalIdentifiers'));
    await read(graph, token(), query, { names: ['whole 😀 pair'] });
  });

  it('refuses an invented cursor', async () => {
    const query = (argument: string) =>
      `query($cursor: Cursor) { ${wrap(`(${argument}: $cursor)`, '{ nodes { id } }')} }`;
    const key = '01900000-0000-7000-8000-000000000000';
    const inventions = [
      '',
      'garbage',
      '!!!',
      7,
      true,
      {},
      [],
      encode(null),
      encode('natural'),
      encode(['natural', 1]),
      encode([]),
      encode({ 0: 'digest', 1: key }),
      encode(['0123456789', key]),
      encode([key]),
    ];

    for (const argument of ['after', 'before'])
      for (const cursor of inventions)
        expectRefused(await ask(graph, token(), query(argument), { cursor }), 400, refused(argument));
  });

  it('refuses its own cursor when something else stands in it', async () => {
    const own = await cursorOf(connection);
    const [digest, key] = decode(own);
    const query = `query($cursor: Cursor) { ${wrap('(after: $cursor)', '{ nodes { id } }')} }`;

    for (const changed of [
      [digest],
      [digest, key, key],
      [digest, null],
      [digest, 1],
      [digest, [key]],
      [digest, 'not a uuid'],
      [digest, `${key}'; drop table users`],
      [digest, String(key).toUpperCase()],
    ])
      expectRefused(await ask(graph, token(), query, { cursor: encode(changed) }), 400, refused('after'));
    await read(graph, token(), query, { cursor: own });
  });
});

test("refuses another order's cursor, and takes one of the same columns in the other direction", async () => {
  const orders = ['PRIMARY_KEY', 'NAME', 'EXTERNAL_IDENTIFIER'];
  const query = (order: string) =>
    `query($cursor: Cursor) { app { rootUnits(orderBy: ${order}, after: $cursor) { nodes { id } } } }`;

  for (const issued of orders) {
    const cursor = await cursorOf(rootUnits, `(orderBy: ${issued}_ASC)`);
    for (const order of orders) {
      if (order === issued) await read(graph, tenant.app, query(`${order}_DESC`), { cursor });
      else expectRefused(await ask(graph, tenant.app, query(`${order}_ASC`), { cursor }), 400, refused('after'));
    }
  }
});

test('a cursor is a position among rows, and refused where the rows are others', async () => {
  for (const issuer of Object.values(connections)) {
    const cursor = await cursorOf(issuer);
    for (const connection of Object.values(connections)) {
      const { wrap, token } = connection;
      const query = `query($cursor: Cursor) { ${wrap('(after: $cursor)', '{ nodes { id } }')} }`;
      // All but one list units.
      if ((connection === users) === (issuer === users)) await read(graph, token(), query, { cursor });
      else expectRefused(await ask(graph, token(), query, { cursor }), 400, refused('after'));
    }
  }
});

test("another organization's cursor is a position among the own rows, and shows none of theirs", async () => {
  const other = await createTenant(graph);
  const own = await createUser(other);
  const cursor = await cursorOf(users);

  const query = 'query($cursor: Cursor) { app { users(after: $cursor) { totalCount nodes { id } } } }';

  expect(await read(graph, other.app, query, { cursor })).toEqual({
    app: { users: { totalCount: 1, nodes: [{ id: own.id }] } },
  });
});

test('a bad page argument refuses the document, with every problem and none of the data', async () => {
  const answer = await ask(
    graph,
    tenant.app,
    `{ app { name users(first: 5000) { totalCount } good: rootUnits(first: 1) { nodes { children(last: -1) { totalCount } } } } }`,
  );

  expectRefused(answer, 400, refused('first'), refused('last'));
});

test('a bad page argument is found in fragments, aliases and skipped fields', async () => {
  for (const document of [
    '{ app { ...Users } } fragment Users on App { users(first: 1001) { totalCount } }',
    '{ app { ... on App { everybody: users(first: 1001) { totalCount } } } }',
    'query($no: Boolean = false) { app { users(first: 1001) @include(if: $no) { totalCount } } }',
  ])
    expectRefused(await ask(graph, tenant.app, document), 400, refused('first'));
});

/** The cursor of the first row. */
async function cursorOf({ wrap, token }: Connection, args = '(first: 1)'): Promise<string> {
  const data = await read(graph, token(), `{ ${wrap(args, '{ edges { cursor } }')} }`);
  return /"cursor":"([^"]+)"/.exec(JSON.stringify(data))?.[1] ?? '';
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64');
const decode = (cursor: string): unknown[] => JSON.parse(Buffer.from(cursor, 'base64').toString());

test('of very many bad values of a variable only some are reported', async () => {
  const query = 'query($ids: [ID!]) { app { users(ids: $ids) { totalCount } } }';

  const { status, body } = await ask(graph, tenant.app, query, { ids: Array(10_000).fill(null) });

  expect(status).toBe(400);
  expect(body.errors?.length).toBeLessThanOrEqual(51);
  expect(body.errors?.[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT', argument: 'ids', variable: 'ids' });
});
