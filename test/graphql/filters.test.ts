import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createCard,
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
let connections: Record<ConnectionName, Connection>;
beforeAll(async () => {
  graph = await shareService();
  await createRows();
});

type Row = { id: string; externalIdentifier: string | null };
type Connection = {
  wrap: (args: string, fields: string) => string;
  token: string;
  /** The three rows, in order; the last without an external identifier. */
  rows: [Row, Row, Row];
  /** Rows of another type, and rows that are not in this connection. */
  elsewhere: Row[];
};
type ConnectionName = 'users' | 'rootUnits' | 'accessibleUnits' | 'children';
const names: ConnectionName[] = ['users', 'rootUnits', 'accessibleUnits', 'children'];

async function createRows(): Promise<void> {
  tenant = await createTenant(graph);
  const foreign = await createTenant(graph);
  const unit = async (externalIdentifier: string | null, parent?: Awaited<ReturnType<typeof createUnit>>) => ({
    ...(await createUnit(tenant, { externalIdentifier, ...(parent && { parent }) })),
    externalIdentifier,
  });
  const person = await createViewer(tenant, { externalIdentifier: 'first user' });
  viewer = person.token;
  const users = [person, await createUser(tenant, { externalIdentifier: 'second user' }), await createUser(tenant)];
  const roots = [await unit('first root'), await unit('second root'), await unit(null)];
  const children = [
    await unit('first child', roots[0]),
    await unit('second child', roots[0]),
    await unit(null, roots[0]),
  ];
  for (const child of children) await grantAccess(tenant, person, child);

  const foreignUser = await createUser(foreign, { externalIdentifier: 'foreign user' });
  const foreignUnit = {
    ...(await createUnit(foreign, { externalIdentifier: 'foreign' })),
    externalIdentifier: 'foreign',
  };
  const triple = (rows: Row[]) => rows as [Row, Row, Row];
  connections = {
    users: {
      wrap: (args, fields) => `app { connection: users${args} ${fields} }`,
      token: tenant.app,
      rows: triple(users),
      elsewhere: [foreignUser, ...roots],
    },
    rootUnits: {
      wrap: (args, fields) => `app { connection: rootUnits${args} ${fields} }`,
      token: tenant.app,
      rows: triple(roots),
      elsewhere: [foreignUnit, ...children, ...users],
    },
    accessibleUnits: {
      wrap: (args, fields) => `viewer { connection: accessibleUnits${args} ${fields} }`,
      token: viewer,
      rows: triple(children),
      elsewhere: [foreignUnit, ...roots, ...users],
    },
    children: {
      wrap: (args, fields) =>
        `app { rootUnits(ids: ["${roots[0]?.id}"]) { nodes { connection: children${args} ${fields} } } }`,
      token: tenant.app,
      rows: triple(children),
      elsewhere: [foreignUnit, ...roots, ...users],
    },
  };
}

type Filters = { ids?: string[] | null; externalIdentifiers?: string[] | null };

const document = ({ wrap }: Connection) =>
  `query($ids: [ID!], $externalIdentifiers: [String!]) {
    ${wrap('(ids: $ids, externalIdentifiers: $externalIdentifiers)', '{ totalCount nodes { id } edges { node { id } } }')} }`;

/** The ids that the filters leave, which nodes, edges and the count agree on. */
async function filtered(connection: Connection, filters: Filters): Promise<string[]> {
  const data = await read(graph, connection.token, document(connection), filters);
  const found = JSON.stringify(data).match(/"connection":(\{.*?\]\})/)?.[1] ?? '';
  const { totalCount, nodes, edges } = JSON.parse(found) as {
    totalCount: number;
    nodes: { id: string }[];
    edges: { node: { id: string } }[];
  };
  expect(edges.map(({ node }) => node)).toEqual(nodes);
  expect(totalCount).toBe(nodes.length);
  return nodes.map(({ id }) => id);
}

describe.each(names)('%s', (name) => {
  it('filters by ids, in its own order, a repeated one counting once', async () => {
    const { rows } = connections[name];

    expect(await filtered(connections[name], { ids: [rows[2].id, rows[0].id, rows[2].id] })).toEqual([
      rows[0].id,
      rows[2].id,
    ]);
  });

  it('filters by external identifiers, compared exactly', async () => {
    const { rows } = connections[name];
    const [first = '', second = ''] = rows.map(({ externalIdentifier }) => externalIdentifier ?? undefined);

    expect(await filtered(connections[name], { externalIdentifiers: [second, first] })).toEqual([
      rows[0].id,
      rows[1].id,
    ]);
    expect(await filtered(connections[name], { externalIdentifiers: [first.toUpperCase(), ` ${first}`, ''] })).toEqual(
      [],
    );
  });

  it('filters by both at once when both are given', async () => {
    const { rows } = connections[name];
    const filters = {
      ids: [rows[0].id, rows[2].id],
      externalIdentifiers: rows.flatMap((row) => row.externalIdentifier ?? []),
    };

    expect(await filtered(connections[name], filters)).toEqual([rows[0].id]);
  });

  it('matches nothing by an empty list, and everything by null', async () => {
    const { rows } = connections[name];
    const all = rows.map(({ id }) => id);

    expect(await filtered(connections[name], {})).toEqual(all);
    expect(await filtered(connections[name], { ids: null, externalIdentifiers: null })).toEqual(all);
    expect(await filtered(connections[name], { ids: [] })).toEqual([]);
    expect(await filtered(connections[name], { externalIdentifiers: [] })).toEqual([]);
    expect(await filtered(connections[name], { ids: all, externalIdentifiers: [] })).toEqual([]);
  });

  it('matches nothing by what is elsewhere: in another organization, of another type, beside it in the tree', async () => {
    const { elsewhere, rows } = connections[name];
    const uuid = Buffer.from(rows[0].id, 'base64url').toString().replace(/^.*:/, '');
    const asAnotherType = ['User', 'Unit', 'NfcCard', 'Nothing']
      .map((type) => globalId(type, uuid))
      .filter((id) => id !== rows[0].id);

    expect(await filtered(connections[name], { ids: [...elsewhere.map(({ id }) => id), ...asAnotherType] })).toEqual(
      [],
    );
    const externalIdentifiers = elsewhere.flatMap((row) => row.externalIdentifier ?? []);
    expect(await filtered(connections[name], { externalIdentifiers })).toEqual([]);
  });

  it('takes one value for a list of one, as GraphQL does', async () => {
    const { wrap, rows, token } = connections[name];

    const data = await read(graph, token, `{ ${wrap(`(ids: "${rows[1].id}")`, '{ totalCount }')} }`);

    expect(JSON.stringify(data)).toContain('{"totalCount":1}');
  });

  it('refuses an id that the service cannot have issued', async () => {
    const { rows } = connections[name];
    const [known] = rows;
    const encode = (text: string) => Buffer.from(text).toString('base64url');

    for (const id of [
      '',
      'garbage',
      '1',
      ` ${known.id}`,
      `${known.id}=`,
      encode('User:1'),
      encode('User'),
      encode(`User:01900000-0000-7000-8000-000000000000'--`),
      encode('["User",1]'),
      'x'.repeat(10_000),
    ])
      expectRefused(
        await ask(graph, connections[name].token, document(connections[name]), { ids: [known.id, id] }),
        400,
        {
          code: 'BAD_USER_INPUT',
          argument: 'ids',
        },
      );
  });
});

test('another organization sees its own row by the filter that finds nothing here', async () => {
  const other = await createTenant(graph);
  const user = await createUser(other, { externalIdentifier: 'theirs' });
  const query = `{ app { users(ids: ["${user.id}"], externalIdentifiers: ["theirs"]) { totalCount } } }`;

  expect(await read(graph, other.app, query)).toEqual({ app: { users: { totalCount: 1 } } });
  expect(await read(graph, tenant.app, query)).toEqual({ app: { users: { totalCount: 0 } } });
});

test('a filtered connection pages like any other', async () => {
  const { rows, token } = connections.users;
  const ids = JSON.stringify(rows.map(({ id }) => id));
  const page = (args: string) =>
    read<{ app: { users: { nodes: { id: string }[]; pageInfo: { endCursor: string; hasNextPage: boolean } } } }>(
      graph,
      token,
      `{ app { users(ids: ${ids}, first: 2${args}) { nodes { id } pageInfo { endCursor hasNextPage } } } }`,
    );

  const first = (await page('')).app.users;
  const second = (await page(`, after: "${first.pageInfo.endCursor}"`)).app.users;

  expect([...first.nodes, ...second.nodes]).toEqual(rows.map(({ id }) => ({ id })));
  expect([first.pageInfo.hasNextPage, second.pageInfo.hasNextPage]).toEqual([true, false]);
});

test('the id of a card names its type, too: with another one it finds no card', async () => {
  const holder = await createUser(tenant);
  const { cardId } = await createCard(tenant, holder, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2' });
  const key = Buffer.from(cardId, 'base64url').toString().slice('NfcCard:'.length);
  const query = 'query ($ids: [ID!]) { app { cards(ids: $ids) { totalCount nodes { id } } } }';

  const found = async (ids: string[]) =>
    (await read<{ app: { cards: unknown } }>(graph, tenant.app, query, { ids })).app.cards;

  expect(await found([cardId, globalId('BeaconCard', key)])).toEqual({ totalCount: 1, nodes: [{ id: cardId }] });
  for (const type of ['BeaconCard', 'IdentificationCode', 'Unit'])
    expect(await found([globalId(type, key)])).toEqual({ totalCount: 0, nodes: [] });
});
