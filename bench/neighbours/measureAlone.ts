import { setTimeout as delay } from 'node:timers/promises';
import type { TreeDatabase, TreeService } from '../data/startTree.ts';
import { busyConnections, explore, keepBusy } from './keepBusy.ts';
import { unthrottled } from './measureBeside.ts';
import type { Known, Shape } from './shape.ts';

const rounds = 3;
/** A long document is answered five times in one. */
const seconds = 5;

/** Two organizations of the same people, so that a document costs the same in both. */
export const twins = ['Left', 'Right'].map((name) => ({
  name,
  applications: { [name.toLowerCase()]: ['app'] },
  users: Array.from({ length: 1000 }, (_, n) => ({
    externalIdentifier: `user-${n}`,
    fullName: `Person ${n}`,
    email: `person-${n}@twins.test`,
    cards: [{ type: 'IdentificationCode', name: `Code ${n}` }],
  })),
}));

/**
 * Work conservation: the throughput of one organization alone, by that of it and its twin on as many connections. It is less than 1 if the
 * service reserves a share for an absent organization. Medians of rounds that take turns.
 */
export async function measureAlone(database: TreeDatabase, shape: Shape): Promise<number> {
  const service = await database.startService(unthrottled);
  try {
    const tokens = await Promise.all(twins.map(({ name }) => service.grantToken(name.toLowerCase())));
    const together = await Promise.all(
      tokens.map(async (token) => ({ token, known: await explore(service, token), connections: busyConnections / 2 })),
    );
    const alone = together.slice(0, 1).map((one) => ({ ...one, connections: busyConnections }));
    await answeredBy(service, shape, together);
    const ratios: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const one = await answeredBy(service, shape, alone);
      ratios.push(one / (await answeredBy(service, shape, together)));
    }
    return ratios.toSorted((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0;
  } finally {
    await service.stop();
  }
}

/** How many requests were answered in some seconds. */
export async function answeredBy(
  service: TreeService,
  shape: Shape,
  callers: readonly { readonly token: string; readonly known: Known; readonly connections: number }[],
): Promise<number> {
  const working = new AbortController();
  const sending = callers.map(({ token, known, connections }) =>
    keepBusy(service, { ...shape, connections }, { token, known }, working.signal),
  );
  await delay(seconds * 1000);
  working.abort();
  const outcomes = await Promise.all(sending);
  return outcomes.reduce((sum, { answered }) => sum + answered, 0);
}
