import { encodeId } from '../ids.ts';
import type { AccessGrant, Card, CardAssignment, Unit, User } from '../rows.ts';
import { idOf, typeNameOf } from './ids.ts';
import { keyOf, type State, type TypeName } from './state.ts';

/** A change of an object, as section 9 says that the feed tells of it. */
export type Change = {
  organizationId: string;
  operation: 'CREATE' | 'UPDATE' | 'DELETE';
  typeName: string;
  id: string;
  fields: string[];
  relatedIds: string[];
};

type Row = User | Unit | Card | CardAssignment | AccessGrant;

/** What a mutation has changed: the objects that differ between two states. */
export function changesBetween(before: State, after: State): Change[] {
  const cards = new Map([...before.rows.cards, ...after.rows.cards].map((card) => [card.id, idOf('Card', card)]));
  return [
    ...changesOf('User', before.rows.users, after.rows.users, () => []),
    ...changesOf('Unit', before.rows.units, after.rows.units, ({ parentId }) =>
      parentId === null ? [] : [encodeId('Unit', parentId)],
    ),
    ...changesOf('Card', before.rows.cards, after.rows.cards, () => []),
    ...changesOf('CardAssignment', before.rows.cardAssignments, after.rows.cardAssignments, ({ userId, cardId }) => [
      ...[encodeId('User', userId), cards.get(cardId) ?? cardId],
    ]),
    ...changesOf('AccessGrant', before.rows.accessGrants, after.rows.accessGrants, ({ userId, unitId }) => [
      ...[encodeId('User', userId), encodeId('Unit', unitId)],
    ]),
  ];
}

/** @param related "the ids that the object refers to by a foreign key, as they were when it was deleted, too" */
function changesOf<R extends Row>(
  type: TypeName,
  before: readonly R[],
  after: readonly R[],
  related: (row: R) => string[],
): Change[] {
  const old = new Map(before.map((row) => [keyOf(row), row]));
  const now = new Map(after.map((row) => [keyOf(row), row]));
  const change = (row: R, operation: Change['operation'], fields: string[] = []): Change => ({
    organizationId: row.organizationId,
    operation,
    typeName: typeNameOf(type, row),
    id: idOf(type, row),
    fields: fields.sort(),
    relatedIds: related(row).sort(),
  });
  return [
    ...before.filter((row) => !now.has(keyOf(row))).map((row) => change(row, 'DELETE')),
    ...after.flatMap((row) => {
      const previous = old.get(keyOf(row));
      if (!previous) return [change(row, 'CREATE')];
      const fields = changedFields(previous, row);
      return fields.length > 0 ? [change(row, 'UPDATE', fields)] : [];
    }),
  ];
}

/** By their GraphQL names; "`updatedAt` is never named". */
function changedFields(before: Row, after: Row): string[] {
  const previous = before as Record<string, unknown>;
  return Object.entries(after)
    .filter(([name, value]) => name !== 'updatedAt' && previous[name] !== value)
    .map(([name]) => (name === 'parentId' ? 'parent' : name));
}

/**
 * The changes of each object in their order, which is all that the feed promises of order.
 * "One mutation may make several changes of an object", so that updates that follow each other count as one, with what the last refers to.
 */
export function byObject(changes: readonly Omit<Change, 'organizationId'>[]): Record<string, string[]> {
  const objects: Record<string, { operation: string; fields: Set<string>; relatedIds: readonly string[] }[]> = {};
  for (const { operation, typeName, id, fields, relatedIds } of changes) {
    objects[id] ??= [];
    const last = objects[id].at(-1);
    if (operation === 'UPDATE' && last?.operation === `UPDATE ${typeName}`) {
      for (const field of fields) last.fields.add(field);
      last.relatedIds = relatedIds;
    } else objects[id].push({ operation: `${operation} ${typeName}`, fields: new Set(fields), relatedIds });
  }
  return Object.fromEntries(
    Object.entries(objects).map(([id, told]) => [
      id,
      told.map(({ operation, fields, relatedIds }) =>
        [operation, ...[...fields].sort(), 'of', ...relatedIds.toSorted()].join(' '),
      ),
    ]),
  );
}

/** Objects of which less updates are told than mutations have changed them. */
export function lostUpdates(expected: readonly Change[], told: readonly Omit<Change, 'organizationId'>[]): string[] {
  const count = (changes: readonly Omit<Change, 'organizationId'>[], wanted: string) =>
    changes.filter(({ id, operation }) => id === wanted && operation === 'UPDATE').length;
  return [...new Set(expected.map(({ id }) => id))].filter((id) => count(told, id) < count(expected, id));
}
