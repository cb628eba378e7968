import {
  ask,
  createTenant,
  createUnit,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
  type TestUnit,
} from '../graphql/support.ts';
import { tableSql } from './tables.ts';

// Rows that belong together by a condition, and what the comment of a mutation says of its arguments.

let graph: OwnGraphTest;
let tenant: Tenant;
let [depot, hall]: TestUnit[] = [];
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    [depot, hall] = [await createUnit(tenant, { name: 'Depot' }), await createUnit(tenant, { name: 'Hall' })];
    await database.owner.query(`
    ${tableSql({ name: 'lamps', columns: 'id int, unit_id uuid not null, name text not null, lux int not null', key: ['id'], indexes: ['name'] })}
    comment on table app_public.lamps is '${comment}';
    create function app_public.lamps_dim(above int, by int default null, amount int default null, given text[] default '{}')
      returns text language sql volatile as $$ select concat_ws(' ', above, by, amount, given) $$;
    comment on function app_public.lamps_dim is
      E'@mutation\\n@param above From where.\\n@param by = 10 By how much.\\n@param amount Another name. @deprecated Use by.\\n@param {Given} given\\nDims.';
    grant execute on function app_public.lamps_dim to graph_app`);
    await database.owner.query(
      `insert into app_public.lamps select $1, n, case n % 2 when 0 then $2::uuid else $3::uuid end, 'Lamp ' || n, n * 100 from generate_series(1, 6) n`,
      [tenant.organizationId, depot?.uuid, hall?.uuid],
    );
  });
});
afterAll(() => graph.stop());

const comment =
  '@connection Unit.brightLamps|@where child.unit_id = parent.id and child.lux > 200|@description Lamps that are bright.\nA lamp.';

test('a connection by a condition has the arguments, the pages and the count of its table', async () => {
  const query = `query ($id: ID!) { node(id: $id) { ... on Unit { name
    all: brightLamps { totalCount nodes { name } }
    last: brightLamps(first: 1, orderBy: NAME_DESC) { totalCount nodes { name } pageInfo { hasNextPage } } } } }`;

  expect(await read(graph, tenant.app, query, { id: depot?.id })).toEqual({
    node: {
      name: 'Depot',
      all: { totalCount: 2, nodes: [{ name: 'Lamp 4' }, { name: 'Lamp 6' }] },
      last: { totalCount: 2, nodes: [{ name: 'Lamp 6' }], pageInfo: { hasNextPage: true } },
    },
  });
  expect(
    await read(graph, tenant.app, '{ app { rootUnits { nodes { name brightLamps { nodes { name } } } } } }'),
  ).toEqual({
    app: {
      rootUnits: {
        nodes: [
          { name: 'Depot', brightLamps: { nodes: [{ name: 'Lamp 4' }, { name: 'Lamp 6' }] } },
          { name: 'Hall', brightLamps: { nodes: [{ name: 'Lamp 3' }, { name: 'Lamp 5' }] } },
        ],
      },
    },
  });
});

test('a parameter may have a default, be deprecated, or know which others were given', async () => {
  const { __type } = await read<{ __type: { fields: { name: string; args: { name: string }[] }[] } }>(
    graph,
    null,
    `{ __type(name: "Mutation") { fields { name args(includeDeprecated: true) { name defaultValue description deprecationReason } } } }`,
  );
  expect(__type.fields.find(({ name }) => name === 'lampsDim')?.args.toSorted(byName)).toEqual([
    { name: 'above', defaultValue: null, description: 'From where.', deprecationReason: null },
    { name: 'amount', defaultValue: null, description: 'Another name.', deprecationReason: 'Use by.' },
    { name: 'by', defaultValue: '10', description: 'By how much.', deprecationReason: null },
  ]);

  const dim = async (args: string) =>
    (await read<{ lampsDim: { result: string } }>(graph, tenant.app, `mutation { lampsDim(${args}) { result } }`))
      .lampsDim.result;
  expect(await dim('above: 1')).toBe('1 10 {above,by}');
  expect(await dim('above: 1, by: null, amount: null')).toBe('1 {above,by,amount}');
});

const byName = (one: { name: string }, other: { name: string }) => one.name.localeCompare(other.name);

test.each([
  ['names no field of a type', '@connection lamps|@where true|@description Lamps.', /is not <type>.<field>/],
  ['has no condition', '@connection Unit.lamps|@description Lamps.', /is not <type>.<field>/],
  ['is of a type that is not there', '@connection Room.lamps|@where true|@description Lamps.', /is not <type>.<field>/],
  [
    'names no column',
    '@connection Unit.lamps|@where child.room_id = parent.id|@description Lamps.',
    /names child.room_id, and there is no such column/,
  ],
])('a connection that %s is refused, and the old schema stays', async (_, wrong, message) => {
  await graph.database.owner.query(`comment on table app_public.lamps is '${wrong}'`);

  await expect(graph.reload()).rejects.toThrow(message);

  await graph.database.owner.query(`comment on table app_public.lamps is '${comment}'`);
  const { status } = await ask(graph, tenant.app, '{ app { rootUnits { nodes { brightLamps { totalCount } } } } }');
  expect(status).toBe(200);
});

test('a mutation returns a type only if its rows can be of it', async () => {
  const { owner } = graph.database;
  const define = (tags: string) =>
    owner.query(`
      create or replace function app_public.some_card() returns app_public.cards language sql volatile as $$ select null::app_public.cards $$;
      comment on function app_public.some_card is E'@mutation\\n${tags}\\nA card.'`);
  for (const type of ['Unit', 'Card', 'Nothing']) {
    await define(`@returnType ${type}`);
    await expect(graph.reload()).rejects.toThrow(`some_card returns ${type}, which GraphQL does not have`);
  }

  await define('@returnType NfcCard');
  await graph.reload();
  await owner.query('drop function app_public.some_card()');
  await graph.reload();
});
