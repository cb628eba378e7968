import { type Cell, parseRows, type Row, type Shape } from './parseRows.ts';

/**
 * One pass instead of @dataplan/pg's `pgInlineViaSubqueryTransform`, which parses by level.
 * The outermost statement is parsed with all that is in it, and the others find their rows there.
 */
export function subqueryRows([details, item]: readonly [SubqueryDetails, readonly Cell[]]) {
  const cell = item[details.selectIndex] as Cell;
  const rows = typeof cell === 'string' ? parseRows(cell, shapeOf(details.meta)) : cell;
  if (!rows) throw new TypeError('A statement within a row gave nothing');
  return pageOf(rows, details);
}

/** How a statement within a row was written, and with it those within its rows. */
type SubqueryDetails = Page & { readonly selectIndex: number; readonly meta: Meta };

/** By the steps that wait for them: the rows of a statement in one cell, or a joined row in some cells. */
type Meta = Readonly<
  Record<string, { readonly meta?: Meta; readonly selectIndex?: number; readonly selectIndexes?: number[] }>
>;

/** Memoized: a compiled operation has the same for each request. */
function shapeOf(meta: Meta): Shape {
  const known = shapes.get(meta);
  if (known) return known;
  const shape = readShape(meta);
  shapes.set(meta, shape);
  return shape;
}

const shapes = new WeakMap<Meta, Shape>();

/** Which cells have rows in them; what was joined has its columns in the same row. */
function readShape(meta: Meta): Shape {
  const shape = new Map<number, Shape>();
  const add = (index: number | undefined, inner: Shape) => {
    if (index === undefined) return;
    shape.set(index, new Map([...(shape.get(index) ?? []), ...inner]));
  };
  for (const details of Object.values(meta)) {
    const inner = shapeOf(details.meta ?? {});
    add(details.selectIndex, inner);
    for (const [index, within] of inner) add(details.selectIndexes?.[index], within);
  }
  return shape;
}

export type Page = {
  readonly first: number | null | undefined;
  readonly last: number | null | undefined;
  readonly offset: number | null | undefined;
  readonly fetchOneExtra: boolean;
  readonly shouldReverseOrder: boolean;
  readonly cursorDetails: unknown;
  readonly groupDetails: unknown;
};

/** As `createSelectResult` in @dataplan/pg's pgSelect.ts. */
export function pageOf(all: readonly Row[], details: Page & { readonly meta: unknown }) {
  const { first, last, fetchOneExtra, shouldReverseOrder, cursorDetails, groupDetails, meta } = details;
  const limit = first ?? last;
  const hasMore = fetchOneExtra && limit != null && all.length > limit;
  let items = all;
  if (hasMore) {
    const isFromEnd = !shouldReverseOrder && last != null && first == null;
    items = isFromEnd ? all.slice(Math.max(0, all.length - limit)) : all.slice(0, limit);
  }
  if (first != null && last != null && last < first && items.length > last) items = items.slice(-last);
  return {
    hasNextPage: first != null && last == null && first !== 0 && hasMore,
    hasPreviousPage: hasPreviousPage(details, hasMore),
    items: shouldReverseOrder ? items.toReversed() : items,
    cursorDetails,
    groupDetails,
    m: meta,
  };
}

function hasPreviousPage({ first, last, offset }: Page, hasMore: boolean): boolean {
  if (first === 0 || last === 0) return false;
  if (last != null && first == null) return hasMore;
  return offset != null && offset !== 0;
}
