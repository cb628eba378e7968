import { shareService } from '../support/sharedService.ts';
import { ask, createTenant, createUser, type GraphTest, type Tenant } from './support.ts';
import { syncCards, untilBlocked } from './sync.ts';
import { badge, cardRows, chip, holdersOf, outcomeOf, phone } from './syncedCards.ts';

// Syncs of cards while other requests change the same rows.

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
  it('lets syncs of the same cards, and people who leave, go on at once', async () => {
    const cards = Array.from({ length: 60 }, (_, number) => ({
      externalIdentifier: `c-${number}`,
      name: `Card ${number}`,
      nfcIdentifier: (number + 1).toString(16).padStart(8, '0'),
    }));
    await sync(cards);
    const names = Array.from({ length: 12 }, (_, number) => `leaver-${number}`);
    for (const name of names) await createUser(tenant, { externalIdentifier: name });
    const turns = Array.from({ length: 6 }, (_, turn) =>
      (turn % 2 ? cards : cards.toReversed()).map((card, index) => ({
        ...card,
        nfcIdentifier: cards[(index * 7 + turn) % 60]?.nfcIdentifier,
        userExternalIdentifier: names[(index + turn) % 12],
      })),
    );
    const leave = (name: string) =>
      ask(graph, tenant.app, `mutation { userDelete(externalIdentifier: "${name}") { user { id } } }`);

    const [answers, left] = await Promise.all([
      Promise.all(turns.map((turn) => sync(turn))),
      Promise.all(names.slice(0, 6).map(leave)),
    ]);

    // Who has left is nobody's holder; and a card whose row is refused for that keeps its chip.
    const refusals = new Set(answers.flat().flatMap(({ error }) => (error ? `${error.code} ${error.argument}` : [])));
    const expected = ['NOT_FOUND userExternalIdentifier', 'CONFLICT nfcIdentifier'];
    expect([...refusals].filter((refusal) => !expected.includes(refusal))).toEqual([]);
    expect(left.map(({ body }) => body.errors)).toEqual(Array(6).fill(undefined));
    const found = Object.values(await rows());
    expect(new Set(found.map((row) => row.chip)).size).toBe(60);
    expect(found.filter((row) => row.holders.length > 1)).toEqual([]);
    expect(JSON.stringify(found)).not.toMatch(/leaver-[0-5]"/);
  });

  it('refuses the row whose chip another change takes meanwhile, and writes the others', async () => {
    const client = await tenant.owner.connect();
    try {
      await client.query('begin');
      await client.query(
        `insert into app_public.cards (organization_id, type, name, nfc_identifier) values ($1, 'NfcCard', 'First', $2)`,
        [tenant.organizationId, chip],
      );
      const syncing = sync([badge, phone]);
      await untilBlocked(tenant.owner);
      await client.query('commit');

      expect((await syncing).map(outcomeOf)).toEqual([
        ['REFUSED', 'CONFLICT', 'nfcIdentifier'],
        ['CREATED', undefined, undefined],
      ]);
    } finally {
      client.release();
    }
  });

  it('creates a card anew that another change deletes meanwhile, if its row has all that it needs', async () => {
    await sync([badge, phone]);
    const client = await tenant.owner.connect();
    try {
      await client.query('begin');
      await client.query('delete from app_public.cards where organization_id = $1', [tenant.organizationId]);
      const syncing = sync([
        { ...badge, name: 'Blue badge', userExternalIdentifier: 'ada' },
        { externalIdentifier: 'phone', userExternalIdentifier: 'bob' },
      ]);
      await untilBlocked(tenant.owner);
      await client.query('commit');

      expect((await syncing).map(outcomeOf)).toEqual([
        ['CREATED', undefined, undefined],
        ['REFUSED', 'BAD_USER_INPUT', 'name'],
      ]);
    } finally {
      client.release();
    }
    expect(await holders('badge')).toEqual(['ada']);
  });
});
