import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Use } from '../../src/token/uses.ts';
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
import { asOwner, type SyncResult, syncCards, untilBlocked } from './sync.ts';

let graph: GraphTest;
let tenant: Tenant;
beforeAll(async () => {
  graph = await shareService();
});
beforeEach(async () => {
  tenant = await createTenant(graph);
  for (const name of ['ada', 'bob']) await createUser(tenant, { fullName: name, externalIdentifier: name });
});

const [chip, otherChip] = ['04A224B2C13A80', '04A224B2'];
const beacon = { proximityUuid: 'f7826da6-4fa2-4e98-8024-bc5b71e0893e', major: 1, minor: 65535 };
const badge = { externalIdentifier: 'badge', name: 'Badge', nfcIdentifier: chip };
const phone = { externalIdentifier: 'phone', name: 'Phone', beacon };
const code = { externalIdentifier: 'code', name: 'PIN' };
const sync = (cards: readonly object[], dryRun = false) => syncCards(graph, tenant, cards, dryRun);
const told = ({ outcome, error }: SyncResult) => [outcome, error?.code, error?.argument];
type CardRow = { type: string; chip: string | null; major: number | null; holders: string[] };
const rows = async (of = tenant): Promise<Record<string, CardRow>> =>
  Object.fromEntries(
    (
      await asOwner<CardRow & { name: string }>(
        of,
        `select c.external_identifier as name, c.xmin, c.type, c.nfc_identifier as chip, c.major, c.updated_at,
           array(select a.xmin || ' ' || u.external_identifier from app_public.card_assignments a
             join app_public.users u on u.id = a.user_id where a.card_id = c.id order by 1) as holders
         from app_public.cards c where c.organization_id = $1 order by 1`,
      )
    ).map(({ name, ...row }) => [name, row]),
  );
const holders = async (name: string) =>
  (
    await asOwner<{ name: string }>(
      tenant,
      `select u.external_identifier as name from app_public.card_assignments a
       join app_public.users u on u.id = a.user_id join app_public.cards c on c.id = a.card_id
       where a.organization_id = $1 and c.external_identifier = '${name}' order by 1`,
    )
  ).map(({ name }) => name);

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
    expect((await sync(given)).map(told)).toEqual(Array(3).fill(['UNCHANGED', undefined, undefined]));
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
    expect((await sync(given)).map(told)).toEqual(results.map(told));
  });

  it.each<[string, object, string, string]>([
    ['a new card without a name', { externalIdentifier: 'new', nfcIdentifier: otherChip }, 'BAD_USER_INPUT', 'name'],
    ['no name for one that is there', { externalIdentifier: 'badge', name: null }, 'BAD_USER_INPUT', 'name'],
    ['an empty name', { ...code, name: ' ' }, 'BAD_USER_INPUT', 'name'],
    ['an empty external identifier', { ...code, externalIdentifier: '' }, 'BAD_USER_INPUT', 'externalIdentifier'],
    ['a chip that is none', { ...code, nfcIdentifier: '04:A2' }, 'BAD_USER_INPUT', 'nfcIdentifier'],
    ['a beacon out of range', { ...code, beacon: { ...beacon, minor: 65536 } }, 'BAD_USER_INPUT', 'beacon'],
    ['a chip and a beacon', { ...code, nfcIdentifier: otherChip, beacon }, 'BAD_USER_INPUT', 'beacon'],
    ['a badge that becomes a beacon', { externalIdentifier: 'badge', beacon }, 'BAD_USER_INPUT', 'beacon'],
    ['a beacon that becomes a badge', { ...phone, beacon: null, nfcIdentifier: otherChip }, 'BAD_USER_INPUT', 'beacon'],
    [
      'a code that becomes a badge',
      { ...code, externalIdentifier: 'pin', nfcIdentifier: otherChip },
      'BAD_USER_INPUT',
      'nfcIdentifier',
    ],
    ['a badge without a chip', { externalIdentifier: 'badge', nfcIdentifier: null }, 'BAD_USER_INPUT', 'nfcIdentifier'],
    ['an unknown holder', { ...code, userExternalIdentifier: 'nobody' }, 'NOT_FOUND', 'userExternalIdentifier'],
    ['the chip of a card that keeps it', { ...code, nfcIdentifier: chip.toLowerCase() }, 'CONFLICT', 'nfcIdentifier'],
    ['the beacon of a card that keeps it', { ...code, beacon }, 'CONFLICT', 'beacon'],
  ])('refuses %s by itself, and writes the others', async (_, row, errorCode, argument) => {
    await sync([badge, phone, { ...code, externalIdentifier: 'pin' }]);
    const before = await rows();

    const [refused, written] = await sync([row, { externalIdentifier: 'other', name: 'Other' }]);

    expect([refused, written].map((result) => told(result as SyncResult))).toEqual([
      ['REFUSED', errorCode, argument],
      ['CREATED', undefined, undefined],
    ]);
    expect(refused?.error?.message).toMatch(/^[A-Z].{9,}$|^\w+ cannot be null/);
    const { other: _other, ...rest } = await rows();
    expect(rest).toEqual(before);
  });

  it('takes null for what a card of another type has not', async () => {
    await sync([badge, phone, code]);

    const results = await sync([
      { ...badge, beacon: null },
      { ...phone, nfcIdentifier: null },
      { ...code, beacon: null, nfcIdentifier: null },
    ]);

    expect(results.map(({ outcome }) => outcome)).toEqual(['UNCHANGED', 'UNCHANGED', 'UNCHANGED']);
  });

  it('refuses the later of two rows of one card, one chip or one beacon', async () => {
    const results = await sync([
      badge,
      { ...badge, name: 'Again' },
      { ...code, nfcIdentifier: chip.toLowerCase() },
      phone,
      {
        externalIdentifier: 'late',
        name: 'Late',
        beacon: { ...beacon, proximityUuid: beacon.proximityUuid.toUpperCase() },
      },
    ]);

    expect(results.map(told)).toEqual([
      ['CREATED', undefined, undefined],
      ['REFUSED', 'CONFLICT', 'externalIdentifier'],
      ['REFUSED', 'CONFLICT', 'nfcIdentifier'],
      ['CREATED', undefined, undefined],
      ['REFUSED', 'CONFLICT', 'beacon'],
    ]);
  });

  it('lets chips change hands, and refuses all that depend on a row that is refused', async () => {
    const chips = ['01020304', '02030405', '03040506', '04050607'];
    const names = ['a', 'b', 'c', 'd'];
    const shifted = (name: string | null) =>
      names.map((externalIdentifier, index) => ({
        externalIdentifier,
        nfcIdentifier: chips[(index + 1) % 4],
        ...(externalIdentifier === 'c' && { name }),
      }));
    await sync(names.map((name, index) => ({ externalIdentifier: name, name, nfcIdentifier: chips[index] })));

    // b wants the chip that c keeps, a that of b, and d that of a.
    const refused = await sync(shifted(null));
    const moved = await sync(shifted('C'));

    expect(refused.map(({ error }) => error?.argument)).toEqual([
      'nfcIdentifier',
      'nfcIdentifier',
      'name',
      'nfcIdentifier',
    ]);
    expect(moved.map(({ outcome, card }) => [outcome, card?.nfcIdentifier])).toEqual(
      names.map((_, index) => ['UPDATED', chips[(index + 1) % 4]]),
    );
    // A new card gets what another one gives up.
    expect(
      (
        await sync([
          { ...badge, nfcIdentifier: chips[1] },
          { externalIdentifier: 'a', nfcIdentifier: chip },
        ])
      ).map(told),
    ).toEqual([
      ['CREATED', undefined, undefined],
      ['UPDATED', undefined, undefined],
    ]);
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

    expect(results.map(told)).toEqual([
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
    expect((await sync([badge])).map(told)).toEqual([['UNCHANGED', undefined, undefined]]);
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
    const note = (use: unknown) => void texts.push((use as Use).text);
    subscribe('statement:sent', note);
    const data = await read(graph, tenant.app, query, { cards: cards.slice(1) });
    unsubscribe('statement:sent', note);

    expect(data).toEqual({ cardsSync: { results: Array(1000).fill({ outcome: 'CREATED' }) } });
    const isAside = (text: string) => /verify_access_token|require_access_token|note_uses|^explain/i.test(text);
    expect(texts.filter((text) => !isAside(text))).toEqual([expect.stringContaining('cards_sync')]);
  });

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

      expect((await syncing).map(told)).toEqual([
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

      expect((await syncing).map(told)).toEqual([
        ['CREATED', undefined, undefined],
        ['REFUSED', 'BAD_USER_INPUT', 'name'],
      ]);
    } finally {
      client.release();
    }
    expect(await holders('badge')).toEqual(['ada']);
  });
});
