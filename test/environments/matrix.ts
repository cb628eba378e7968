import type { Cluster } from './cluster.ts';
import { type Column, columns, type Place } from './columns.ts';
import type { Environment } from './environment.ts';

/** A way that something may be, as the table names it, and how it is made. */
export type Way<Options> = { readonly subject: string; readonly name: string; readonly options: Options };

export type Row = {
  readonly ways: readonly Pick<Way<unknown>, 'subject' | 'name'>[];
  create(cluster: Cluster): Promise<Environment>;
};

export const waysOf = <Options>(subject: string, ways: Readonly<Record<string, Options>>): Way<Options>[] =>
  Object.entries(ways).map(([name, options]) => ({ subject, name, options }));

/** Some of them. */
export function waysNamed<Options>(ways: readonly Way<Options>[], ...names: string[]): Way<Options>[] {
  const found = ways.filter(({ name }) => names.includes(name));
  expect(found.map(({ name }) => name)).toEqual(expect.arrayContaining(names));
  return found;
}

type Create<Options> = (cluster: Cluster, options: Options) => Promise<Environment>;

/** As few rows as have every way: each has one of every list, whose options are others than those of the other lists. */
export function combine<Options extends object>(create: Create<Options>, ...lists: readonly Way<Options>[][]): Row[] {
  return Array.from({ length: Math.max(...lists.map(({ length }) => length)) }, (_, index) => {
    const ways = lists.flatMap((list) => list[index % list.length] ?? []);
    const options: Options = Object.assign({}, ...ways.map((way) => way.options));
    return { ways, create: (cluster) => create(cluster, options) };
  });
}

export const single = (subject: string, name: string, create: Row['create']): Row => ({
  ways: [{ subject, name }],
  create,
});

/** What became of a column: `passed`, or how it failed. */
export type Cells = Partial<Record<Column, string>>;

const columnsOf = ({ commit }: Cluster) =>
  (Object.entries(columns) as [Column, (place: Place) => Promise<void>][]).filter(
    ([name]) => commit || name !== 'dev loop',
  );

/** Tries the columns of a row in their order. If one of the first two fails, the others have nothing to look at. */
export async function runRow(row: Row, cluster: Cluster): Promise<Cells> {
  const environment = await row.create(cluster);
  const place = environment as Place;
  const cells: Cells = {};
  try {
    for (const [name, run] of columnsOf(cluster)) {
      cells[name] = await outcomeOf(run(place));
      if (!place.tenant && name !== 'migrate') break;
    }
  } finally {
    await place.owner?.end();
    await environment.remove();
  }
  return cells;
}

const outcomeOf = (run: Promise<void>): Promise<string> =>
  run.then(
    () => passed,
    (error: unknown) => `failed: ${String(error)}${error instanceof Error && error.cause ? `, by ${error.cause}` : ''}`,
  );

export const passed = 'passed';

export const nameOf = ({ ways }: Row): string => ways.map(({ subject, name }) => `${subject}: ${name}`).join('; ');

/** What {@link runRow} gives if nothing fails. */
export const allPassed = (cluster: Cluster): Cells =>
  Object.fromEntries(columnsOf(cluster).map(([name]) => [name, passed]));

/** Runs the rows, some at once, in their order. @returns what becomes of each */
export function startRows(rows: readonly Row[], cluster: Cluster, atOnce: number): Map<Row, Promise<Cells>> {
  const slots = Array.from({ length: atOnce }, () => Promise.resolve());
  return new Map(
    rows.map((row, index) => {
      const slot = index % atOnce;
      const cells = (slots[slot] ?? Promise.resolve()).then(() => runRow(row, cluster));
      slots[slot] = cells.then(
        () => undefined,
        () => undefined,
      );
      return [row, cells];
    }),
  );
}
