import {
  ask,
  createTenant,
  expectRefused,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
} from '../graphql/support.ts';
import { tableSql } from './tables.ts';

// Several types in one table: an interface, whose types a column distinguishes.

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    const other = await createTenant({ database });
    const { owner } = database;
    await owner.query(`
    ${tableSql({ name: 'devices', columns: 'id int, kind text not null, name text not null, channels int, lux int', key: ['id'], indexes: ['name'] })}
    comment on table app_public.devices is
      E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName devices|@forwardBehavior -*|@backwardBehavior -list +connection\\n@interface mode:single type:kind\\n@type radio name:Radio attributes:channels\\n@type lamp name:Lamp attributes:lux\\nA device.';
    grant update on app_public.devices to graph_app;
    create policy update_graph_app on app_public.devices for update to graph_app
      using (organization_id = (select app_hidden.current_organization_id()))
      with check (organization_id = (select app_hidden.current_organization_id()));
    create function app_public.devices_rename(ids int[], name text) returns setof app_public.devices language sql volatile
      as $$ update app_public.devices d set name = devices_rename.name where d.id = any (devices_rename.ids) returning * $$;
    comment on function app_public.devices_rename is E'@mutation\\n@param {Device} ids The devices.\\n@param name Their name.\\nRenames devices.';
    grant execute on function app_public.devices_rename to graph_app`);
    for (const { organizationId } of [tenant, other]) {
      await owner.query(
        `insert into app_public.devices select $1, n, case n % 2 when 0 then 'radio' else 'lamp' end, 'Device ' || n, n, n from generate_series(1, 4) n`,
        [organizationId],
      );
    }
  });
});
afterAll(() => graph.stop());

type Device = { readonly __typename: string; readonly id: string };

async function devices(filter = ''): Promise<Device[]> {
  const { app } = await read<{ app: { devices: { nodes: Device[] } } }>(
    graph,
    tenant.app,
    `{ app { devices${filter} { nodes { __typename id } } } }`,
  );
  return app.devices.nodes;
}

/** The same key under another type's name. */
const as = (type: string, id: string) =>
  Buffer.from(Buffer.from(id, 'base64url').toString().replace(/^\w+/, type)).toString('base64url');

test('an id names the type of its row, and finds it as no other', async () => {
  const all = await devices();
  expect(all.map(({ __typename }) => __typename)).toEqual(['Lamp', 'Radio', 'Lamp', 'Radio']);

  for (const { id, __typename } of all) {
    const query = 'query ($id: ID!) { node(id: $id) { __typename id } }';
    expect(await read(graph, tenant.app, query, { id })).toEqual({ node: { __typename, id } });
    const other = __typename === 'Lamp' ? 'Radio' : 'Lamp';
    expect(await read(graph, tenant.app, query, { id: as(other, id) })).toEqual({ node: null });
  }
});

test('a connection of the interface takes ids of each of its types', async () => {
  const [lamp, radio, other] = await devices();

  expect(await devices(`(ids: ["${lamp?.id}", "${radio?.id}"])`)).toEqual([lamp, radio]);
  expect(await devices(`(ids: ["${other?.id}"])`)).toEqual([other]);
});

test('so does a parameter that is an id of the interface', async () => {
  const [lamp, radio] = await devices();
  const query = 'mutation ($ids: [ID!]!) { devicesRename(ids: $ids, name: "Old") { devices { name } } }';

  expect(await read(graph, tenant.app, query, { ids: [lamp?.id, radio?.id] })).toEqual({
    devicesRename: { devices: [{ name: 'Old' }, { name: 'Old' }] },
  });
  const { body } = await ask(graph, tenant.app, query, { ids: [as('User', String(lamp?.id))] });
  expect(body.errors?.[0]?.extensions).toEqual({ code: 'BAD_USER_INPUT', argument: 'ids' });
});

test('an id that no service can have issued is refused', async () => {
  const query = 'query ($ids: [ID!]) { app { devices(ids: $ids) { totalCount } } }';
  const ids = [Buffer.from('Lamp:["x"]').toString('base64url')];

  expectRefused(await ask(graph, tenant.app, query, { ids }), 400, { code: 'BAD_USER_INPUT', argument: 'ids' });
});
