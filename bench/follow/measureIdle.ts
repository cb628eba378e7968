import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TreeService } from '../data/startTree.ts';
import { atMost, type Measured, percentile } from '../measured.ts';
import type { HoldOrder } from './holdStreams.ts';

const rounds = 12;
const perRound = 2000;
const ofOrganization = 50;
const maxMegabytes = 60;
const maxRise = 10;

/** What streams without a change cost: memory, and the p99 of the queries of another organization, in turns. */
export async function measureIdle(service: TreeService, applications: readonly string[]): Promise<Measured[]> {
  const tokens = await Promise.all(applications.map((name) => service.grantToken(name)));
  const open = async () => {
    const child = fork(join(import.meta.dirname, 'holdStreams.ts'));
    child.send({ url: service.url, tokens, each: ofOrganization } satisfies HoldOrder);
    const failed = once(child, 'exit').then(() => {
      throw new Error('The process that holds the streams has ended.');
    });
    // Later it ends because it is told to.
    failed.catch(() => undefined);
    await Promise.race([once(child, 'message'), failed]);
    return child;
  };
  const p99 = async () => {
    const latencies: number[] = [];
    const sender = async () => {
      for (let count = 0; count < perRound / 2; count++) {
        const startedAt = performance.now();
        await service.send(query);
        latencies.push(performance.now() - startedAt);
      }
    };
    await Promise.all([sender(), sender()]);
    return percentile(latencies, 0.99);
  };
  // Opening and closing them is not what is measured: both ends collect garbage after it.
  const settledP99 = async () => {
    await p99();
    return p99();
  };

  await p99();
  const rises: number[] = [];
  let megabytes = 0;
  for (let round = 0; round < rounds; round++) {
    const without = await settledP99();
    const before = await service.residentBytes();
    const holder = await open();
    if (round === 0) megabytes = ((await service.residentBytes()) - before) / 1e6;
    rises.push((100 * (await settledP99())) / without - 100);
    holder.disconnect();
    await once(holder, 'exit');
  }
  const count = tokens.length * ofOrganization;
  return [
    atMost(`memory of ${count} idle streams`, megabytes, maxMegabytes, 'MB'),
    atMost('rise of the p99 of others by these', percentile(rises, 0.5), maxRise, '%'),
  ];
}

const query = '{ app { name users(first: 10) { nodes { id fullName } } } }';
