import { ask, createTenant, createUnit, type OwnGraphTest, read, startGraphTest, type Tenant } from './support.ts';

let graph: OwnGraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    tenant = await createTenant({ database });
    await database.owner.query(`
    create function app_public.unit_rename(id uuid, name text default 'Nameless', since timestamptz default null)
      returns app_public.units language sql volatile as $$
        update app_public.units u set name = coalesce(unit_rename.name, 'Null') where u.id = unit_rename.id returning *
      $$;
    comment on function app_public.unit_rename is E'@mutation\\n@param {Unit} id The unit.\\n@param name Its new name.\\nRenames a unit.';
    grant execute on function app_public.unit_rename to graph_app;
    create function app_public.app_some_units(app app_public.app) returns setof app_public.units language sql stable
      as $$ select * from app_public.units where organization_id = app.organization_id $$;
    comment on function app_public.app_some_units is 'Some units.'`);
  });
});
afterAll(() => graph.stop());

const rename = 'mutation ($id: ID!, $name: String) { unitRename(id: $id, name: $name) { unit { name } } }';

test('a parameter without a default is required, and each is described', async () => {
  const { __type } = await read<{ __type: { fields: { name: string; args: unknown[] }[] } }>(
    graph,
    null,
    '{ __type(name: "Mutation") { fields { name args { name description type { kind name ofType { name } } } } } }',
  );

  expect(__type.fields.find(({ name }) => name === 'unitRename')?.args).toEqual([
    { name: 'id', description: 'The unit.', type: { kind: 'NON_NULL', name: null, ofType: { name: 'ID' } } },
    { name: 'name', description: 'Its new name.', type: { kind: 'SCALAR', name: 'String', ofType: null } },
    { name: 'since', description: null, type: { kind: 'SCALAR', name: 'Datetime', ofType: null } },
  ]);
});

test.each<[string, object, string]>([
  ['given', { name: 'Annex' }, 'Annex'],
  ['left out', {}, 'Nameless'],
  ['null', { name: null }, 'Null'],
])('a parameter with a default may be %s', async (_, variables, name) => {
  const { id } = await createUnit(tenant);

  expect(await read(graph, tenant.app, rename, { id, ...variables })).toEqual({ unitRename: { unit: { name } } });
});

test('a value that PostgreSQL cannot read is the mistake of the client', async () => {
  const { id } = await createUnit(tenant);
  const query = 'mutation ($id: ID!) { unitRename(id: $id, since: "yesteryear") { unit { name } } }';

  const { body } = await ask(graph, tenant.app, query, { id });

  expect(body.errors?.map(({ extensions }) => extensions)).toEqual([{ code: 'BAD_USER_INPUT', argument: 'since' }]);
});

test.each([
  [
    'names no parameter',
    'app_public.unit_rename',
    '@mutation\n@param nme Its name.',
    /nme.* is not one of its parameters: id, name, since/,
  ],
  [
    'is on a function that only reads',
    'app_public.app_some_units(app_public.app)',
    '@mutation',
    /app_some_units is no @mutation: it must be volatile/,
  ],
])('a comment that %s is refused, and the old schema stays', async (_, name, comment, message) => {
  const { rows } = await graph.database.owner.query('select obj_description($1::regprocedure) as comment', [
    name.includes('(') ? name : 'app_public.unit_rename(uuid, text, timestamptz)',
  ]);
  const describe = (text: string) =>
    graph.database.owner.query(`comment on function ${name} is '${text.replaceAll("'", "''")}'`);
  await describe(comment);

  await expect(graph.reload()).rejects.toThrow(message);

  await describe(rows[0].comment);
  await graph.reload();
});
