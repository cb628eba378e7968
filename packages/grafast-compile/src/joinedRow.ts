import type { Cell } from './parseRows.ts';

/**
 * Replaces @dataplan/pg's `pgInlineViaJoinTransform`, which extracts a joined row from its row.
 * The list of one is allocated at its size, and not grown, for which V8 reserves room for seventeen.
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
