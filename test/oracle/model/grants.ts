import type { AccessGrant } from '../rows.ts';
import { findById, identify, isGiven, sourceOf } from './identify.ts';
import { typed } from './ids.ts';
import { badInput, type Call, type Failure, generatedOf, notFound, type Outcome } from './outcome.ts';
import { put, rowsOf, without } from './state.ts';

export function accessGrant(call: Call): Outcome {
  const failures: Failure[] = [];
  const { user, unit } = identifyPair(call, failures);
  const source = sourceOf(call, failures);
  const same = user && unit && findGrant(call, user.id, unit.id, source);
  // "Again: the same grant; absent times stay, null clears."
  const timeOf = (name: 'validFrom' | 'validUntil') => {
    const given = call.args[name] as string | null | undefined;
    return given === undefined ? (same?.[name] ?? null) : given;
  };
  const times = { validFrom: timeOf('validFrom'), validUntil: timeOf('validUntil') };
  if (times.validFrom !== null && times.validUntil !== null && times.validUntil <= times.validFrom)
    failures.push(badInput('validUntil'));
  if (!user || !unit || failures.length > 0) return { failures };

  if (same) {
    const isChanged = times.validFrom !== same.validFrom || times.validUntil !== same.validUntil;
    const grant = isChanged ? { ...same, ...times } : same;
    const state = isChanged ? put(call.state, 'AccessGrant', grant) : call.state;
    return { state, payload: { accessGrant: typed('AccessGrant', grant) } };
  }
  const answered = (call.answer as { accessGrant?: unknown } | null)?.accessGrant;
  const { id, createdAt } = generatedOf(answered, 'AccessGrant');
  const grant: AccessGrant = {
    ...{ organizationId: call.organizationId, id, userId: user.id, unitId: unit.id },
    ...{ source, ...times, createdAt },
  };
  return { state: put(call.state, 'AccessGrant', grant), payload: { accessGrant: typed('AccessGrant', grant) } };
}

export function accessRevoke(call: Call): Outcome {
  const failures: Failure[] = [];
  const grant = identifyGrant(call, failures);
  if (!grant) return { failures };

  const state = without(call.state, 'AccessGrant', ({ id }) => id === grant.id);
  return { state, payload: { accessGrant: typed('AccessGrant', grant) } };
}

const pairArguments = ['userId', 'userExternalIdentifier', 'unitId', 'unitExternalIdentifier', 'source'];

function identifyGrant(call: Call, failures: Failure[]): AccessGrant | undefined {
  const hasPair = pairArguments.some((argument) => isGiven(call.args, argument));
  if (isGiven(call.args, 'id') && !hasPair) return findById(call, 'AccessGrant', 'id', failures);
  if (isGiven(call.args, 'id') || !hasPair) {
    failures.push(badInput('id'));
    if (isGiven(call.args, 'id')) findById(call, 'AccessGrant', 'id', failures);
    // Whoever gives both may also be told of what is wrong with the pair.
    if (hasPair) identifyPair(call, failures);
    if (String(call.args.source).includes('\0')) failures.push(badInput('source'));
    return undefined;
  }
  const { user, unit } = identifyPair(call, failures);
  const source = isGiven(call.args, 'source') ? String(call.args.source) : null;
  if (source?.includes('\0')) failures.push(badInput('source'));
  if (!user || !unit) return undefined;
  const found = findGrant(call, user.id, unit.id, source);
  if (!found) failures.push(notFound);
  return found;
}

/** "A user, a unit and a source (null: by hand) have one grant." */
const findGrant = ({ state, organizationId }: Call, user: string, unit: string, of: string | null) =>
  rowsOf(state, 'AccessGrant', organizationId).find(
    ({ userId, unitId, source }) => userId === user && unitId === unit && source === of,
  );

function identifyPair(call: Call, failures: Failure[]) {
  return {
    user: identify(call, 'User', ['userId', 'userExternalIdentifier'], failures),
    unit: identify(call, 'Unit', ['unitId', 'unitExternalIdentifier'], failures),
  };
}
