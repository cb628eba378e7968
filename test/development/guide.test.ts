import { readFile } from 'node:fs/promises';
import { lintMigration } from '../../src/commands/development/lintMigration.ts';
import { findingsHere } from '../audit/support.ts';
import { follow, inShort, present } from '../graphql/changes/feed.ts';
import {
  type Answer,
  ask,
  createTenant,
  createUnit,
  createViewer,
  grantAccess,
  type OwnGraphTest,
  read,
  startGraphTest,
  type Tenant,
  type TestUnit,
} from '../graphql/support.ts';

/** The guide's own blocks, in its order: each SQL becomes part of `current.sql`, each query gets the answer that follows it. */
type Block = { language: 'sql' | 'graphql' | 'json'; text: string };

async function readBlocks(page: string): Promise<Block[]> {
  const text = await readFile(new URL(`../../docs/${page}.md`, import.meta.url), 'utf8');
  return [...text.matchAll(/^```(sql|graphql|json)\n([\s\S]*?)^```$/gm)].map(([, language, text = '']) => ({
    language: language as Block['language'],
    text,
  }));
}

let blocks: Block[];
let graph: OwnGraphTest;
let tenant: Tenant;
let depot: TestUnit;
beforeAll(async () => {
  blocks = await readBlocks('changing-the-schema');
  graph = await startGraphTest();
  tenant = await createTenant(graph);
  depot = await createUnit(tenant, { name: 'Depot' });
});
afterAll(() => graph.stop());

test('following the guide, each step is in GraphQL as the guide shows it', async () => {
  const steps: string[] = [];
  const shown: unknown[] = [];
  const answered: unknown[] = [];
  let answer: Answer['body'] | null = null;
  for (const { language, text } of blocks) {
    if (language === 'sql') {
      steps.push(text);
      await runTwice(currentFile(steps));
      await graph.reload();
      // What the steps before have written goes with the table, which the file makes anew.
      for (const query of mutationsOf(answered.length)) await ask(graph, tenant.app, query, { depot: depot.id });
    } else if (language === 'graphql') {
      answer = (await ask(graph, tenant.app, text, { depot: depot.id })).body;
    } else {
      shown.push(JSON.parse(text));
      answered.push(answer);
    }
  }

  expect(answered).toEqual(shown);
  expect(steps).toHaveLength(7);
  expect(shown).toHaveLength(9);
  // The tests below begin with the first mutation alone.
  await runTwice(currentFile(steps));
  for (const query of mutationsOf(shown.length)) await ask(graph, tenant.app, query, { depot: depot.id });
}, 120_000);

test('what the guide teaches is a safe migration', async () => {
  const steps = blocks.filter(({ language }) => language === 'sql').map(({ text }) => text);

  expect(await lintMigration(currentFile(steps))).toEqual([]);
});

test('what the guide teaches is no finding', async () => {
  const { rows } = await graph.database.owner.query(findingsHere);

  expect(rows).toEqual([]);
});

test('everything that the guide adds is described', async () => {
  const fields = '{ name description fields { name description args { name description } } }';
  const inputFields = '{ name description inputFields { name description } }';
  const { door, mutation, payload, changes, input } = await read<Record<string, Described>>(
    graph,
    null,
    `{ door: __type(name: "Door") ${fields} mutation: __type(name: "Mutation") ${fields} payload: __type(name: "DoorCreatePayload") ${fields}
      changes: __type(name: "DoorChangeInput") ${inputFields} input: __type(name: "DoorInput") ${inputFields} }`,
  );

  const types = [door, mutation, payload, changes, input];
  const all = types.flatMap((type) => [type, ...(type?.fields ?? []), ...(type?.inputFields ?? [])]);
  const described = all.flatMap((item) => [item, ...(item?.args ?? [])]);
  expect(described.filter((item) => !item?.description)).toEqual([]);
  expect(described.length).toBeGreaterThan(25);
});

test('the policies hold: a person sees the doors of accessible units, another organization and a basic token none', async () => {
  const ada = await createViewer(tenant);
  const secret = await createUnit(tenant, { name: 'Vault' });
  await ask(graph, tenant.app, create, { unit: secret.id, name: 'Hatch' });
  await grantAccess(tenant, ada, depot);
  const stranger = await createTenant(graph);
  const node = await read<{ app: { doors: { nodes: { id: string }[] } } }>(
    graph,
    tenant.app,
    '{ app { doors { nodes { id } } } }',
  );
  const find = `{ ${node.app.doors.nodes.map(({ id }, n) => `d${n}: node(id: "${id}") { ... on Door { name } }`).join(' ')} }`;

  expect(Object.values(await read<object>(graph, tenant.app, find))).toEqual([
    { name: 'North gate' },
    { name: 'South gate' },
    { name: 'Hatch' },
  ]);
  expect(Object.values(await read<object>(graph, ada.token, find))).toEqual([
    { name: 'North gate' },
    { name: 'South gate' },
    null,
  ]);
  expect(Object.values(await read<object>(graph, stranger.app, find))).toEqual([null, null, null]);
  expect(Object.values(await read<object>(graph, tenant.basic, find))).toEqual([null, null, null]);
});

test('a door is followed', async () => {
  const before = await present(graph, tenant);

  const { body } = await ask(graph, tenant.app, create, { unit: depot.id, name: 'Back door' });

  expect(body.errors).toBeUndefined();
  expect(await follow(graph, tenant, before)).toMatchObject([
    { operation: 'CREATE', typeName: 'Door', node: { __typename: 'Door' } },
  ]);
  await graph.database.owner.query(`delete from app_public.doors where name = 'Back door'`);
  expect((await follow(graph, tenant, before)).map(inShort)).toEqual(['CREATE Door', 'DELETE Door']);
});

test.each<[string, Record<string, unknown>, object]>([
  ['a broken rule', { name: '' }, { code: 'BAD_USER_INPUT', argument: 'name' }],
  ['half a surrogate pair', { name: '\ud800' }, { code: 'BAD_USER_INPUT', argument: 'name' }],
  ['NUL', { name: 'a\0b' }, { code: 'BAD_USER_INPUT', argument: 'name' }],
  ['an undecodable id', { unit: 'nonsense' }, { code: 'BAD_USER_INPUT', argument: 'unitId' }],
  [
    "another type's id",
    { unit: 'VXNlcjowMTkzYjVkMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDA' },
    { code: 'BAD_USER_INPUT', argument: 'unitId' },
  ],
  [
    'a unit that is not there',
    { unit: 'VW5pdDowMTkzYjVkMC0wMDAwLTcwMDAtODAwMC0wMDAwMDAwMDAwMDA' },
    { code: 'BAD_USER_INPUT', argument: 'unitId' },
  ],
])('a mutation of a function refuses %s, and names the argument', async (_, variables, extensions) => {
  const { status, body } = await ask(graph, tenant.app, create, { unit: depot.id, name: 'Side door', ...variables });

  expect({ status, data: body.data, extensions: body.errors?.[0]?.extensions }).toEqual({
    status: 200,
    data: { doorCreate: null },
    extensions,
  });
});

test('a unit of another organization is none', async () => {
  const stranger = await createTenant(graph);
  const foreign = await createUnit(stranger, { name: 'Elsewhere' });

  const { body } = await ask(graph, tenant.app, create, { unit: foreign.id, name: 'Tunnel' });

  expect(body.errors?.[0]).toMatchObject({ message: 'There is no such unit.', extensions: { argument: 'unitId' } });
});

test('a person may not call a mutation that is not granted', async () => {
  const ada = await createViewer(tenant);

  const { body } = await ask(graph, ada.token, create, { unit: depot.id, name: 'Window' });

  expect(body).toMatchObject({ data: { doorCreate: null }, errors: [{ extensions: { code: 'FORBIDDEN' } }] });
});

test('a filter is on every connection, and refuses what is no text or too much before anything is executed', async () => {
  const query =
    'query ($names: [String!]) { app { doors(names: $names) { totalCount } rootUnits { nodes { doors(names: $names) { totalCount } } } } }';
  const count = async (names?: string[] | null) => {
    const { app } = await read<{ app: Found }>(graph, tenant.app, query, names === undefined ? {} : { names });
    return [app.doors.totalCount, ...app.rootUnits.nodes.map(({ doors }) => doors.totalCount)];
  };

  expect(await count()).toEqual([3, 2, 1]);
  expect(await count(null)).toEqual([3, 2, 1]);
  expect(await count([])).toEqual([0, 0, 0]);
  expect(await count(['Hatch', 'North gate'])).toEqual([2, 1, 1]);
  for (const names of [['a\0b'], Array.from({ length: 1001 }, String)]) {
    const { status, body } = await ask(graph, tenant.app, query, { names });
    const refusal = { code: 'BAD_USER_INPUT', argument: 'names' };
    expect({ status, errors: body.errors?.map(({ extensions }) => extensions) }).toEqual({
      status: 400,
      errors: [refusal, refusal],
    });
  }
}, 120_000);

test('the page about extensions shows what the graph answers, and nothing that it teaches is a finding', async () => {
  const blocks = await readBlocks('extensions');
  const steps = blocks.filter(({ language }) => language === 'sql').map(({ text }) => text);
  await runTwice(currentFile(steps));
  await graph.reload();
  const answered: unknown[] = [];
  for (const { language, text } of blocks)
    if (language === 'graphql') answered.push((await ask(graph, tenant.app, text)).body);

  expect(answered).toEqual(blocks.filter(({ language }) => language === 'json').map(({ text }) => JSON.parse(text)));
  expect(answered).toHaveLength(3);
  expect((await graph.database.owner.query(findingsHere)).rows).toEqual([]);
  expect(await lintMigration(currentFile(steps))).toEqual([]);
  const { rows: unsafe } = await graph.database.owner.query(
    `select p.proname from pg_proc p join pg_namespace n on n.oid = p.pronamespace
     where n.nspname = 'public' and has_function_privilege('graph_user', p.oid, 'execute') and p.proname !~ '^(citext_..|ltree_(..|out))$'`,
  );
  expect(unsafe).toEqual([]);
}, 60_000);

type Found = { doors: { totalCount: number }; rootUnits: { nodes: { doors: { totalCount: number } }[] } };

const create = 'mutation ($unit: ID!, $name: String!) { doorCreate(unitId: $unit, name: $name) { door { name } } }';

type Described = {
  name: string;
  description: string | null;
  args?: Described[];
  fields?: Described[];
  inputFields?: Described[];
};

/** The drops at the top, the latest first; then what is made, in order. */
function currentFile(steps: readonly string[]): string {
  const parts = steps.map((step) => /^(?<drop>drop .*;\n)?(?<make>[\s\S]*)$/.exec(step)?.groups ?? {});
  return [...parts.map(({ drop = '' }) => drop).toReversed(), ...parts.map(({ make = '' }) => make)].join('');
}

/** As the developer's database does, on each save; each time in one transaction. */
async function runTwice(sql: string): Promise<void> {
  for (let times = 0; times < 2; times++) await graph.database.owner.query(`begin; ${sql}; commit`);
}

/** The guide's first mutation, once it was shown. */
function mutationsOf(shownAnswers: number): string[] {
  const mutation = blocks.find(({ language, text }) => language === 'graphql' && text.startsWith('mutation'));
  return mutation && shownAnswers > 1 ? [mutation.text] : [];
}
