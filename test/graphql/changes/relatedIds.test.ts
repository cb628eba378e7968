import { shareService } from '../../support/sharedService.ts';
import { type Mutate, mutating } from '../mutating.ts';
import { createTenant, type GraphTest, type Tenant } from '../support.ts';
import { type Change, follow, present, settled } from './feed.ts';

// What a change says of the objects that its object refers to. Those of a team's table: follow.test.ts.

let graph: GraphTest;
let tenant: Tenant;
let mutate: Mutate;
let user: string;
let unit: string;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  mutate = mutating(graph, tenant);
  user = await create('userCreate', { fullName: 'Ada', email: 'ada@acme.test', externalIdentifier: 'ada' }, 'user');
  unit = await create('unitCreate', { name: 'HQ', externalIdentifier: 'hq' }, 'unit');
});

const create = async (field: string, args: object, payload: string) => {
  const made = (await mutate(field, args, `${payload} { id }`)) as Record<string, { id: string }>;
  return made[payload]?.id ?? '';
};

/** The changes that something makes, and what they are related to. */
const changesOf = async (work: () => Promise<unknown>): Promise<[string, string[]][]> => {
  const before = await present(graph, tenant);
  await work();
  await settled(tenant);
  return (await follow(graph, tenant, before)).map(inShort);
};
const inShort = ({ operation, typeName, relatedIds }: Change): [string, string[]] => [
  `${operation} ${typeName}`,
  relatedIds.toSorted(),
];
const both = (one: string, other: string) => [one, other].toSorted();

test('a grant names its user and unit, when it is deleted, too', async () => {
  const grant = { userExternalIdentifier: 'ada', unitExternalIdentifier: 'hq' };

  expect(await changesOf(() => create('accessGrant', grant, 'accessGrant'))).toEqual([
    ['CREATE AccessGrant', both(user, unit)],
  ]);
  expect(await changesOf(() => create('accessRevoke', grant, 'accessGrant'))).toEqual([
    ['DELETE AccessGrant', both(user, unit)],
  ]);
});

test.each([
  ['nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }, 'NfcCard'],
  ['beaconCardCreate', { name: 'Phone', proximityUuid: crypto.randomUUID(), major: 1, minor: 2 }, 'BeaconCard'],
  ['identificationCodeCreate', { name: 'PIN' }, 'IdentificationCode'],
])('an assignment names its user and the card by its type, when both are gone: %s', async (field, args, type) => {
  const card = await create(field, { ...args, externalIdentifier: 'card' }, 'card');
  expect(Buffer.from(card, 'base64url').toString()).toContain(`${type}:`);
  const pair = { cardExternalIdentifier: 'card', userExternalIdentifier: 'ada' };

  expect(await changesOf(() => create('cardAssign', pair, 'cardAssignment'))).toEqual([
    ['CREATE CardAssignment', both(user, card)],
  ]);
  const deleted = await changesOf(() => create('cardDelete', { externalIdentifier: 'card' }, 'card'));
  expect(new Set(deleted)).toEqual(
    new Set([
      ['DELETE CardAssignment', both(user, card)],
      [`DELETE ${type}`, []],
    ]),
  );
});

test('those who leave name what they had', async () => {
  const card = await create('identificationCodeCreate', { name: 'PIN', externalIdentifier: 'pin' }, 'card');
  await create('cardAssign', { cardId: card, userId: user }, 'cardAssignment');
  await create('accessGrant', { userId: user, unitId: unit }, 'accessGrant');

  expect((await changesOf(() => create('userDelete', { id: user }, 'user'))).toSorted()).toEqual([
    ['DELETE AccessGrant', both(user, unit)],
    ['DELETE CardAssignment', both(user, card)],
    ['DELETE User', []],
  ]);
});

test('a unit names the one above it, as it is by the change', async () => {
  const child = await create('unitCreate', { name: 'Floor' }, 'unit');

  const moves = await changesOf(async () => {
    await create('unitUpdate', { id: child, parentId: unit }, 'unit');
    await create('unitUpdate', { id: child, parentId: null }, 'unit');
  });

  expect(moves).toEqual([
    ['UPDATE Unit', [unit]],
    ['UPDATE Unit', []],
  ]);
});
