import type { Unit } from '../rows.ts';
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
import { put, rowsOf, type State } from './state.ts';
import { answeredResult, chooseFailure, type SyncResult } from './syncResults.ts';
import { readValue } from './values.ts';

type Input = { externalIdentifier: string; name?: string | null; parentExternalIdentifier?: string | null };
type Row = { input: Input; unit: Unit | undefined; name: string | undefined; failures: Failure[] };

export function unitsSync(call: Call): Outcome {
  const inputs = call.args.units as readonly Input[];
  if (inputs.length < 1 || inputs.length > 1000 || JSON.stringify(inputs).includes('\\u0000'))
    return { failures: [badInput('units')] };

  const units = rowsOf(call.state, 'Unit', call.organizationId);
  const rows = inputs.map((input, index) => readRow(units, input, inputs.slice(0, index)));
  refuseParents(units, rows);
  const isDry = call.args.dryRun === true;
  let { state } = call;
  const outcomes = new Map<Row, SyncResult['outcome']>(rows.map((row) => [row, 'REFUSED']));
  for (const row of parentsFirst(rows.filter(({ failures }) => failures.length === 0))) {
    const next = write(call, state, row, rows.indexOf(row), isDry);
    outcomes.set(row, row.unit === undefined ? 'CREATED' : next === state ? 'UNCHANGED' : 'UPDATED');
    if (!isDry) state = next;
  }

  const results = rows.map((row, index): SyncResult => {
    const { externalIdentifier } = row.input;
    const unit = rowsOf(state, 'Unit', call.organizationId).find(
      (other) => other.externalIdentifier === externalIdentifier,
    );
    const isRefused = row.failures.length > 0;
    return {
      externalIdentifier,
      outcome: outcomes.get(row) as SyncResult['outcome'],
      error: isRefused ? chooseFailure(row.failures, answeredResult(call, index)) : null,
      unit: isRefused || !unit ? null : typed('Unit', unit),
    };
  });
  return { state, payload: { results } };
}

function readRow(units: readonly Unit[], input: Input, earlier: readonly Input[]): Row {
  const { externalIdentifier } = input;
  const failures: Failure[] = [];
  const unit = units.find((candidate) => candidate.externalIdentifier === externalIdentifier);
  readValue('externalIdentifier', externalIdentifier, failures);
  const name = typeof input.name === 'string' ? readValue('name', input.name, failures) : undefined;
  if (earlier.some((other) => other.externalIdentifier === externalIdentifier))
    failures.push(conflict('externalIdentifier'));
  if (unit ? input.name === null : name === undefined) failures.push(badInput('name'));
  return { input, unit, name, failures };
}

/**
 * Refuses rows whose parent is unknown or refused itself, and those that a move would put below themselves.
 * Each refusal may cause others, so that this goes on until nothing changes.
 */
function refuseParents(units: readonly Unit[], rows: readonly Row[]): void {
  for (let isDone = false; !isDone; ) {
    const lost = rows.filter((row) => !isRefused(row) && isParentMissing(units, rows, row));
    for (const { failures } of lost) failures.push({ ...notFound, argument: 'parentExternalIdentifier' });
    // A move is only judged by rows that are written.
    const below = lost.length > 0 ? [] : rows.filter((row) => !isRefused(row) && isBelowItself(units, rows, row));
    for (const { failures } of below) failures.push(badInput('parentExternalIdentifier'));
    isDone = lost.length + below.length === 0;
  }
  // A row that is refused may name a parent that is refused, too: either reason is right.
  for (const row of rows.filter(isRefused))
    if (isParentMissing(units, rows, row)) row.failures.push({ ...notFound, argument: 'parentExternalIdentifier' });
}

const isRefused = ({ failures }: Row) => failures.length > 0;

/** The first row of an external identifier counts: a second one is refused for that alone. */
const rowOf = (rows: readonly Row[], externalIdentifier: string) =>
  rows.find(({ input }) => input.externalIdentifier === externalIdentifier);

function isParentMissing(units: readonly Unit[], rows: readonly Row[], { input }: Row): boolean {
  const parent = input.parentExternalIdentifier;
  if (typeof parent !== 'string') return false;
  const row = rowOf(rows, parent);
  return row
    ? isRefused(row) && row.input !== input
    : !units.some(({ externalIdentifier }) => externalIdentifier === parent);
}

/** Whether the row moves its unit, or adds it, and the way up from there comes back to it. */
function isBelowItself(units: readonly Unit[], rows: readonly Row[], row: Row): boolean {
  const { input, unit } = row;
  const parent = input.parentExternalIdentifier;
  if (typeof parent !== 'string') return false;
  const presentParent = units.find(({ id }) => id === unit?.parentId);
  if (unit && presentParent?.externalIdentifier === parent) return false;

  const seen = new Set<string>();
  let at: string | undefined = identityOf(units, parent);
  const own = identityOf(units, input.externalIdentifier);
  while (at !== undefined && at !== own && !seen.has(at)) {
    seen.add(at);
    at = parentOf(units, rows, at);
  }
  return at === own;
}

/** Its key, or its external identifier when it is new. */
const identityOf = (units: readonly Unit[], external: string) =>
  units.find(({ externalIdentifier }) => externalIdentifier === external)?.id ?? `new ${external}`;

/** The parent after the sync. */
function parentOf(units: readonly Unit[], rows: readonly Row[], identity: string): string | undefined {
  const row = rows.find(
    (candidate) => !isRefused(candidate) && identityOf(units, candidate.input.externalIdentifier) === identity,
  );
  const parent = row?.input.parentExternalIdentifier;
  if (parent === null) return undefined;
  if (typeof parent === 'string') return identityOf(units, parent);
  return units.find(({ id }) => id === identity)?.parentId ?? undefined;
}

/** New units need their parents' keys. */
function parentsFirst(rows: readonly Row[]): Row[] {
  const done: Row[] = [];
  const visit = (row: Row) => {
    if (done.includes(row)) return;
    const parent = row.input.parentExternalIdentifier;
    const above = typeof parent === 'string' ? rowOf(rows, parent) : undefined;
    if (above && !above.unit) visit(above);
    done.push(row);
  };
  for (const row of rows) visit(row);
  return done;
}

function write(call: Call, state: State, row: Row, index: number, isDry: boolean): State {
  const { organizationId } = call;
  const answer = answeredResult(call, index).unit;
  const { parentExternalIdentifier, externalIdentifier } = row.input;
  const parent = rowsOf(state, 'Unit', organizationId).find(
    (unit) => unit.externalIdentifier === parentExternalIdentifier,
  );
  const values: Partial<Unit> = {};
  if (row.name !== undefined) values.name = row.name;
  // In a dry run a new parent has no key; any other than the present one says that the unit moves.
  if (typeof parentExternalIdentifier === 'string') values.parentId = parent?.id ?? `new ${parentExternalIdentifier}`;
  if (parentExternalIdentifier === null) values.parentId = null;
  if (isDry) {
    const isSame =
      row.unit && Object.entries(values).every(([name, value]) => row.unit?.[name as keyof Unit] === value);
    return isSame ? state : { ...state };
  }
  if (row.unit) {
    const next = changed(row.unit, values, answer);
    return next === row.unit ? state : put(state, 'Unit', next);
  }
  const unit = {
    organizationId,
    parentId: null,
    name: '',
    ...values,
    externalIdentifier,
    ...generatedOf(answer, 'Unit'),
  };
  return put(state, 'Unit', unit);
}
