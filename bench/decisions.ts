import { buildDoors, type Doors, sizes } from './data/buildDoors.ts';
import { startCluster } from './data/startCluster.ts';
import { sendAtRate } from './overload/sendAtRate.ts';
import { Connection } from './peers/load/Connection.ts';
import { atMost, median, percentile } from './support/measured.ts';

/**
 * `node bench/decisions.ts`: what a decision costs beside a `node` query, over HTTP and in turns, so that whatever else the machine does
 * falls on both; by `accessDecision`, by AuthZEN, and by AuthZEN for a hundred at once. Once among 100 people and once among 100,000, with
 * 23,000 units and 90,000 cards. Then a thousand badges a second.
 * Exits with 1 when a decision takes more than 1.3 times as long, or is slower among many.
 */
const connections = 8;
const rounds = 15;
const turnMs = 400;
const limits = { ofNode: 1.3, ofFew: 1.15, ofDecision: 1, ofOne: 25 };

await using cluster = await startCluster();
const doors = await provision();
await using service = await cluster.startService();
const port = Number(new URL(service.url).port);

const requests = {
  'node, few': nodeRequest(doors.few, await service.getToken('few')),
  'decision, few': decisionRequest(doors.few, await service.getToken('few')),
  'AuthZEN, few': evaluationRequest(doors.few, await service.getToken('few')),
  'node, many': nodeRequest(doors.many, await service.getToken('many')),
  'decision, many': decisionRequest(doors.many, await service.getToken('many')),
  'AuthZEN, many': evaluationRequest(doors.many, await service.getToken('many')),
  'AuthZEN of 100, many': evaluationsRequest(doors.many, await service.getToken('many')),
};
const perRequestMs = await measure();
const of = (name: keyof typeof requests) => perRequestMs[name];
console.table(Object.entries(perRequestMs).map(([what, ms]) => ({ what, 'ms of a connection': ms.toFixed(2) })));
const measured = [
  atMost('a decision among 100 people', of('decision, few') / of('node, few'), limits.ofNode, '× a node'),
  atMost('a decision among 100,000 people', of('decision, many') / of('node, many'), limits.ofNode, '× a node'),
  atMost('a decision among many', of('decision, many') / of('decision, few'), limits.ofFew, '× among few'),
  atMost('AuthZEN among 100 people', of('AuthZEN, few') / of('decision, few'), limits.ofDecision, '× accessDecision'),
  atMost('AuthZEN among 100,000', of('AuthZEN, many') / of('decision, many'), limits.ofDecision, '× accessDecision'),
  atMost('AuthZEN among many', of('AuthZEN, many') / of('AuthZEN, few'), limits.ofFew, '× among few'),
  atMost('a hundred at once', of('AuthZEN of 100, many') / of('AuthZEN, many'), limits.ofOne, '× one'),
];
console.table(measured);
const outcomes = await sendAtRate({
  port,
  request: requests['decision, many'](),
  perSecond: 1000,
  seconds: 10,
  connections: 40,
});
const latencies = outcomes.map(({ latencyMs }) => latencyMs);
const served = outcomes.filter(({ status }) => status === 200).length;
console.log(
  `1,000 decisions a second: ${served} of ${outcomes.length} answered, p50 ${percentile(latencies, 0.5).toFixed(1)} ms, p99 ${percentile(latencies, 0.99).toFixed(1)} ms`,
);
process.exitCode = measured.every(({ isMet }) => isMet) ? 0 : 1;

type Make = () => Buffer;

/** The median turn of each, in turns, after one that plans and compiles. */
async function measure(): Promise<Record<keyof typeof requests, number>> {
  const opened = await Promise.all(Array.from({ length: connections }, () => Connection.open(port)));
  const found = new Map(Object.keys(requests).map((name): [string, number[]] => [name, []]));
  for (let round = -1; round < rounds; round += 1) {
    for (const [name, make] of Object.entries(requests)) {
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
  return Object.fromEntries(Array.from(found, ([name, turns]) => [name, median(turns)])) as Record<
    keyof typeof requests,
    number
  >;
}

function nodeRequest({ userIds }: Doors, token: string): Make {
  const query = 'query($id: ID!) { node(id: $id) { ... on User { id fullName externalIdentifier } } }';
  return () => request(token, { query, variables: { id: pick(userIds) } });
}

/** Any badge at any door. */
function decisionRequest({ badges, unitNames }: Doors, token: string): Make {
  const query = `query($unit: String!, $badge: String!) { app {
    accessDecision(unitExternalIdentifier: $unit, credential: { nfcIdentifier: $badge }) { isAllowed reason } } }`;
  return () => request(token, { query, variables: { unit: pick(unitNames), badge: pick(badges) } });
}

/** Anybody at any door, by AuthZEN. */
function evaluationRequest({ userNames, unitNames }: Doors, token: string): Make {
  const action = { name: 'enter' };
  return () => {
    const subject = { type: 'user', id: pick(userNames) };
    return request(
      token,
      { subject, action, resource: { type: 'unit', id: pick(unitNames) } },
      '/access/v1/evaluation',
    );
  };
}

/** A hundred of them. */
function evaluationsRequest({ userNames, unitNames }: Doors, token: string): Make {
  const evaluation = () => ({
    subject: { type: 'user', id: pick(userNames) },
    resource: { type: 'unit', id: pick(unitNames) },
  });
  return () => {
    const evaluations = Array.from({ length: 100 }, evaluation);
    return request(token, { action: { name: 'enter' }, evaluations }, '/access/v1/evaluations');
  };
}

function pick(list: readonly string[]): string {
  return list[Math.floor(Math.random() * list.length)] as string;
}

function request(token: string, body: object, path = '/graphql'): Buffer {
  const text = JSON.stringify(body);
  return Buffer.from(
    `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: ${Buffer.byteLength(text)}\r\n\r\n${text}`,
  );
}

async function provision() {
  const application = (clientId: string) => ({ name: clientId, clientId, clientSecret: cluster.clientSecret });
  await cluster.provision(['few', 'many'].map((name) => ({ name, applications: [application(name)] })));
  const owner = cluster.ownerPool();
  try {
    const built = { few: await buildDoors(owner, 'few', sizes.few), many: await buildDoors(owner, 'many', sizes.many) };
    await owner.query('vacuum analyze');
    return built;
  } finally {
    await owner.end();
  }
}
