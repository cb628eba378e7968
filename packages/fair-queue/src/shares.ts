import type { Flow } from './Flow.ts';
import type { Limits } from './interface.ts';
import type { Ticket } from './Ticket.ts';

/**
 * Longest queue drop within shares: whether a piece may wait, if others make room for it.
 *
 * The tenants that wait have equal shares of a bound, and the flows that wait below a flow have equal shares of its share. A piece with
 * which its flow or one above keeps within its share may always wait. Then the flows beside that one have more than theirs on average.
 */
export function mayWait(root: Flow<Ticket>, path: readonly string[], bytes: number, limits: Required<Limits>): boolean {
  for (const bound of boundsOf(root, path, bytes, limits)) if (isExceeded(bound) && !findContended(bound)) return false;
  return true;
}

/** The piece that must make room for one that may wait; null if there is room. */
export function nextToDrop(
  root: Flow<Ticket>,
  path: readonly string[],
  bytes: number,
  limits: Required<Limits>,
): Ticket | null {
  const exceeded = boundsOf(root, path, bytes, limits).find(isExceeded);
  const contended = exceeded && findContended(exceeded);
  return contended ? newestOfLargest(contended, exceeded.measure) : null;
}

/** A bound on what waits below a flow, for a piece that would be added at a path below it. */
type Bound = {
  readonly flow: Flow<Ticket> | undefined;
  readonly path: readonly string[];
  readonly measure: 'waiting' | 'waitingBytes';
  readonly added: number;
  readonly max: number;
};

function boundsOf(root: Flow<Ticket>, path: readonly string[], bytes: number, limits: Required<Limits>): Bound[] {
  const { maxWaiting, maxWaitingPerTenant, maxWaitingBytes } = limits;
  const [tenant = '', ...below] = path;
  return [
    {
      ...{ flow: root.children.get(tenant), path: below },
      ...{ measure: 'waiting', added: 1, max: maxWaitingPerTenant },
    },
    { flow: root, path, measure: 'waiting', added: 1, max: maxWaiting },
    { flow: root, path, measure: 'waitingBytes', added: bytes, max: maxWaitingBytes },
  ];
}

const isExceeded = ({ flow, measure, added, max }: Bound) => (flow?.[measure] ?? 0) + added > max;

/** The flow below which the largest must make room; null if the piece would exceed each of its shares. */
function findContended({ flow, path, measure, added, max }: Bound): Flow<Ticket> | null {
  let share = max;
  let parent = flow;
  for (const key of path) {
    const below: Flow<Ticket> | undefined = parent?.children.get(key);
    const waiting = parent?.waitingFlows.length ?? 0;
    share /= below && below.waiting > 0 ? waiting : waiting + 1;
    if ((below?.[measure] ?? 0) + added <= share) return parent ?? null;
    parent = below;
  }
  return null;
}

/** The newest piece of the leaf that has most, in the flow below that has most, and so on. */
function newestOfLargest(flow: Flow<Ticket> | null, measure: Bound['measure']): Ticket | null {
  if (!flow || flow.newest) return flow?.newest ?? null;
  let largest: Flow<Ticket> | null = null;
  for (const below of flow.waitingFlows) if (!largest || below[measure] > largest[measure]) largest = below;
  return newestOfLargest(largest, measure);
}
