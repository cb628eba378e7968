import type { Random } from '../random.ts';
import type { TypeName } from './state.ts';
import type { Reference } from './steps.ts';
import { drawIdentifier } from './texts.ts';

// Draws how a mutation names rows, right and wrong: by id, external identifier, both or neither.

export type Arguments = Record<string, unknown>;

export function maybe(
  random: Random,
  probability: number,
  name: string,
  value: () => unknown,
  several?: () => Arguments,
): Arguments {
  if (!random.chance(probability)) return {};
  return several ? several() : { [name]: value() };
}

export const orNull = (random: Random, value: unknown) => (random.chance(0.08) ? null : value);

/** An id of a row: of one's own, of the other organization, of another type, or none at all. */
export function reference(random: Random, type: TypeName | 'Webhook'): Reference | string {
  const kind = random.below(20);
  const pick = random.below(24);
  if (kind === 0) return random.pick(['', 'xyz', 'äö', '1']);
  if (kind === 1) return { $id: type, pick, isOther: true };
  if (kind === 2) return { $id: random.pick(['User', 'Unit', 'Card', 'CardAssignment', 'AccessGrant'] as const), pick };
  if (kind === 3) return { $id: type, pick, as: random.pick(['BeaconCard', 'NfcCard', 'User', 'Unit', 'Webhook']) };
  return { $id: type, pick };
}

/** By id or by external identifier; `isPatch` where the latter is a new value beside the id. */
export function identification(random: Random, type: TypeName, prefix: string, isPatch = false): Arguments {
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

export function pairMember(random: Random, type: TypeName, prefix: string, name: string): Arguments {
  const byId = { [`${name}Id`]: reference(random, type) };
  const byExternalIdentifier = { [`${name}ExternalIdentifier`]: drawIdentifier(random, prefix) };
  const kind = random.below(30);
  if (kind === 0) return {};
  if (kind === 1) return { ...byId, ...byExternalIdentifier };
  if (kind === 2) return { ...byExternalIdentifier, [`${name}Id`]: null };
  return random.chance(0.5) ? byId : byExternalIdentifier;
}

export function idOrPair(random: Random, type: TypeName, pair: () => Arguments): Arguments {
  const kind = random.below(20);
  if (kind === 0) return {};
  if (kind === 1) return { ...pair(), id: reference(random, type) };
  return random.chance(0.5) ? { id: reference(random, type) } : pair();
}

export function parent(random: Random): Arguments {
  const kind = random.below(20);
  if (kind === 0) return { parentId: reference(random, 'Unit'), parentExternalIdentifier: drawIdentifier(random, 'n') };
  if (kind === 1) return { parentId: null };
  if (kind === 2) return { parentExternalIdentifier: null };
  return random.chance(0.5)
    ? { parentId: reference(random, 'Unit') }
    : { parentExternalIdentifier: drawIdentifier(random, 'n') };
}

export const drawList = (random: Random, draw: () => Arguments): Arguments[] =>
  Array.from({ length: random.chance(0.03) ? 0 : 1 + random.below(5) }, draw);
