import {
  ask,
  createTenant,
  createUser,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
  type TestUser,
} from '../graphql/support.ts';
import { tableSql } from './tables.ts';

// Objects in fields of an interface, with their contents: bounds of a range, parts of an interval, fields of a composite.
// The interface is at the top, in a node, and below a type of itself.

const columns = {
  span: { type: 'int4range not null', fields: '{ start { value inclusive } end { value inclusive } }' },
  times: { type: 'tstzrange not null', fields: '{ start { value } end { value } }' },
  lasts: { type: 'interval not null', fields: '{ hours minutes }' },
  place: { type: 'app_public.place not null', fields: '{ name size { start { value } } }' },
  mayLast: { type: 'interval', fields: '{ hours }' },
  maySpan: { type: 'int4range', fields: '{ start { value } end { value } }' },
};
const fields = Object.entries(columns).map(([name, column]) => `${name} ${column.fields}`);

const moment = '2024-02-29T12:00:00.000000+00:00';
/** The values of a row in SQL, and in its answer. */
const rows = [
  {
    kind: 'lamp',
    values: ["'(,)'", `'[${moment},)'`, "'1 hour'", "row('here', int4range(1, 2))", 'null', "'(,3)'"],
    answer: {
      span: { start: null, end: null },
      times: { start: { value: moment }, end: null },
      lasts: { hours: 1, minutes: 0 },
      place: { name: 'here', size: { start: { value: 1 } } },
      mayLast: null,
      maySpan: { start: null, end: { value: 3 } },
    },
  },
  {
    kind: 'bell',
    values: ["'[1,5)'", "'(,)'", "'0'", "row(null, '(,3)'::int4range)", "'2 hours'", 'null'],
    answer: {
      span: { start: { value: 1, inclusive: true }, end: { value: 5, inclusive: false } },
      times: { start: null, end: null },
      lasts: { hours: 0, minutes: 0 },
      place: { name: null, size: { start: null } },
      mayLast: { hours: 2 },
      maySpan: null,
    },
  },
  {
    kind: 'lamp',
    values: ["'(,7)'", `'(,${moment})'`, "'30 minutes'", "row('there', null)", "'3 hours'", "'[4,)'"],
    answer: {
      span: { start: null, end: { value: 7, inclusive: false } },
      times: { start: null, end: { value: moment } },
      lasts: { hours: 0, minutes: 30 },
      place: { name: 'there', size: null },
      mayLast: { hours: 3 },
      maySpan: { start: { value: 4 }, end: null },
    },
  },
];

let graph: OwnGraphTest;
let tenant: Tenant;
let user: TestUser;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    user = await createUser(tenant);
    const { owner } = database;
    await owner.query(`
    create type app_public.place as (name text, size int4range);
    ${tableSql({
      name: 'devices',
      columns: `id int not null, kind text not null, user_id uuid not null, ${Object.entries(columns)
        .map(([name, { type }]) => `"${name}" ${type}`)
        .join(', ')}`,
      key: ['id'],
      indexes: ['user_id'],
    })}
    alter table app_public.devices add constraint devices_user_id_fkey
      foreign key (organization_id, user_id) references app_public.users (organization_id, id);
    comment on constraint devices_user_id_fkey on app_public.devices is E'@fieldName user\\n@foreignFieldName devices';
    comment on table app_public.devices is E'@foreignKey (organization_id) references app_public.app (organization_id)|@foreignFieldName devices|@forwardBehavior -*|@backwardBehavior -list +connection\\n@interface mode:single type:kind\\n@type lamp name:Lamp\\n@type bell name:Bell\\nA device.'`);
    for (const [index, { kind, values }] of rows.entries())
      await owner.query(
        `insert into app_public.devices (organization_id, id, kind, user_id, ${Object.keys(columns)
          .map((name) => `"${name}"`)
          .join(', ')})
       values ($1, $2, $3, $4, ${values.join(', ')})`,
        [tenant.organizationId, index, kind, user.uuid],
      );
  });
});
afterAll(() => graph.stop());

const answers = rows.map(({ answer }) => answer);

/** Cold, then compiled. */
async function expectTwice(query: string, variables: Record<string, unknown>, data: unknown): Promise<void> {
  for (let time = 0; time < 3; time++) {
    const { body } = await ask(graph, tenant.app, query, variables);
    expect(body).toEqual({ data });
  }
}

describe.each([...fields, fields.join(' ')])('%s', (field) => {
  const names = Object.keys(columns).filter((name) => field.includes(`${name} {`));
  const nodes = answers.map((answer) =>
    Object.fromEntries(names.map((name) => [name, answer[name as keyof typeof answer]])),
  );

  test('of all devices', () =>
    expectTwice(`{ app { devices { nodes { ${field} } } } }`, {}, { app: { devices: { nodes } } }));

  test('of the devices of a person who is a node', () =>
    expectTwice(
      `query ($id: ID!) { node(id: $id) { ... on User { devices { nodes { ${field} } } } } }`,
      { id: user.id },
      { node: { devices: { nodes } } },
    ));

  test('of a node, and of the devices of its person', async () => {
    const all = await read<{ app: { devices: { nodes: { id: string; __typename: string }[] } } }>(
      ...[graph, tenant.app],
      '{ app { devices { nodes { id __typename } } } }',
    );
    for (const [index, { id, __typename }] of all.app.devices.nodes.entries())
      await expectTwice(
        `query ($id: ID!) { node(id: $id) { ... on ${__typename} { ${field} user { devices { nodes { ${field} } } } } } }`,
        { id },
        { node: { ...nodes[index], user: { devices: { nodes } } } },
      );
  });
});
