import type { Cell } from './parseRows.ts';

/**
 * Stands in for @dataplan/pg's `pgInlineViaJoinTransform`, which finds a joined row in the cells of the one that it was joined to:
 * as a list of one, that was no list of seventeen while it grew.
 */
export function joinedRow([details, item]: readonly [JoinDetails, readonly Cell[] | null | undefined]) {
  const { meta, selectIndexes, cursorDetails, groupDetails } = details;
  const items = item == null ? [] : [selectIndexes.map((index) => item[index])];
  return { hasPreviousPage: false, hasNextPage: false, items, cursorDetails, groupDetails, m: meta };
}

type JoinDetails = {
  readonly meta: unknown;
  /** Where its cells are. */
  readonly selectIndexes: readonly number[];
  readonly cursorDetails: unknown;
  readonly groupDetails: unknown;
};
