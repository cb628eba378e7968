import type { Random } from '../random.ts';
import type { Card, CardAssignment, User } from '../rows.ts';
import { drawIdentifiers, drawName, drawTime, drawUuid } from './texts.ts';

const kinds = ['NfcCard', 'BeaconCard', 'IdentificationCode'] as const;

/**
 * Cards, and who has them: badges and beacons at most one person, codes any number. An organization has any subset of the kinds, and often
 * its first cards are of fewer than it has.
 */
export function drawCards(
  random: Random,
  organizationId: string,
  users: readonly User[],
  nextId: () => string,
): { cards: Card[]; cardAssignments: CardAssignment[] } {
  const some = random.some(kinds, random.weighted({ 0: 0.3, 1: 2, 2: 2, 3: 4 }) === '0' ? 0 : random.between(1, 3));
  const count = some.length === 0 ? 0 : random.chance(0.04) ? random.between(101, 115) : random.between(1, 18);
  const types = Array.from({ length: count }, () => random.pick(some));
  const ids = types.map(nextId);
  // By their keys, then: all of one kind before all of the next.
  if (random.chance(0.5)) {
    ids.sort();
    types.sort((a, b) => some.indexOf(a) - some.indexOf(b));
  }
  const identifiers = drawIdentifiers(random, count);
  const cards = types.map((type, index): Card => {
    const isBeacon = type === 'BeaconCard';
    return {
      organizationId,
      id: ids[index] ?? '',
      type,
      name: drawName(random),
      externalIdentifier: identifiers[index] ?? null,
      proximityUuid: isBeacon ? drawUuid(random) : null,
      major: isBeacon ? random.pick([0, 1, 65_535, random.below(65_536)]) : null,
      minor: isBeacon ? random.pick([0, 1, 65_535, random.below(65_536)]) : null,
      nfcIdentifier: type === 'NfcCard' ? drawNfcIdentifier(random, index) : null,
      createdAt: drawTime(random),
      updatedAt: drawTime(random),
    };
  });
  const cardAssignments = cards.flatMap((card) => {
    const most = card.type === 'IdentificationCode' ? random.pick([0, 1, 2, 5]) : random.pick([0, 1, 1, 1]);
    // Few people have many of them, so that others have one alone.
    const holders = random.chance(0.5) ? users.slice(0, 6) : users;
    return random.some(holders, most).map((user) => ({
      organizationId,
      id: nextId(),
      userId: user.id,
      cardId: card.id,
      createdAt: drawTime(random),
    }));
  });
  return { cards, cardAssignments };
}

/** Of 4, 7 or 10 bytes, each once by its number. */
function drawNfcIdentifier(random: Random, index: number): string {
  const length = random.pick([8, 14, 20]);
  const digits = Array.from({ length: length - 4 }, () => random.below(16).toString(16)).join('');
  return (digits + index.toString(16).padStart(4, '0')).toUpperCase();
}
