import { encodeId } from '../ids.ts';
import type { Random } from '../random.ts';
import type { Card } from '../rows.ts';
import type { Drawing } from './arguments.ts';
import { drawExternalIdentifier, type Known } from './known.ts';
import { textValue, type Value } from './variables.ts';

/** The arguments of `accessDecision`, all well-formed: what is refused has tests of its own. */
export const decisionArguments = ['unitId', 'unitExternalIdentifier', 'credential', 'at'];

export function drawDecisionArguments({ random, known, variables }: Drawing): string {
  const value = (type: string, use: string, draw: () => Value) =>
    random.chance(0.5) ? variables.take(type, use, draw, false) : draw().literal;
  const unit = random.chance(0.6)
    ? `unitId: ${value('ID!', 'decision unit', () => drawIdOf(random, known, 'Unit'))}`
    : `unitExternalIdentifier: ${value('String!', 'decision unit name', () => textValue(drawExternalIdentifier(random, known)))}`;
  const credential = `credential: ${value('CredentialInput!', 'decision', () => drawCredential(random, known))}`;
  const at = random.chance(0.5)
    ? []
    : [`at: ${value('Datetime!', 'decision at', () => textValue(drawMoment(random)))}`];
  return `(${random.some([unit, credential, ...at], 3).join(', ')})`;
}

/** What somebody shows: of rows of either organization, and of none. */
export function drawCredential(random: Random, known: Known): Value {
  const field = (name: string, value: Value): Value => ({
    literal: `{ ${name}: ${value.literal} }`,
    json: { [name]: value.json },
  });
  const badges = known.cards.filter(({ nfcIdentifier }) => nfcIdentifier);
  const beacons = known.cards.filter(({ proximityUuid }) => proximityUuid);
  switch (random.below(6)) {
    case 0:
      return field('userId', drawIdOf(random, known, 'User'));
    case 1:
      return field('userExternalIdentifier', textValue(drawExternalIdentifier(random, known)));
    case 2:
      return field('cardId', drawIdOf(random, known, 'Card'));
    case 3:
      return field('cardExternalIdentifier', textValue(drawExternalIdentifier(random, known)));
    case 4: {
      const read = random.chance(0.9) ? random.pickOr(badges, null)?.nfcIdentifier : null;
      const digits = read ?? '04A2B2C3';
      return field('nfcIdentifier', textValue(random.chance(0.5) ? digits : digits.toLowerCase()));
    }
    default:
      return field('beacon', beaconValue(random, random.chance(0.9) ? random.pickOr(beacons, null) : null));
  }
}

function beaconValue(random: Random, card: Card | null): Value {
  const { proximityUuid, major, minor } = card ?? {};
  const beacon = {
    proximityUuid: proximityUuid ?? nobody,
    major: major ?? 1,
    minor: random.chance(0.95) ? (minor ?? 1) : random.below(65_536),
  };
  const fields = Object.entries(beacon).map(([name, value]) => `${name}: ${JSON.stringify(value)}`);
  return { literal: `{ ${fields.join(', ')} }`, json: beacon };
}

const drawIdOf = (random: Random, { ids }: Known, type: string): Value =>
  textValue(
    random.chance(0.95)
      ? random.pickOr(ids.get(type) ?? [], encodeId(type === 'Card' ? 'NfcCard' : type, nobody))
      : encodeId(type === 'Card' ? 'BeaconCard' : type, nobody),
  );

const nobody = '01000000-0000-7000-8000-000000000000';

/** Around the beginnings and ends that grants of drawn worlds have, and far from them. */
const drawMoment = (random: Random): string =>
  random.pick([
    '1999-12-31T23:59:59Z',
    '2020-02-29T00:00:00.000000+00:00',
    '2020-02-29T00:00:00.000001+00:00',
    '2020-02-29T00:00:00.000002+00:00',
    '2024-06-01T12:00:00Z',
    '2199-12-31T23:59:59.999998+00:00',
    '2199-12-31T23:59:59.999999+00:00',
    '2200-01-01T00:00:00Z',
  ]);
