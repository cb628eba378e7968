import { shareService } from '../support/sharedService.ts';
import { seenBy } from './grants.ts';
import { type Mutate, mutating, unknownId } from './mutating.ts';
import {
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  grantAccess,
  type Tenant,
  type TestUnit,
  type TestUser,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let ada: TestUser & { token: string };
let [floor, room]: TestUnit[] = [];
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  ada = await createViewer(tenant, { fullName: 'Ada', externalIdentifier: 'ada' });
  floor = await createUnit(tenant, { name: 'Floor', externalIdentifier: 'floor' });
  room = await createUnit(tenant, { name: 'Room', parent: floor });
  mutate = mutating(graph, tenant);
});

const grant = 'accessGrant { id user { fullName } unit { name } createdAt }';
const seen = () => seenBy(graph, ada.token);

test('access is granted by either identifier, the same grant again, and revoked', async () => {
  const byIds = { userId: ada.id, unitId: floor?.id };
  const byIdentifiers = { userExternalIdentifier: 'ada', unitExternalIdentifier: 'floor' };

  const first = await mutate('accessGrant', byIds, grant);
  expect(first).toEqual({
    accessGrant: {
      ...{ id: expect.any(String), createdAt: expect.any(String) },
      ...{ user: { fullName: 'Ada' }, unit: { name: 'Floor' } },
    },
  });
  expect(await mutate('accessGrant', byIdentifiers, grant)).toEqual(first);
  expect(await seen()).toEqual(['Floor', 'Room']);

  expect(await mutate('accessRevoke', byIdentifiers, grant)).toEqual(first);
  expect(await seen()).toEqual([]);
  expect(await mutate('accessRevoke', byIds, grant)).toEqual({ code: 'NOT_FOUND' });

  const again = await mutate('accessGrant', { userId: ada.id, unitExternalIdentifier: 'floor' }, grant);
  const { id } = (again as { accessGrant: { id: string } }).accessGrant;
  expect(await mutate('accessRevoke', { id }, grant)).toEqual(again);
  expect(await seen()).toEqual([]);
  expect(await mutate('accessRevoke', { id }, grant)).toEqual({ code: 'NOT_FOUND' });
});

test('revoking one grant leaves those on other units', async () => {
  for (const unit of [floor, room]) await mutate('accessGrant', { userId: ada.id, unitId: unit?.id }, grant);

  await mutate('accessRevoke', { userId: ada.id, unitId: floor?.id }, grant);

  expect(await seen()).toEqual(['Room']);
});

test('what names no user or no unit, or two, is refused', async () => {
  const both = { userId: ada.id, unitId: floor?.id };

  for (const field of ['accessGrant', 'accessRevoke']) {
    for (const args of [
      { unitId: floor?.id },
      { ...both, userExternalIdentifier: 'ada' },
      { ...both, userId: 'garbage' },
    ])
      expect(await mutate(field, args, grant)).toEqual({ code: 'BAD_USER_INPUT', argument: 'userId' });
    for (const args of [{ userId: ada.id }, { ...both, unitExternalIdentifier: 'floor' }, { ...both, unitId: ada.id }])
      expect(await mutate(field, args, grant)).toEqual({ code: 'BAD_USER_INPUT', argument: 'unitId' });
    for (const args of [
      { ...both, userId: unknownId('User') },
      { ...both, unitId: unknownId('Unit') },
      { userExternalIdentifier: 'none', unitId: floor?.id },
      { userId: ada.id, unitExternalIdentifier: 'none' },
    ])
      expect(await mutate(field, args, grant)).toEqual({ code: 'NOT_FOUND' });
  }
  const made = await mutate('accessGrant', both, 'accessGrant { id }');
  const { id } = (made as { accessGrant: { id: string } }).accessGrant;
  for (const args of [{}, { id, ...both }, { id: 'garbage' }, { id: null }])
    expect(await mutate('accessRevoke', args, grant)).toEqual({ code: 'BAD_USER_INPUT', argument: 'id' });
  expect(await mutate('accessRevoke', { id: ada.id }, grant)).toEqual({ code: 'NOT_FOUND' });
  expect(await mutate('accessRevoke', { id }, grant)).toHaveProperty('accessGrant');
});

test('of twenty grants at once one is made', async () => {
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => mutate('accessGrant', { userId: ada.id, unitId: floor?.id }, grant)),
  );

  for (const answer of answers) expect(answer).toEqual(answers[0]);
  expect(await seen()).toEqual(['Floor', 'Room']);
});

test('users and units are deleted while they are granted and revoked, and no change collides with another', async () => {
  const users = await Promise.all(Array.from({ length: 6 }, () => createUser(tenant)));
  const units = await Promise.all(Array.from({ length: 6 }, () => createUnit(tenant, floor ? { parent: floor } : {})));
  for (const user of users) for (const unit of units) await grantAccess(tenant, user, unit);

  const answers = await Promise.all([
    ...users.slice(2).map(({ id }) => mutate('userDelete', { id }, 'user { fullName }')),
    mutate('unitDelete', { id: floor?.id, withDescendants: true }, 'unit { name }'),
    ...users.flatMap(({ id: userId }) =>
      units
        .slice(0, 2)
        .flatMap(({ id: unitId }) => [
          mutate('accessRevoke', { userId, unitId }, 'accessGrant { id }'),
          mutate('accessGrant', { userId, unitId }, 'accessGrant { id }'),
        ]),
    ),
  ]);

  const codes = answers.map((answer) => (answer as { code?: string }).code ?? 'done');
  expect(new Set(codes)).toEqual(new Set(['done', 'NOT_FOUND']));
  expect(codes.slice(0, 5)).toEqual(Array(5).fill('done'));
});

test('another organization’s users, units and grants are as if they were not there', async () => {
  const other = await createTenant(graph);
  const grace = await createUser(other, { externalIdentifier: 'grace' });
  const theirs = await createUnit(other, { externalIdentifier: 'theirs' });
  const made = await mutate('accessGrant', { userId: grace.id, unitId: theirs.id }, 'accessGrant { id }', other.app);
  const { id } = (made as { accessGrant: { id: string } }).accessGrant;

  for (const field of ['accessGrant', 'accessRevoke']) {
    for (const args of [{ userId: grace.id }, { userExternalIdentifier: 'grace' }])
      expect(await mutate(field, { ...args, unitId: floor?.id }, grant)).toEqual({ code: 'NOT_FOUND' });
    for (const args of [{ unitId: theirs.id }, { unitExternalIdentifier: 'theirs' }])
      expect(await mutate(field, { ...args, userId: ada.id }, grant)).toEqual({ code: 'NOT_FOUND' });
  }
  expect(await mutate('accessRevoke', { id }, grant)).toEqual({ code: 'NOT_FOUND' });
  expect(await mutate('accessRevoke', { id }, grant, other.app)).toHaveProperty('accessGrant');
});

test('neither a person nor a basic token grants or revokes', async () => {
  await grantAccess(tenant, ada, room as TestUnit);

  for (const token of [ada.token, tenant.basic]) {
    expect(await mutate('accessGrant', { userId: ada.id, unitId: floor?.id }, grant, token)).toEqual({
      code: 'FORBIDDEN',
    });
    expect(await mutate('accessRevoke', { userId: ada.id, unitId: room?.id }, grant, token)).toEqual({
      code: 'FORBIDDEN',
    });
  }
  expect(await seen()).toEqual(['Room']);
});
