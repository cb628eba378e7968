import type { Random } from '../random.ts';
import type { Arguments } from './references.ts';

// Draws the values of a card, right and wrong: UUIDs, NFC identifiers, beacons.

const hex = '0123456789abcdefABCDEF';
const drawHex = (random: Random, length: number) =>
  Array.from({ length }, () => hex[random.below(hex.length)] as string).join('');

export function drawUuid(random: Random): string {
  const groups = [8, 4, 4, 4, 12].map((length) => drawHex(random, length));
  return groups.join(random.chance(0.9) ? '-' : '');
}

export const drawNfcIdentifier = (random: Random): string =>
  random.chance(0.15)
    ? random.pick(['', 'zzzzzzzz', '04a2', '04:A2:24:B2'])
    : drawHex(random, random.pick([8, 14, 20]));

export const drawMajor = (random: Random): number =>
  random.chance(0.1) ? random.pick([-1, 65536, 2147483647]) : random.pick([0, 1, 65535, random.below(65536)]);

/** Few, so that cards want those of others. */
export const drawCommonChip = (random: Random): string =>
  random.chance(0.8)
    ? random.pick(['04A224B2C13A80', '04a224b2', '04A224B2', '0a0b0c0d', '01020304050607080910'])
    : drawNfcIdentifier(random);

export const drawCommonBeacon = (random: Random): Arguments => ({
  proximityUuid: random.pick(['f7826da6-4fa2-4e98-8024-bc5b71e0893e', 'F7826DA6-4FA2-4E98-8024-BC5B71E0893E']),
  major: random.pick([0, 1, 1, 65536]),
  minor: random.pick([65535, 65535, 2]),
});
