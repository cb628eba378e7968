import { startTreeDatabase } from './data/startTree.ts';
import { fillFeed } from './follow/fillFeed.ts';
import { measureCost } from './follow/measureCost.ts';
import { measureIdle } from './follow/measureIdle.ts';
import { measureLatency } from './follow/measureLatency.ts';
import { measurePages } from './follow/measurePages.ts';
import type { Measured } from './support/measured.ts';

/**
 * `npm run bench follow [changes]`: what the change feed costs a write, how late a stream is, what 1,000 idle streams cost, and how long a
 * page of 1,000 takes with 10 million changes kept. Exits with 1 when a bound is missed.
 */
const kept = Number(process.argv[2] ?? 10_000_000);

const rows: Measured[] = [];
const report = (measured: readonly Measured[]) => {
  console.table(measured);
  rows.push(...measured);
};

report(await measureCost());

await using resources = new AsyncDisposableStack();
const organizations = Array.from({ length: 20 }, (_, number) => ({
  name: `Follower ${number}`,
  applications: { [`follower-${number}`]: ['app'] },
  users: [],
}));
const database = await startTreeDatabase({ beside: organizations });
resources.defer(database.stop);
const service = await database.startService({ THROTTLE_REQUESTS_PER_MINUTE: '1000000' });
resources.defer(service.stop);

report(await measureLatency(service));
report(await measureIdle(service, Object.keys(Object.assign({}, ...organizations.map((one) => one.applications)))));
await fillFeed(database.ownerUrl, kept);
report(await measurePages(service, kept));
process.exitCode = rows.every(({ isMet }) => isMet) ? 0 : 1;
