import type { ClientRequest } from 'node:http';
import type { TreeService } from '../data/startTree.ts';
import { atMost, type Measured, percentile } from '../measured.ts';
import { openStream } from './openStream.ts';

const rounds = 12;
const perRound = 2000;
const ofOrganization = 50;
const maxMegabytes = 60;
const maxRise = 10;

/** What streams without a change cost: memory, and the p99 of the queries of another organization, in turns. */
export async function measureIdle(service: TreeService, applications: readonly string[]): Promise<Measured[]> {
  const tokens = await Promise.all(applications.map((name) => service.grantToken(name)));
  let streams: ClientRequest[] = [];
  const open = async () => {
    for (const token of tokens)
      streams.push(
        ...(await Promise.all(
          Array.from({ length: ofOrganization }, () => openStream(service.url, token, () => undefined)),
        )),
      );
  };
  const close = async () => {
    for (const stream of streams) stream.destroy();
    streams = [];
    await service.send(query);
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

  await p99();
  const before = await service.residentBytes();
  await open();
  const megabytes = ((await service.residentBytes()) - before) / 1e6;
  await close();
  const rises: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const without = await p99();
    await open();
    rises.push((100 * (await p99())) / without - 100);
    await close();
  }
  const count = tokens.length * ofOrganization;
  return [
    atMost(`memory of ${count} idle streams`, megabytes, maxMegabytes, 'MB'),
    atMost('rise of the p99 of others by these', percentile(rises, 0.5), maxRise, '%'),
  ];
}

const query = '{ app { name users(first: 10) { nodes { id fullName } } } }';
