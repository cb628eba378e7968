// packages/grafast-compile in a PostGraphile server that is not this service: the example of its README.
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Pool } from 'pg';
import { makePgService } from 'postgraphile/adaptors/pg';
import { parse } from 'postgraphile/graphql';
import { testedVersions } from '../../packages/grafast-compile/src/internals.ts';
import { createServer } from '../../packages/grafast-compile/test/example.ts';
import { blocksOf, readPage, root } from '../docs/pages.ts';
import { askStock, upstreamTables } from '../graphql/stockPostgraphile.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';

let database: TestDatabase;
let pool: Pool;
let answer: Awaited<ReturnType<typeof createServer>>;
const unknown: string[] = [];
const seen = { compiled: 0, failedRuns: 0 };
const onCompiled = () => void seen.compiled++;
const onFailedRun = () => void seen.failedRuns++;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.owner.query(upstreamTables);
  await database.owner.query(`insert into upstream.people values (2, 'Grace')`);
  pool = new Pool({ connectionString: database.ownerUrl });
  const pgServices = [makePgService({ pool, schemas: ['upstream'] })];
  const preset = { pgServices, schema: { defaultBehavior: 'list connection' } };
  answer = await createServer(preset, (reason) => unknown.push(reason));
  subscribe('grafast-compile:compiled', onCompiled);
  subscribe('grafast-compile:failed run', onFailedRun);
});
beforeEach(() => {
  seen.compiled = 0;
});
afterAll(async () => {
  unsubscribe('grafast-compile:compiled', onCompiled);
  unsubscribe('grafast-compile:failed run', onFailedRun);
  await pool.end();
  await database.drop();
});

test.each([
  ['a list', '{ allPeopleList { id name } }'],
  [
    'a page and its cursors',
    '{ allPeople(first: 1) { edges { cursor node { name } } pageInfo { hasNextPage endCursor } } }',
  ],
  [
    'rows within rows, and an interface',
    '{ allPeopleList { assignmentsByPersonIdList { cardByCardId { __typename id type } } } }',
  ],
])('%s is answered as PostGraphile alone does, compiled', async (_, source) => {
  const document = parse(source);

  const answers = [await answer(document, {}), await answer(document, {})];

  const { data } = await askStock(database, source, []);
  for (const { data: text, errors } of answers) expect({ data: JSON.parse(text ?? ''), errors }).toEqual({ data });
  expect(JSON.stringify(data)).toMatch(/Ada|Phone/);
  expect({ unknown, ...seen }).toEqual({ unknown: [], compiled: 1, failedRuns: 0 });
});

test('an operation that was compiled for one request takes the variables of the next', async () => {
  const document = parse('query ($first: Int!) { allPeople(first: $first) { nodes { name } } }');

  const answers = [await answer(document, { first: 1 }), await answer(document, { first: 2 })];

  const named = (...names: string[]) => ({
    data: JSON.stringify({ allPeople: { nodes: names.map((name) => ({ name })) } }),
  });
  expect(answers).toEqual([named('Ada'), named('Ada', 'Grace')]);
  expect(seen).toEqual({ compiled: 1, failedRuns: 0 });
});

const page = 'packages/grafast-compile/README.md';

test('the README shows this server, and how to install what package.json says', async () => {
  const unindented = (text: string) => text.replaceAll(/^ +/gm, '');
  const example = unindented(await readFile(join(root, 'packages/grafast-compile/test/example.ts'), 'utf8'));
  const { version, engines, peerDependencies } = JSON.parse(await readPage('packages/grafast-compile/package.json'));
  const blocks = await blocksOf(page);
  const text = await readPage(page);

  const uses = blocks.filter(({ language }) => language === 'ts');
  expect(uses).toHaveLength(2);
  for (const use of uses) expect(example).toContain(unindented(use.text));
  expect(text).toContain(`dependencies.grafast-compile=${version}`);
  expect(text).toContain(
    `Node.js ${engines.node.replace('>=', '')} and PostGraphile ${peerDependencies.postgraphile.replace('^', '')}.`,
  );
  for (const [library, tested] of Object.entries(testedVersions)) expect(text).toContain(`${library} ${tested}`);
});

test('its interface is what the README lists', async () => {
  const [, table = ''] = /^## Interface$([\s\S]*?)^## /m.exec(await readPage(page)) ?? [];
  const index = await readPage('packages/grafast-compile/src/index.ts');
  const exported = [...index.matchAll(/^export (?:type )?\{ (.*) \}/gm)].flatMap(([, names = '']) =>
    names.split(', ').map((name) => name.replace('type ', '')),
  );

  // The types of what functions take and give.
  const named = exported.filter(
    (name) => !['CompilationOptions', 'OperationRequest', 'OperationResult'].includes(name),
  );
  expect(named.length).toBe(exported.length - 3);
  expect(named.filter((name) => !table.includes(`\`${name}`))).toEqual([]);
});
