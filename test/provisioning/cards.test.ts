import { createEmptiedDatabase, type EmptiedDatabase } from '../support/emptiedDatabase.ts';
import { acme, apply, badge, everyRow, phone, problemsOf, user, valuesOf } from './support.ts';

describe('provisioning cards', () => {
  let database: EmptiedDatabase;

  beforeAll(async () => {
    database = await createEmptiedDatabase();
  });

  afterEach(() => database.empty());

  afterAll(() => database.drop());

  const values = (statement: string) => valuesOf(database.owner, statement);

  it('lets cards exchange what they are made of, and refuses what a card keeps', async () => {
    const chips = ['04000001', '04000002'] as const;
    const minorOf = (nfcIdentifier: string) => Number(nfcIdentifier.at(-1));
    const holders = (identifiers: readonly string[]) =>
      acme({
        users: identifiers.map((nfcIdentifier, index) => ({
          ...user(`u-${index}`),
          cards: [
            { ...badge, nfcIdentifier },
            { ...phone, minor: minorOf(nfcIdentifier) },
          ],
        })),
      });
    await apply(database.owner, holders(chips));

    await apply(database.owner, holders(chips.toReversed()));

    const { rows } = await database.owner.query(
      `select u.external_identifier as user, c.nfc_identifier, a.is_exclusive
       from app_public.card_assignments a join app_public.cards c on c.id = a.card_id join app_public.users u on u.id = a.user_id
       where c.type = 'NfcCard' order by 1`,
    );
    expect(rows).toEqual([
      { user: 'u-0', nfc_identifier: '04000002', is_exclusive: true },
      { user: 'u-1', nfc_identifier: '04000001', is_exclusive: true },
    ]);
    const taken = acme({ users: [{ ...user('u-2'), cards: [{ ...badge, nfcIdentifier: chips[0] }] }] });
    expect(await problemsOf(database.owner, taken)).toEqual([
      'organizations[0].users[0].cards[0].nfcIdentifier: is taken by another card of the organization',
    ]);
    const freed = acme({
      users: [
        { ...user('u-1'), cards: [{ ...badge, nfcIdentifier: '04000003' }] },
        { ...user('u-2'), cards: [{ ...badge, nfcIdentifier: chips[0] }] },
      ],
    });
    await apply(database.owner, freed);
    const elsewhere = { organizations: [{ name: 'Other', users: [{ ...user('u-2'), cards: [badge, phone] }] }] };
    await apply(database.owner, elsewhere);
    expect(await values('select count(*)::int from app_public.cards')).toEqual([7]);
  });

  it('recognises a card by its external identifier, whatever its name, and gives a badge to one person', async () => {
    const identified = { ...badge, externalIdentifier: 'badge-1' };
    const code = { type: 'IdentificationCode', name: 'PIN', externalIdentifier: 'code-1' };
    const cardsOf = (...lists: object[][]) =>
      acme({ users: lists.map((cards, index) => ({ ...user(`u-${index}`), cards })) });
    const read = async () =>
      (
        await database.owner.query(
          `select c.external_identifier as card, c.name, c.nfc_identifier as chip, c.major,
             array(select u.external_identifier from app_public.card_assignments a
               join app_public.users u on u.id = a.user_id where a.card_id = c.id order by 1) as holders
           from app_public.cards c order by c.id`,
        )
      ).rows;

    // The badge of before, which had no identifier, gets it.
    await apply(database.owner, cardsOf([badge, phone], []));
    await apply(database.owner, cardsOf([identified, phone, code], []));
    const first = await read();
    expect(first).toEqual([
      { card: 'badge-1', name: 'Badge', chip: badge.nfcIdentifier, major: null, holders: ['u-0'] },
      { card: null, name: 'Phone', chip: null, major: 1, holders: ['u-0'] },
      { card: 'code-1', name: 'PIN', chip: null, major: null, holders: ['u-0'] },
    ]);
    const before = await everyRow(database.owner);
    await apply(database.owner, cardsOf([identified, phone, code], []));
    expect(await everyRow(database.owner)).toEqual(before);

    const spare = { ...badge, name: 'Spare', externalIdentifier: 'badge-2' };
    const moved = { ...identified, name: 'Blue badge', nfcIdentifier: '04000009' };
    await apply(database.owner, cardsOf([phone, spare], [moved, code]));

    // A chip passes to a new card, the badge to another person. Several may have a code.
    expect(await read()).toEqual([
      { card: 'badge-1', name: 'Blue badge', chip: '04000009', major: null, holders: ['u-1'] },
      first[1],
      { ...first[2], holders: ['u-0', 'u-1'] },
      { card: 'badge-2', name: 'Spare', chip: badge.nfcIdentifier, major: null, holders: ['u-0'] },
    ]);
  });

  it('lets a card with an external identifier and one without exchange their chips', async () => {
    const chips = ['04000001', '04000002'] as const;
    const withChips = (one: string, other: string) =>
      acme({
        users: [
          {
            ...user('u-1'),
            cards: [
              { ...badge, nfcIdentifier: one },
              { ...badge, name: 'Other', externalIdentifier: 'other', nfcIdentifier: other },
            ],
          },
        ],
      });
    await apply(database.owner, withChips(...chips));

    await apply(database.owner, withChips(chips[1], chips[0]));

    expect(await values('select nfc_identifier from app_public.cards order by id')).toEqual(chips.toReversed());
  });

  it('tells a card with an identifier from one without of the same type and name', async () => {
    const spare = { ...badge, externalIdentifier: 'spare', nfcIdentifier: '04000002' };
    const holding = (...cards: object[]) => acme({ users: [{ ...user('u-1'), cards }] });
    await apply(database.owner, holding(badge));

    await apply(database.owner, holding(spare, badge));

    const before = await everyRow(database.owner);
    await apply(database.owner, holding(spare, badge));
    expect(await everyRow(database.owner)).toEqual(before);
    expect(await values('select nfc_identifier from app_public.cards order by id')).toEqual([
      badge.nfcIdentifier,
      spare.nfcIdentifier,
    ]);
    // A document from before a client system gave the identifier.
    await database.owner.query(
      `update app_public.cards set external_identifier = 'first' where external_identifier is null`,
    );
    await apply(database.owner, holding(badge));
    expect(await values('select external_identifier from app_public.cards order by id')).toEqual(['first', 'spare']);
    const code = { type: 'IdentificationCode', name: 'Badge', externalIdentifier: 'spare' };
    expect(await problemsOf(database.owner, holding(code))).toEqual([
      'organizations[0].users[0].cards[0].type: must be "NfcCard", as the card with this external identifier has it',
    ]);
  });

  it('names a card that keeps a chip, though the document has another card of this user and name', async () => {
    await apply(
      database.owner,
      acme({ users: [{ ...user('u-1'), cards: [{ ...badge, nfcIdentifier: '04000001' }] }] }),
    );
    await database.owner.query(
      `with card as (
         insert into app_public.cards (organization_id, type, name, nfc_identifier)
         select organization_id, type, name, '04000002' from app_public.cards returning *)
       insert into app_public.card_assignments (organization_id, user_id, card_id)
       select c.organization_id, a.user_id, c.id from card c, app_public.card_assignments a`,
    );

    const problems = await problemsOf(
      database.owner,
      acme({ users: [{ ...user('u-1'), cards: [{ ...badge, nfcIdentifier: '04000002' }] }] }),
    );

    expect(problems).toEqual([
      'organizations[0].users[0].cards[0].nfcIdentifier: is taken by another card of the organization',
    ]);
  });
});
