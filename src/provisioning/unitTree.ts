import type { Path, Problem } from './problem.ts';

/** A unit of the document in the flat list: after its parent, and level by level. */
export type UnitOf<T> = T & {
  readonly parent: UnitOf<T> | null;
  /** The position among its siblings in the document. */
  readonly position: number;
  /** 1 at the top. */
  readonly depth: number;
};

/** No real tree is deeper; each level takes a statement or two. */
const maxUnitDepth = 1000;

/**
 * Flattens nested `children` level by level, without recursion: a deep tree overflows no stack.
 *
 * @param read turns a unit without its children into its fields; it calls `report` with each problem
 */
export function flattenUnits<T extends object>(
  tree: unknown,
  read: (unit: unknown, report: (path: Path, message: string) => void) => T,
): { units: UnitOf<T>[]; problems: Problem[] } {
  const units: UnitOf<T>[] = [];
  const problems: Problem[] = [];
  const readList = (list: unknown, parent: UnitOf<T> | null) => {
    const depth = parent ? parent.depth + 1 : 1;
    if (!Array.isArray(list)) {
      problems.push({ path: childrenPath(parent), message: 'must be an array' });
    } else if (depth > maxUnitDepth && list.length > 0) {
      problems.push({ path: unitPath(parent).slice(0, 1), message: `units are nested at most ${maxUnitDepth} deep` });
    } else {
      for (const [position, element] of list.entries()) {
        const { children, ...fields } = isObject(element) ? element : {};
        const report = (below: Path, message: string) =>
          problems.push({ path: [...childrenPath(parent), position, ...below], message });
        const unit = { ...read(isObject(element) ? fields : element, report), parent, position, depth };
        units.push(unit);
        if (children !== undefined) pending.push([children, unit]);
      }
    }
  };

  const pending: [unknown, UnitOf<T> | null][] = [[tree, null]];
  // The list grows while the loop reads it.
  for (const [list, parent] of pending) readList(list, parent);
  return { units, problems };
}

/** The place of a unit below `units`, such as `[0].children[1]`. */
export function unitPath(unit: UnitOf<object> | null): Path {
  const path: PropertyKey[] = [];
  for (let at = unit; at; at = at.parent) path.unshift(...(at.parent ? ['children', at.position] : [at.position]));
  return path;
}

const childrenPath = (parent: UnitOf<object> | null): Path => (parent ? [...unitPath(parent), 'children'] : []);

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
