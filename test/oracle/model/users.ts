import { decodeId } from '../ids.ts';
import type { User } from '../rows.ts';
import { findById, identify, isGiven } from './identify.ts';
import { typed } from './ids.ts';
import { badInput, type Call, changed, conflict, type Failure, generatedOf, type Outcome } from './outcome.ts';
import { put, rowsOf, type State, without } from './state.ts';
import { readValue, withoutCase } from './values.ts';

export function userCreate(call: Call): Outcome {
  const failures: Failure[] = [];
  const { externalIdentifier = null, externalAuthenticationToken = null, ...rest } = readUser(call.args, failures);
  const { fullName = '', email = '', locale = 'en', timeZone = 'UTC' } = rest;
  const values = { fullName, email, locale, timeZone, externalIdentifier, externalAuthenticationToken };
  refuseTaken(call, null, values, failures);
  if (failures.length > 0) return { failures };

  const generated = generatedOf(answeredUser(call), 'User');
  const user: User = { organizationId: call.organizationId, ...generated, ...values };
  return { state: put(call.state, 'User', user), payload: { user: typed('User', user) } };
}

export function userUpdate(call: Call): Outcome {
  const failures: Failure[] = [];
  const { args } = call;
  const isById = isGiven(args, 'id');
  const user = isById
    ? findById(call, 'User', 'id', failures)
    : identify(call, 'User', ['id', 'externalIdentifier'], failures);
  // Without `id` the external identifier is no new value.
  const { externalIdentifier: _, ...others } = args;
  const values = readUser(isById ? args : others, failures);
  for (const name of ['fullName', 'email', 'locale', 'timeZone', 'timezone'])
    if (args[name] === null) failures.push(badInput(name));
  if (user) refuseTaken(call, user, values, failures);
  if (!user || failures.length > 0) return { failures };

  const next = changed<User>(user, values, answeredUser(call));
  return { state: put(call.state, 'User', next), payload: { user: typed('User', next) } };
}

export function userDelete(call: Call): Outcome {
  const failures: Failure[] = [];
  const user = identify(call, 'User', ['id', 'externalIdentifier'], failures);
  if (!user) return { failures };
  return { state: withoutUser(call.state, user), payload: { user: typed('User', user) } };
}

/** One after the other: what is given twice is found once. */
export function usersDelete(call: Call): Outcome {
  const { ids, externalIdentifiers } = call.args as { [name: string]: readonly string[] | null | undefined };
  if ((ids == null) === (externalIdentifiers == null)) return { failures: [badInput('ids')] };
  const argument = ids ? 'ids' : 'externalIdentifiers';
  const given = ids ?? externalIdentifiers ?? [];
  const isWrong = (one: string) => (ids ? decodeId(one)?.typeName !== 'User' : one.includes('\0'));
  if (given.length < 1 || given.length > 1000 || given.some(isWrong)) return { failures: [badInput(argument)] };

  let { state } = call;
  const results = given.map((one) => {
    const user = rowsOf(state, 'User', call.organizationId).find((row) =>
      ids ? row.id === decodeId(one)?.key : row.externalIdentifier === one,
    );
    if (user) state = withoutUser(state, user);
    const named = { id: ids ? one : null, externalIdentifier: ids ? null : one };
    return { ...named, outcome: user ? 'DELETED' : 'NOT_FOUND' };
  });
  return { state, payload: { results } };
}

function withoutUser(state: State, user: User): State {
  const withoutAssignments = without(state, 'CardAssignment', ({ userId }) => userId === user.id);
  const withoutGrants = without(withoutAssignments, 'AccessGrant', ({ userId }) => userId === user.id);
  return without(withoutGrants, 'User', ({ id }) => id === user.id);
}

type Values = Partial<
  Pick<User, 'fullName' | 'email' | 'locale' | 'timeZone' | 'externalIdentifier' | 'externalAuthenticationToken'>
>;

/** The values that are given; null only where it clears. */
export function readUser(args: Call['args'], failures: Failure[]): Values {
  const values: Record<string, string | null> = {};
  for (const name of ['fullName', 'email', 'locale', 'timeZone', 'timezone'])
    if (typeof args[name] === 'string') values[name] = readValue(name, args[name], failures);
  for (const name of ['externalIdentifier', 'externalAuthenticationToken']) {
    const value = args[name];
    if (value === null) values[name] = null;
    if (typeof value === 'string') values[name] = readValue(name, value, failures);
  }
  const { timezone, ...rest } = values;
  if (typeof timezone !== 'string') return rest;
  if (typeof rest.timeZone === 'string' && rest.timeZone !== timezone)
    failures.push(badInput(['timezone', 'timeZone']));
  return { ...rest, timeZone: timezone };
}

/** What another user of the organization has. */
function refuseTaken({ state, organizationId }: Call, user: User | null, values: Values, failures: Failure[]): void {
  const others = rowsOf(state, 'User', organizationId).filter(({ id }) => id !== user?.id);
  const { email, externalIdentifier, externalAuthenticationToken } = values;
  if (email && others.some((other) => withoutCase(other.email) === withoutCase(email)))
    failures.push(conflict('email'));
  if (externalIdentifier && others.some((other) => other.externalIdentifier === externalIdentifier))
    failures.push(conflict('externalIdentifier'));
  if (
    externalAuthenticationToken &&
    others.some((other) => other.externalAuthenticationToken === externalAuthenticationToken)
  )
    failures.push(conflict('externalAuthenticationToken'));
}

const answeredUser = ({ answer }: Call) => (answer as { user?: unknown } | null)?.user;
