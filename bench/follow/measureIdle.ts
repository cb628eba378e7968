import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { TreeService } from '../data/startTree.ts';
import { atMost, type Measured, percentile } from '../support/measured.ts';
import type { HoldOrder } from './holdStreams.ts';

const rounds = 24;
const queriesOfRound = 4000;
/** Not counted: opening streams and closing them leaves garbage at both ends. */
const queriesToSettle = 2000;
const queriesToWarmUp = 30_000;
const ofOrganization = 50;
const maxMegabytes = 60;
const maxRise = 10;

/** The cost of streams without a change, in turns: memory, and the p99 of another organization's queries. */
export async function measureIdle(service: TreeService, applications: readonly string[]): Promise<Measured[]> {
  const tokens = await Promise.all(applications.map((name) => service.grantToken(name)));
  // Without streams, too, a process is there to hold none.
  const hold = async (each: number) => {
    const child = fork(join(import.meta.dirname, 'holdStreams.ts'));
    child.send({ url: service.url, tokens, each } satisfies HoldOrder);
    const failed = once(child, 'exit').then(() => {
      throw new Error('The process that holds the streams has ended.');
    });
    // Later it is stopped on purpose.
    failed.catch(() => undefined);
    await Promise.race([once(child, 'message'), failed]);
    return child;
  };

  await sendQueries(service, queriesToWarmUp);
  let megabytes = 0;
  const without: number[] = [];
  const beside: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const states = [
      { each: 0, latencies: without },
      { each: ofOrganization, latencies: beside },
    ];
    for (const { each, latencies } of round % 2 === 0 ? states : states.toReversed()) {
      const before = await service.residentBytes();
      const holder = await hold(each);
      if (round === 0 && each > 0) megabytes = ((await service.residentBytes()) - before) / 1e6;
      await sendQueries(service, queriesToSettle);
      latencies.push(...(await sendQueries(service, queriesOfRound)));
      holder.disconnect();
      await once(holder, 'exit');
    }
  }
  const count = tokens.length * ofOrganization;
  const rise = (100 * percentile(beside, 0.99)) / percentile(without, 0.99) - 100;
  return [
    atMost(`memory of ${count} idle streams`, megabytes, maxMegabytes, 'MB'),
    atMost('rise of the p99 of others by these', rise, maxRise, '%'),
  ];
}

/** @returns milliseconds of each, two at once */
async function sendQueries(service: TreeService, count: number): Promise<number[]> {
  const latencies: number[] = [];
  const sender = async () => {
    for (let sent = 0; sent < count / 2; sent++) {
      const startedAt = performance.now();
      await service.send(query);
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all([sender(), sender()]);
  return latencies;
}

const query = '{ app { name users(first: 10) { nodes { id fullName } } } }';
