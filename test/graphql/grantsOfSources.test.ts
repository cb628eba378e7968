// Grants with a time and a source, as clients give them: by mutation, by sync, and as the graph and its feed show them.
import { shareService } from '../support/sharedService.ts';
import { until } from '../support/until.ts';
import { type Mutate, mutating } from './mutating.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  grantAccess,
  read,
  type Tenant,
  type TestUnit,
  type TestUser,
} from './support.ts';
import { asOwner } from './sync.ts';

let graph: GraphTest;
let tenant: Tenant;
let ada: TestUser & { token: string };
let floor: TestUnit;
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  ada = await createViewer(tenant, { fullName: 'Ada', externalIdentifier: 'ada' });
  floor = await createUnit(tenant, { name: 'Floor', externalIdentifier: 'floor' });
  mutate = mutating(graph, tenant);
});

const [past, future, later] = ['2020-02-29T12:00:00+00:00', '2190-01-01T00:00:00+00:00', '2190-01-02T00:00:00+00:00'];
const shown = 'accessGrant { id validFrom validUntil source }';
type Grant = { id: string; validFrom: string | null; validUntil: string | null; source: string | null };
const pair = () => ({ userId: ada.id, unitId: floor.id });
const give = async (args: object) =>
  ((await mutate('accessGrant', { ...pair(), ...args }, shown)) as { accessGrant: Grant }).accessGrant;
const times = ({ validFrom, validUntil }: Grant) => [validFrom, validUntil].map((at) => at && Date.parse(at));
const mayEnter = async () => {
  const query = '{ viewer { accessibleUnits { totalCount } accessGrants { totalCount } } }';
  type Viewer = { viewer: { accessibleUnits: { totalCount: number }; accessGrants: { totalCount: number } } };
  const { viewer } = await read<Viewer>(graph, ada.token, query);
  expect(viewer.accessGrants.totalCount > 0).toBe(viewer.accessibleUnits.totalCount > 0);
  return viewer.accessibleUnits.totalCount > 0;
};

test('a grant begins and ends when it is said to', async () => {
  const from = new Date(Date.now() + 1000);
  expect(times(await give({ validFrom: from.toISOString() }))).toEqual([Number(from), null]);
  await until(mayEnter);
  expect(Date.now()).toBeGreaterThanOrEqual(Number(from) - 20);

  const end = new Date(Date.now() + 1000);
  expect(times(await give({ validUntil: end.toISOString() }))).toEqual([from, end].map(Number));
  await until(async () => !(await mayEnter()));
  expect(Date.now()).toBeGreaterThanOrEqual(Number(end) - 20);
});

test('again it is the same grant, whose absent times stay and are cleared by null', async () => {
  const made = await give({ validFrom: past, validUntil: future });
  expect(await give({})).toEqual(made);

  const changes: [args: object, from: string | null, end: string | null][] = [
    [{ validUntil: later }, past, later],
    [{ validFrom: null }, null, later],
    [{ validUntil: null }, null, null],
    [{ validFrom: future, validUntil: later }, future, later],
    [{ validFrom: null, validUntil: null }, null, null],
  ];
  for (const [args, from, end] of changes) {
    const changed = await give(args);
    expect(changed.id).toBe(made.id);
    expect(times(changed)).toEqual([from, end].map((at) => at && Date.parse(at)));
    expect(await give({})).toEqual(changed);
    expect(await mayEnter()).toBe(from !== future);
  }
});

test('the same times again write nothing, and others are an update in feed and history', async () => {
  const start = await cursor();
  const { id } = await give({ validFrom: past, source: 'hr' });
  await give({ validFrom: past, source: 'hr' });
  await give({ validUntil: future, source: 'hr' });
  await give({ validFrom: null, validUntil: null, source: 'hr' });
  await mutate('accessRevoke', { ...pair(), source: 'hr' }, shown);

  await until(async () => (await changesAfter(start)).length === 4);
  expect(await changesAfter(start)).toEqual([
    { operation: 'CREATE', id, fields: [] },
    { operation: 'UPDATE', id, fields: ['validUntil'] },
    { operation: 'UPDATE', id, fields: ['validFrom', 'validUntil'] },
    { operation: 'DELETE', id, fields: [] },
  ]);
  const history = await asOwner<{ command: string; columns: string[]; source: string | null }>(
    tenant,
    `select command, columns, coalesce(before, after) ->> 'source' as source from audit.changes
     where organization_id = $1 and relation = 'app_hidden.unit_access' order by id`,
  );
  expect(history.map(({ command, columns }) => [command, columns.includes('valid_until'), columns.length])).toEqual([
    ['insert', false, 6],
    ['update', true, 1],
    ['update', true, 2],
    ['delete', false, 5],
  ]);
  expect(history.map(({ source }) => source)).toEqual(['hr', null, null, 'hr']);
});

test('an end that is not after its beginning is refused, also beside a time that stays', async () => {
  const refused = { code: 'BAD_USER_INPUT', argument: 'validUntil' };
  for (const args of [
    { validFrom: past, validUntil: past },
    { validFrom: future, validUntil: past },
  ])
    expect(await mutate('accessGrant', { ...pair(), ...args }, shown)).toEqual(refused);
  expect(await grants()).toEqual([]);

  const made = await give({ validFrom: future });
  expect(await mutate('accessGrant', { ...pair(), validUntil: past }, shown)).toEqual(refused);
  expect(await grants()).toEqual([made]);
  expect(times(await give({ validUntil: later }))).toEqual([future, later].map((at) => Date.parse(String(at))));
});

test('a day that does not exist is refused with an example', async () => {
  const query = `mutation ($userId: ID, $unitId: ID, $validUntil: Datetime) {
    accessGrant(userId: $userId, unitId: $unitId, validUntil: $validUntil) { ${shown} } }`;
  const { body } = await ask(graph, tenant.app, query, { ...pair(), validUntil: '2190-02-30T12:00:00Z' });

  expect(body).toMatchObject({ data: { accessGrant: null }, errors: [{ extensions: { code: 'BAD_USER_INPUT' } }] });
  const [, example = ''] = /ISO 8601, such as "(.*)"/.exec(body.errors?.[0]?.message ?? '') ?? [];
  expect(times(await give({ validFrom: example }))).toEqual([Date.parse(example), null]);
});

test('a time is one of ISO 8601, and none of the words that PostgreSQL replaces by a time', async () => {
  const words = [
    'tomorrow',
    'now',
    'today 12:00',
    'epoch',
    'allballs',
    'noon',
    'January 8, 2190',
    '21900101',
    '2190-001',
    '',
  ];
  for (const validUntil of [...words, '2190-01-01T00:00:00+00:00 tomorrow', '2190-01-01T00:00:00 Europe/Berlin'])
    expect(await mutate('accessGrant', { ...pair(), validUntil }, shown)).toEqual({
      code: 'BAD_USER_INPUT',
      argument: 'validUntil',
    });
  const { body } = await ask(
    graph,
    tenant.app,
    'mutation($user: ID!, $unit: ID!) { accessGrant(userId: $user, unitId: $unit, validFrom: "tomorrow") { accessGrant { id } } }',
    { user: ada.id, unit: floor.id },
  );
  expect(body.errors?.map(({ message }) => message)).toEqual([
    'validFrom must be a time such as 2026-01-31T08:30:00Z.',
  ]);
  expect(await grants()).toEqual([]);

  const read: [text: string, time: string][] = [
    ['2190-01-01T01:00:00+01:00', '2190-01-01T00:00:00Z'],
    ['2190-01-01t00:00:00.25z', '2190-01-01T00:00:00.25Z'],
    ['2190-01-01 00:00', '2190-01-01T00:00:00Z'],
    ['2190-01-02', '2190-01-02T00:00:00Z'],
    ['2190-01-01T00:00:00-0530', '2190-01-01T05:30:00Z'],
  ];
  for (const [validUntil, time] of read) expect(times(await give({ validUntil }))).toEqual([null, Date.parse(time)]);
  expect((await give({ validUntil: 'infinity' })).validUntil).toBe('infinity');
});

test('a user, a unit and a source have one grant, and each is revoked by itself', async () => {
  const sources = [null, 'hr', 'HR', 'x'.repeat(200)];
  const made: Grant[] = [];
  for (const source of sources) made.push(await give({ source, validUntil: source === null ? past : null }));
  expect(made.map(({ source }) => source)).toEqual(sources);
  expect(new Set(made.map(({ id }) => id)).size).toBe(4);
  for (const [index, source] of sources.entries()) expect(await give({ source })).toEqual(made[index]);
  for (const source of ['', 'x'.repeat(201)])
    expect(await mutate('accessGrant', { ...pair(), source }, shown)).toEqual({
      code: 'BAD_USER_INPUT',
      argument: 'source',
    });

  expect(await mutate('accessRevoke', { ...pair(), source: 'nobody' }, shown)).toEqual({ code: 'NOT_FOUND' });
  expect(await mutate('accessRevoke', { source: 'hr' }, shown)).toEqual({ code: 'BAD_USER_INPUT', argument: 'userId' });
  expect(await mutate('accessRevoke', { id: made[1]?.id, source: 'hr' }, shown)).toEqual({
    code: 'BAD_USER_INPUT',
    argument: 'id',
  });
  expect(await mutate('accessRevoke', pair(), shown)).toEqual({ accessGrant: made[0] });
  expect(await mutate('accessRevoke', { ...pair(), source: 'HR' }, shown)).toEqual({ accessGrant: made[2] });
  expect(await grants()).toEqual([made[1], made[3]]);
  expect(await mayEnter()).toBe(true);
});

test('of twenty times given at once each grant has one, and there is one grant', async () => {
  const ends = Array.from({ length: 20 }, (_, index) => new Date(Date.UTC(2190, 0, index + 1)).toISOString());

  const answers = await Promise.all(ends.map((validUntil) => give({ validUntil, source: 'hr' })));

  expect(new Set(answers.map(({ id }) => id)).size).toBe(1);
  expect(answers.map(({ validUntil }) => Date.parse(String(validUntil)))).toEqual(ends.map((end) => Date.parse(end)));
  expect(await grants()).toHaveLength(1);
});

test('a sync makes the grants of its source what it says, without times, and touches no other', async () => {
  const room = await createUnit(tenant, { name: 'Room', externalIdentifier: 'room' });
  const byHand = await give({ validUntil: future });
  const ofVisitors = await give({ source: 'visitors', validUntil: past });
  const sync = async (accessibleUnits: string[], source: string | null, dryRun = false) => {
    const query = `mutation($users: [UserSyncInput!]!, $source: String, $dryRun: Boolean) {
      usersSync(users: $users, source: $source, dryRun: $dryRun) { results { outcome } } }`;
    const users = [{ externalIdentifier: 'ada', accessibleUnits }];
    type Results = { usersSync: { results: { outcome: string }[] } };
    const data = await read<Results>(graph, tenant.app, query, { users, source, dryRun });
    return data.usersSync.results[0]?.outcome;
  };
  const has = async () => (await grants()).map(({ source, validUntil }) => [source, validUntil !== null]);

  expect(await sync(['floor', 'room'], 'hr', true)).toBe('UPDATED');
  expect(await grants()).toEqual([byHand, ofVisitors]);
  expect(await sync(['floor', 'room'], 'hr')).toBe('UPDATED');
  expect(await sync(['floor', 'room'], 'hr')).toBe('UNCHANGED');
  expect(await has()).toEqual([
    [null, true],
    ['visitors', true],
    ['hr', false],
    ['hr', false],
  ]);
  await mutate('accessGrant', { userId: ada.id, unitId: room.id, source: 'hr', validUntil: past }, shown);
  expect(await sync(['room'], 'hr')).toBe('UPDATED');
  expect(await has()).toEqual([
    [null, true],
    ['visitors', true],
    ['hr', false],
  ]);
  expect(await sync([], null)).toBe('UPDATED');
  expect(await sync([], 'visitors')).toBe('UPDATED');
  expect(await has()).toEqual([['hr', false]]);
  expect(await sync([], 'HR')).toBe('UNCHANGED');
  expect(await sync([], 'hr')).toBe('UPDATED');
  expect(await grants()).toEqual([]);

  const query =
    'mutation($source: String!) { usersSync(users: [{ externalIdentifier: "ada" }], source: $source) { results { outcome } } }';
  for (const source of ['', 'x'.repeat(201)])
    expect(await ask(graph, tenant.app, query, { source })).toMatchObject({
      body: { errors: [{ extensions: { code: 'BAD_USER_INPUT', argument: 'source' } }] },
    });
});

test('App.accessGrants and App.cardAssignments are those of the organization alone, ended ones included', async () => {
  const other = await createTenant(graph);
  const grace = await createUser(other, { fullName: 'Grace' });
  await grantAccess(other, grace, await createUnit(other, { name: 'Theirs' }));
  const card = await mutate('nfcCardCreate', { name: 'Theirs', nfcIdentifier: '04A224B2' }, 'card { id }', other.app);
  const { id: cardId } = (card as { card: { id: string } }).card;
  await mutate('cardAssign', { cardId, userId: grace.id }, 'cardAssignment { id }', other.app);
  const made = [await give({ validUntil: past }), await give({ source: 'hr' })];
  const own = await mutate('identificationCodeCreate', { name: 'Own' }, 'card { id }');
  const ownCard = (own as { card: { id: string } }).card;
  const assigned = await mutate('cardAssign', { cardId: ownCard.id, userId: ada.id }, 'cardAssignment { id }');

  const query = `query($ids: [ID!]) { app {
    accessGrants { totalCount nodes { id validFrom validUntil source } }
    last: accessGrants(last: 1) { nodes { id } }
    some: accessGrants(ids: $ids) { totalCount }
    cardAssignments { totalCount nodes { id card { name } user { fullName } } } } }`;
  const ids = [made[0]?.id];
  const all = await read(graph, tenant.app, query, { ids });

  const { id } = (assigned as { cardAssignment: { id: string } }).cardAssignment;
  expect(all).toEqual({
    app: {
      accessGrants: { totalCount: 2, nodes: made },
      last: { nodes: [{ id: made[1]?.id }] },
      some: { totalCount: 1 },
      cardAssignments: { totalCount: 1, nodes: [{ id, card: { name: 'Own' }, user: { fullName: 'Ada' } }] },
    },
  });
  expect(await read(graph, other.app, query, { ids })).toMatchObject({
    app: { accessGrants: { totalCount: 1 }, some: { totalCount: 0 }, cardAssignments: { totalCount: 1 } },
  });
});

const grants = async () =>
  (
    await read<{ app: { accessGrants: { nodes: Grant[] } } }>(
      graph,
      tenant.app,
      '{ app { accessGrants { nodes { id validFrom validUntil source } } } }',
    )
  ).app.accessGrants.nodes;

type Changes<Node> = { app: { changes: { nodes: Node[]; pageInfo: { endCursor: string } } } };

const cursor = async () =>
  (
    await read<Changes<never>>(
      graph,
      tenant.app,
      '{ app { changes(first: 0) { nodes { id } pageInfo { endCursor } } } }',
    )
  ).app.changes.pageInfo.endCursor;

const changesAfter = async (after: string) => {
  const query = `query($after: Cursor) { app { changes(after: $after) { nodes { operation typeName id fields } pageInfo { endCursor } } } }`;
  type Node = { operation: string; typeName: string; id: string; fields: string[] };
  const { app } = await read<Changes<Node>>(graph, tenant.app, query, { after });
  return app.changes.nodes.flatMap(({ typeName, ...change }) => (typeName === 'AccessGrant' ? [change] : []));
};
