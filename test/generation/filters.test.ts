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

let graph: OwnGraphTest;
let tenant: Tenant;
let other: Tenant;
beforeAll(async () => {
  graph = await startGraphTest({}, async (database) => {
    [tenant, other] = [await createTenant({ database }), await createTenant({ database })];
    const { owner } = database;
    await owner.query(`
    create type app_public.state as enum ('new', 'in-repair', 'done');
    ${tableSql({ name: 'jobs', columns: 'id int not null, name text not null, score numeric, at timestamptz not null, state app_public.state, tags text[], paper json', key: ['id'] })}
    comment on column app_public.jobs.name is E'@filter names\\n@filter namePrefix prefix\\nName.';
    comment on column app_public.jobs.score is E'@filter scoreFrom from\\n@filter scoreUntil until\\n@filter hasNoScore isNull\\nScore.';
    comment on column app_public.jobs.at is E'@filter from from\\n@filter until until\\nWhen.';
    comment on column app_public.jobs.state is E'@filter states\\n@filter stateFrom from\\nState.';
    create type app_public.slot_input as (at timestamptz, score numeric);
    comment on column app_public.slot_input.at is '@notNull';
    alter table app_public.jobs add constraint jobs_slot_key unique (organization_id, at, score);
    comment on constraint jobs_slot_key on app_public.jobs is '@filter slots {SlotInput}';
    comment on column app_public.jobs.tags is E'@filter hasNoTags isNull\\nTags.'`);
    for (const { organizationId } of [tenant, other]) {
      await owner.query(
        `insert into app_public.jobs values
       ($1, 1, 'Alpha', 1.5, '2024-01-01 00:00Z', 'new', '{a}'),
       ($1, 2, 'Alp%', null, '2024-01-02 00:00Z', 'in-repair', null),
       ($1, 3, 'alpha', 2, '2024-01-03 00:00Z', 'done', '{}'),
       ($1, 4, 'Al\\_x', 0, '2024-01-04 00:00Z', null, '{}')`,
        [organizationId],
      );
    }
  });
});
afterAll(() => graph.stop());

const namesBy = async (filter: string) => {
  const { app } = await read<{ app: { jobs: { totalCount: number; nodes: { name: string }[] } } }>(
    graph,
    tenant.app,
    `{ app { jobs(${filter}) { totalCount nodes { name } } } }`,
  );
  const names = app.jobs.nodes.map(({ name }) => name);
  expect(app.jobs.totalCount).toBe(names.length);
  return names;
};

test.each<[string, string[]]>([
  ['from: "2024-01-02T00:00:00Z"', ['Alp%', 'alpha', 'Al\\_x']],
  ['until: "2024-01-02T00:00:00Z"', ['Alpha']],
  ['from: "2024-01-02T01:00:00+01:00", until: "2024-01-04T00:00:00Z"', ['Alp%', 'alpha']],
  ['from: "2024-01-03T00:00:00Z", until: "2024-01-02T00:00:00Z"', []],
  ['scoreFrom: "1.5"', ['Alpha', 'alpha']],
  ['scoreUntil: "1.5"', ['Al\\_x']],
  ['hasNoScore: true', ['Alp%']],
  ['hasNoScore: false', ['Alpha', 'alpha', 'Al\\_x']],
  ['hasNoScore: null, scoreFrom: null', ['Alpha', 'Alp%', 'alpha', 'Al\\_x']],
  ['namePrefix: "Alp"', ['Alpha', 'Alp%']],
  ['namePrefix: "Alp%"', ['Alp%']],
  ['namePrefix: "Al\\\\_"', ['Al\\_x']],
  ['namePrefix: ""', ['Alpha', 'Alp%', 'alpha', 'Al\\_x']],
  ['names: ["alpha", "Alp%"]', ['Alp%', 'alpha']],
  ['states: [in_repair, done]', ['Alp%', 'alpha']],
  ['stateFrom: in_repair', ['Alp%', 'alpha']],
  ['hasNoTags: true', ['Alp%']],
  ['namePrefix: "Al", scoreFrom: "0", states: [new]', ['Alpha']],
])('jobs(%s)', async (filter, names) => {
  expect(await namesBy(filter)).toEqual(names);
});

test('one document gives each request the rows of its own variables, whichever of them are given', async () => {
  const document = `query($from: Datetime, $until: Datetime, $scoreFrom: BigFloat, $hasNoScore: Boolean, $hasNoTags: Boolean,
    $namePrefix: String, $names: [String!], $states: [State!], $first: Int) {
    app { jobs(from: $from, until: $until, scoreFrom: $scoreFrom, hasNoScore: $hasNoScore, hasNoTags: $hasNoTags,
      namePrefix: $namePrefix, names: $names, states: $states, first: $first) { nodes { name } } }
  }`;
  const cases: [Record<string, unknown>, string[]][] = [
    [{}, ['Alpha', 'Alp%', 'alpha', 'Al\\_x']],
    [{ hasNoScore: true }, ['Alp%']],
    [{ hasNoScore: false }, ['Alpha', 'alpha', 'Al\\_x']],
    [{ hasNoTags: true }, ['Alp%']],
    [{ hasNoTags: false, hasNoScore: false, first: 2 }, ['Alpha', 'alpha']],
    [{ namePrefix: 'Alp', names: ['Alp', 'Alpha'] }, ['Alpha']],
    [{ namePrefix: 'alpha', names: ['alpha'] }, ['alpha']],
    [{ names: ['alpha', 'Alp%'], namePrefix: null }, ['Alp%', 'alpha']],
    [{ from: '2024-01-02T00:00:00Z', until: '2024-01-02T00:00:01Z' }, ['Alp%']],
    [{ from: '2024-01-03T00:00:00Z', until: '2024-01-03T00:00:01Z' }, ['alpha']],
    [{ scoreFrom: '1.5', states: ['done', 'new'], first: 1 }, ['Alpha']],
    [{ scoreFrom: '2', states: ['done', 'new'], first: 1 }, ['alpha']],
  ];
  const rounds = [...cases, ...cases.toReversed()];

  const answers = await Promise.all(
    rounds.map(([variables]) =>
      read<{ app: { jobs: { nodes: { name: string }[] } } }>(graph, tenant.app, document, variables),
    ),
  );

  expect(answers.map(({ app }) => app.jobs.nodes.map(({ name }) => name))).toEqual(rounds.map(([, names]) => names));
});

test("another organization's rows are there, and no filter shows them", async () => {
  const { rows } = await graph.database.owner.query("select from app_public.jobs where starts_with(name, 'Al')");
  expect(rows).toHaveLength(6);

  expect(await namesBy('namePrefix: "Al"')).toHaveLength(3);
});

test('values that PostgreSQL cannot read are refused', async () => {
  const nul = 'query ($prefix: String) { app { jobs(namePrefix: $prefix) { totalCount } } }';
  expectRefused(await ask(graph, tenant.app, nul, { prefix: 'a\0' }), 400, {
    code: 'BAD_USER_INPUT',
    argument: 'namePrefix',
  });
  for (const word of ['yesteryear', 'yesterday', 'now'])
    expectRefused(await ask(graph, tenant.app, `{ app { jobs(from: "${word}") { totalCount } } }`), 400, {
      code: 'BAD_USER_INPUT',
      argument: 'from',
    });
  const slots = (at: string) =>
    ask(graph, tenant.app, 'query($at: Datetime!) { app { jobs(slots: [{ at: $at, score: "2" }]) { totalCount } } }', {
      at,
    });
  expectRefused(await slots('today'), 400, { code: 'BAD_USER_INPUT', argument: 'slots' });
  expect((await slots('2024-01-03T01:00:00+01:00')).body.data).toEqual({ app: { jobs: { totalCount: 1 } } });
});

test.each([
  [
    'name',
    '@filter namePrefix like',
    /jobs.name: "@filter namePrefix like" has none of the operators anyOf, from, until, prefix, isNull/,
  ],
  ['name', '@filter 1st', /"@filter 1st" names no argument/],
  ['score', '@filter scorePrefix prefix', /jobs.score: "@filter scorePrefix prefix" is for texts only/],
  ['paper', '@filter paperFrom from', /jobs.paper: "@filter paperFrom from" is not for json, save isNull/],
  ['tags', '@filter tags', /jobs.tags: "@filter tags" is not for arrays, save isNull/],
])('a comment on %s that says "%s" is refused, and the old schema stays', async (column, tag, message) => {
  const { rows } = await graph.database.owner.query(
    "select col_description('app_public.jobs'::regclass, attnum) as comment from pg_attribute where attrelid = 'app_public.jobs'::regclass and attname = $1",
    [column],
  );
  const comment = (text: string) =>
    graph.database.owner.query(`comment on column app_public.jobs.${column} is '${text.replaceAll("'", "''")}'`);
  await comment(tag);
  await expect(graph.reload()).rejects.toThrow(message);
  await comment(rows[0].comment ?? '');

  expect(await namesBy('namePrefix: "Alp%"')).toEqual(['Alp%']);
});

test('a filter by the columns of a key keeps the rows that have all values of one item', async () => {
  const of = (slots: string) => namesBy(`slots: ${slots}`);

  expect(await of('[{ at: "2024-01-01 00:00Z", score: "1.5" }, { at: "2024-01-03 01:00+01", score: "2.0" }]')).toEqual([
    'Alpha',
    'alpha',
  ]);
  expect(await of('{ at: "2024-01-01 00:00Z", score: "2" }')).toEqual([]);
  // A key with a null is no key.
  expect(await of('{ at: "2024-01-02 00:00Z" }')).toEqual([]);
  expect(await of('[]')).toEqual([]);
  expect(await of('null')).toHaveLength(4);
});

test.each([
  ['@filter slots', /jobs .*"@filter slots" is not an argument and a composite type in braces/],
  ['@filter slots {Slot}', /"@filter slots {Slot}" is not an argument/],
  ['@filter slots {BeaconInput}', /"@filter slots {BeaconInput}" names a type without at/],
])('a comment on a key that says "%s" is refused, and the old schema stays', async (tag, message) => {
  const comment = (text: string) =>
    graph.database.owner.query(`comment on constraint jobs_slot_key on app_public.jobs is '${text}'`);
  await comment(tag);
  await expect(graph.reload()).rejects.toThrow(message);
  await comment('@filter slots {SlotInput}');

  expect(await namesBy('slots: []')).toEqual([]);
});
