import { parseArgs } from 'node:util';
import { checkAnswers } from './peers/checkAnswers.ts';
import { issueTokens } from './peers/data/issueTokens.ts';
import { openData } from './peers/data/openData.ts';
import { sizes } from './peers/data/sizes.ts';
import { startLoad } from './peers/load/startLoad.ts';
import { type OperationName, operationNames } from './peers/operations.ts';
import { runRounds } from './peers/runRounds.ts';
import { type Peer, type PeerName, peerNames, startPeer } from './peers/servers/startPeer.ts';

const { values } = parseArgs({
  options: {
    only: { type: 'string', default: peerNames.join(',') },
    query: { type: 'string', default: operationNames.join(',') },
    seconds: { type: 'string', default: '3' },
    rounds: { type: 'string', default: '6' },
    connections: { type: 'string', default: '32' },
  },
});
const resources = new AsyncDisposableStack();
try {
  const names = values.only.split(',') as PeerName[];
  const operations = values.query.split(',') as OperationName[];
  const data = await openData('small', console.log);
  resources.defer(data.close);
  const size = sizes.small;
  const tokens = await issueTokens(data.ownerUrl, size);
  const peers: Peer[] = [];
  for (const name of names) {
    const peer = await startPeer(name, data.authUrl);
    resources.defer(peer.stop);
    peers.push(peer);
  }
  let number = 1_000_000;
  const numbers = () => (number += 1_000_000);
  for (const operation of operations) await checkAnswers(peers, operation, { tokens, size, numbers });
  console.log('All answers are the same.');
  const load = startLoad();
  resources.defer(load.stop);
  const measured = await runRounds({
    peers,
    operations,
    rounds: Number(values.rounds),
    seconds: Number(values.seconds),
    connections: Number(values.connections),
    size,
    tokens,
    data,
    load,
    numbers,
    report: console.log,
  });
  console.table(measured.map(({ everyRequestsPerSecond, ...row }) => row));
} finally {
  await resources.disposeAsync();
}
