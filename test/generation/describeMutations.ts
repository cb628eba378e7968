import { ask, createUnit, read } from '../graphql/support.ts';
import type { DoorGraph } from './startDoorGraph.ts';

/** Tests of functions that are mutations: what they take and return. */
export function describeMutations(of: () => DoorGraph): void {
  let graph: DoorGraph['graph'];
  let tenant: DoorGraph['tenant'];
  let depot: DoorGraph['depot'];
  let run: DoorGraph['run'];
  let refusals: DoorGraph['refusals'];
  beforeAll(() => {
    ({ graph, tenant, depot, run, refusals } = of());
  });

  test('takes an input object, nested, with ids, lists and enums, as literal and as variable', async () => {
    const literal = `mutation ($unit: ID!, $note: String) { doorCreate(door: {
      unitId: $unit, name: "Literal", note: $note, tags: ["a", "b,\\"c"], size: { width: "1.5", height: "2" }, colour: green
    }) { door { name note tags unit { name } } } }`;
    const variable = 'mutation ($door: DoorInput!) { doorCreate(door: $door) { door { name note tags } } }';
    const door = { unitId: depot.id, name: 'Variable', tags: [], colour: 'red' };

    expect(await run(literal, { unit: depot.id })).toEqual({
      doorCreate: { door: { name: 'Literal', note: '1.5x2', tags: ['a', 'b,"c'], unit: { name: 'Depot' } } },
    });
    expect(await run(variable, { door })).toEqual({
      doorCreate: { door: { name: 'Variable', note: 'red', tags: [] } },
    });
  });

  test('takes a list of them, and returns rows by their plural', async () => {
    const create = (field: string) =>
      `mutation ($doors: [DoorInput!]!) { ${field}(doors: $doors) { doors { name unit { name } } } }`;
    const named = (...names: string[]) => ({ doors: names.map((name) => ({ unitId: depot.id, name })) });
    const rows = (...names: string[]) => ({ doors: names.map((name) => ({ name, unit: { name: 'Depot' } })) });

    expect(await run(create('doorsCreate'), named('Set 2', 'Set 1'))).toEqual({ doorsCreate: rows('Set 2', 'Set 1') });
    expect(await run(create('doorsCreate'), named())).toEqual({ doorsCreate: rows() });
    // One item for a list of it (GraphQL section 3.11), as variable and as literal.
    expect(await run(create('doorsCreate'), { doors: named('Alone').doors[0] })).toEqual({
      doorsCreate: rows('Alone'),
    });
    const literal =
      'mutation ($unit: ID!) { doorsCreate(doors: { unitId: $unit, name: "Literally", tags: "x" }) { doors { tags } } }';
    expect(await run(literal, { unit: depot.id })).toEqual({ doorsCreate: { doors: [{ tags: ['x'] }] } });
    expect(await run(create('doorsArray'), named('Array 2', 'Array 1'))).toEqual({
      doorsArray: rows('Array 2', 'Array 1'),
    });
    // The function's array_agg of no rows is null.
    expect(await run(create('doorsArray'), named())).toEqual({ doorsArray: { doors: null } });
  });

  test('tells absent from null where a jsonb has an input type', async () => {
    const create = 'mutation ($door: DoorInput!) { doorCreate(door: $door) { door { id } } }';
    const update =
      'mutation ($id: ID!, $changes: DoorChangeInput!) { doorUpdate(door: $id, changes: $changes) { door { name note tags unit { name } } } }';
    const { doorCreate } = (await run(create, {
      door: { unitId: depot.id, name: 'Patch', note: 'old', tags: ['x'] },
    })) as {
      doorCreate: { door: { id: string } };
    };
    const { id } = doorCreate.door;
    const before = { name: 'Patch', note: 'old', tags: ['x'], unit: { name: 'Depot' } };
    const annex = await createUnit(tenant, { name: 'Annexe' });
    const changed = async (changes: object) => run(update, { id, changes });

    expect(await changed({})).toEqual({ doorUpdate: { door: before } });
    expect(await changed({ note: null })).toEqual({ doorUpdate: { door: { ...before, note: null } } });
    expect(await changed({ tags: ['y', 'z'], note: 'new' })).toEqual({
      doorUpdate: { door: { ...before, tags: ['y', 'z'], note: 'new' } },
    });
    expect(await changed({ unitId: annex.id })).toMatchObject({ doorUpdate: { door: { unit: { name: 'Annexe' } } } });
    expect(
      await run(
        `mutation ($n: String, $m: String) { doorUpdate(door: "${id}", changes: { name: $n, note: $m }) { door { name note } } }`,
        { n: 'Patched' },
      ),
    ).toEqual({ doorUpdate: { door: { name: 'Patched', note: 'new' } } });
  });

  test('takes exactly one of @oneOf, and returns ok for void', async () => {
    const forget = 'mutation ($key: DoorKeyInput!) { doorForget(key: $key) { ok } }';
    const count = 'mutation { doorsCount(names: ["Gone"]) { result } }';
    const door = { unitId: depot.id, name: 'Gone' };
    await run('mutation ($door: DoorInput!) { doorCreate(door: $door) { door { id } } }', { door });

    for (const key of [{}, { name: 'Gone', id: 'RG9vcg' }, { name: null }])
      expect(await refusals(forget, { key })).toEqual([
        400,
        [expect.any(String), { code: 'BAD_USER_INPUT', argument: 'key', variable: 'key' }],
      ]);
    const inParts = 'mutation ($name: String) { doorForget(key: { name: $name }) { ok } }';
    for (const variables of [{}, { name: null }])
      expect(await refusals(inParts, variables)).toEqual([
        400,
        [expect.any(String), { code: 'BAD_USER_INPUT', argument: 'key', variable: 'name' }],
      ]);
    for (const key of ['{}', '{ name: null }', '{ name: "Gone", id: "RG9vcg" }'])
      expect((await ask(graph, tenant.app, `mutation { doorForget(key: ${key}) { ok } }`)).status).toBe(400);
    expect(await run(count)).toEqual({ doorsCount: { result: 1 } });
    expect(await run(inParts, { name: 'Nothing' })).toEqual({ doorForget: { ok: true } });
    expect(await run(count)).toEqual({ doorsCount: { result: 1 } });
    expect(await run(forget, { key: { name: 'Gone' } })).toEqual({ doorForget: { ok: true } });
    expect(await run(count)).toEqual({ doorsCount: { result: 0 } });
    expect(await read(graph, null, '{ __type(name: "DoorKeyInput") { isOneOf description } }')).toEqual({
      __type: { isOneOf: true, description: 'Which door.' },
    });
  });

  test('takes a list of ids, in their order', async () => {
    const { node } = await read<{ node: { doorsNamed: { nodes: { id: string }[] } } }>(
      graph,
      tenant.app,
      `{ node(id: "${depot.id}") { ... on Unit { doorsNamed(prefix: "North", orderBy: NAME_DESC) { nodes { id } } } } }`,
    );
    const keys = node.doorsNamed.nodes.map(({ id }) => id);

    expect(await run('mutation ($keys: [ID!]!) { doorsNamed(keys: $keys) { result } }', { keys })).toEqual({
      doorsNamed: { result: ['North hatch', 'North gate'] },
    });
    expect(
      await refusals('mutation ($keys: [ID!]!) { doorsNamed(keys: $keys) { result } }', { keys: [depot.id] }),
    ).toEqual([200, ['keys[0] is not the id of a Door.', { code: 'BAD_USER_INPUT', argument: 'keys' }]]);
  });

  test.each<[string, string, unknown]>([
    ['a scalar', 'doorsCount(names: ["North gate", "?"]) { result }', { result: 1 }],
    ['an array', 'namesArray { result }', { result: ['a', null] }],
    [
      'a composite',
      'doorMeasure(width: "2.5") { result { width height } }',
      { result: { width: '2.5', height: '5.0' } },
    ],
    ['a composite by default', 'doorMeasure { result { width } }', { result: { width: '1' } }],
    ['a set of composites', 'doorsMeasure(widths: ["1"]) { result { height } }', { result: [{ height: '2' }] }],
    ['out parameters', 'doorSides(width: 3) { result { left right } }', { result: { left: 3, right: -3 } }],
    ['a table', 'doorRows(above: 3) { result { id name } }', { result: [{ id: 3, name: 'a' }] }],
    ['as its owner', 'ownerName { result }', { result: expect.stringMatching(/^(?!graph_app)/) }],
    [
      'numeric',
      'echo(n: "12345678901234567890.5") { result }',
      { result: expect.stringMatching(/^12345678901234567890\.5 /) },
    ],
    ['bytea', 'echo(b: "AAEC") { result }', { result: expect.stringContaining('\\x000102') }],
    [
      'interval',
      'echo(i: { days: 1, seconds: 2.5 }) { result }',
      { result: expect.stringContaining('1 day 00:00:02.5') },
    ],
    ['a domain', 'echo(d: "abc") { result }', { result: expect.stringContaining('abc') }],
    [
      'a range',
      'echo(r: { start: { value: 1, inclusive: true }, end: { value: 3, inclusive: false } }) { result }',
      { result: expect.stringContaining('[1,3)') },
    ],
    ['an enum', 'echo(e: green) { result }', { result: expect.stringContaining('green') }],
    [
      'an instant',
      'echo(t: "2026-01-02T03:04:05Z") { result }',
      { result: expect.stringContaining('2026-01-02 03:04:05') },
    ],
    ['a boolean', 'echo(z: false) { result }', { result: expect.stringMatching(/ f$/) }],
  ])('with %s is called', async (_, selection, expected) => {
    const [data] = Object.values(await run(`mutation { ${selection} }`));

    expect(data).toEqual(expected);
  });

  test.each<[string, string, unknown, string]>([
    ['NUL in an input object', '$v: DoorInput!', { unitId: '', name: 'a\0' }, 'door.name'],
    ['half a surrogate pair', '$v: DoorInput!', { unitId: '', name: '\ud800' }, 'door.name'],
    ['NUL in its list', '$v: DoorInput!', { unitId: '', name: 'a', tags: ['b', 'a\0'] }, 'door.tags[1]'],
    ['an id in it', '$v: DoorInput!', { unitId: 'nonsense', name: 'a' }, 'door.unitId'],
    ['too many items in it', '$v: DoorInput!', { unitId: '', name: 'a', tags: Array(1001).fill('') }, 'door.tags'],
  ])('refuses %s at its field, and names the argument', async (_, definition, value, path) => {
    const given = value as { unitId: string };
    const query = `mutation (${definition}) { doorCreate(door: $v) { door { id } } other: doorsCount { result } }`;

    expect(await refusals(query, { v: { ...given, unitId: given.unitId || depot.id } })).toEqual([
      200,
      [
        expect.stringMatching(new RegExp(`^${path.replaceAll(/[[\].]/g, '\\$&')} `)),
        { code: 'BAD_USER_INPUT', argument: 'door' },
      ],
    ]);
  });

  test('refuses more than 1,000 items, and takes 1,000', async () => {
    const query = 'mutation ($names: [String!]) { doorsCount(names: $names) { result } }';

    expect(await refusals(query, { names: Array(1001).fill('a') })).toEqual([
      200,
      ['names has more than 1000 items.', { code: 'BAD_USER_INPUT', argument: 'names' }],
    ]);
    expect(await refusals(query, { names: Array(1000).fill('a') })).toEqual([200]);
  });

  test('has the payloads that clients rely on, and input types by their comments', async () => {
    const of = async (name: string, fields: string) => {
      const type = 'type { kind name ofType { kind name ofType { kind name ofType { name } } } }';
      const { __type } = await read<{ __type: Record<string, { name: string }[]> }>(
        graph,
        null,
        `{ __type(name: "${name}") { description ${fields} { name description ${type} } } }`,
      );
      return __type;
    };

    expect((await of('DoorsCreatePayload', 'fields')).fields).toMatchObject([
      {
        name: 'doors',
        type: { kind: 'NON_NULL', ofType: { kind: 'LIST', ofType: { kind: 'NON_NULL', ofType: { name: 'Door' } } } },
      },
    ]);
    expect((await of('DoorForgetPayload', 'fields')).fields).toMatchObject([
      { name: 'ok', type: { kind: 'NON_NULL', ofType: { name: 'Boolean' } } },
    ]);
    const { description, inputFields = [] } = await of('DoorInput', 'inputFields');
    expect(description).toBe('A door to be added.');
    expect(inputFields.map(({ name }) => name)).toEqual(['unitId', 'name', 'note', 'tags', 'size', 'colour']);
    expect(inputFields[0]).toMatchObject({
      description: 'The unit that it belongs to.',
      type: { kind: 'NON_NULL', ofType: { name: 'ID' } },
    });
  });
}
