import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describeMachine } from '../support/describeMachine.ts';
import { checkAnswers } from './checkAnswers.ts';
import { createNumbers } from './createNumbers.ts';
import { issueTokens } from './data/issueTokens.ts';
import { openData } from './data/openData.ts';
import { sizes } from './data/sizes.ts';
import { startLoad } from './load/startLoad.ts';
import { residentMegabytes } from './measure/processTimes.ts';
import { operationNames } from './operations.ts';
import type { Options } from './options.ts';
import { compare } from './report/compare.ts';
import { toMarkdown } from './report/toMarkdown.ts';
import { runRounds } from './runRounds.ts';
import { type Peer, type PeerName, peerNames, startPeer } from './servers/startPeer.ts';
import { missedTargets } from './targets.ts';

/**
 * Compares the service with its peers on the small data set: first their answers, then their speed. Prints tables; a run with all of
 * them writes these to `bench/results`.
 *
 * @returns whether no target was missed
 */
export async function comparePeers(options: Options): Promise<boolean> {
  const report = (line: string) => console.error(line);
  await using resources = new AsyncDisposableStack();
  const data = await openData('small', report);
  resources.defer(data.close);
  const size = sizes.small;
  const tokens = await issueTokens(data.ownerUrl, size);
  const numbers = createNumbers();

  const peers: Peer[] = [];
  for (const name of options.peers) {
    const peer = await startPeer(name, data.authUrl);
    resources.defer(peer.stop);
    peers.push(peer);
  }
  for (const operation of options.operations) await checkAnswers(peers, operation, { tokens, size, numbers });
  report('All of them give the same answers.');

  const load = startLoad();
  resources.defer(load.stop);
  const contestants = peers.map((peer) => ({ name: peer.name, peer, cluster: data.cluster, size, tokens }));
  const measured = await runRounds({ ...options, contestants, load, numbers, report });
  const megabytes = new Map<PeerName, number>();
  for (const { name, pid } of peers) megabytes.set(name, await residentMegabytes(pid));

  const comparisons = compare(measured);
  const rounds = `${options.connections} requests in flight, ${options.rounds} rounds of ${options.seconds} s.`;
  const tables = toMarkdown(comparisons, megabytes, `${await describeMachine(data.ownerUrl)} ${rounds}`);
  console.log(tables);
  if (options.peers.length === peerNames.length && options.operations.length === operationNames.length) {
    await mkdir(results, { recursive: true });
    await writeFile(join(results, 'peers.md'), tables);
  }
  const misses = missedTargets(comparisons, megabytes.get('ours'));
  for (const miss of misses) console.log(`MISSED ${miss}.`);
  return misses.length === 0;
}

const results = join(import.meta.dirname, '../results');
