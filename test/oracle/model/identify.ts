import { decodeId } from '../ids.ts';
import { badInput, type Call, type Failure, notFound } from './outcome.ts';
import { keyOf, type RowOfType, rowsOf, type TypeName } from './state.ts';

/** Whether the argument has a value: for what identifies, null is as good as left out. */
export const isGiven = (args: Call['args'], name: string): boolean => args[name] !== undefined && args[name] !== null;

/**
 * Finds the row that exactly one of two arguments identifies (`X | Y` in section 8).
 * With both or none, the first is the wrong one.
 */
export function identify<Type extends TypeName>(
  call: Call,
  type: Type,
  [id, externalIdentifier]: readonly [string, string],
  failures: Failure[],
): RowOfType[Type] | undefined {
  if (isGiven(call.args, id) === isGiven(call.args, externalIdentifier)) {
    failures.push(badInput(id));
    // Whoever gives both may also be told of what is wrong with one of them.
    if (isGiven(call.args, id)) refuseMalformed(type, call, id, externalIdentifier, failures);
    return undefined;
  }
  return isGiven(call.args, id)
    ? findById(call, type, id, failures)
    : findByExternalIdentifier(call, type, externalIdentifier, failures);
}

export function findById<Type extends TypeName>(
  { state, organizationId, args }: Call,
  type: Type,
  argument: string,
  failures: Failure[],
): RowOfType[Type] | undefined {
  const decoded = decodeId(String(args[argument]));
  if (!decoded) {
    failures.push(badInput(argument));
    return undefined;
  }
  const key = decoded.key;
  // The types of a card share their keys: a mutation takes a card's id with the name of another of them, which nobody is given.
  const row = isIdOf(type, decoded.typeName)
    ? rowsOf(state, type, organizationId).find((candidate) => keyOf(candidate) === key)
    : undefined;
  if (!row) failures.push(notFound);
  // "What does not exist is `NOT_FOUND`": the contract does not say whether another type's id is malformed.
  if (!isIdOf(type, decoded.typeName)) failures.push(badInput(argument));
  return row;
}

const isIdOf = (type: TypeName, typeName: string) =>
  type === 'Card' ? ['BeaconCard', 'NfcCard', 'IdentificationCode'].includes(typeName) : type === typeName;

/** "`source` has 1 to 200 characters, compared exactly"; without one it is by hand. */
export function sourceOf({ args }: Call, failures: Failure[]): string | null {
  if (!isGiven(args, 'source')) return null;
  const source = String(args.source);
  const { length } = [...source];
  if (length < 1 || length > 200 || source.includes('\0')) failures.push(badInput('source'));
  return source;
}

function findByExternalIdentifier<Type extends TypeName>(
  { state, organizationId, args }: Call,
  type: Type,
  argument: string,
  failures: Failure[],
): RowOfType[Type] | undefined {
  const wanted = String(args[argument]);
  if (wanted.includes('\0')) failures.push(badInput(argument));
  const row = rowsOf(state, type, organizationId).find(
    (candidate) => 'externalIdentifier' in candidate && candidate.externalIdentifier === wanted,
  );
  if (!row) failures.push(notFound);
  return row;
}

function refuseMalformed(
  type: TypeName,
  { args }: Call,
  id: string,
  externalIdentifier: string,
  failures: Failure[],
): void {
  const decoded = decodeId(String(args[id]));
  if (!decoded || !isIdOf(type, decoded.typeName)) failures.push(badInput(id));
  // Another type's, as of an id alone.
  if (decoded && !isIdOf(type, decoded.typeName)) failures.push(notFound);
  if (String(args[externalIdentifier]).includes('\0')) failures.push(badInput(externalIdentifier));
}
