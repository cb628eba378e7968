import type { Random } from '../random.ts';
import { drawMajor, drawNfcIdentifier, drawUuid } from './cardValues.ts';
import {
  type Arguments,
  drawList,
  identification,
  idOrPair,
  maybe,
  orNull,
  pairMember,
  parent,
  reference,
} from './references.ts';
import { drawCardInput, drawUnitInput, drawUserInput } from './syncInputs.ts';
import {
  drawEmail,
  drawIdentifier,
  drawLocale,
  drawSource,
  drawText,
  drawTime,
  drawTimeZone,
  drawToken,
  drawUrl,
} from './texts.ts';

/** Draws the arguments of each mutation: right, wrong, missing, null, repeated and conflicting ones. */
const drawers: Readonly<Record<string, (random: Random) => Arguments>> = {
  userCreate: (random) => ({
    fullName: drawText(random),
    email: drawEmail(random),
    ...userOptions(random, 0.3),
    ...maybe(random, 0.6, 'externalIdentifier', () => orNull(random, drawIdentifier(random, 'u'))),
  }),
  userUpdate: (random) => ({
    ...identification(random, 'User', 'u', true),
    ...maybe(random, 0.4, 'fullName', () => orNull(random, drawText(random))),
    ...maybe(random, 0.3, 'email', () => orNull(random, drawEmail(random))),
    ...userOptions(random, 0.25),
  }),
  userDelete: (random) => identification(random, 'User', 'u'),
  usersDelete: (random) => {
    const count = random.chance(0.05) ? 0 : 1 + random.below(3);
    const ids = { ids: Array.from({ length: count }, () => reference(random, 'User')) };
    const others = { externalIdentifiers: Array.from({ length: count }, () => drawIdentifier(random, 'u')) };
    const kind = random.below(20);
    if (kind === 0) return { ...ids, ...others };
    if (kind === 1) return { ids: null };
    return kind < 8 ? ids : others;
  },
  unitCreate: (random) => ({
    name: drawText(random),
    ...maybe(random, 0.6, 'externalIdentifier', () => orNull(random, drawIdentifier(random, 'n'))),
    ...maybe(
      random,
      0.7,
      'parent',
      () => null,
      () => parent(random),
    ),
  }),
  unitUpdate: (random) => ({
    ...identification(random, 'Unit', 'n', true),
    ...maybe(random, 0.4, 'name', () => orNull(random, drawText(random))),
    ...maybe(
      random,
      0.6,
      'parent',
      () => null,
      () => parent(random),
    ),
  }),
  unitDelete: (random) => ({
    ...identification(random, 'Unit', 'n'),
    ...maybe(random, 0.5, 'withDescendants', () => random.chance(0.7)),
  }),
  beaconCardCreate: (random) => ({
    name: drawText(random),
    proximityUuid: random.chance(0.95) ? drawUuid(random) : 'no uuid',
    major: drawMajor(random),
    minor: drawMajor(random),
    ...maybe(random, 0.6, 'externalIdentifier', () => orNull(random, drawIdentifier(random, 'c'))),
  }),
  nfcCardCreate: (random) => ({
    name: drawText(random),
    nfcIdentifier: drawNfcIdentifier(random),
    ...maybe(random, 0.6, 'externalIdentifier', () => orNull(random, drawIdentifier(random, 'c'))),
  }),
  identificationCodeCreate: (random) => ({
    name: drawText(random),
    ...maybe(random, 0.6, 'externalIdentifier', () => orNull(random, drawIdentifier(random, 'c'))),
  }),
  cardUpdate: (random) => ({
    ...identification(random, 'Card', 'c', true),
    ...maybe(random, 0.6, 'name', () => orNull(random, drawText(random))),
  }),
  cardDelete: (random) => identification(random, 'Card', 'c'),
  cardAssign: (random) => ({ ...pairMember(random, 'Card', 'c', 'card'), ...pairMember(random, 'User', 'u', 'user') }),
  cardUnassign: (random) =>
    idOrPair(random, 'CardAssignment', () => ({
      ...pairMember(random, 'Card', 'c', 'card'),
      ...pairMember(random, 'User', 'u', 'user'),
    })),
  accessGrant: (random) => ({
    ...pairMember(random, 'User', 'u', 'user'),
    ...pairMember(random, 'Unit', 'n', 'unit'),
    ...maybe(random, 0.4, 'validFrom', () => drawTime(random)),
    ...maybe(random, 0.4, 'validUntil', () => drawTime(random)),
    ...maybe(random, 0.5, 'source', () => drawSource(random)),
  }),
  accessRevoke: (random) =>
    idOrPair(random, 'AccessGrant', () => ({
      ...pairMember(random, 'User', 'u', 'user'),
      ...pairMember(random, 'Unit', 'n', 'unit'),
      ...maybe(random, 0.5, 'source', () => drawSource(random)),
    })),
  usersSync: (random) => ({
    users: drawList(random, () => drawUserInput(random)),
    ...maybe(random, 0.5, 'dryRun', () => random.chance(0.5)),
    ...maybe(random, 0.5, 'source', () => drawSource(random)),
  }),
  unitsSync: (random) => ({
    units: drawList(random, () => drawUnitInput(random)),
    ...maybe(random, 0.5, 'dryRun', () => random.chance(0.5)),
  }),
  cardsSync: (random) => ({
    cards: drawList(random, () => drawCardInput(random)),
    ...maybe(random, 0.5, 'dryRun', () => random.chance(0.5)),
  }),
  webhookCreate: (random) => ({
    url: drawUrl(random),
    ...maybe(random, 0.7, 'typeNames', () => drawTypeNames(random)),
  }),
  webhookUpdate: (random) => ({
    id: reference(random, 'Webhook'),
    ...maybe(random, 0.4, 'url', () => orNull(random, drawUrl(random))),
    ...maybe(random, 0.6, 'typeNames', () => (random.chance(0.5) ? null : drawTypeNames(random))),
    ...maybe(random, 0.4, 'enabled', () => orNull(random, random.chance(0.5))),
  }),
  webhookDelete: (random) => ({ id: reference(random, 'Webhook') }),
  webhookRotateSecret: (random) => ({ id: reference(random, 'Webhook') }),
};

/** Most often what may move or leave something behind. */
const weights: Readonly<Record<string, number>> = {
  usersSync: 3,
  unitsSync: 3,
  accessGrant: 2,
  cardsSync: 3,
  userUpdate: 2,
  unitUpdate: 2,
  cardAssign: 2,
  webhookCreate: 2,
  webhookUpdate: 2,
};
export const fieldNames = Object.keys(drawers).flatMap((name) => Array<string>(weights[name] ?? 1).fill(name));

export function drawArguments(random: Random, field: string): Arguments {
  const args = drawers[field]?.(random) ?? {};
  // Now and then one is missing, which may be one that is needed.
  const names = Object.keys(args);
  if (random.chance(0.02) && names.length > 0) delete args[random.pick(names)];
  return args;
}

function userOptions(random: Random, probability: number): Arguments {
  const timeZone = drawTimeZone(random);
  return {
    ...maybe(random, probability, 'locale', () => orNull(random, drawLocale(random))),
    ...maybe(random, probability, 'timeZone', () => orNull(random, timeZone)),
    ...maybe(random, probability / 2, 'timezone', () => (random.chance(0.5) ? timeZone : drawTimeZone(random))),
    ...maybe(random, probability, 'externalAuthenticationToken', () => orNull(random, drawToken(random))),
  };
}

function drawTypeNames(random: Random): string[] | null {
  const kind = random.below(10);
  if (kind === 0) return null;
  if (kind === 1) return random.pick([['Nonsense'], [], ['User', 'user'], ['Webhook']]);
  return random.pick([
    ['User'],
    ['Unit', 'AccessGrant'],
    ['NfcCard', 'BeaconCard', 'IdentificationCode', 'CardAssignment'],
  ]);
}
