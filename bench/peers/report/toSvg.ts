import { operations } from '../operations.ts';
import { peerTitles } from '../servers/startPeer.ts';
import type { Comparison } from './compare.ts';

/** Requests per second as bars, one panel for each operation; the dots are the rounds. */
export function toSvg(comparisons: readonly Comparison[]): string {
  const names = [...new Set(comparisons.map(({ operation }) => operation))];
  const panels = names.map((name, index) => {
    const rows = comparisons.filter(({ operation }) => operation === name);
    const top = index * (rows.length * barPitch + panelGap);
    return toPanel(`${name}: ${operations[name].title}`, rows, top);
  });
  const rowsEach = comparisons.length / names.length;
  const height = names.length * (rowsEach * barPitch + panelGap);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Requests per second" font-family="system-ui, sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    ...panels,
    '</svg>',
    '',
  ].join('\n');
}

const width = 800;
const barLeft = 210;
const barWidth = 500;
const barPitch = 24;
const panelGap = 44;

function toPanel(title: string, rows: readonly Comparison[], top: number): string {
  const most = Math.max(...rows.flatMap(({ requestsPerSecondOfRounds }) => requestsPerSecondOfRounds));
  const x = (requestsPerSecond: number) => barLeft + (requestsPerSecond / most) * barWidth;
  const bars = rows.map(({ name, requestsPerSecond, requestsPerSecondOfRounds }, index) => {
    const y = top + 36 + index * barPitch;
    const middle = y + 9;
    const fill = name === 'ours' ? '#2563eb' : '#94a3b8';
    const dots = requestsPerSecondOfRounds.map(
      (value) => `<circle cx="${x(value).toFixed(1)}" cy="${middle}" r="2" fill="#0f172a" fill-opacity="0.5"/>`,
    );
    const end = Math.max(requestsPerSecond, ...requestsPerSecondOfRounds);
    return [
      `<text x="${barLeft - 8}" y="${y + 13}" text-anchor="end" fill="#0f172a">${peerTitles[name]}</text>`,
      `<rect x="${barLeft}" y="${y}" width="${(x(requestsPerSecond) - barLeft).toFixed(1)}" height="18" fill="${fill}"/>`,
      ...dots,
      `<text x="${(x(end) + 8).toFixed(1)}" y="${y + 13}" fill="#0f172a">${requestsPerSecond.toFixed(0)} req/s</text>`,
    ].join('\n');
  });
  return [`<text x="16" y="${top + 24}" font-weight="600" fill="#0f172a">${title}</text>`, ...bars].join('\n');
}
