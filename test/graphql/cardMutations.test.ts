import { shareService } from '../support/sharedService.ts';
import { assignment, beacon, createIdentificationCode, readCards } from './cards.ts';
import { type Mutate, mutating, unknownId } from './mutating.ts';
import {
  createCard,
  createTenant,
  createUser,
  createViewer,
  type GraphTest,
  type Tenant,
  type TestUser,
} from './support.ts';

let graph: GraphTest;
let tenant: Tenant;
let ada: TestUser;
let mutate: Mutate;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  ada = await createUser(tenant, { fullName: 'Ada', externalIdentifier: 'ada' });
  mutate = mutating(graph, tenant);
});

const card = 'card { __typename id name externalIdentifier cardAssignments { id } }';
const createCode = (args: object = {}) => createIdentificationCode(mutate, args);
const cards = (token = tenant.app) => readCards(graph, token);

describe('a card is created', () => {
  it('of each type, with what it is made of', async () => {
    const made = (type: string) => `card { __typename id name externalIdentifier ${type} }`;

    expect(
      await mutate('beaconCardCreate', { ...beacon, externalIdentifier: 'b' }, made('proximityUuid major minor')),
    ).toEqual({ card: { __typename: 'BeaconCard', id: expect.any(String), externalIdentifier: 'b', ...beacon } });
    expect(
      await mutate('nfcCardCreate', { name: ' Badge ', nfcIdentifier: '04a224b2' }, made('nfcIdentifier')),
    ).toEqual({
      card: {
        ...{ __typename: 'NfcCard', id: expect.any(String), name: 'Badge' },
        ...{ externalIdentifier: null, nfcIdentifier: '04A224B2' },
      },
    });
    expect(await mutate('identificationCodeCreate', { name: 'PIN' }, made(''))).toEqual({
      card: { __typename: 'IdentificationCode', id: expect.any(String), name: 'PIN', externalIdentifier: null },
    });
    expect(await cards()).toMatchObject([{ name: 'Phone' }, { name: 'Badge' }, { name: 'PIN' }]);
  });

  it.each<[string, object, string]>([
    ['beaconCardCreate', { ...beacon, major: -1 }, 'major'],
    ['beaconCardCreate', { ...beacon, minor: 65536 }, 'minor'],
    ['beaconCardCreate', { ...beacon, name: ' ' }, 'name'],
    ['nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B' }, 'nfcIdentifier'],
    ['nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224G2' }, 'nfcIdentifier'],
    ['nfcCardCreate', { name: 'Badge', nfcIdentifier: '04:a2:24:b2' }, 'nfcIdentifier'],
    ['nfcCardCreate', { name: 'x'.repeat(201), nfcIdentifier: '04A224B2' }, 'name'],
    ['identificationCodeCreate', { name: '' }, 'name'],
    ['identificationCodeCreate', { name: 'PIN', externalIdentifier: '' }, 'externalIdentifier'],
    ['identificationCodeCreate', { name: 'PIN', externalIdentifier: 'x'.repeat(201) }, 'externalIdentifier'],
  ])('by %s not with %j', async (field, args, argument) => {
    expect(await mutate(field, args, 'card { id }')).toEqual({ code: 'BAD_USER_INPUT', argument });
    expect(await cards()).toEqual([]);
  });

  it('with an external identifier that no other card of the organization has', async () => {
    await createCode({ externalIdentifier: 'one' });

    for (const [field, args] of [
      ['beaconCardCreate', beacon],
      ['nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }],
      ['identificationCodeCreate', { name: 'PIN' }],
    ] as const) {
      expect(await mutate(field, { ...args, externalIdentifier: 'one' }, 'card { id }')).toEqual({
        code: 'CONFLICT',
        argument: 'externalIdentifier',
      });
      expect(await mutate(field, { ...args, externalIdentifier: field }, 'card { id }')).toHaveProperty('card');
    }
  });
});

describe('what a reader reads leads to one card of the organization', () => {
  const nfc = (nfcIdentifier: string, args: object = {}) =>
    mutate('nfcCardCreate', { name: 'Badge', nfcIdentifier, ...args }, 'card { name }');
  const phone = (args: object = {}) => mutate('beaconCardCreate', { ...beacon, ...args }, 'card { name }');

  it('an NFC identifier in any case, and free again with its card', async () => {
    expect(await nfc('04a224b2', { externalIdentifier: 'first' })).toEqual({ card: { name: 'Badge' } });

    for (const taken of ['04a224b2', '04A224B2', '04A224b2'])
      expect(await nfc(taken)).toEqual({ code: 'CONFLICT', argument: 'nfcIdentifier' });
    for (const other of ['04A224B3', '04A224B2000000', '04A224B2000000000000'])
      expect(await nfc(other)).toEqual({ card: { name: 'Badge' } });
    await mutate('cardDelete', { externalIdentifier: 'first' }, 'card { name }');
    expect(await nfc('04A224B2')).toEqual({ card: { name: 'Badge' } });
  });

  it('the three values of a beacon together', async () => {
    expect(await phone()).toEqual({ card: { name: 'Phone' } });

    for (const same of [{}, { proximityUuid: beacon.proximityUuid.toUpperCase() }, { name: 'Other' }])
      expect(await phone(same)).toEqual({ code: 'CONFLICT', argument: 'proximityUuid' });
    for (const other of [{ major: 1 }, { minor: 0 }, { proximityUuid: crypto.randomUUID() }])
      expect(await phone(other)).toEqual({ card: { name: 'Phone' } });
  });

  it('of twenty cards at once, one', async () => {
    for (const [field, args, argument] of [
      ['nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }, 'nfcIdentifier'],
      ['beaconCardCreate', beacon, 'proximityUuid'],
    ] as const) {
      const answers = await Promise.all(Array.from({ length: 20 }, () => mutate(field, args, 'card { name }')));

      expect(answers.filter((answer) => 'card' in (answer as object))).toEqual([{ card: { name: args.name } }]);
      expect(answers.filter((answer) => 'code' in (answer as object))).toEqual(
        Array(19).fill({ code: 'CONFLICT', argument }),
      );
    }
  });

  it('and tells nothing of another organization’s cards', async () => {
    const other = await createTenant(graph);
    await mutate('nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }, 'card { id }', other.app);
    await mutate('beaconCardCreate', beacon, 'card { id }', other.app);

    expect(await nfc('04A224B2')).toEqual({ card: { name: 'Badge' } });
    expect(await phone()).toEqual({ card: { name: 'Phone' } });
  });
});

describe('cardUpdate', () => {
  it('changes what is given of a card found by id or by external identifier', async () => {
    const id = await createCode({ externalIdentifier: 'one' });

    expect(await mutate('cardUpdate', { id, name: 'Code', externalIdentifier: 'two' }, card)).toEqual({
      card: { __typename: 'IdentificationCode', id, name: 'Code', externalIdentifier: 'two', cardAssignments: [] },
    });
    expect(await mutate('cardUpdate', { externalIdentifier: 'two', name: 'Door' }, card)).toMatchObject({
      card: { name: 'Door', externalIdentifier: 'two' },
    });
    expect(await mutate('cardUpdate', { id }, card)).toMatchObject({
      card: { name: 'Door', externalIdentifier: 'two' },
    });
    expect(await mutate('cardUpdate', { id, externalIdentifier: null }, card)).toMatchObject({
      card: { externalIdentifier: null },
    });
  });

  it('refuses what names no card, null for a name and an identifier that is taken', async () => {
    const id = await createCode({ externalIdentifier: 'one' });
    await createCode({ externalIdentifier: 'two' });

    for (const args of [{}, { id: null }, { externalIdentifier: null }, { id: 'garbage' }])
      expect(await mutate('cardUpdate', { ...args, name: 'X' }, card)).toEqual({
        code: 'BAD_USER_INPUT',
        argument: 'id',
      });
    for (const args of [{ id: unknownId('NfcCard') }, { id: ada.id }, { externalIdentifier: 'none' }])
      expect(await mutate('cardUpdate', { ...args, name: 'X' }, card)).toEqual({ code: 'NOT_FOUND' });
    expect(await mutate('cardUpdate', { id, name: null }, card)).toEqual({ code: 'BAD_USER_INPUT', argument: 'name' });
    expect(await mutate('cardUpdate', { id, externalIdentifier: 'two' }, card)).toEqual({
      code: 'CONFLICT',
      argument: 'externalIdentifier',
    });
  });
});

describe('cardDelete', () => {
  it('deletes a card by either identifier, with its assignments, and returns it as it was', async () => {
    const { cardId } = await createCard(tenant, ada, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2' });
    await createCode({ externalIdentifier: 'one' });

    expect(
      await mutate('cardDelete', { id: cardId }, `${card.slice(0, -1)} ... on NfcCard { nfcIdentifier } }`),
    ).toEqual({
      card: {
        ...{ __typename: 'NfcCard', id: cardId, name: 'Badge', externalIdentifier: null },
        ...{ cardAssignments: [], nfcIdentifier: '04A224B2' },
      },
    });
    expect(await mutate('cardDelete', { externalIdentifier: 'one' }, card)).toMatchObject({ card: { name: 'PIN' } });
    expect(await cards()).toEqual([]);
  });

  it('refuses what names no card, or two', async () => {
    const id = await createCode({ externalIdentifier: 'one' });

    for (const args of [{}, { id, externalIdentifier: 'one' }, { id: null }])
      expect(await mutate('cardDelete', args, card)).toEqual({ code: 'BAD_USER_INPUT', argument: 'id' });
    for (const args of [{ id: unknownId('NfcCard') }, { externalIdentifier: 'none' }])
      expect(await mutate('cardDelete', args, card)).toEqual({ code: 'NOT_FOUND' });
    expect(await mutate('cardDelete', { id }, card)).toHaveProperty('card');
    expect(await mutate('cardDelete', { id }, card)).toEqual({ code: 'NOT_FOUND' });
  });
});

test('another organization’s cards and users are as if they were not there', async () => {
  const other = await createTenant(graph);
  const theirUser = await createUser(other, { externalIdentifier: 'grace' });
  const theirs = await createCard(other, theirUser, { type: 'IdentificationCode', name: 'Theirs' });
  const { cardId, assignmentId } = theirs;
  await mutate('cardUpdate', { id: cardId, externalIdentifier: 'theirs' }, card, other.app);
  const own = await createCode();

  for (const args of [{ id: cardId }, { externalIdentifier: 'theirs' }]) {
    expect(await mutate('cardUpdate', { ...args, name: 'Ours' }, card)).toEqual({ code: 'NOT_FOUND' });
    expect(await mutate('cardDelete', args, card)).toEqual({ code: 'NOT_FOUND' });
  }
  for (const field of ['cardAssign', 'cardUnassign']) {
    for (const args of [{ cardId }, { cardExternalIdentifier: 'theirs' }])
      expect(await mutate(field, { ...args, userId: ada.id }, assignment)).toEqual({ code: 'NOT_FOUND' });
    for (const args of [{ userId: theirUser.id }, { userExternalIdentifier: 'grace' }])
      expect(await mutate(field, { ...args, cardId: own }, assignment)).toEqual({ code: 'NOT_FOUND' });
  }
  expect(await mutate('cardUnassign', { id: assignmentId }, assignment)).toEqual({ code: 'NOT_FOUND' });
  expect(await createCode({ externalIdentifier: 'theirs' })).toEqual(expect.any(String));
  expect(await cards(other.app)).toMatchObject([{ name: 'Theirs', cardAssignments: [{}] }]);
  expect(await mutate('cardUnassign', { id: assignmentId }, assignment, other.app)).toHaveProperty('cardAssignment');
});

test('neither a person nor a basic token changes a card', async () => {
  const person = await createViewer(tenant);
  const { cardId, assignmentId } = await createCard(tenant, person, { type: 'IdentificationCode', name: 'PIN' });
  const attempts: [string, object, string][] = [
    ['beaconCardCreate', beacon, 'card { id }'],
    ['nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }, 'card { id }'],
    ['identificationCodeCreate', { name: 'PIN' }, 'card { id }'],
    ['cardUpdate', { id: cardId, name: 'Mine' }, card],
    ['cardDelete', { id: cardId }, card],
    ['cardAssign', { cardId, userId: person.id }, assignment],
    ['cardUnassign', { id: assignmentId }, assignment],
  ];

  for (const token of [person.token, tenant.basic])
    for (const [field, args, selection] of attempts)
      expect([field, await mutate(field, args, selection, token)]).toEqual([field, { code: 'FORBIDDEN' }]);
  expect(await cards()).toMatchObject([{ name: 'PIN', cardAssignments: [{}] }]);
});
