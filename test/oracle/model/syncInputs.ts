import type { Random } from '../random.ts';
import { drawCommonBeacon, drawCommonChip } from './cardValues.ts';
import { type Arguments, maybe, orNull } from './references.ts';
import { drawEmail, drawIdentifier, drawLocale, drawText, drawTimeZone, drawToken } from './texts.ts';

// Draws the rows of a sync: right, wrong, missing, null, repeated and conflicting ones.

export function drawUserInput(random: Random): Arguments {
  return {
    externalIdentifier: drawIdentifier(random, 'u'),
    ...maybe(random, 0.6, 'fullName', () => orNull(random, drawText(random))),
    ...maybe(random, 0.7, 'email', () => orNull(random, drawEmail(random))),
    ...maybe(random, 0.2, 'locale', () => orNull(random, drawLocale(random))),
    ...maybe(random, 0.2, 'timeZone', () => orNull(random, drawTimeZone(random))),
    ...maybe(random, 0.2, 'externalAuthenticationToken', () => orNull(random, drawToken(random))),
    ...maybe(random, 0.4, 'accessibleUnits', () =>
      orNull(
        random,
        Array.from({ length: random.below(4) }, () => drawIdentifier(random, 'n')),
      ),
    ),
  };
}

export function drawUnitInput(random: Random): Arguments {
  return {
    externalIdentifier: drawIdentifier(random, 'n'),
    ...maybe(random, 0.7, 'name', () => orNull(random, drawText(random))),
    ...maybe(random, 0.6, 'parentExternalIdentifier', () => orNull(random, drawIdentifier(random, 'n'))),
  };
}

export function drawCardInput(random: Random): Arguments {
  return {
    externalIdentifier: drawIdentifier(random, 'c'),
    ...maybe(random, 0.8, 'name', () => orNull(random, drawText(random))),
    ...maybe(random, 0.4, 'nfcIdentifier', () => orNull(random, drawCommonChip(random))),
    ...maybe(random, 0.2, 'beacon', () => orNull(random, drawCommonBeacon(random))),
    ...maybe(random, 0.5, 'userExternalIdentifier', () => (random.chance(0.2) ? null : drawIdentifier(random, 'u'))),
  };
}
