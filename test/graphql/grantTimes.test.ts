import { shareService } from '../support/sharedService.ts';
import { until } from '../support/until.ts';
import { future, type Grant, giveAccess, later, mayEnterAny, past, readGrants, shown } from './grants.ts';
import { type Mutate, mutating } from './mutating.ts';
import {
  ask,
  createTenant,
  createUnit,
  createViewer,
  type GraphTest,
  read,
  type Tenant,
  type TestUnit,
  type TestUser,
} from './support.ts';
import { asOwner } from './sync.ts';

// The times of a grant, as clients give them by mutation.

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

const pair = () => ({ userId: ada.id, unitId: floor.id });
const give = (args: object) => giveAccess(mutate, { ...pair(), ...args });
const times = ({ validFrom, validUntil }: Grant) => [validFrom, validUntil].map((at) => at && Date.parse(at));
const mayEnter = () => mayEnterAny(graph, ada.token);

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

const grants = () => readGrants(graph, tenant.app);

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
