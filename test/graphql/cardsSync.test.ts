import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { StatementUse } from '../../src/token/transaction.ts';
import { shareService } from '../support/sharedService.ts';
import {
  ask,
  createTenant,
  createUser,
  createViewer,
  expectErrors,
  type GraphTest,
  read,
  type Tenant,
} from './support.ts';
import { asOwner, syncCards } from './sync.ts';
import { badge, beacon, cardRows, chip, code, holdersOf, otherChip, outcomeOf, phone } from './syncedCards.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  for (const name of ['ada', 'bob']) await createUser(tenant, { fullName: name, externalIdentifier: name });
});

const sync = (cards: readonly object[], dryRun = false) => syncCards(graph, tenant, cards, dryRun);
const rows = (of = tenant) => cardRows(of);
const holders = (name: string) => holdersOf(tenant, name);

describe('cardsSync', () => {
  it('creates cards of each type with their holders, changes what differs and leaves the rest untouched', async () => {
    const given = [
      { ...badge, nfcIdentifier: chip.toLowerCase(), userExternalIdentifier: 'ada' },
      { ...phone, userExternalIdentifier: 'bob' },
      { ...code, nfcIdentifier: null, beacon: null, userExternalIdentifier: null },
    ];

    const created = await sync(given);
    expect(created.map(({ outcome, card }) => [outcome, card?.__typename])).toEqual([
      ['CREATED', 'NfcCard'],
      ['CREATED', 'BeaconCard'],
      ['CREATED', 'IdentificationCode'],
    ]);
    expect(created[0]?.card).toMatchObject({ nfcIdentifier: chip, cardAssignments: [{ user: { fullName: 'ada' } }] });
    const before = await rows();
    expect((await sync(given)).map(outcomeOf)).toEqual(Array(3).fill(['UNCHANGED', undefined, undefined]));
    expect(await rows()).toEqual(before);

    const changed = await sync([
      { externalIdentifier: 'badge', name: ' Blue badge ' },
      { externalIdentifier: 'phone', beacon: { ...beacon, major: 7 } },
      { externalIdentifier: 'code' },
    ]);
    expect(changed.map(({ outcome, card }) => [outcome, card?.name])).toEqual([
      ['UPDATED', 'Blue badge'],
      ['UPDATED', 'Phone'],
      ['UNCHANGED', 'PIN'],
    ]);
    const after = await rows();
    expect(after).toMatchObject({ badge: { chip }, phone: { major: 7 } });
    expect(after.code).toEqual(before.code);
    expect([after.badge?.holders, after.phone?.holders]).toEqual([before.badge?.holders, before.phone?.holders]);
  });

  it('gives a card to exactly one person or to nobody, and lets badges pass from hand to hand', async () => {
    await sync([{ ...badge, userExternalIdentifier: 'ada' }, { ...phone, userExternalIdentifier: 'bob' }, code]);
    const give = async (badgeTo: string | null, phoneTo: string | null) =>
      (
        await sync([
          { externalIdentifier: 'badge', userExternalIdentifier: badgeTo },
          { externalIdentifier: 'phone', userExternalIdentifier: phoneTo },
        ])
      ).map(({ outcome }) => outcome);

    expect(await give('bob', 'ada')).toEqual(['UPDATED', 'UPDATED']);
    expect([await holders('badge'), await holders('phone')]).toEqual([['bob'], ['ada']]);
    expect(await give('bob', null)).toEqual(['UNCHANGED', 'UPDATED']);
    expect([await holders('badge'), await holders('phone')]).toEqual([['bob'], []]);
    for (const person of ['ada', 'bob'])
      await read(
        graph,
        tenant.app,
        `mutation { cardAssign(cardExternalIdentifier: "code", userExternalIdentifier: "${person}") { cardAssignment { id } } }`,
      );
    expect(await holders('code')).toEqual(['ada', 'bob']);
    expect(await sync([{ ...code }])).toMatchObject([{ outcome: 'UNCHANGED' }]);
    expect(await sync([{ ...code, userExternalIdentifier: 'bob' }])).toMatchObject([{ outcome: 'UPDATED' }]);
    expect(await holders('code')).toEqual(['bob']);
  });

  it('writes nothing in a dry run, and says what would come of it', async () => {
    await sync([badge]);
    const before = await rows();
    const given = [
      { ...badge, userExternalIdentifier: 'ada' },
      { ...phone, userExternalIdentifier: 'bob' },
      { ...code, nfcIdentifier: chip },
    ];

    const results = await sync(given, true);

    expect(results.map(({ outcome, card }) => [outcome, card?.name ?? null])).toEqual([
      ['UPDATED', 'Badge'],
      ['CREATED', null],
      ['REFUSED', null],
    ]);
    expect(await rows()).toEqual(before);
    expect((await sync(given)).map(outcomeOf)).toEqual(results.map(outcomeOf));
  });

  it('tells history and feed of each card and holder once', async () => {
    await sync([
      { ...badge, userExternalIdentifier: 'ada' },
      { ...phone, userExternalIdentifier: 'ada' },
    ]);
    const last = await asOwner<{ id: string }>(
      tenant,
      'select max(id) as id from feed.changes where $1::uuid is not null',
    );

    await sync([{ ...badge, nfcIdentifier: otherChip, userExternalIdentifier: 'bob' }, phone]);

    const feed = await asOwner(
      tenant,
      `select c.operation, c.relation, c.columns from feed.changes c
       where c.organization_id = $1 and c.id > ${last[0]?.id} order by 2, 1`,
    );
    expect(feed).toEqual([
      { operation: 'CREATE', relation: 'app_public.card_assignments', columns: [] },
      { operation: 'DELETE', relation: 'app_public.card_assignments', columns: [] },
      { operation: 'UPDATE', relation: 'app_public.cards', columns: ['nfc_identifier'] },
    ]);
  });

  it('neither sees, changes nor tells apart what another organization has', async () => {
    const stranger = await createTenant(graph);
    await createUser(stranger, { externalIdentifier: 'eve' });
    await syncCards(graph, stranger, [
      { ...badge, userExternalIdentifier: 'eve' },
      { ...phone, nfcIdentifier: null },
    ]);
    const before = await rows(stranger);
    expect(Object.keys(before)).toEqual(['badge', 'phone']);

    const results = await sync([
      { ...badge, name: 'Ours' },
      { ...phone, userExternalIdentifier: 'eve' },
      { ...code, userExternalIdentifier: 'nobody' },
    ]);

    expect(results.map(outcomeOf)).toEqual([
      ['CREATED', undefined, undefined],
      ['REFUSED', 'NOT_FOUND', 'userExternalIdentifier'],
      ['REFUSED', 'NOT_FOUND', 'userExternalIdentifier'],
    ]);
    expect(results[1]?.error).toEqual(results[2]?.error);
    expect(await rows(stranger)).toEqual(before);
  });

  it('is for app tokens', async () => {
    const person = await createViewer(tenant, { externalIdentifier: 'eve' });
    await sync([badge]);
    const query =
      'mutation { cardsSync(cards: [{ externalIdentifier: "badge", name: "Mine" }]) { results { outcome } } }';

    for (const token of [person.token, tenant.basic]) {
      const refusal = { code: 'FORBIDDEN', path: ['cardsSync'] };
      expectErrors(await ask(graph, token, query), { cardsSync: null }, refusal);
    }
    expect((await sync([badge])).map(outcomeOf)).toEqual([['UNCHANGED', undefined, undefined]]);
  });

  it('has 1 to 1,000 rows, and reads its results in its one statement', async () => {
    const query = 'mutation($cards: [CardSyncInput!]!) { cardsSync(cards: $cards) { results { outcome } } }';
    const cards = Array.from({ length: 1001 }, (_, number) => ({
      externalIdentifier: `c-${number}`,
      name: `Card ${number}`,
      nfcIdentifier: number.toString(16).padStart(8, '0'),
      userExternalIdentifier: 'ada',
    }));
    for (const wrong of [[], cards]) {
      const refusal = { code: 'BAD_USER_INPUT', argument: 'cards', path: ['cardsSync'] };
      expectErrors(await ask(graph, tenant.app, query, { cards: wrong }), { cardsSync: null }, refusal);
    }
    const texts: string[] = [];
    const note = (use: unknown) => void texts.push((use as StatementUse).text);
    subscribe('statement:sent', note);
    const data = await read(graph, tenant.app, query, { cards: cards.slice(1) });
    unsubscribe('statement:sent', note);

    expect(data).toEqual({ cardsSync: { results: Array(1000).fill({ outcome: 'CREATED' }) } });
    const isAside = (text: string) => /verify_access_token|require_access_token|note_uses|^explain/i.test(text);
    expect(texts.filter((text) => !isAside(text))).toEqual([expect.stringContaining('cards_sync')]);
  });
});
