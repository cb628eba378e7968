import type { Random } from '../random.ts';
import type { TypeName } from './state.ts';
import type { Reference } from './steps.ts';
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

type Arguments = Record<string, unknown>;

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

function maybe(
  random: Random,
  probability: number,
  name: string,
  value: () => unknown,
  several?: () => Arguments,
): Arguments {
  if (!random.chance(probability)) return {};
  return several ? several() : { [name]: value() };
}

const orNull = (random: Random, value: unknown) => (random.chance(0.08) ? null : value);

/** An id of a row: of one's own, of the other organization, of another type, or none at all. */
function reference(random: Random, type: TypeName | 'Webhook'): Reference | string {
  const kind = random.below(20);
  const pick = random.below(24);
  if (kind === 0) return random.pick(['', 'xyz', 'äö', '1']);
  if (kind === 1) return { $id: type, pick, isOther: true };
  if (kind === 2) return { $id: random.pick(['User', 'Unit', 'Card', 'CardAssignment', 'AccessGrant'] as const), pick };
  if (kind === 3) return { $id: type, pick, as: random.pick(['BeaconCard', 'NfcCard', 'User', 'Unit', 'Webhook']) };
  return { $id: type, pick };
}

/** By id or by external identifier; `isPatch` where the latter is a new value beside the id. */
function identification(random: Random, type: TypeName, prefix: string, isPatch = false): Arguments {
  const kind = random.below(20);
  if (kind === 0) return {};
  if (kind === 1) return { id: null, externalIdentifier: drawIdentifier(random, prefix) };
  if (kind === 2) return { id: null, externalIdentifier: null };
  if (kind < (isPatch ? 7 : 4)) {
    // A patch may also take the identifier away.
    const isTaken = isPatch && random.chance(0.4);
    const externalIdentifier = isTaken ? null : orNull(random, drawIdentifier(random, prefix));
    return { id: reference(random, type), externalIdentifier };
  }
  return random.chance(0.5) ? { id: reference(random, type) } : { externalIdentifier: drawIdentifier(random, prefix) };
}

function pairMember(random: Random, type: TypeName, prefix: string, name: string): Arguments {
  const byId = { [`${name}Id`]: reference(random, type) };
  const byExternalIdentifier = { [`${name}ExternalIdentifier`]: drawIdentifier(random, prefix) };
  const kind = random.below(30);
  if (kind === 0) return {};
  if (kind === 1) return { ...byId, ...byExternalIdentifier };
  if (kind === 2) return { ...byExternalIdentifier, [`${name}Id`]: null };
  return random.chance(0.5) ? byId : byExternalIdentifier;
}

function idOrPair(random: Random, type: TypeName, pair: () => Arguments): Arguments {
  const kind = random.below(20);
  if (kind === 0) return {};
  if (kind === 1) return { ...pair(), id: reference(random, type) };
  return random.chance(0.5) ? { id: reference(random, type) } : pair();
}

function parent(random: Random): Arguments {
  const kind = random.below(20);
  if (kind === 0) return { parentId: reference(random, 'Unit'), parentExternalIdentifier: drawIdentifier(random, 'n') };
  if (kind === 1) return { parentId: null };
  if (kind === 2) return { parentExternalIdentifier: null };
  return random.chance(0.5)
    ? { parentId: reference(random, 'Unit') }
    : { parentExternalIdentifier: drawIdentifier(random, 'n') };
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

function drawUserInput(random: Random): Arguments {
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

function drawUnitInput(random: Random): Arguments {
  return {
    externalIdentifier: drawIdentifier(random, 'n'),
    ...maybe(random, 0.7, 'name', () => orNull(random, drawText(random))),
    ...maybe(random, 0.6, 'parentExternalIdentifier', () => orNull(random, drawIdentifier(random, 'n'))),
  };
}

function drawCardInput(random: Random): Arguments {
  return {
    externalIdentifier: drawIdentifier(random, 'c'),
    ...maybe(random, 0.8, 'name', () => orNull(random, drawText(random))),
    ...maybe(random, 0.4, 'nfcIdentifier', () => orNull(random, drawCommonChip(random))),
    ...maybe(random, 0.2, 'beacon', () => orNull(random, drawCommonBeacon(random))),
    ...maybe(random, 0.5, 'userExternalIdentifier', () => (random.chance(0.2) ? null : drawIdentifier(random, 'u'))),
  };
}

/** Few, so that cards want those of others. */
const drawCommonChip = (random: Random): string =>
  random.chance(0.8)
    ? random.pick(['04A224B2C13A80', '04a224b2', '04A224B2', '0a0b0c0d', '01020304050607080910'])
    : drawNfcIdentifier(random);

const drawCommonBeacon = (random: Random): Arguments => ({
  proximityUuid: random.pick(['f7826da6-4fa2-4e98-8024-bc5b71e0893e', 'F7826DA6-4FA2-4E98-8024-BC5B71E0893E']),
  major: random.pick([0, 1, 1, 65536]),
  minor: random.pick([65535, 65535, 2]),
});

const drawList = (random: Random, draw: () => Arguments): Arguments[] =>
  Array.from({ length: random.chance(0.03) ? 0 : 1 + random.below(5) }, draw);

const hex = '0123456789abcdefABCDEF';
const drawHex = (random: Random, length: number) =>
  Array.from({ length }, () => hex[random.below(hex.length)] as string).join('');

function drawUuid(random: Random): string {
  const groups = [8, 4, 4, 4, 12].map((length) => drawHex(random, length));
  return groups.join(random.chance(0.9) ? '-' : '');
}

const drawNfcIdentifier = (random: Random): string =>
  random.chance(0.15)
    ? random.pick(['', 'zzzzzzzz', '04a2', '04:A2:24:B2'])
    : drawHex(random, random.pick([8, 14, 20]));

const drawMajor = (random: Random): number =>
  random.chance(0.1) ? random.pick([-1, 65536, 2147483647]) : random.pick([0, 1, 65535, random.below(65536)]);

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
