import { shareService } from '../support/sharedService.ts';
import { assignment, beacon, createIdentificationCode, readCards } from './cards.ts';
import { type Mutate, mutating, unknownId } from './mutating.ts';
import { createCard, createTenant, createUser, type GraphTest, type Tenant, type TestUser } from './support.ts';

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

const createCode = (args: object = {}) => createIdentificationCode(mutate, args);
const cards = (token = tenant.app) => readCards(graph, token);

describe('cardAssign and cardUnassign', () => {
  it('assign by either identifier, the same assignment again, and withdraw it', async () => {
    const cardId = await createCode({ externalIdentifier: 'one' });
    const byIds = { cardId, userId: ada.id };
    const byIdentifiers = { cardExternalIdentifier: 'one', userExternalIdentifier: 'ada' };

    const first = await mutate('cardAssign', byIds, assignment);
    expect(first).toEqual({
      cardAssignment: { id: expect.any(String), card: { name: 'PIN' }, user: { fullName: 'Ada' } },
    });
    expect(await mutate('cardAssign', byIdentifiers, assignment)).toEqual(first);
    expect(await cards()).toEqual([{ name: 'PIN', cardAssignments: [{ user: { fullName: 'Ada' } }] }]);

    expect(await mutate('cardUnassign', byIdentifiers, assignment)).toEqual(first);
    expect(await cards()).toEqual([{ name: 'PIN', cardAssignments: [] }]);
    expect(await mutate('cardUnassign', byIds, assignment)).toEqual({ code: 'NOT_FOUND' });
    const again = await mutate('cardAssign', { cardId, userExternalIdentifier: 'ada' }, assignment);
    const { id } = (again as { cardAssignment: { id: string } }).cardAssignment;
    expect(again).not.toEqual(first);
    expect(await mutate('cardUnassign', { id }, assignment)).toEqual(again);
    expect(await mutate('cardUnassign', { id }, assignment)).toEqual({ code: 'NOT_FOUND' });
  });

  it('refuse what names no card or no user, or two', async () => {
    const cardId = await createCode({ externalIdentifier: 'one' });
    const both = { cardId, userId: ada.id };

    for (const field of ['cardAssign', 'cardUnassign']) {
      for (const args of [
        { userId: ada.id },
        { ...both, cardExternalIdentifier: 'one' },
        { ...both, cardId: 'garbage' },
      ])
        expect(await mutate(field, args, assignment)).toEqual({ code: 'BAD_USER_INPUT', argument: 'cardId' });
      for (const args of [{ cardId }, { ...both, userExternalIdentifier: 'ada' }, { ...both, userId: cardId }])
        expect(await mutate(field, args, assignment)).toEqual({ code: 'BAD_USER_INPUT', argument: 'userId' });
      for (const args of [
        { ...both, cardId: unknownId('NfcCard') },
        { ...both, userId: unknownId('User') },
        { cardExternalIdentifier: 'none', userId: ada.id },
        { cardId, userExternalIdentifier: 'none' },
      ])
        expect(await mutate(field, args, assignment)).toEqual({ code: 'NOT_FOUND' });
    }
    for (const args of [{}, { id: unknownId('CardAssignment'), ...both }, { id: unknownId('CardAssignment'), cardId }])
      expect(await mutate('cardUnassign', args, assignment)).toEqual({ code: 'BAD_USER_INPUT', argument: 'id' });
    expect(await mutate('cardUnassign', { id: unknownId('CardAssignment') }, assignment)).toEqual({
      code: 'NOT_FOUND',
    });
    expect(await mutate('cardUnassign', { id: cardId }, assignment)).toEqual({ code: 'NOT_FOUND' });
    expect(await mutate('cardAssign', both, assignment)).toHaveProperty('cardAssignment');
  });

  it('of twenty at once make one assignment', async () => {
    const cardId = await createCode();

    const answers = await Promise.all(
      Array.from({ length: 20 }, () => mutate('cardAssign', { cardId, userId: ada.id }, assignment)),
    );

    for (const answer of answers) expect(answer).toEqual(answers[0]);
    expect(await cards()).toEqual([{ name: 'PIN', cardAssignments: [{ user: { fullName: 'Ada' } }] }]);
  });

  it.each([
    ['nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }],
    ['beaconCardCreate', beacon],
  ])('give a card of %s to one person, until it is withdrawn', async (field, args) => {
    const created = await mutate(field, { ...args, externalIdentifier: 'one' }, 'card { id }');
    const cardId = (created as { card: { id: string } }).card.id;
    await createUser(tenant, { fullName: 'Grace', externalIdentifier: 'grace' });
    const toAda = { cardExternalIdentifier: 'one', userExternalIdentifier: 'ada' };
    const toGrace = { cardId, userExternalIdentifier: 'grace' };

    const first = await mutate('cardAssign', toAda, assignment);
    expect(first).toMatchObject({ cardAssignment: { user: { fullName: 'Ada' } } });
    expect(await mutate('cardAssign', toAda, assignment)).toEqual(first);
    expect(await mutate('cardAssign', toGrace, assignment)).toEqual({ code: 'CONFLICT', argument: 'cardId' });
    expect(await mutate('cardAssign', { ...toAda, userExternalIdentifier: 'grace' }, assignment)).toEqual({
      code: 'CONFLICT',
      argument: 'cardExternalIdentifier',
    });
    expect(await mutate('cardUnassign', toGrace, assignment)).toEqual({ code: 'NOT_FOUND' });
    expect(await cards()).toMatchObject([{ cardAssignments: [{ user: { fullName: 'Ada' } }] }]);
    await mutate('cardUnassign', toAda, assignment);
    expect(await mutate('cardAssign', toGrace, assignment)).toMatchObject({
      cardAssignment: { user: { fullName: 'Grace' } },
    });
    await mutate('userDelete', { externalIdentifier: 'grace' }, 'user { id }');
    expect(await mutate('cardAssign', toAda, assignment)).toHaveProperty('cardAssignment');
  });

  it('give an identification code to several people', async () => {
    const cardId = await createCode();
    const grace = await createUser(tenant, { fullName: 'Grace' });

    for (const { id } of [ada, grace])
      expect(await mutate('cardAssign', { cardId, userId: id }, assignment)).toHaveProperty('cardAssignment');

    expect(await cards()).toEqual([
      { name: 'PIN', cardAssignments: [{ user: { fullName: 'Ada' } }, { user: { fullName: 'Grace' } }] },
    ]);
  });

  it('of twenty people at once give a badge to one', async () => {
    const created = await mutate('nfcCardCreate', { name: 'Badge', nfcIdentifier: '04A224B2' }, 'card { id }');
    const cardId = (created as { card: { id: string } }).card.id;
    const people = [];
    for (let number = 0; number < 20; number++) people.push(await createUser(tenant));

    const answers = await Promise.all(
      people.map(({ id }) => mutate('cardAssign', { cardId, userId: id }, 'cardAssignment { card { name } }')),
    );

    expect(answers.filter((answer) => 'cardAssignment' in (answer as object))).toHaveLength(1);
    expect(answers.filter((answer) => 'code' in (answer as object))).toEqual(
      Array(19).fill({ code: 'CONFLICT', argument: 'cardId' }),
    );
    expect(await cards()).toMatchObject([{ cardAssignments: [{}] }]);
  });

  it('race with the card’s end: it is assigned before, or not found', async () => {
    for (let round = 0; round < 5; round++) {
      const cardId = await createCode();

      const [deleted, assigned] = await Promise.all([
        mutate('cardDelete', { id: cardId }, 'card { name }'),
        mutate('cardAssign', { cardId, userId: ada.id }, 'cardAssignment { id }'),
      ]);

      expect(deleted).toEqual({ card: { name: 'PIN' } });
      expect([{ code: 'NOT_FOUND' }, { cardAssignment: { id: expect.any(String) } }]).toContainEqual(assigned);
    }
  });
});

describe('the database itself', () => {
  const exclusive = async () => {
    const { rows } = await tenant.owner.query(
      'select is_exclusive from app_public.card_assignments where organization_id = $1 order by id',
      [tenant.organizationId],
    );
    return rows.map(({ is_exclusive }) => is_exclusive);
  };

  it('says which cards have one holder, whatever a statement says', async () => {
    await createCard(tenant, ada, { type: 'IdentificationCode', name: 'PIN' });
    await createCard(tenant, ada, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2' });
    await createCard(tenant, ada, { type: 'BeaconCard', ...beacon });
    expect(await exclusive()).toEqual([false, true, true]);

    await tenant.owner.query(
      'update app_public.card_assignments set is_exclusive = not is_exclusive where organization_id = $1',
      [tenant.organizationId],
    );

    expect(await exclusive()).toEqual([false, true, true]);
  });

  it('rejects a second holder, and another type of a card that has some', async () => {
    const grace = await createUser(tenant);
    await createCard(tenant, ada, { type: 'NfcCard', name: 'Badge', nfcIdentifier: '04A224B2' });
    const second = `insert into app_public.card_assignments (organization_id, user_id, card_id)
      select organization_id, $2, card_id from app_public.card_assignments where organization_id = $1`;
    const change = `update app_public.cards set type = 'IdentificationCode', nfc_identifier = null where organization_id = $1`;

    await expect(tenant.owner.query(second, [tenant.organizationId, grace.uuid])).rejects.toMatchObject({
      code: '23505',
      constraint: 'card_assignments_card_id_key',
    });
    await expect(tenant.owner.query(change, [tenant.organizationId])).rejects.toMatchObject({ code: '0A000' });
    await tenant.owner.query('delete from app_public.card_assignments where organization_id = $1', [
      tenant.organizationId,
    ]);
    const first = `insert into app_public.card_assignments (organization_id, user_id, card_id)
      select organization_id, $2, id from app_public.cards where organization_id = $1`;
    await tenant.owner.query(first, [tenant.organizationId, grace.uuid]);
    expect(await exclusive()).toEqual([true]);
  });
});
