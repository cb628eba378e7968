import { isDeepStrictEqual } from 'node:util';
import { encodeId } from '../ids.ts';
import type { AccessGrant, User } from '../rows.ts';
import { sourceOf } from './identify.ts';
import { idOf, typed } from './ids.ts';
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
import { put, rowsOf, type State, without } from './state.ts';
import { answeredResult, chooseFailure, type SyncResult } from './syncResults.ts';
import { readUser } from './users.ts';
import { withoutCase } from './values.ts';

type Input = { externalIdentifier: string; accessibleUnits?: readonly string[] | null } & Record<string, unknown>;

/** A row of the request, with what it would make of its user. */
type Row = {
  input: Input;
  user: User | undefined;
  values: Partial<User>;
  /** The units of the grants that the user then has; undefined: those of now. */
  unitIds: readonly string[] | undefined;
  failures: Failure[];
};

export function usersSync(call: Call): Outcome {
  const inputs = call.args.users as readonly Input[];
  // "A text that PostgreSQL cannot store, such as one with a NUL, refuses the whole list"; tokens are stored encrypted.
  const hasNul = inputs.some(({ externalAuthenticationToken: _, ...texts }) =>
    JSON.stringify(texts).includes('\\u0000'),
  );
  const failures: Failure[] = [];
  const source = sourceOf(call, failures);
  if (inputs.length < 1 || inputs.length > 1000 || hasNul) failures.push(badInput('users'));
  if (failures.length > 0) return { failures };

  const rows = inputs.map((input, index) => readRow(call, input, inputs.slice(0, index)));
  refuseTaken(call, rows);
  const isDry = call.args.dryRun === true;
  let { state } = call;
  const outcomes = rows.map((row, index) => {
    if (row.failures.length > 0) return 'REFUSED';
    const next = write(call, state, row, index, isDry, source);
    const outcome = row.user === undefined ? 'CREATED' : next === state ? 'UNCHANGED' : 'UPDATED';
    if (!isDry) state = next;
    return outcome;
  });

  const results = rows.map(({ input, failures }, index): SyncResult => {
    const { externalIdentifier } = input;
    const isRefused = failures.length > 0;
    const user = rowsOf(state, 'User', call.organizationId).find(
      (candidate) => candidate.externalIdentifier === externalIdentifier,
    );
    return {
      externalIdentifier,
      outcome: outcomes[index] as SyncResult['outcome'],
      error: isRefused ? chooseFailure(failures, answeredResult(call, index)) : null,
      user: isRefused || !user ? null : typed('User', user),
    };
  });
  return { state, payload: { results } };
}

function readRow(call: Call, input: Input, earlier: readonly Input[]): Row {
  const { externalIdentifier, accessibleUnits } = input;
  const failures: Failure[] = [];
  const user = rowsOf(call.state, 'User', call.organizationId).find(
    (candidate) => candidate.externalIdentifier === externalIdentifier,
  );
  const values: Partial<User> = readUser(input, failures);
  if (earlier.some((other) => other.externalIdentifier === externalIdentifier))
    failures.push(conflict('externalIdentifier'));
  if (user) {
    for (const name of ['fullName', 'email', 'locale', 'timeZone'])
      if (input[name] === null) failures.push(badInput(name));
  } else {
    for (const name of ['fullName', 'email']) if (typeof input[name] !== 'string') failures.push(badInput(name));
  }
  const units = rowsOf(call.state, 'Unit', call.organizationId);
  const found = (accessibleUnits ?? []).map((wanted) => units.find((unit) => unit.externalIdentifier === wanted)?.id);
  if (found.includes(undefined)) failures.push({ ...notFound, argument: 'accessibleUnits' });
  const unitIds = accessibleUnits === undefined ? undefined : (found as string[]);
  return { input, user, values, unitIds, failures };
}

/**
 * Refuses rows whose address or token another user has, or gets, after the sync.
 * A refused row keeps what it has, which may refuse others, so that this goes on until nothing changes.
 */
function refuseTaken(call: Call, rows: readonly Row[]): void {
  const users = rowsOf(call.state, 'User', call.organizationId);
  const judged = rows.filter(({ failures }) => failures.length === 0);
  const isActive = ({ failures }: Row) => failures.length === 0;
  const keptByOthers = (row: Row) => {
    const givesUp = (user: User, name: keyof Unique) =>
      rows.some((other) => isActive(other) && other.user?.id === user.id && wanted(other)[name] !== unique(user)[name]);
    const others = users.filter((user) => user.id !== row.user?.id);
    const holds = (name: keyof Unique) => others.filter((user) => !givesUp(user, name)).map(unique);
    return taken(row, holds).map((argument) => ({ row, argument }));
  };
  for (let isDone = false; !isDone; ) {
    const active = rows.filter(isActive);
    const kept = active.flatMap(keptByOthers);
    // Of two rows that want the same, the later is refused, unless the earlier one is.
    const getting: Row[] = [];
    const late = active.flatMap((row) => {
      const contested = taken(row, () => getting.map(wanted)).map((argument) => ({ row, argument }));
      if (contested.length === 0) getting.push(row);
      return contested;
    });
    const refused = kept.length > 0 ? kept : late;
    for (const { row, argument } of refused) row.failures.push(conflict(argument));
    isDone = refused.length === 0;
  }
  // What was refused for one of them may want another that a refused row keeps: either may be told.
  for (const row of judged.filter((row) => !isActive(row)))
    for (const { argument } of keptByOthers(row)) row.failures.push(conflict(argument));
}

type Unique = { email: string | null; externalAuthenticationToken: string | null };
const unique = ({ email, externalAuthenticationToken }: Unique): Unique => ({
  email: email && withoutCase(email),
  externalAuthenticationToken,
});
const wanted = ({ user, values }: Row): Unique =>
  unique({ email: null, externalAuthenticationToken: null, ...user, ...values });

function taken(row: Row, others: (name: keyof Unique) => readonly Unique[]): (keyof Unique)[] {
  const own = wanted(row);
  return (['email', 'externalAuthenticationToken'] as const).filter(
    (name) => own[name] !== null && others(name).some((other) => other[name] === own[name]),
  );
}

function write(call: Call, state: State, row: Row, index: number, isDry: boolean, source: string | null): State {
  const { organizationId } = call;
  const answer = answeredResult(call, index).user;
  if (isDry) return row.user && !differs(state, row, row.user, source) ? state : { ...state };
  const user = row.user
    ? changed(row.user, row.values, answer)
    : {
        ...newUser,
        organizationId,
        ...withoutNulls(row.values),
        externalIdentifier: row.input.externalIdentifier,
        ...generatedOf(answer, 'User'),
      };
  const next = user === row.user ? state : put(state, 'User', user);
  return row.unitIds ? writeGrants(next, user, row.unitIds, answer, source) : next;
}

/** "`accessibleUnits` makes the grants *of this source* exactly these, without times, and touches no other." */
function writeGrants(
  state: State,
  user: User,
  unitIds: readonly string[],
  answer: unknown,
  source: string | null,
): State {
  const { organizationId, id: userId } = user;
  const isOfSync = (grant: AccessGrant) => grant.userId === userId && grant.source === source;
  const present = state.rows.accessGrants.filter(isOfSync);
  const isGone = present.some(({ unitId }) => !unitIds.includes(unitId));
  let next = isGone
    ? without(state, 'AccessGrant', (grant) => isOfSync(grant) && !unitIds.includes(grant.unitId))
    : state;
  const { accessGrants } = (answer ?? {}) as { accessGrants?: { nodes: { unit: { id: string } }[] } };
  for (const unitId of new Set(unitIds)) {
    const same = present.find((grant) => grant.unitId === unitId);
    if (same) {
      const hasTime = same.validFrom !== null || same.validUntil !== null;
      if (hasTime) next = put(next, 'AccessGrant', { ...same, validFrom: null, validUntil: null });
      continue;
    }
    const isNew = (id: string) => !state.rows.accessGrants.some((grant) => idOf('AccessGrant', grant) === id);
    const answered = accessGrants?.nodes.find(
      ({ unit, id }: { unit: { id: string }; id?: string }) =>
        unit.id === encodeId('Unit', unitId) && isNew(String(id)),
    );
    const { id, createdAt } = generatedOf(answered, 'AccessGrant');
    next = put(next, 'AccessGrant', {
      ...{ organizationId, id, userId, unitId },
      ...{ source, validFrom: null, validUntil: null, createdAt },
    });
  }
  return next;
}

function differs(state: State, { values, unitIds }: Row, user: User, ofSync: string | null): boolean {
  const granted = state.rows.accessGrants
    .filter(({ userId, source }) => userId === user.id && source === ofSync)
    // One with a time is none that a sync makes.
    .map(({ unitId, validFrom, validUntil }) => (validFrom === null && validUntil === null ? unitId : null));
  return (
    !isDeepStrictEqual({ ...user, ...values }, user) ||
    (unitIds !== undefined && !isDeepStrictEqual(new Set(unitIds), new Set(granted)))
  );
}

const newUser = { fullName: '', email: '', locale: 'en', timeZone: 'UTC', externalAuthenticationToken: null };

/** For a new user null is as good as left out. */
const withoutNulls = (values: Partial<User>): Partial<User> =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== null));
