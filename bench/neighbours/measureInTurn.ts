import type { TreeDatabase } from '../data/startTree.ts';
import { busyConnections, explore } from './keepBusy.ts';
import { answeredBy } from './measureAlone.ts';
import { unthrottled } from './measureBeside.ts';
import type { Shape } from './shape.ts';

/** Kinds that take much memory, of several causes; then answers that nobody reads, which stay in memory. */
export const heavyInTurn = [
  ...['strangers: 300 equal fields', 'strangers on 300 connections', 'signing in with the right password'],
  ...['8 names of 1,000 users', '35 names of 1,000 users, slowly read', '35 names of 1,000 users, compressed'],
  ...['10,000 rows', '1,000 rows of everything', '1,000 rows of everything, aborted', '45 counts in another order'],
  ...['syncs of 1,000 users with tokens, tried dry', 'documents of 1,000 fields that come twice', '306 parents'],
  ...['1,000 fields, 100 connections', '140 levels up and down the tree', 'bodies of 300,000 objects'],
  ...['one long answer by its idempotency key', 'wrong: 19,000 unknown fields of a card'],
  '8 names of 1,000 users, not read',
];

/** The peak of the resident memory of one service that gets the kinds one after the other, in megabytes. */
export async function measureInTurn(database: TreeDatabase, kinds: readonly Shape[]): Promise<number> {
  const service = await database.startService(unthrottled);
  try {
    const known = await explore(service, service.token);
    for (const kind of kinds) {
      const { connections = busyConnections } = kind;
      await answeredBy(service, kind, [{ token: service.token, known, connections }]);
    }
    return Math.round((await service.peakResidentBytes()) / 1e6);
  } finally {
    await service.stop();
  }
}
