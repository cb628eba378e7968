import { createNumbers } from './peers/createNumbers.ts';
import { issueTokens } from './peers/data/issueTokens.ts';
import { openData } from './peers/data/openData.ts';
import { sizes } from './peers/data/sizes.ts';
import { exitOnSignals } from './peers/exitOnSignals.ts';
import { startLoad } from './peers/load/startLoad.ts';
import { startProxy } from './peers/measure/startProxy.ts';
import { readOptions } from './peers/options.ts';
import { type Contestant, median, runRounds } from './peers/runRounds.ts';
import { startPeer } from './peers/servers/startPeer.ts';

/**
 * `npm run bench latency`: how much longer an operation takes when each round trip to the database takes 1 ms more, as in a network;
 * one request at a time. Exits with 1 when the median rises by more than 1.5 ms. `--only sql` asks another peer.
 */
const delayMs = 1;
const maxRiseMs = 1.5;

exitOnSignals();
const manyShortRounds = ['--rounds', '24', '--seconds', '1'];
const options = readOptions(['--connections', '1', '--only', 'ours', ...manyShortRounds, ...process.argv.slice(2)]);
const report = (line: string) => console.error(line);
await using resources = new AsyncDisposableStack();
const data = await openData('small', report);
resources.defer(data.close);
// Both ways lead through a proxy, whose own time is not what is asked.
const proxy = await startProxy(data.authUrl);
resources.defer(proxy.stop);
const size = sizes.small;
const tokens = await issueTokens(data.ownerUrl, size);

const contestants: Contestant[] = [];
for (const name of options.peers) {
  // One process for both ways, since no two compile alike.
  const peer = await startPeer(name, proxy.url);
  resources.defer(peer.stop);
  const contestant = { peer, cluster: data.cluster, size, tokens };
  contestants.push(
    { ...contestant, name: `${name}, near`, prepare: () => proxy.delay(0) },
    { ...contestant, name: `${name}, far`, prepare: () => proxy.delay(delayMs) },
  );
}
const load = startLoad();
resources.defer(load.stop);
const measured = await runRounds({ ...options, contestants, load, numbers: createNumbers(), report });

const rows = options.peers.flatMap((name) =>
  options.operations.map((operation) => {
    const p50Of = (way: string) =>
      measured.find((one) => one.name === `${name}, ${way}` && one.operation === operation)?.p50MsOfRounds ?? [];
    const near = p50Of('near');
    const far = p50Of('far');
    return {
      peer: name,
      operation,
      'p50 ms': round(median(near)),
      'p50 ms with 1 ms more': round(median(far)),
      // Of two that are measured one after the other.
      rise: round(median(far.map((ms, index) => ms - (near[index] ?? Number.NaN)))),
    };
  }),
);
console.table(rows);
process.exitCode = rows.every(({ peer, rise }) => peer !== 'ours' || rise <= maxRiseMs) ? 0 : 1;

function round(ms: number): number {
  return Number(ms.toFixed(2));
}
