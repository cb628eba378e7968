import type { Unit } from '../rows.ts';
import { findById, identify, isGiven } from './identify.ts';
import { typed } from './ids.ts';
import { badInput, type Call, changed, conflict, type Failure, generatedOf, type Outcome } from './outcome.ts';
import { put, rowsOf, type State, without } from './state.ts';
import { readValue } from './values.ts';

const parentArguments = ['parentId', 'parentExternalIdentifier'] as const;

export function unitCreate(call: Call): Outcome {
  const failures: Failure[] = [];
  const { args, organizationId } = call;
  const name = readValue('name', String(args.name), failures);
  const externalIdentifier = readIdentifier(args, failures) ?? null;
  const parent = parentArguments.some((argument) => isGiven(args, argument))
    ? identify(call, 'Unit', parentArguments, failures)
    : undefined;
  refuseTaken(call, null, externalIdentifier, failures);
  if (failures.length > 0) return { failures };

  const generated = generatedOf(answeredUnit(call), 'Unit');
  const unit: Unit = { organizationId, ...generated, parentId: parent?.id ?? null, externalIdentifier, name };
  return { state: put(call.state, 'Unit', unit), payload: { unit: typed('Unit', unit) } };
}

export function unitUpdate(call: Call): Outcome {
  const failures: Failure[] = [];
  const { args } = call;
  const isById = isGiven(args, 'id');
  const unit = isById
    ? findById(call, 'Unit', 'id', failures)
    : identify(call, 'Unit', ['id', 'externalIdentifier'], failures);
  const values: Partial<Unit> = {};
  if (args.name === null) failures.push(badInput('name'));
  if (typeof args.name === 'string') values.name = readValue('name', args.name, failures);
  if (isById && args.externalIdentifier !== undefined) {
    values.externalIdentifier = readIdentifier(args, failures) ?? null;
    if (unit) refuseTaken(call, unit, values.externalIdentifier, failures);
  }
  const given = parentArguments.filter((argument) => args[argument] !== undefined);
  if (given.length === 1 && args[given[0] as string] === null) values.parentId = null;
  else if (given.length > 0) {
    // A null beside the other argument is two answers to one question, save that two nulls are the same one.
    if (given.every((argument) => args[argument] === null)) values.parentId = null;
    else if (given.length === 2) failures.push(badInput('parentId'));
    const parent = identify(call, 'Unit', parentArguments, given.every((name) => args[name] === null) ? [] : failures);
    if (parent && unit && [unit.id, ...idsBelow(call.state, unit.id)].includes(parent.id))
      failures.push(badInput(given));
    if (parent) values.parentId = parent.id;
  }
  if (!unit || failures.length > 0) return { failures };

  const next = changed(unit, values, answeredUnit(call));
  return { state: put(call.state, 'Unit', next), payload: { unit: typed('Unit', next) } };
}

export function unitDelete(call: Call): Outcome {
  const failures: Failure[] = [];
  const unit = identify(call, 'Unit', ['id', 'externalIdentifier'], failures);
  if (!unit) return { failures };
  const below = idsBelow(call.state, unit.id);
  if (below.length > 0 && call.args.withDescendants !== true) return { failures: [conflict('withDescendants')] };

  const gone = [unit.id, ...below];
  const withoutGrants = without(call.state, 'AccessGrant', ({ unitId }) => gone.includes(unitId));
  const state = without(withoutGrants, 'Unit', ({ id }) => gone.includes(id));
  return { state, payload: { unit: typed('Unit', { ...unit, parentId: null }) } };
}

/** The keys of all units below one. */
export function idsBelow(state: State, unitId: string): string[] {
  return state.rows.units
    .filter(({ parentId }) => parentId === unitId)
    .flatMap(({ id }) => [id, ...idsBelow(state, id)]);
}

function readIdentifier(args: Call['args'], failures: Failure[]): string | null | undefined {
  const value = args.externalIdentifier;
  return typeof value === 'string' ? readValue('externalIdentifier', value, failures) : null;
}

function refuseTaken(call: Call, unit: Unit | null, externalIdentifier: string | null, failures: Failure[]): void {
  const others = rowsOf(call.state, 'Unit', call.organizationId).filter(({ id }) => id !== unit?.id);
  if (externalIdentifier !== null && others.some((other) => other.externalIdentifier === externalIdentifier))
    failures.push(conflict('externalIdentifier'));
}

const answeredUnit = ({ answer }: Call) => (answer as { unit?: unknown } | null)?.unit;
