import { shareService } from '../support/sharedService.ts';
import { createTenant, createUser, type GraphTest, type Tenant } from './support.ts';
import { type SyncResult, syncCards } from './sync.ts';
import { badge, beacon, cardRows, chip, code, otherChip, outcomeOf, phone } from './syncedCards.ts';

// The rows of cardsSync that are refused, and which others for them.

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

describe('cardsSync', () => {
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

    expect([refused, written].map((result) => outcomeOf(result as SyncResult))).toEqual([
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

    expect(results.map(outcomeOf)).toEqual([
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
      ).map(outcomeOf),
    ).toEqual([
      ['CREATED', undefined, undefined],
      ['UPDATED', undefined, undefined],
    ]);
  });
});
