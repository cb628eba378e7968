import { createUnit, createUser, createViewer, read } from '../graphql/support.ts';
import type { DoorGraph } from './startDoorGraph.ts';

/** Tests of functions that are fields of a row. */
export function describeRowFunctions(of: () => DoorGraph): void {
  let graph: DoorGraph['graph'];
  let tenant: DoorGraph['tenant'];
  let depot: DoorGraph['depot'];
  let ofDepot: DoorGraph['ofDepot'];
  let refusals: DoorGraph['refusals'];
  beforeAll(() => {
    ({ graph, tenant, depot, ofDepot, refusals } = of());
  });

  test('that returns rows is a connection with the arguments of both', async () => {
    expect(await ofDepot('doorsNamed(prefix: "North") { totalCount nodes { name } }')).toEqual({
      doorsNamed: { totalCount: 2, nodes: [{ name: 'North gate' }, { name: 'North hatch' }] },
    });
    expect(
      await ofDepot(
        'doorsNamed(prefix: $prefix, first: 1, orderBy: NAME_DESC) { totalCount nodes { name } }',
        { prefix: 'North' },
        ', $prefix: String!',
      ),
    ).toEqual({ doorsNamed: { totalCount: 2, nodes: [{ name: 'North hatch' }] } });
  });

  test('that returns rows is paged to the end, both ways', async () => {
    const names: string[] = [];
    let after: string | null = null;
    do {
      const { doorsNamed } = (await ofDepot(
        'doorsNamed(prefix: "", first: 2, after: $after, orderBy: NAME_ASC) { nodes { name } pageInfo { hasNextPage endCursor } }',
        { after },
        ', $after: Cursor',
      )) as { doorsNamed: { nodes: { name: string }[]; pageInfo: { hasNextPage: boolean; endCursor: string } } };
      names.push(...doorsNamed.nodes.map(({ name }) => name));
      after = doorsNamed.pageInfo.hasNextPage ? doorsNamed.pageInfo.endCursor : null;
    } while (after);

    expect(names).toEqual(['North gate', 'North hatch', 'South gate']);
    expect(await ofDepot('doorsNamed(prefix: "", last: 1, orderBy: NAME_ASC) { nodes { name } }')).toEqual({
      doorsNamed: { nodes: [{ name: 'South gate' }] },
    });
  });

  test.each<[string, string, object]>([
    ['values, with the defaults', 'doorNames', { doorNames: ['North gate!', 'North hatch!', 'South gate!'] }],
    ['values, with null', 'doorNames(prefix: "South", suffix: null)', { doorNames: ['South gate null'] }],
    ['an array', 'products(factors: [1, 2])', { products: [2, 4] }],
    ['an array of none', 'products(factors: [], by: 3)', { products: [] }],
    ['a value', 'greeting(greeting: "Hello")', { greeting: 'Hello you' }],
    ['a value of null', 'greeting(greeting: "Hello", whom: null)', { greeting: 'Hello null' }],
    ['a value unless one is null, omitted', 'strict(constructor: "a")', { strict: 'anone' }],
    ['a value unless one is null, null', 'strict(constructor: "a", note: null)', { strict: null }],
    ['rows of its own', 'lengths(above: 11) { name length }', { lengths: [{ name: 'North hatch', length: 11 }] }],
    [
      'composites',
      'sizes(widths: ["1.5", "2"]) { width height }',
      {
        sizes: [
          { width: '1.5', height: '3.0' },
          { width: '2', height: '4' },
        ],
      },
    ],
  ])('that returns %s is called', async (_, selection, expected) => {
    expect(await ofDepot(selection)).toEqual(expected);
  });

  test('takes ids by @param, and lists of them', async () => {
    const annex = await createUnit(tenant);
    const isNear = (variables: object) =>
      ofDepot('isNear(others: $others, other: $other)', variables, ', $others: [ID!]!, $other: ID');

    expect(await isNear({ others: [annex.id, depot.id] })).toEqual({ isNear: true });
    expect(await isNear({ others: [annex.id] })).toEqual({ isNear: null });
    expect(await isNear({ others: [], other: depot.id })).toEqual({ isNear: true });
  });

  test('requires what has no default, and is described', async () => {
    const { __type } = await read<{ __type: { fields: { name: string; args: { name: string }[] }[] } }>(
      graph,
      null,
      '{ __type(name: "Unit") { fields { name args { name description type { kind name ofType { kind name ofType { kind ofType { name } } } } } } } }',
    );
    const argsOf = (field: string) => __type.fields.find(({ name }) => name === field)?.args;

    expect(argsOf('doorsNamed')?.find(({ name }) => name === 'prefix')).toEqual({
      name: 'prefix',
      description: 'What the names begin with.',
      type: { kind: 'NON_NULL', name: null, ofType: { kind: 'SCALAR', name: 'String', ofType: null } },
    });
    expect(argsOf('isNear')).toMatchObject([
      {
        name: 'others',
        type: { kind: 'NON_NULL', ofType: { kind: 'LIST', ofType: { kind: 'NON_NULL', ofType: { name: 'ID' } } } },
      },
      { name: 'other', type: { kind: 'SCALAR', name: 'ID' } },
    ]);
    expect(argsOf('strict')).toMatchObject([{ type: { kind: 'NON_NULL' } }, { type: { kind: 'SCALAR' } }]);
    expect(await refusals(`{ node(id: "${depot.id}") { ... on Unit { greeting } } }`)).toEqual([
      400,
      [expect.stringContaining('"greeting" of type "String!" is required'), { code: 'GRAPHQL_VALIDATION_FAILED' }],
    ]);
  });

  test.each<[string, string, object]>([
    ['NUL', 'greeting(greeting: $text)', { argument: 'greeting' }],
    ['NUL in a list of rows', 'doorsNamed(prefix: $text) { totalCount }', { argument: 'prefix' }],
    ['NUL in a list of values', 'doorNames(prefix: $text)', { argument: 'prefix' }],
  ])('refuses %s before anything is executed', async (_, selection, extensions) => {
    const query = (id: string) => `query ($text: String!) { node(id: "${id}") { ... on Unit { ${selection} } } }`;

    expect(await refusals(query(depot.id), { text: 'a\0' })).toEqual([
      400,
      [expect.stringContaining('Unicode'), { code: 'BAD_USER_INPUT', ...extensions }],
    ]);
    expect(await refusals(query(depot.id), { text: 'a' })).toEqual([200]);
  });

  test('refuses ids of another type, and lists that are too long', async () => {
    const user = await createUser(tenant);
    const query = `query ($others: [ID!]!) { node(id: "${depot.id}") { ... on Unit { isNear(others: $others) } } }`;
    const refused = [400, [expect.any(String), { code: 'BAD_USER_INPUT', argument: 'others' }]];

    expect(await refusals(query, { others: [depot.id, user.id] })).toEqual(refused);
    expect(await refusals(query, { others: ['nonsense'] })).toEqual(refused);
    expect(await refusals(query, { others: Array(1001).fill(depot.id) })).toEqual(refused);
    expect(await refusals(query, { others: Array(1000).fill(depot.id) })).toEqual([200]);
  });

  test('shows no row that its caller may not see', async () => {
    const ada = await createViewer(tenant);
    const query = `{ node(id: "${depot.id}") { ... on Unit { doorsNamed(prefix: "") { totalCount } } } }`;

    expect(await read(graph, ada.token, query)).toEqual({ node: null });
    expect(await read(graph, tenant.app, query)).toEqual({ node: { doorsNamed: { totalCount: 3 } } });
  });
}
