import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { StatementUse } from '../../src/token/transaction.ts';
import { shareService } from '../support/sharedService.ts';
import { type Mutate, mutating, unknownId } from './mutating.ts';
import {
  ask,
  createTenant,
  createUnit,
  createUser,
  createViewer,
  type GraphTest,
  read,
  type Tenant,
  type TestUnit,
  type TestUser,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let ada: TestUser & { token: string };
let bob: TestUser;
let house: TestUnit;
let floor: TestUnit;
let room: TestUnit;
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  ada = await createViewer(tenant, { fullName: 'Ada', externalIdentifier: 'ada' });
  bob = await createUser(tenant, { fullName: 'Bob', externalIdentifier: 'bob' });
  house = await createUnit(tenant, { name: 'House' });
  floor = await createUnit(tenant, { name: 'Floor', parent: house });
  room = await createUnit(tenant, { name: 'Room', parent: floor, externalIdentifier: 'room' });
  mutate = mutating(graph, tenant);
});

const beacon = { proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', major: 1, minor: 65535 };
const [past, future] = ['2020-02-29T12:00:00Z', '2190-01-01T00:00:00Z'];
const fields = 'isAllowed reason user { fullName } unit { name } card { __typename name } accessGrant { id }';
const query = `query($unitId: ID, $unitExternalIdentifier: String, $credential: CredentialInput!, $at: Datetime) { app {
  accessDecision(unitId: $unitId, unitExternalIdentifier: $unitExternalIdentifier, credential: $credential, at: $at) { ${fields} } } }`;

type Decision = {
  isAllowed: boolean;
  reason: string;
  user: { fullName: string } | null;
  unit: { name: string } | null;
  card: { name: string } | null;
  accessGrant: { id: string } | null;
};

/** On the room unless another unit is given. Flat: the user's, the unit's and the card's name, and the grant's id. */
async function decide(credential: object, args: object = { unitId: room.id }, token = tenant.app) {
  const { app } = await read<{ app: { accessDecision: Decision } }>(graph, token, query, { ...args, credential });
  const { isAllowed, reason, user, unit, card, accessGrant } = app.accessDecision;
  expect(isAllowed).toBe(reason === 'GRANTED');
  return [reason, user?.fullName ?? null, unit?.name ?? null, card?.name ?? null, accessGrant?.id ?? null];
}

const idOf = async (field: string, args: object, payload: string) => {
  const made = (await mutate(field, args, `${payload} { id }`)) as Record<string, { id: string }>;
  return made[payload]?.id as string;
};
const grant = (user: TestUser, unit: TestUnit, args: object = {}) =>
  idOf('accessGrant', { userId: user.id, unitId: unit.id, ...args }, 'accessGrant');
const assign = (cardId: string, user: TestUser) => idOf('cardAssign', { cardId, userId: user.id }, 'cardAssignment');

test('whatever somebody shows leads to the same grant', async () => {
  const badge = await idOf('nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2C13A80' }, 'card');
  const phone = await idOf('beaconCardCreate', { name: 'Phone', ...beacon }, 'card');
  const code = await idOf('identificationCodeCreate', { name: 'PIN', externalIdentifier: 'pin' }, 'card');
  for (const card of [badge, phone, code]) await assign(card, ada);
  const id = await grant(ada, floor);

  const shown: [credential: object, card: string | null][] = [
    [{ userId: ada.id }, null],
    [{ userExternalIdentifier: 'ada' }, null],
    [{ cardId: badge }, 'Badge'],
    [{ nfcIdentifier: '04A224B2C13A80' }, 'Badge'],
    [{ nfcIdentifier: '04a224b2c13a80' }, 'Badge'],
    [{ beacon }, 'Phone'],
    [{ beacon: { ...beacon, proximityUuid: beacon.proximityUuid.toUpperCase() } }, 'Phone'],
    [{ cardExternalIdentifier: 'pin' }, 'PIN'],
  ];
  for (const [credential, card] of shown) {
    expect(await decide(credential)).toEqual(['GRANTED', 'Ada', 'Room', card, id]);
    expect(await decide(credential, { unitExternalIdentifier: 'room' })).toEqual(['GRANTED', 'Ada', 'Room', card, id]);
    expect(await decide(credential, { unitId: house.id })).toEqual(['NO_GRANT', 'Ada', 'House', card, null]);
  }
});

test('the reason is the first that holds, and what was found is told', async () => {
  const badge = await idOf('nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }, 'card');
  const known = [{ userId: ada.id }, { cardId: badge }];
  const unknown: [credential: object, reason: string][] = [
    [{ userId: unknownId('User') }, 'USER_UNKNOWN'],
    [{ userExternalIdentifier: 'nobody' }, 'USER_UNKNOWN'],
    [{ cardId: unknownId('NfcCard') }, 'CARD_UNKNOWN'],
    [{ cardExternalIdentifier: 'none' }, 'CARD_UNKNOWN'],
    [{ nfcIdentifier: '04A224B3' }, 'CARD_UNKNOWN'],
    [{ beacon }, 'CARD_UNKNOWN'],
  ];
  for (const [credential, reason] of unknown)
    expect(await decide(credential)).toEqual([reason, null, 'Room', null, null]);
  for (const unit of [{ unitId: unknownId('Unit') }, { unitExternalIdentifier: 'none' }]) {
    for (const [credential] of unknown)
      expect(await decide(credential, unit)).toEqual(['UNIT_UNKNOWN', null, null, null, null]);
    expect(await decide(known[0] as object, unit)).toEqual(['UNIT_UNKNOWN', 'Ada', null, null, null]);
    expect(await decide(known[1] as object, unit)).toEqual(['UNIT_UNKNOWN', null, null, 'Badge', null]);
  }
  expect(await decide({ cardId: badge })).toEqual(['CARD_UNASSIGNED', null, 'Room', 'Badge', null]);
  await assign(badge, ada);
  expect(await decide({ cardId: badge })).toEqual(['NO_GRANT', 'Ada', 'Room', 'Badge', null]);
});

test('of several grants the nearest that is valid decides, of equals the one with the least id', async () => {
  const onHouse = await grant(ada, house);
  expect(await decide({ userId: ada.id })).toEqual(['GRANTED', 'Ada', 'Room', null, onHouse]);
  const onFloor = await grant(ada, floor, { source: 'hr' });
  await grant(ada, floor, { source: 'visitors' });
  expect(await decide({ userId: ada.id })).toEqual(['GRANTED', 'Ada', 'Room', null, onFloor]);
  const ended = await grant(ada, room, { validUntil: past });
  const later = await grant(ada, room, { validFrom: future, source: 'hr' });
  expect(await decide({ userId: ada.id })).toEqual(['GRANTED', 'Ada', 'Room', null, onFloor]);

  // At another time another one decides.
  const at = (time: string) => decide({ userId: ada.id }, { unitId: room.id, at: time });
  expect(await at('2020-02-29T11:59:59.999999Z')).toEqual(['GRANTED', 'Ada', 'Room', null, ended]);
  expect(await at(past)).toEqual(['GRANTED', 'Ada', 'Room', null, onFloor]);
  expect(await at(future)).toEqual(['GRANTED', 'Ada', 'Room', null, later]);
});

test('a grant that has yet to begin comes before one that has ended', async () => {
  const ended = await grant(ada, room, { validUntil: past });
  expect(await decide({ userId: ada.id })).toEqual(['EXPIRED', 'Ada', 'Room', null, ended]);
  const nearer = await grant(ada, floor, { validFrom: future, source: 'hr' });
  await grant(ada, house, { validFrom: future });
  expect(await decide({ userId: ada.id })).toEqual(['NOT_YET_VALID', 'Ada', 'Room', null, nearer]);
  const between = { validFrom: past, validUntil: future };
  const valid = await grant(ada, house, between);
  const at = (time: string | null) => decide({ userId: ada.id }, { unitId: room.id, at: time });
  expect(await at(null)).toEqual(['GRANTED', 'Ada', 'Room', null, valid]);
  expect(await at(past)).toEqual(['GRANTED', 'Ada', 'Room', null, valid]);
  expect(await at(future)).toEqual(['GRANTED', 'Ada', 'Room', null, nearer]);
  expect((await at('2020-02-29T11:59:59Z'))[0]).toBe('GRANTED');
});

test('a code opens if any of its holders may enter', async () => {
  const code = await idOf('identificationCodeCreate', { name: 'PIN' }, 'card');
  await assign(code, ada);
  expect(await decide({ cardId: code })).toEqual(['NO_GRANT', 'Ada', 'Room', 'PIN', null]);
  await assign(code, bob);
  expect(await decide({ cardId: code })).toEqual(['NO_GRANT', null, 'Room', 'PIN', null]);
  const ended = await grant(bob, room, { validUntil: past });
  expect(await decide({ cardId: code })).toEqual(['EXPIRED', null, 'Room', 'PIN', ended]);
  const ofBob = await grant(bob, house);
  expect(await decide({ cardId: code })).toEqual(['GRANTED', 'Bob', 'Room', 'PIN', ofBob]);
  await grant(ada, house);
  expect((await decide({ cardId: code }))[4]).toBe(ofBob);
  const nearer = await grant(ada, floor);
  expect(await decide({ cardId: code })).toEqual(['GRANTED', 'Ada', 'Room', 'PIN', nearer]);
});

test('what is malformed is refused, and exactly one of each is given', async () => {
  const unitId = room.id;
  const bad: [variables: object, argument: string | undefined][] = [
    [{ unitId, credential: { nfcIdentifier: '04A2' } }, 'credential'],
    [{ unitId, credential: { nfcIdentifier: '04:A2:24:B2' } }, 'credential'],
    [{ unitId, credential: { beacon: { ...beacon, major: 65536 } } }, 'credential'],
    [{ unitId, credential: { beacon: { ...beacon, minor: -1 } } }, 'credential'],
    [{ unitId, credential: { userId: 'garbage' } }, 'credential'],
    [{ unitId, credential: { userId: room.id } }, 'credential'],
    [{ unitId, credential: { cardId: ada.id } }, 'credential'],
    [{ unitId, credential: { userExternalIdentifier: 'nul\0' } }, 'credential'],
    [{ unitId: 'garbage', credential: { userId: ada.id } }, 'unitId'],
    [{ credential: { userId: ada.id } }, 'unitId'],
    [{ unitId, unitExternalIdentifier: 'room', credential: { userId: ada.id } }, 'unitId'],
    [{ unitId, credential: {} }, undefined],
    [{ unitId, credential: { userId: ada.id, nfcIdentifier: '04A224B2' } }, undefined],
    [{ unitId, credential: { userId: null } }, undefined],
    [{ unitId, credential: { beacon: { major: 1 } } }, undefined],
    [{ unitId, credential: { userId: ada.id }, at: 'no time' }, 'at'],
    [{ unitId, credential: { userId: ada.id }, at: 'tomorrow' }, 'at'],
  ];
  for (const [variables, argument] of bad) {
    const { body } = await ask(graph, tenant.app, query, variables as Record<string, unknown>);
    const { errors } = body as { errors: { extensions: object }[] };
    const expected = argument ? { code: 'BAD_USER_INPUT', argument } : { code: 'BAD_USER_INPUT' };
    for (const { extensions } of errors)
      expect({ variables, extensions }).toMatchObject({ variables, extensions: expected });
    expect(errors).not.toEqual([]);
  }
  const document =
    '{ app { accessDecision(unitExternalIdentifier: "room", credential: { userId: "a", cardId: "b" }) { reason } } }';
  expect(await ask(graph, tenant.app, document)).toMatchObject({
    body: { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] },
  });
});

test('another organization’s badge, unit, person and grant do not exist', async () => {
  const other = await createTenant(graph);
  const grace = await createUser(other, { fullName: 'Grace', externalIdentifier: 'grace' });
  const theirs = await createUnit(other, { name: 'Theirs', externalIdentifier: 'theirs' });
  const theirMutate = mutating(graph, other);
  const made = await theirMutate('nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }, 'card { id }');
  const cardId = (made as { card: { id: string } }).card.id;
  await theirMutate('cardAssign', { cardId, userId: grace.id }, 'cardAssignment { id }');
  await theirMutate('accessGrant', { userId: grace.id, unitId: theirs.id }, 'accessGrant { id }');
  await grant(ada, room);

  const credentials = [
    { nfcIdentifier: '04A224B2' },
    { cardId },
    { userId: grace.id },
    { userExternalIdentifier: 'grace' },
  ];
  for (const credential of credentials) {
    const reason = 'nfcIdentifier' in credential || 'cardId' in credential ? 'CARD_UNKNOWN' : 'USER_UNKNOWN';
    expect(await decide(credential)).toEqual([reason, null, 'Room', null, null]);
    for (const unit of [{ unitId: theirs.id }, { unitExternalIdentifier: 'theirs' }]) {
      expect(await decide(credential, unit)).toEqual(['UNIT_UNKNOWN', null, null, null, null]);
      expect((await decide(credential, unit, other.app))[0]).toBe('GRANTED');
    }
  }
});

test('a person and a basic token are refused', async () => {
  await grant(ada, room);
  expect((await decide({ userId: ada.id }))[0]).toBe('GRANTED');

  for (const token of [ada.token, tenant.basic]) {
    const { body } = await ask(graph, token, query, { unitId: room.id, credential: { userId: ada.id } });
    expect(body).toMatchObject({ data: { app: null }, errors: [{ extensions: { code: 'FORBIDDEN' } }] });
  }
});

test('a decision is one statement, whose operation is compiled', async () => {
  const id = await grant(ada, floor);
  // No other test asks this operation, which is compiled when it is planned.
  const own = query.replace('app {', 'app { its: name');
  const variables = { unitId: room.id, credential: { userExternalIdentifier: 'ada' } };
  const seen = { compiled: 0, notCompiled: 0, failedRuns: 0 };
  const texts: string[] = [];
  const listeners = Object.entries({
    'grafast-compile:compiled': () => void seen.compiled++,
    'grafast-compile:not compiled': () => void seen.notCompiled++,
    'grafast-compile:failed run': () => void seen.failedRuns++,
    'statement:sent': (use: unknown) => void texts.push((use as StatementUse).text),
  });
  for (const [channel, listener] of listeners) subscribe(channel, listener);
  for (let times = 0; times < 4; times++) {
    texts.length = 0;
    const { app } = await read<{ app: { accessDecision: Decision } }>(graph, tenant.app, own, variables);
    expect(app.accessDecision).toMatchObject({ reason: 'GRANTED', accessGrant: { id } });
    // On a slow machine the plan is asked for, too.
    const isAside = (text: string) => /verify_access_token|require_access_token|note_uses|^explain/i.test(text);
    expect(texts.filter((text) => !isAside(text))).toEqual([expect.stringContaining('access_decision')]);
  }
  for (const [channel, listener] of listeners) unsubscribe(channel, listener);
  expect(seen).toEqual({ compiled: expect.any(Number), notCompiled: 0, failedRuns: 0 });
  expect(seen.compiled).toBeGreaterThan(0);
});
