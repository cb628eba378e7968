import { setTimeout as delay } from 'node:timers/promises';
import { type CellClients, createCellTenant, startCellClients } from './cellClients.ts';
import { leftOver, moved, type SystemCell, startMove } from './cells.ts';

/** An organization's move to the other cell. */
export type MeasuredMove = {
  readonly copiedMs: number;
  readonly stoppedForMs: number;
  readonly droppedMs: number;
  /** The 99th percentile of what other organizations read meanwhile, in both cells, in milliseconds. */
  readonly p99: { readonly copy: number; readonly cutOver: number; readonly drop: number; readonly all: number };
};

export type MeasuredMoves = {
  readonly moves: readonly MeasuredMove[];
  /** The same percentile before and after. */
  readonly before: number;
  readonly after: number;
  /** Answers to other organizations that were no success, and ends of their streams. */
  readonly refused: Counts;
  /** Answers to the organization that moved, other than successes and 503; and how many were 503. */
  readonly failed: Counts;
  readonly unavailable: number;
  /** How many writes of the organization that moved were acknowledged; those that it lacks, and those of which it has a part. */
  readonly acknowledged: number;
  readonly lost: readonly string[];
  readonly halfThere: readonly string[];
  /** Publications, slots and subscriptions after each move, and how many people the cell that was left still had. */
  readonly leftOver: readonly string[];
};

type Counts = Readonly<Record<string, number>>;

/**
 * Moves an organization of so many people to the other cell and back. Sixteen clients of it are at work meanwhile, and sixteen of another
 * organization in each cell. The test of the whole system and the bench share it.
 */
export async function moveUnderLoad(cells: readonly [SystemCell, SystemCell], people: number): Promise<MeasuredMoves> {
  const tenant = await createCellTenant(cells[0].owner, people);
  let serving = cells[0];
  const neighbours = await startNeighbours(cells);
  const own = startCellClients(() => serving.url, tenant);
  const left: string[] = [];
  // The services compile what they are asked, and PostgreSQL plans it; then as long again.
  await delay(settleMs);
  neighbours.take();
  await delay(settleMs);
  const before = p99(neighbours.take());

  const moves: MeasuredMove[] = [];
  for (const [from, to] of [cells, cells.toReversed() as unknown as typeof cells]) {
    const run = async (...args: string[]) => {
      const startedAt = performance.now();
      const result = await moved(startMove(from, to, tenant.name, args));
      return { ms: Math.round(performance.now() - startedAt), result, latencies: neighbours.take() };
    };
    const copy = await run();
    const cutOver = await run('--cut-over');
    serving = to;
    const drop = await run('--drop');
    moves.push({
      ...{ copiedMs: copy.ms, stoppedForMs: Number(cutOver.result.stoppedForMs), droppedMs: drop.ms },
      p99: {
        ...{ copy: p99(copy.latencies), cutOver: p99(cutOver.latencies), drop: p99(drop.latencies) },
        all: p99([copy, cutOver, drop].flatMap(({ latencies }) => latencies)),
      },
    });
    left.push(...(await leftOver(from)), ...(await leftOver(to)), ...(await peopleOf(from, tenant.organizationId)));
  }
  await delay(settleMs);
  const after = p99(neighbours.take());
  const refused = await neighbours.stop();
  await own.stop();

  const { users, deletions, tokens, lost, halfThere } = await own.findings(cells[0].owner);
  const { answers } = own.take();
  return {
    ...{ moves, before, after, refused, lost, halfThere, leftOver: left },
    failed: without(answers, / (200|503|end)$/),
    unavailable: [...answers].reduce((sum, [answer, count]) => sum + (answer.endsWith(' 503') ? count : 0), 0),
    acknowledged: users + deletions + tokens,
  };
}

const settleMs = 10_000;

/** Another organization in each cell. */
async function startNeighbours(cells: readonly SystemCell[]) {
  const all: CellClients[] = [];
  for (const cell of cells) all.push(startCellClients(() => cell.url, await createCellTenant(cell.owner, 100)));
  const refused: Record<string, number> = {};
  /** The latencies since the last call. */
  const take = () =>
    all.flatMap((clients) => {
      const { answers, latencies } = clients.take();
      for (const [answer, count] of Object.entries(without(answers, / 200$/)))
        refused[answer] = (refused[answer] ?? 0) + count;
      return latencies;
    });
  const stop = async () => {
    for (const clients of all) await clients.stop();
    take();
    return refused;
  };
  return { take, stop };
}

const without = (answers: ReadonlyMap<string, number>, expected: RegExp): Counts =>
  Object.fromEntries([...answers].filter(([answer]) => !expected.test(answer)));

const p99 = (latencies: readonly number[]): number =>
  Math.round(latencies.toSorted((a, b) => a - b)[Math.floor(latencies.length * 0.99)] ?? Number.NaN);

async function peopleOf({ owner }: SystemCell, organizationId: string): Promise<string[]> {
  const { rows } = await owner.query<{ count: number }>(
    'select count(*)::int as count from app_public.users where organization_id = $1 having count(*) > 0',
    [organizationId],
  );
  return rows.map(({ count }) => `${count} people`);
}
