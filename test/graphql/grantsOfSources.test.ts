import { shareService } from '../support/sharedService.ts';
import { future, type Grant, giveAccess, mayEnterAny, past, readGrants, shown } from './grants.ts';
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

// Grants of several sources to the same unit, by mutation and by sync, and as the graph shows them.

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
const mayEnter = () => mayEnterAny(graph, ada.token);

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

const grants = () => readGrants(graph, tenant.app);
