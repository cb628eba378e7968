import { setTimeout as delay } from 'node:timers/promises';
import type { TreeDatabase, TreeService } from '../data/startTree.ts';
import { busyConnections, explore, keepBusy } from './keepBusy.ts';
import { unthrottled } from './measureBeside.ts';
import type { Known, Shape } from './shape.ts';

const rounds = 3;
const seconds = 2;

/**
 * Work conservation: what one organization gets alone, to what two of them get together on as many connections.
 * A service that keeps back a share for somebody who is not there gives less than 1. Medians of rounds that take turns.
 */
export async function measureAlone(database: TreeDatabase, shape: Shape): Promise<number> {
  const service = await database.startService(unthrottled);
  try {
    const known = await explore(service);
    const alone = { token: service.token, connections: busyConnections };
    const together = [service.token, await service.grantToken('neighbour')].map((token) => ({
      token,
      connections: busyConnections / 2,
    }));
    await answeredBy(service, shape, known, [alone]);
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const one = await answeredBy(service, shape, known, [alone]);
      ratios.push(one / (await answeredBy(service, shape, known, together)));
    }
    return ratios.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  } finally {
    await service.stop();
  }
}

async function answeredBy(
  service: TreeService,
  shape: Shape,
  known: Known,
  callers: readonly { readonly token: string; readonly connections: number }[],
): Promise<number> {
  const working = new AbortController();
  const sending = callers.map(({ token, connections }) =>
    keepBusy(service, { ...shape, connections }, { token, known }, working.signal),
  );
  await delay(seconds * 1000);
  working.abort();
  const outcomes = await Promise.all(sending);
  return outcomes.reduce((sum, { answered }) => sum + answered, 0);
}
