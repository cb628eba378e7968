import type { PgSelectSingleStep, PgSelectStep } from 'postgraphile/@dataplan/pg';
import { lambda, type Step } from 'postgraphile/grafast';
import { type SQL, sql } from 'postgraphile/pg-sql2';
import { selectCell } from '../internals.ts';

const source = sql.identifier(Symbol('source'));

/** The rows of an array, in which one row without values marks an array that is null: `unnest` alone makes of it an empty one. */
export const rowsOfArray = (array: SQL): SQL =>
  sql`(select ${array} as items offset 0) as ${source} cross join lateral unnest(coalesce(${source}.items, array_append(${source}.items, null)))`;

/** The list of a statement over {@link rowsOfArray}; null when the array is. */
export function listOfArray($rows: PgSelectStep): Step {
  let mark: number;
  const $list = lambda(
    $rows.items() as Step<readonly (readonly unknown[])[]>,
    (rows) => (rows[0]?.[mark] === 'true' ? null : rows),
    true,
  );
  const listItem = ($item: Step) => {
    const $row = $rows.listItem($item as never) as unknown as PgSelectSingleStep;
    // Grafast adds no cell before the arguments of the field are known.
    mark = selectCell($row.getClassStep(), sql`(${source}.items is null)::text`);
    return $row;
  };
  return Object.assign($list, { listItem });
}
