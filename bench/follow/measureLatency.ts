import { setTimeout as delay } from 'node:timers/promises';
import type { TreeService } from '../data/startTree.ts';
import { atMost, type Measured, percentile } from '../support/measured.ts';
import { createUser } from './measureCost.ts';
import { openStream } from './openStream.ts';

const changes = 500;
const maxMs = 100;

/** From the answer to a mutation until its change has come by a stream. */
export async function measureLatency(service: TreeService): Promise<Measured[]> {
  const cameAt = new Map<string, number>();
  let text = '';
  const stream = await openStream(service.url, service.token, (part) => {
    const events = (text + part).split('\n\n');
    text = events.pop() ?? '';
    for (const [, id = ''] of events.map((event) => /"id":"(\w+)"/.exec(event) ?? []))
      cameAt.set(id, performance.now());
  });
  const answeredAt = new Map<string, number>();
  for (let number = 0; number < changes; number++) {
    answeredAt.set(await createUser(service), performance.now());
    await delay(Math.random() * 30);
  }
  while (cameAt.size < changes) await delay(10);
  stream.destroy();
  const latencies = [...answeredAt].map(([id, at]) => (cameAt.get(id) ?? Number.NaN) - at);
  return [
    atMost('a change on a stream, p50', percentile(latencies, 0.5), maxMs, 'ms'),
    atMost('a change on a stream, p99', percentile(latencies, 0.99), maxMs, 'ms'),
  ];
}
