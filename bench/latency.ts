import { createNumbers } from './peers/createNumbers.ts';
import { issueTokens } from './peers/data/issueTokens.ts';
import { openData } from './peers/data/openData.ts';
import { sizes } from './peers/data/sizes.ts';
import { exitOnSignals } from './peers/exitOnSignals.ts';
import { startLoad } from './peers/load/startLoad.ts';
import { startProxy } from './peers/measure/startProxy.ts';
import { readOptions } from './peers/options.ts';
import { type Contestant, runRounds } from './peers/runRounds.ts';
import { startPeer } from './peers/servers/startPeer.ts';

/**
 * `npm run bench latency`: how much longer an operation takes when each round trip to the database takes 1 ms more, as in a network;
 * one request at a time. Exits with 1 when the median rises by more than 1.5 ms. `--only sql` asks another peer.
 */
const delayMs = 1;
const mostRiseMs = 1.5;

exitOnSignals();
const manyShortRounds = ['--rounds', '24', '--seconds', '1'];
const options = readOptions(['--connections', '1', '--only', 'ours', ...manyShortRounds, ...process.argv.slice(2)]);
const report = (line: string) => console.error(line);
await using resources = new AsyncDisposableStack();
const data = await openData('small', report);
resources.defer(data.close);
// Both ways lead through a proxy, whose own time is not what is asked.
const nearProxy = await startProxy(data.authUrl, 0);
resources.defer(nearProxy.stop);
const farProxy = await startProxy(data.authUrl, delayMs);
resources.defer(farProxy.stop);
const size = sizes.small;
const tokens = await issueTokens(data.ownerUrl, size);

const contestants: Contestant[] = [];
for (const name of options.peers) {
  for (const [way, url] of Object.entries({ near: nearProxy.url, far: farProxy.url })) {
    const peer = await startPeer(name, url);
    resources.defer(peer.stop);
    contestants.push({ name: `${name}, ${way}`, peer, cluster: data.cluster, size, tokens });
  }
}
const load = startLoad();
resources.defer(load.stop);
const measured = await runRounds({ ...options, contestants, load, numbers: createNumbers(), report });

const rows = options.peers.flatMap((name) =>
  options.operations.map((operation) => {
    const p50Of = (way: string) =>
      measured.find((one) => one.name === `${name}, ${way}` && one.operation === operation)?.p50Ms ?? Number.NaN;
    const near = p50Of('near');
    const far = p50Of('far');
    return {
      peer: name,
      operation,
      'p50 ms': round(near),
      'p50 ms with 1 ms more': round(far),
      rise: round(far - near),
    };
  }),
);
console.table(rows);
process.exitCode = rows.every(({ peer, rise }) => peer !== 'ours' || rise <= mostRiseMs) ? 0 : 1;

function round(ms: number): number {
  return Number(ms.toFixed(2));
}
