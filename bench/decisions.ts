import { buildDoors, sizes } from './data/buildDoors.ts';
import { startCluster } from './data/startCluster.ts';
import { compareForeign } from './decisions/compareForeign.ts';
import { boundOf, measureRate, toRow } from './decisions/measureRates.ts';
import {
  decisionRequest,
  evaluationRequest,
  evaluationsRequest,
  type Make,
  nodeRequest,
} from './decisions/requests.ts';
import { Connection } from './peers/load/Connection.ts';
import { atMost, median } from './support/measured.ts';

/**
 * `node bench/decisions.ts`: what a decision costs beside a `node` query, over HTTP. It asks by `accessDecision`, by AuthZEN, and by
 * AuthZEN for a hundred at once. All take turns, so that other work of the machine slows all of them. It does so among 100 people, and
 * among 100,000 with 23,000 units and 90,000 cards. Then it measures whether time or content discloses what another organization has, and a
 * thousand decisions a second: one or several in a request, by one worker and by two.
 * Exits with 1 when a figure misses its bound.
 */
const connections = 8;
const rounds = 15;
const turnMs = 400;
const limits = { ofNode: 1.3, ofFew: 1.15, ofDecision: 1, ofOne: 25 };
/** The bounds of a thousand decisions a second, in requests of so many decisions each. */
const maxP99Ms = 50;
const perRequest = 10;

await using cluster = await startCluster();
const owner = cluster.ownerPool();
const doors = await provision().finally(() => owner.end());
const measured = await measureRatios();
console.table(measured);
const rates = [await measureRates(1), await measureRates(2)].flat();
console.table(rates.map(toRow));
// One decision in a request is a figure to know, and no promise.
const bounds = rates.filter((rate) => rate.perRequest > 1).flatMap((rate) => boundOf(rate, maxP99Ms));
console.table(bounds);
process.exitCode = [...measured, ...bounds].every(({ isMet }) => isMet) ? 0 : 1;

/** In a process of its own, whose main thread does no work of the client's. */
async function measureRatios() {
  await using service = await cluster.startProcess();
  const port = Number(new URL(service.url).port);
  const [few, many] = [await service.getToken('few'), await service.getToken('many')];
  const ms = await timeInTurns(port, {
    'node, few': nodeRequest(doors.few, few),
    'decision, few': decisionRequest(doors.few, few),
    'AuthZEN, few': evaluationRequest(doors.few, few),
    'node, many': nodeRequest(doors.many, many),
    'decision, many': decisionRequest(doors.many, many),
    'AuthZEN, many': evaluationRequest(doors.many, many),
    'AuthZEN of 100, many': evaluationsRequest(doors.many, many, 100),
  });
  console.table(Object.entries(ms).map(([what, each]) => ({ what, 'ms of a connection': each.toFixed(2) })));
  const reader = cluster.ownerPool();
  const foreign = await compareForeign(port, few, doors.few, reader, 'many').finally(() => reader.end());
  return [
    atMost('a decision among 100 people', ms['decision, few'] / ms['node, few'], limits.ofNode, '× a node'),
    atMost('a decision among 100,000 people', ms['decision, many'] / ms['node, many'], limits.ofNode, '× a node'),
    atMost('a decision among many', ms['decision, many'] / ms['decision, few'], limits.ofFew, '× among few'),
    atMost('AuthZEN among 100', ms['AuthZEN, few'] / ms['decision, few'], limits.ofDecision, '× accessDecision'),
    atMost('AuthZEN among 100,000', ms['AuthZEN, many'] / ms['decision, many'], limits.ofDecision, '× accessDecision'),
    atMost('AuthZEN among many', ms['AuthZEN, many'] / ms['AuthZEN, few'], limits.ofFew, '× among few'),
    atMost('a hundred at once', ms['AuthZEN of 100, many'] / ms['AuthZEN, many'], limits.ofOne, '× one'),
    ...foreign,
  ];
}

async function measureRates(workers: number) {
  await using service = await cluster.startProcess(workers);
  const port = Number(new URL(service.url).port);
  const token = await service.getToken('many');
  const named = (what: string) => `${what}, ${workers === 1 ? 'one worker' : `${workers} workers`}`;
  const { many } = doors;
  return [
    await measureRate(named('accessDecision'), port, decisionRequest(many, token), 1),
    await measureRate(named('AuthZEN'), port, evaluationRequest(many, token), 1),
    await measureRate(named('AuthZEN'), port, evaluationsRequest(many, token, perRequest), perRequest),
  ];
}

/** The median turn of each, in turns, after one that plans and compiles. */
async function timeInTurns<Name extends string>(
  port: number,
  requests: Readonly<Record<Name, Make>>,
): Promise<Record<Name, number>> {
  const opened = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  const found = new Map(Object.keys(requests).map((name): [string, number[]] => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, make] of Object.entries<Make>(requests)) {
      const end = performance.now() + turnMs;
      let count = 0;
      const start = performance.now();
      await Promise.all(
        opened.map(async (connection) => {
          for (; performance.now() < end; count += 1) await connection.send(make());
        }),
      );
      if (round >= 0) found.get(name)?.push(((performance.now() - start) * connections) / count);
    }
  }
  for (const connection of opened) connection.close();
  return Object.fromEntries(Array.from(found, ([name, turns]) => [name, median(turns)])) as Record<Name, number>;
}

async function provision() {
  const application = (clientId: string) => ({ name: clientId, clientId, clientSecret: cluster.clientSecret });
  await cluster.provision(['few', 'many'].map((name) => ({ name, applications: [application(name)] })));
  const built = { few: await buildDoors(owner, 'few', sizes.few), many: await buildDoors(owner, 'many', sizes.many) };
  await owner.query('vacuum analyze');
  return built;
}
