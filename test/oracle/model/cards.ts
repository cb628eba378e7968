import type { Card, CardAssignment } from '../rows.ts';
import { findById, identify, isGiven } from './identify.ts';
import { typed } from './ids.ts';
import {
  badInput,
  type Call,
  changed,
  conflict,
  type Failure,
  generatedOf,
  notFound,
  type Outcome,
} from './outcome.ts';
import { put, rowsOf, without } from './state.ts';
import { readValue } from './values.ts';

export const beaconCardCreate = (call: Call): Outcome => create(call, 'BeaconCard');
export const nfcCardCreate = (call: Call): Outcome => create(call, 'NfcCard');
export const identificationCodeCreate = (call: Call): Outcome => create(call, 'IdentificationCode');

function create(call: Call, type: Card['type']): Outcome {
  const failures: Failure[] = [];
  const { args, organizationId } = call;
  const name = readValue('name', String(args.name), failures);
  const externalIdentifier = readIdentifier(call, null, failures);
  const signal = { ...noSignal, ...readSignal(type, args, failures) };
  refuseTakenSignal(call, type, signal, failures);
  if (failures.length > 0) return { failures };

  const generated = generatedOf(answeredCard(call), type);
  const card: Card = { organizationId, ...generated, type, name, externalIdentifier, ...signal };
  return { state: put(call.state, 'Card', card), payload: { card: typed('Card', card) } };
}

export function cardUpdate(call: Call): Outcome {
  const failures: Failure[] = [];
  const { args } = call;
  const isById = isGiven(args, 'id');
  const card = isById
    ? findById(call, 'Card', 'id', failures)
    : identify(call, 'Card', ['id', 'externalIdentifier'], failures);
  const values: Partial<Card> = {};
  if (args.name === null) failures.push(badInput('name'));
  if (typeof args.name === 'string') values.name = readValue('name', args.name, failures);
  if (isById && args.externalIdentifier !== undefined)
    values.externalIdentifier = readIdentifier(call, card ?? null, failures);
  if (!card || failures.length > 0) return { failures };

  const next = changed(card, values, answeredCard(call));
  return { state: put(call.state, 'Card', next), payload: { card: typed('Card', next) } };
}

export function cardDelete(call: Call): Outcome {
  const failures: Failure[] = [];
  const card = identify(call, 'Card', ['id', 'externalIdentifier'], failures);
  if (!card) return { failures };

  const withoutAssignments = without(call.state, 'CardAssignment', ({ cardId }) => cardId === card.id);
  const state = without(withoutAssignments, 'Card', ({ id }) => id === card.id);
  return { state, payload: { card: typed('Card', card) } };
}

export function cardAssign(call: Call): Outcome {
  const failures: Failure[] = [];
  const { card, user } = identifyPair(call, failures);
  if (!card || !user) return { failures };

  const assignments = rowsOf(call.state, 'CardAssignment', call.organizationId);
  const same = assignments.find(({ cardId, userId }) => cardId === card.id && userId === user.id);
  if (same) return { state: call.state, payload: { cardAssignment: typed('CardAssignment', same) } };
  const isHeld = assignments.some(({ cardId }) => cardId === card.id);
  // "An NFC or beacon card has at most one holder."
  if (isHeld && card.type !== 'IdentificationCode')
    return { failures: [conflict(['cardId', 'cardExternalIdentifier'])] };

  const { id, createdAt } = generatedOf(answeredAssignment(call), 'CardAssignment');
  const { organizationId } = call;
  const assignment: CardAssignment = { organizationId, id, createdAt, userId: user.id, cardId: card.id };
  return {
    state: put(call.state, 'CardAssignment', assignment),
    payload: { cardAssignment: typed('CardAssignment', assignment) },
  };
}

export function cardUnassign(call: Call): Outcome {
  const failures: Failure[] = [];
  const assignment = findAssignment(call, failures);
  if (!assignment) return { failures };

  const state = without(call.state, 'CardAssignment', ({ id }) => id === assignment.id);
  return { state, payload: { cardAssignment: typed('CardAssignment', assignment) } };
}

const pairArguments = ['cardId', 'cardExternalIdentifier', 'userId', 'userExternalIdentifier'];

function findAssignment(call: Call, failures: Failure[]): CardAssignment | undefined {
  const hasPair = pairArguments.some((argument) => isGiven(call.args, argument));
  if (isGiven(call.args, 'id') && !hasPair) return findById(call, 'CardAssignment', 'id', failures);
  if (isGiven(call.args, 'id') || !hasPair) {
    failures.push(badInput('id'));
    if (isGiven(call.args, 'id')) findById(call, 'CardAssignment', 'id', failures);
    // Whoever gives both may also be told of what is wrong with the pair.
    if (hasPair) identifyPair(call, failures);
    return undefined;
  }
  const { card, user } = identifyPair(call, failures);
  if (!card || !user) return undefined;
  const assignments = rowsOf(call.state, 'CardAssignment', call.organizationId);
  const found = assignments.find(({ cardId, userId }) => cardId === card.id && userId === user.id);
  if (!found) failures.push(notFound);
  return found;
}

function identifyPair(call: Call, failures: Failure[]) {
  return {
    card: identify(call, 'Card', ['cardId', 'cardExternalIdentifier'], failures),
    user: identify(call, 'User', ['userId', 'userExternalIdentifier'], failures),
  };
}

export type Signal = Pick<Card, 'proximityUuid' | 'major' | 'minor' | 'nfcIdentifier'>;
const noSignal: Signal = { proximityUuid: null, major: null, minor: null, nfcIdentifier: null };
export const signalOf = ({
  proximityUuid = null,
  major = null,
  minor = null,
  nfcIdentifier = null,
}: Partial<Signal>): Signal => ({ proximityUuid, major, minor, nfcIdentifier });

/** What a reader reads of a card; `beacon` is the argument that has the values of a beacon together. */
export function readSignal(
  type: Card['type'],
  args: Call['args'],
  failures: Failure[],
  beacon?: string,
): Partial<Signal> {
  if (type === 'NfcCard') return { nfcIdentifier: readValue('nfcIdentifier', String(args.nfcIdentifier), failures) };
  if (type === 'IdentificationCode') return {};
  for (const name of ['major', 'minor'])
    if (Number(args[name]) < 0 || Number(args[name]) > 65535) failures.push(badInput(beacon ?? name));
  return { proximityUuid: String(args.proximityUuid), major: Number(args.major), minor: Number(args.minor) };
}

/** "`nfcIdentifier` … unique in its organization, as a beacon's three values are together". */
function refuseTakenSignal(call: Call, type: Card['type'], signal: Signal, failures: Failure[]): void {
  if (type === 'IdentificationCode') return;
  const names = Object.keys(noSignal) as (keyof Signal)[];
  const isTaken = rowsOf(call.state, 'Card', call.organizationId).some(
    (card) => card.type === type && names.every((name) => card[name] === signal[name]),
  );
  if (isTaken) failures.push(conflict(type === 'NfcCard' ? 'nfcIdentifier' : ['proximityUuid', 'major', 'minor']));
}

function readIdentifier(call: Call, card: Card | null, failures: Failure[]): string | null {
  const value = call.args.externalIdentifier;
  if (typeof value !== 'string') return null;
  const others = rowsOf(call.state, 'Card', call.organizationId).filter(({ id }) => id !== card?.id);
  if (others.some(({ externalIdentifier }) => externalIdentifier === value))
    failures.push(conflict('externalIdentifier'));
  return readValue('externalIdentifier', value, failures);
}

const answeredCard = ({ answer }: Call) => (answer as { card?: unknown } | null)?.card;
const answeredAssignment = ({ answer }: Call) => (answer as { cardAssignment?: unknown } | null)?.cardAssignment;
