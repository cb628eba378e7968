import { toTable } from '../../support/toTable.ts';
import { operations } from '../operations.ts';
import { type PeerName, peerTitles } from '../servers/startPeer.ts';
import type { Comparison } from './compare.ts';

/** One table for each operation, one of the memory, and what they were measured by. */
export function toMarkdown(
  comparisons: readonly Comparison[],
  megabytes: ReadonlyMap<PeerName, number>,
  circumstances: string,
): string {
  const names = [...new Set(comparisons.map(({ operation }) => operation))];
  const sections = names.map((name) => {
    const rows = comparisons.filter(({ operation }) => operation === name).map(toCells);
    return `### ${name}: ${operations[name].title}\n\n${toTable([columns, ...rows])}`;
  });
  const memory = [...megabytes].map(([name, amount]) => [peerTitles[name], amount.toFixed(0)]);
  return `${[...sections, toTable([['After the run', 'MB'], ...memory]), notes, circumstances].join('\n\n')}\n`;
}

const columns = [
  ...['Peer', 'req/s', 'p50 ms', 'p99 ms', 'Node ms', 'PostgreSQL ms'],
  ...['req/s : SQL', 'p99 : SQL', ': Apollo or Mercurius', ': stock'],
];

const notes = [
  'One process each, the same database, roles, policies and settings, every request with a bearer token. "Node ms" and "PostgreSQL ms" are',
  'processor time for each request. All but the service itself look the token up by a simulation: the same indexed query, in a round trip',
  'of its own. Ratios are to hand-written SQL, to the faster of Apollo Server and Mercurius, and to PostGraphile with the settings for',
  'production.',
].join('\n');

function toCells({ name, ratios, ...measured }: Comparison): string[] {
  return [
    peerTitles[name],
    measured.requestsPerSecond.toFixed(0),
    ...[measured.p50Ms, measured.p99Ms].map((ms) => ms.toFixed(1)),
    ...[measured.nodeMs, measured.postgresMs].map((ms) => ms.toFixed(2)),
    ...[ratios.sql, ratios.sqlP99, ratios.apolloOrMercurius, ratios.stock].map((ratio) => ratio?.toFixed(2) ?? ''),
  ];
}
