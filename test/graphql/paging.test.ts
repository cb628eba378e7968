import { shareService } from '../support/sharedService.ts';
import {
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  grantAccess,
  read,
  type Tenant,
  type TestUnit,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let viewer: string;
let parent: TestUnit;
beforeAll(async () => {
  graph = await shareService();
  await createRows();
});

// Names come twice or three times, and most rows have no external identifier: ties in every order but that of the key.
const count = 7;
const nameOf = (index: number) => `Name ${index % 3}`;
const externalIdentifierOf = (index: number) => (index % 3 === 0 ? `external ${count - index}` : null);

/** The same tree for each connection: seven roots, all granted, of which the first has seven children; and seven users. */
async function createRows(): Promise<void> {
  tenant = await createTenant(graph);
  const person = await createViewer(tenant, { fullName: nameOf(0) });
  viewer = person.token;
  for (let index = 0; index < count; index++) {
    const values = { name: nameOf(index), externalIdentifier: externalIdentifierOf(index) };
    const unit = await createUnit(tenant, values);
    await grantAccess(tenant, person, unit);
    parent ??= unit;
    if (index > 0) await createUser(tenant, { fullName: nameOf(index), externalIdentifier: values.externalIdentifier });
  }
  for (let index = 0; index < count; index++) {
    const externalIdentifier = externalIdentifierOf(index) && `child ${externalIdentifierOf(index)}`;
    await createUnit(tenant, { name: nameOf(index), parent, externalIdentifier });
  }
}

type Page = {
  totalCount: number;
  nodes: { id: string; value: string | null }[];
  edges: { cursor: string; node: { id: string } }[];
  pageInfo: { startCursor: string; endCursor: string; hasNextPage: boolean; hasPreviousPage: boolean };
};

/** Each connection by its name: how to ask for one page of it with these arguments. */
const connections = {
  'App.users': { rows: 7, orders: ['FULL_NAME', 'EMAIL', 'EXTERNAL_IDENTIFIER', 'PRIMARY_KEY'] },
  'App.rootUnits': { rows: 7, orders: ['NAME', 'EXTERNAL_IDENTIFIER', 'PRIMARY_KEY'] },
  'User.accessibleUnits': { rows: 14, orders: ['NAME', 'EXTERNAL_IDENTIFIER', 'PRIMARY_KEY'] },
  'Unit.children': { rows: 7, orders: ['NAME', 'EXTERNAL_IDENTIFIER', 'PRIMARY_KEY'] },
};
type ConnectionName = keyof typeof connections;

async function page(name: ConnectionName, values: Record<string, unknown>, orderField = 'id'): Promise<Page> {
  const args = '(first: $first, last: $last, after: $after, before: $before, orderBy: $orderBy)';
  const fields = `${args} {
    totalCount nodes { id value: ${orderField} } edges { cursor node { id } }
    pageInfo { startCursor endCursor hasNextPage hasPreviousPage } }`;
  const document = (body: string, type: string) =>
    `query($first: Int, $last: Int, $after: Cursor, $before: Cursor, $orderBy: [${type}!]) { ${body} }`;
  switch (name) {
    case 'App.users': {
      const query = document(`app { users${fields} }`, 'UserOrderBy');
      return (await read<{ app: { users: Page } }>(graph, tenant.app, query, values)).app.users;
    }
    case 'App.rootUnits': {
      const query = document(`app { rootUnits${fields} }`, 'UnitOrderBy');
      return (await read<{ app: { rootUnits: Page } }>(graph, tenant.app, query, values)).app.rootUnits;
    }
    case 'User.accessibleUnits': {
      const query = document(`viewer { accessibleUnits${fields} }`, 'UnitOrderBy');
      return (await read<{ viewer: { accessibleUnits: Page } }>(graph, viewer, query, values)).viewer.accessibleUnits;
    }
    case 'Unit.children': {
      const query = document(`node(id: "${parent.id}") { ... on Unit { children${fields} } }`, 'UnitOrderBy');
      return (await read<{ node: { children: Page } }>(graph, tenant.app, query, values)).node.children;
    }
  }
}

const camelCase = (order: string) =>
  order === 'PRIMARY_KEY' ? 'id' : order.toLowerCase().replace(/_(.)/g, (_, letter) => letter.toUpperCase());

/** All rows in this order, in one page. */
const all = async (name: ConnectionName, orderBy: string[], field = 'id') =>
  (await page(name, { first: 1000, orderBy }, field)).nodes;

describe.each(Object.keys(connections) as ConnectionName[])('%s', (name) => {
  const { rows, orders } = connections[name];
  const both = orders.flatMap((order) => [`${order}_ASC`, `${order}_DESC`]);

  it('returns its rows in the order of creation unless asked otherwise', async () => {
    const ids = (await page(name, {})).nodes.map(({ id }) => id);

    expect(ids).toHaveLength(rows);
    expect(ids).toEqual((await all(name, ['PRIMARY_KEY_ASC'])).map(({ id }) => id));
    expect(ids).toEqual((await all(name, [])).map(({ id }) => id));
  });

  it.each(both)('in the order %s, has the rows sorted, those without a value before all others', async (order) => {
    const field = camelCase(order.replace(/_(ASC|DESC)$/, ''));

    const values = (await all(name, [order], field)).map(({ value }) => value ?? '');

    const sorted = field === 'id' ? values.map(uuidOf).toSorted() : values.toSorted();
    const expected = order.endsWith('_DESC') ? sorted.toReversed() : sorted;
    expect(field === 'id' ? values.map(uuidOf) : values).toEqual(expected);
  });

  it.each([...both, `${orders[0]}_DESC,EXTERNAL_IDENTIFIER_ASC`, `PRIMARY_KEY_DESC,${orders[0]}_ASC`])(
    'in the order %s, gives every row once, page by page to the end, forwards and backwards',
    async (order) => {
      const orderBy = order.split(',');
      const expected = (await all(name, orderBy)).map(({ id }) => id);

      // Pages of two end amid the ties.
      expect(await forwards(name, 2, orderBy)).toEqual(expected);
      expect(await backwards(name, 2, orderBy)).toEqual(expected);
    },
  );

  it('has a cursor for every edge, that of the first and the last at the ends of the page', async () => {
    const { nodes, edges, pageInfo } = await page(name, { first: 3 });

    expect(edges.map(({ node }) => node.id)).toEqual(nodes.map(({ id }) => id));
    expect(new Set(edges.map(({ cursor }) => cursor)).size).toBe(3);
    expect([pageInfo.startCursor, pageInfo.endCursor]).toEqual([edges[0]?.cursor, edges[2]?.cursor]);
  });

  it('counts all rows, whatever the page', async () => {
    for (const values of [{}, { first: 1 }, { first: 0 }, { last: 2 }])
      expect((await page(name, values)).totalCount).toBe(rows);
  });

  it('returns the rows between two cursors', async () => {
    const { edges } = await page(name, { first: 6 });

    const { nodes } = await page(name, { after: edges[0]?.cursor, before: edges[5]?.cursor });

    expect(nodes.map(({ id }) => id)).toEqual(edges.slice(1, 5).map(({ node }) => node.id));
  });

  it('returns no row for a page of none', async () => {
    expect(await page(name, { first: 0 })).toMatchObject({ nodes: [], edges: [] });
    expect(await page(name, { last: 0 })).toMatchObject({ nodes: [], edges: [] });
  });
});

async function forwards(name: ConnectionName, first: number, orderBy: string[]): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | null = null; ; ) {
    const { nodes, pageInfo }: Page = await page(name, { first, after, orderBy });
    found.push(...nodes.map(({ id }) => id));
    expect(nodes.length <= first && found.length <= connections[name].rows).toBe(true);
    if (!pageInfo.hasNextPage) return found;
    after = pageInfo.endCursor;
  }
}

async function backwards(name: ConnectionName, last: number, orderBy: string[]): Promise<string[]> {
  const found: string[] = [];
  for (let before: string | null = null; ; ) {
    const { nodes, pageInfo }: Page = await page(name, { last, before, orderBy });
    found.unshift(...nodes.map(({ id }) => id));
    expect(nodes.length <= last && found.length <= connections[name].rows).toBe(true);
    if (!pageInfo.hasPreviousPage) return found;
    before = pageInfo.startCursor;
  }
}

/** The key in an id, by which rows are sorted; the id itself sorts otherwise. */
const uuidOf = (id: string) => Buffer.from(id, 'base64url').toString().replace(/^.*:/, '');

test('a page has 100 rows unless asked, and 1,000 at most', async () => {
  const crowd = await createTenant(graph);
  await crowd.owner.query(
    `insert into app_public.users (organization_id, full_name, email)
     select $1, 'Somebody', number || '@acme.test' from generate_series(1, 1001) as number`,
    [crowd.organizationId],
  );
  const sizes = async (args: string) => {
    const query = `{ app { users${args} { totalCount nodes { id } pageInfo { hasNextPage } } } }`;
    const { users } = (await read<{ app: { users: Page } }>(graph, crowd.app, query)).app;
    return [users.nodes.length, users.pageInfo.hasNextPage, users.totalCount];
  };

  expect(await sizes('')).toEqual([100, true, 1001]);
  expect(await sizes('(first: null, last: null)')).toEqual([100, true, 1001]);
  expect(await sizes('(first: 101)')).toEqual([101, true, 1001]);
  expect(await sizes('(first: 1000)')).toEqual([1000, true, 1001]);
  expect(await sizes('(last: 1000)')).toEqual([1000, false, 1001]);
});
