import type { AccessGrant } from '../rows.ts';
import { findById, identify, isGiven } from './identify.ts';
import { typed } from './ids.ts';
import { badInput, type Call, type Failure, generatedOf, notFound, type Outcome } from './outcome.ts';
import { put, rowsOf, without } from './state.ts';

export function accessGrant(call: Call): Outcome {
  const failures: Failure[] = [];
  const { user, unit } = identifyPair(call, failures);
  if (!user || !unit) return { failures };

  const same = findGrant(call, user.id, unit.id);
  if (same) return { state: call.state, payload: { accessGrant: typed('AccessGrant', same) } };
  const answered = (call.answer as { accessGrant?: unknown } | null)?.accessGrant;
  const { id, createdAt } = generatedOf(answered, 'AccessGrant');
  const grant: AccessGrant = {
    ...{ organizationId: call.organizationId, id, userId: user.id, unitId: unit.id },
    ...{ source: null, validFrom: null, validUntil: null, createdAt },
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

const pairArguments = ['userId', 'userExternalIdentifier', 'unitId', 'unitExternalIdentifier'];

function identifyGrant(call: Call, failures: Failure[]): AccessGrant | undefined {
  const hasPair = pairArguments.some((argument) => isGiven(call.args, argument));
  if (isGiven(call.args, 'id') && !hasPair) return findById(call, 'AccessGrant', 'id', failures);
  if (isGiven(call.args, 'id') || !hasPair) {
    failures.push(badInput('id'));
    if (isGiven(call.args, 'id')) findById(call, 'AccessGrant', 'id', failures);
    // Whoever gives both may also be told of what is wrong with the pair.
    if (hasPair) identifyPair(call, failures);
    return undefined;
  }
  const { user, unit } = identifyPair(call, failures);
  if (!user || !unit) return undefined;
  const found = findGrant(call, user.id, unit.id);
  if (!found) failures.push(notFound);
  return found;
}

/** The one that was given by hand. */
const findGrant = ({ state, organizationId }: Call, user: string, unit: string) =>
  rowsOf(state, 'AccessGrant', organizationId).find(
    ({ userId, unitId, source }) => userId === user && unitId === unit && source === null,
  );

function identifyPair(call: Call, failures: Failure[]) {
  return {
    user: identify(call, 'User', ['userId', 'userExternalIdentifier'], failures),
    unit: identify(call, 'Unit', ['unitId', 'unitExternalIdentifier'], failures),
  };
}
