import { createNumbers } from './createNumbers.ts';
import { issueTokens } from './data/issueTokens.ts';
import { openData } from './data/openData.ts';
import { type SizeName, sizes } from './data/sizes.ts';
import { startLoad } from './load/startLoad.ts';
import { timeUnitById } from './measure/timeUnitById.ts';
import type { Options } from './options.ts';
import { type Contestant, runRounds } from './runRounds.ts';
import { startPeer } from './servers/startPeer.ts';

const maxTimesSlower = 1.2;
const maxUnitByIdMs = 1;

/**
 * Compares the service on the large data set with itself on the small one, reads only; both run, and take turns.
 *
 * @returns whether the large set is hardly slower, and one unit among a million found as fast as it has to be
 */
export async function compareSizes(options: Options): Promise<boolean> {
  const report = (line: string) => console.error(line);
  await using resources = new AsyncDisposableStack();
  const contestants: Contestant[] = [];
  let unitByIdMs = Number.NaN;
  for (const name of ['small', 'large'] as const satisfies SizeName[]) {
    const data = await openData(name, report);
    resources.defer(data.close);
    const size = sizes[name];
    const tokens = await issueTokens(data.ownerUrl, size);
    if (name === 'large') unitByIdMs = await timeUnitById(data, size, tokens);
    const peer = await startPeer('ours', data.authUrl);
    resources.defer(peer.stop);
    contestants.push({ name, peer, cluster: data.cluster, size, tokens });
  }

  const load = startLoad();
  resources.defer(load.stop);
  const operations = options.operations.filter((operation) => operation !== 'M1');
  const measured = await runRounds({ ...options, operations, contestants, load, numbers: createNumbers(), report });

  const rows = operations.map((operation) => {
    const p50Of = (name: SizeName) =>
      measured.find((one) => one.name === name && one.operation === operation)?.p50Ms ?? Number.NaN;
    const small = p50Of('small');
    const large = p50Of('large');
    return { operation, 'small: p50 ms': round(small), 'large: p50 ms': round(large), ratio: round(large / small) };
  });
  console.table(rows);
  console.log(`One unit by id, for a user who was granted everything: ${unitByIdMs.toFixed(2)} ms in PostgreSQL.`);

  const misses = rows
    .filter(({ ratio }) => !(ratio <= maxTimesSlower))
    .map(
      ({ operation, ratio }) =>
        `${operation}: p50 is ${ratio} times that of the small set, not ${maxTimesSlower} or less`,
    );
  if (!(unitByIdMs < maxUnitByIdMs))
    misses.push(`One unit by id takes ${unitByIdMs} ms, not less than ${maxUnitByIdMs}`);
  for (const miss of misses) console.log(`MISSED ${miss}.`);
  return misses.length === 0;
}

const round = (number: number) => Number(number.toFixed(2));
