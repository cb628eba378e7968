import type { AccessGrant, Unit } from '../rows.ts';
import { type Caller, type RowOfType, rowsOf, type State, type TypeName } from './state.ts';

/**
 * The rows that a caller may see, by section 3: an application all of its organization, a person the own row, assignments, cards and
 * grants within their time and the accessible units; scope `basic` nothing.
 */
export function visible<Type extends TypeName>(state: State, caller: Caller, type: Type): RowOfType[Type][] {
  const rows = rowsOf(state, type, caller.organizationId);
  if (caller.scope === 'app') return rows;
  const { userId } = caller;
  if (!userId) return [];
  const cardIds = state.rows.cardAssignments.filter((row) => row.userId === userId).map((row) => row.cardId);
  const unitIds = accessibleUnits(state, userId).map(({ id }) => id);
  return rows.filter((row) => {
    if ('unitId' in row) return row.userId === userId && isValidNow(row);
    if ('userId' in row) return row.userId === userId;
    if (type === 'User') return row.id === userId;
    return type === 'Card' ? cardIds.includes(row.id) : unitIds.includes(row.id);
  });
}

/** "Access granted to a unit covers its whole subtree." */
export function accessibleUnits(state: State, userId: string): Unit[] {
  const granted = validGrants(state)
    .filter((grant) => grant.userId === userId)
    .map(({ unitId }) => unitId);
  return state.rows.units.filter((unit) => pathOf(state, unit).some(({ id }) => granted.includes(id)));
}

/** "Outside its time a grant gives no access anywhere." */
export const validGrants = ({ rows }: State): AccessGrant[] => rows.accessGrants.filter(isValidNow);

/** Drawn times are years away from now. */
const isValidNow = ({ validFrom, validUntil }: AccessGrant): boolean =>
  (validFrom === null || Date.parse(validFrom) <= Date.now()) &&
  (validUntil === null || Date.parse(validUntil) > Date.now());

/** The unit and those above it. */
export function pathOf(state: State, unit: Unit): Unit[] {
  const path = [unit];
  for (let at = unit; at.parentId !== null; ) {
    const parent = state.rows.units.find(({ id }) => id === at.parentId);
    if (!parent || path.includes(parent)) break;
    path.push(parent);
    at = parent;
  }
  return path;
}
