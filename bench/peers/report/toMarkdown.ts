import { type OperationName, operations } from '../operations.ts';
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
    return `### ${name}: ${operations[name].title}\n\n${toTable([columns, ...rows])}\n\n${toAnchor(comparisons, name)}`;
  });
  const memory = [...megabytes].map(([name, amount]) => [peerTitles[name], amount.toFixed(0)]);
  return `${[...sections, toTable([['After the run', 'MB'], ...memory]), notes, circumstances].join('\n\n')}\n`;
}

const columns = [
  ...['Peer', 'req/s', 'p50 ms', 'p99 ms', 'Node ms', 'PostgreSQL ms', 'statements', 'round trips'],
  ...['req/s : SQL', 'p99 : SQL', ': Apollo or Mercurius', ': stock'],
];

const notes = [
  'One process each, the same database, roles, policies and settings, every request with a bearer token. "Node ms" and "PostgreSQL ms" are',
  'processor time for each request. All but the service itself look the token up by a simulation: the same indexed query, in a round trip',
  'of its own. Statements count those that begin, set and end a transaction; round trips count the lookup. Ratios are to hand-written SQL,',
  'to the faster of Apollo Server and Mercurius, and to PostGraphile with the settings for production. "PostgreSQL alone" is its processor',
  'time for what the service sends, when a client sends it that only reads bytes.',
].join('\n');

/** Beside what two processors that run nothing but PostgreSQL could do at most. */
function toAnchor(comparisons: readonly Comparison[], name: OperationName): string {
  const ours = comparisons.find((one) => one.name === 'ours' && one.operation === name);
  if (!ours) return '';
  const { anchorMs, requestsPerSecond } = ours;
  const most = (processors * 1000) / anchorMs;
  const share = ((100 * requestsPerSecond) / most).toFixed(0);
  return `PostgreSQL alone: ${anchorMs.toFixed(2)} ms; two processors at most ${most.toFixed(0)} req/s, of which the service reaches ${share} %.`;
}

const processors = 2;

function toCells({ name, traffic, ratios, ...measured }: Comparison): string[] {
  return [
    peerTitles[name],
    measured.requestsPerSecond.toFixed(0),
    ...[measured.p50Ms, measured.p99Ms].map((ms) => ms.toFixed(1)),
    ...[measured.nodeMs, measured.postgresMs].map((ms) => ms.toFixed(2)),
    ...[traffic.statements, traffic.roundTrips].map((count) => count.toFixed(1).replace('.0', '')),
    ...[ratios.sql, ratios.sqlP99, ratios.apolloOrMercurius, ratios.stock].map((ratio) => ratio?.toFixed(2) ?? ''),
  ];
}

function toTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: readonly string[]) =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
