import { settled } from '../graphql/changes/feed.ts';
import {
  ask,
  createTenant,
  expectRefused,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { fieldOf, type Table, tableSql } from './tables.ts';
import { walk } from './walk.ts';

type Keyed = Table & {
  readonly type: string;
  /** SQL of the key's values for a number from 1 to 5. */
  readonly values: string;
};

const tables: readonly Keyed[] = [
  {
    name: 'memberships',
    type: 'Membership',
    columns: 'unit_id uuid, user_id uuid',
    key: ['unit_id', 'user_id'],
    values: `${uuid('1')}, ${uuid('n')}`,
  },
  {
    name: 'countries',
    type: 'Country',
    columns: 'code text',
    key: ['code'],
    values: `(array['', 'DE', 'ü"\\€😀', '["a"]', ${uuid('n')}::text])[n]`,
  },
  { name: 'level_1_rooms', type: 'Level1Room', columns: 'id uuid', key: ['id'], values: uuid('n') },
  { name: 'counters', type: 'Counter', columns: 'id int', key: ['id'], values: '(n - 3) * 1000000' },
  { name: 'shorts', type: 'Short', columns: 'id int2', key: ['id'], values: 'n * -32768 / 5' },
  { name: 'events', type: 'Event', columns: 'id bigint', key: ['id'], values: '9223372036854775807 - n' },
  {
    name: 'seats',
    type: 'Seat',
    columns: '"row" int2, letter "char", hall varchar',
    key: ['hall', 'row', 'letter'],
    values: `n / 2, case n % 2 when 0 then 'A' else 'B' end::"char", 'Hall'`,
  },
  {
    name: 'amounts',
    type: 'Amount',
    columns: 'amount numeric',
    key: ['amount'],
    values: `(array['NaN', '0.10', '-1e-20', '12345678901234567890.5', '7'])[n]::numeric`,
  },
  { name: 'ratios', type: 'Ratio', columns: 'f float8', key: ['f'], values: 'n / 3.0::float8' },
  { name: 'days', type: 'Day', columns: 'd date', key: ['d'], values: `date '2024-02-27' + n` },
  {
    name: 'slots',
    type: 'Slot',
    columns: 't timestamptz',
    key: ['t'],
    values: `timestamptz '2024-02-29 23:59:59.999998+02' + n * interval '1 microsecond'`,
  },
  {
    name: 'locals',
    type: 'Local',
    columns: 't timestamp',
    key: ['t'],
    values: `timestamp '2024-02-29 23:59:59.999998' + n * interval '1 microsecond'`,
  },
  { name: 'hours', type: 'Hour', columns: 't time', key: ['t'], values: `time '12:00' + n * interval '1 microsecond'` },
  { name: 'flags', type: 'Flag', columns: 'f boolean, n int', key: ['f', 'n'], values: 'n % 2 = 0, n' },
  {
    name: 'humors',
    type: 'Humor',
    columns: 'm app_public.mood',
    key: ['m'],
    values: '(enum_range(null::app_public.mood))[n]',
  },
  { name: 'codes', type: 'Code', columns: 'c app_public.short_code', key: ['c'], values: `'c' || n` },
  { name: 'hosts', type: 'Host', columns: 'address inet', key: ['address'], values: `inet '10.0.0.0' + n` },
];

/** A UUID that ends in a number. */
function uuid(n: string): string {
  return `lpad(${n}::text, 32, '0')::uuid`;
}

const sql = `
  create type app_public.mood as enum ('glad', 'sad', 'so_so', 'angry', 'calm');
  create domain app_public.short_code as text check (length(value) < 10);
  ${tables.map(tableSql).join('\n')}
  ${tables.map(({ name }) => `select feed.follow('app_public.${name}');`).join('\n')}
  ${tableSql({ name: 'settings', columns: 'color text', key: [] }).replace('|@backwardBehavior -list +connection', '')}
  ${tableSql({ name: 'spans', columns: 'span interval', key: ['span'] })}
  create table app_public.currencies (code text primary key, name text not null);
  comment on table app_public.currencies is 'A currency.';
  alter table app_public.currencies enable row level security;
  create policy select_graph_app on app_public.currencies for select to graph_app using (code <> 'XXX');
  grant select on app_public.currencies to graph_app;
  insert into app_public.currencies values ('EUR', 'Euro'), ('XXX', 'None');
  create function app_public.app_currencies(app app_public.app) returns setof app_public.currencies language sql stable
    as $$ select * from app_public.currencies $$;
  grant execute on function app_public.app_currencies to graph_app;`;

let graph: OwnGraphTest;
let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    [tenant, other] = [await createTenant({ database }), await createTenant({ database })];
    const { owner } = database;
    await owner.query(sql);
    for (const { name, key, values } of tables) {
      for (const { organizationId } of [tenant, other]) {
        await owner.query(
          `insert into app_public.${name} (organization_id, ${columnsOf({ name, key, values })}) select $1, ${values} from generate_series(1, 5) n`,
          [organizationId],
        );
      }
    }
    await owner.query('insert into app_public.settings values ($1, $3), ($2, $4)', [
      tenant.organizationId,
      other.organizationId,
      'red',
      'blue',
    ]);
    await owner.query(`insert into app_public.spans select $1, n * interval '1 day' from generate_series(1, 5) n`, [
      tenant.organizationId,
    ]);
  });
});
afterAll(() => graph.stop());

/** In the order of the values. */
const columnsOf = ({ name, key }: { name: string; key: readonly string[]; values: string }) =>
  name === 'seats' ? '"row", letter, hall' : key.join(', ');

type Page = { app: Record<string, { nodes: { id: string }[]; totalCount: number; edges: { cursor: string }[] }> };

async function idsOf(holder: Tenant, name: string): Promise<string[]> {
  const { app } = await read<Page>(graph, holder.app, `{ app { ${fieldOf(name)} { nodes { id } } } }`);
  return app[fieldOf(name)]?.nodes.map(({ id }) => id) ?? [];
}

describe.each(tables.map((table) => [table.name, table] as const))('%s', (name, { type }) => {
  const field = fieldOf(name);

  test('each row has an id of its own, by which it is found again', async () => {
    const ids = await idsOf(tenant, name);
    expect(new Set(ids).size).toBe(5);

    for (const id of ids) {
      const found = await read<{ node: object }>(
        graph,
        tenant.app,
        'query ($id: ID!) { node(id: $id) { __typename id } }',
        { id },
      );
      expect(found).toEqual({ node: { __typename: type, id } });
    }
  });

  test('the same ids filter, in any number', async () => {
    const ids = await idsOf(tenant, name);
    const query = `query ($ids: [ID!]) { app { ${field}(ids: $ids) { totalCount nodes { id } } } }`;
    const nodes = (chosen: string[]) => ({
      app: { [field]: { totalCount: chosen.length, nodes: chosen.map((id) => ({ id })) } },
    });

    expect(await read(graph, tenant.app, query, { ids })).toEqual(nodes(ids));
    expect(await read(graph, tenant.app, query, { ids: [ids[3], ids[1]] })).toEqual(
      nodes([ids[1] ?? '', ids[3] ?? '']),
    );
    expect(await read(graph, tenant.app, query, { ids: [] })).toEqual(nodes([]));
  });

  test('pages by the key, both ways, to the end', async () => {
    const ids = await idsOf(tenant, name);
    for (const isBackwards of [false, true]) {
      expect((await walk(graph, tenant.app, { field, isBackwards })).map(({ id }) => id)).toEqual(ids);
    }
  });

  test('the change feed names the rows by the same ids', async () => {
    await settled(tenant);
    const { app } = await read<{ app: { changes: { nodes: { id: string; typeName: string; node: object }[] } } }>(
      graph,
      tenant.app,
      '{ app { changes { nodes { id typeName node { __typename id } } } } }',
    );
    const changes = app.changes.nodes.filter(({ typeName }) => typeName === type);

    expect(changes.map(({ id }) => id).sort()).toEqual((await idsOf(tenant, name)).sort());
    expect(changes.map(({ node }) => node)).toEqual(changes.map(({ id }) => ({ __typename: type, id })));
  });

  test("another organization's row is there, and is not found by its id", async () => {
    const { rows } = await graph.database.owner.query(`select from app_public.${name} where organization_id = $1`, [
      other.organizationId,
    ]);
    expect(rows).toHaveLength(5);
    const ids = await idsOf(other, name);
    expect(ids).toHaveLength(5);

    const { app } = await read<Page>(
      graph,
      tenant.app,
      `query ($ids: [ID!]) { app { ${field}(ids: $ids) { totalCount nodes { id } } } }`,
      { ids },
    );
    // Keys may be the same ones: then it is the own row that is found, and never more of them.
    expect(app[field]?.totalCount).toBe(5);
  });

  test.each([
    ['one of fewer parts', (id: string) => rewrite(id, (key) => key.slice(1))],
    ['one of more parts', (id: string) => rewrite(id, (key) => [...key, 'more'])],
    ['a part that is a list', (id: string) => rewrite(id, (key) => key.map(() => ['x']))],
    [
      'lists in lists',
      (id: string) => rewrite(id, (key) => key.map(() => JSON.parse(`${'['.repeat(2000)}${']'.repeat(2000)}`))),
    ],
    ['a NUL', (id: string) => rewrite(id, (key) => key.map(() => 'a\0'))],
    ['an object', (id: string) => rewrite(id, (key) => key.map(() => ({})))],
    ['a space behind', (id: string) => `${id} `],
  ])('an id with %s is none', async (_, tamper) => {
    const [id = ''] = await idsOf(tenant, name);

    const query = 'query ($id: ID!) { node(id: $id) { id } }';
    expect(await read(graph, tenant.app, query, { id: tamper(id) })).toEqual({ node: null });
    const filter = `query ($ids: [ID!]) { app { ${field}(ids: $ids) { totalCount } } }`;
    expectRefused(await ask(graph, tenant.app, filter, { ids: [tamper(id)] }), 400, {
      code: 'BAD_USER_INPUT',
      argument: 'ids',
    });
  });
});

/** As a client that knows how ids are written. */
function rewrite(id: string, change: (key: unknown[]) => unknown[]): string {
  const [, type = '', text = ''] = /^(\w+):(.*)$/s.exec(Buffer.from(id, 'base64url').toString()) ?? [];
  const key = text.startsWith('[') ? JSON.parse(text) : [text];
  return Buffer.from(`${type}:${JSON.stringify(change(key))}`).toString('base64url');
}

test('a key of the organization alone: the one row that its caller sees', async () => {
  const query = '{ app { settings { id color } } }';
  const { app } = await read<{ app: { settings: { id: string; color: string } } }>(graph, tenant.app, query);
  expect(app.settings).toEqual({ id: expect.any(String), color: 'red' });

  const { id } = app.settings;
  const node = 'query ($id: ID!) { node(id: $id) { ... on Setting { color } } }';
  expect(await read(graph, tenant.app, node, { id })).toEqual({ node: { color: 'red' } });
  expect(await read(graph, other.app, node, { id })).toEqual({ node: { color: 'blue' } });
});

test('a table without organization_id', async () => {
  const query = '{ app { currencies { totalCount nodes { id code name } } } }';
  const { app } = await read<{ app: { currencies: { nodes: { id: string }[] } } }>(graph, tenant.app, query);
  expect(app.currencies).toEqual({ totalCount: 1, nodes: [{ id: expect.any(String), code: 'EUR', name: 'Euro' }] });

  const [{ id } = { id: '' }] = app.currencies.nodes;
  const node = 'query ($id: ID!) { node(id: $id) { ... on Currency { code } } }';
  expect(await read(graph, tenant.app, node, { id })).toEqual({ node: { code: 'EUR' } });
  // The row is there, but the policy hides it.
  expect(await read(graph, tenant.app, node, { id: rewrite(id, () => ['XXX']) })).toEqual({ node: null });
});

test('a key that cannot be an id gives none, and its rows are there all the same', async () => {
  const { app, __type } = await read<{ app: object; __type: object }>(
    graph,
    tenant.app,
    '{ app { spans { totalCount } } __type(name: "Span") { interfaces { name } fields { name } } }',
  );
  expect({ app, __type }).toEqual({
    app: { spans: { totalCount: 5 } },
    __type: { interfaces: [], fields: [{ name: 'span' }] },
  });
});
