import fc from 'fast-check';
import { seed, sizeOf } from '../support/search.ts';
import { shareService } from '../support/sharedService.ts';
import { type ConnectionName, connections, createRows, type Page, type Row } from './arbitrary/createRows.ts';
import type { GraphTest } from './support.ts';

const count = sizeOf({ small: 60, whole: 300 });
const lanes = 4;

let graph: GraphTest;
beforeAll(async () => {
  graph = await shareService();
});

test('whatever comes, goes and moves between pages, each row that stays is seen exactly once', async () => {
  process.stdout.write(`${count} walks from page to page are drawn with SEED=${seed}\n`);
  const lane = (index: number) =>
    fc.assert(fc.asyncProperty(walks(), checkWalk), { numRuns: count / lanes, seed: seed + index });

  const results = await Promise.allSettled(Array.from({ length: lanes }, (_, index) => lane(index)));

  for (const result of results) if (result.status === 'rejected') throw result.reason;
}, 120_000);

type Walk = {
  connection: ConnectionName;
  orderBy: string[];
  isForward: boolean;
  /** One after the other, and then from the start again. */
  sizes: number[];
  rows: Row[];
  /** The changes after each page: to the row at this place, or to a new one. */
  changes: { kind: 'insert' | 'remove' | 'change'; at: number; row: Row }[][];
};

function walks(): fc.Arbitrary<Walk> {
  const row = fc.record<Row>({
    // Ties, and neighbours in one collation that are far apart in another.
    name: fc.constantFrom('a', 'a', 'A', 'b', 'ä', 'z', 'Z', '😀', 'a b', '-', "'"),
    external: fc.constantFrom(null, null, null, 'a', 'A', 'ä', '😀', '', ' '),
    isGranted: fc.boolean(),
  });
  const change = fc.record({ kind: fc.constantFrom('insert', 'remove', 'change'), at: fc.nat(99), row });
  return fc.constantFrom(...(Object.keys(connections) as ConnectionName[])).chain((connection) =>
    fc.record<Walk>({
      connection: fc.constant(connection),
      orderBy: fc.uniqueArray(
        fc.constantFrom(...connections[connection].orders.flatMap((order) => [`${order}_ASC`, `${order}_DESC`])),
        { maxLength: 3 },
      ),
      isForward: fc.boolean(),
      sizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 3 }),
      rows: fc.array(row, { maxLength: 14, size: 'max' }),
      changes: fc.array(fc.array(change, { maxLength: 3, size: 'max' }), { maxLength: 8, size: 'max' }),
    }),
  );
}

async function checkWalk({ connection, orderBy, isForward, sizes, rows: drawn, changes }: Walk): Promise<void> {
  const rows = await createRows(graph, connection);
  await rows.insert(drawn);
  const isByKey = orderBy.every((order) => order.startsWith('PRIMARY_KEY'));
  const stays = new Set(rows.ids());
  // Seen once if at all. A row that sorts elsewhere from now on may be seen on both sides of a cursor.
  const comesOrGoes = new Set<string>();
  const applyChange = async ({ kind, at, row }: Walk['changes'][number][number]) => {
    if (kind === 'insert') for (const id of await rows.insert([row])) comesOrGoes.add(id);
    if (kind === 'insert') return;
    const id = rows.inserted()[at % rows.inserted().length];
    if (id === undefined) return;
    if (kind === 'change') {
      await rows.change(id, row);
      if (!isByKey) for (const ids of [stays, comesOrGoes]) ids.delete(id);
    } else {
      await rows.remove(id);
      if (stays.delete(id)) comesOrGoes.add(id);
    }
  };

  const seen: string[] = [];
  for (let index = 0, cursor: string | null = null; ; index++) {
    const size = sizes[index % sizes.length] ?? 1;
    const page: Page = await rows.page({
      orderBy,
      ...(isForward ? { first: size, after: cursor } : { last: size, before: cursor }),
    });
    const ids = page.nodes.map(({ id }) => id);
    expect(ids.length).toBeLessThanOrEqual(size);
    seen.splice(isForward ? seen.length : 0, 0, ...ids);
    const { hasNextPage, hasPreviousPage, startCursor, endCursor } = page.pageInfo;
    if (!(isForward ? hasNextPage : hasPreviousPage)) break;
    cursor = isForward ? endCursor : startCursor;
    for (const change of changes[index] ?? []) await applyChange(change);
  }

  const all = (await rows.page({ first: 1000, orderBy })).nodes.map(({ id }) => id);
  expect(all.toSorted()).toEqual(rows.ids().toSorted());
  expect(seen.filter((id) => stays.has(id))).toEqual(all.filter((id) => stays.has(id)));
  const met = seen.filter((id) => comesOrGoes.has(id));
  expect(met).toEqual([...new Set(met)]);
}
