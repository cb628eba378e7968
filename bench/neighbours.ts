import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startTreeDatabase } from './data/startTree.ts';
import { measureAlone, twins } from './neighbours/measureAlone.ts';
import { measureBeside, seconds } from './neighbours/measureBeside.ts';
import { heavyInTurn, measureInTurn } from './neighbours/measureInTurn.ts';
import type { Shape } from './neighbours/shape.ts';
import { people, shapes } from './neighbours/shapes.ts';
import { describeMachine } from './support/describeMachine.ts';
import { toTable } from './support/toTable.ts';

/**
 * `npm run bench neighbours`: how an organization fares beside each of the shapes, which another sends for 8 s on 16 connections, unless
 * the shape says how many. Then what it gets when it is alone, and the memory of one process that gets nineteen of them in turn. Exits with 1 when a bound is missed; a run of all shapes writes
 * `bench/results/neighbours.md`. `turn ms` is processor time of the main thread, which a busy machine does not change. `MB` is the
 * resident set of the service at its peak. `node bench/neighbours.ts updates` sends only the shapes with `updates` in their names.
 */
const bounds = { refused: 0, 'p99 ms': 250, 'longest ms': 1000, 'token ms': 1000, 'turn ms': 250, MB: 600 };
/** The least that one organization gets alone, as a share of what two get together. */
const minShareAlone = 0.9;
const sharable = ['a small query', 'a small query, new each time', '20 users by node', '8 names of 1,000 users'];

const [, , part = ''] = process.argv;
const database = await startTreeDatabase({
  beside: [
    { name: 'Busy', applications: { busy: ['app', 'me'] }, users: people },
    {
      name: 'Neighbour',
      applications: { neighbour: ['app'] },
      users: [1, 2, 3].map((n) => ({ externalIdentifier: `n-${n}`, fullName: `N ${n}`, email: `n-${n}@n.test` })),
    },
    ...twins,
  ],
  // As long as a name may be.
  sql: `update app_public.users set full_name = rpad(full_name, 200, '-and-so-on') where external_identifier like 'user-%'`,
});
let hasMissed = false;
try {
  const rows = [];
  for (const [shape, sent] of Object.entries(shapes)) {
    if (!shape.includes(part)) continue;
    const row = { shape, ...(await measureBeside(database, [sent].flat())) };
    rows.push(row);
    console.log(JSON.stringify(row));
  }
  const alone = [];
  for (const shape of sharable) {
    if (!shape.includes(part)) continue;
    const share = await measureAlone(database, shapes[shape] as Shape);
    alone.push({ shape, share });
    console.log(JSON.stringify({ shape, share }));
  }
  const inTurn =
    part === '' || 'in turn'.includes(part)
      ? await measureInTurn(
          database,
          heavyInTurn.flatMap((name) => shapes[name] ?? []),
        )
      : null;
  const circumstances = `Each shape for ${seconds} s, the figures of a miss in bold. ${await describeMachine(database.ownerUrl)}`;
  const report = `${[besideTable(rows), aloneTable(alone), inTurnTable(inTurn), circumstances].join('\n\n')}\n`;
  console.log(report);
  hasMissed = report.includes('**');
  if (part === '') {
    const results = join(import.meta.dirname, 'results');
    await mkdir(results, { recursive: true });
    await writeFile(join(results, 'neighbours.md'), report);
  }
} finally {
  await database.stop();
}
process.exitCode = hasMissed ? 1 : 0;

function besideTable(rows: readonly Readonly<Record<string, string | number>>[]): string {
  const names = Object.keys(rows[0] ?? {}).slice(1);
  const isMet = (name: string, figure: number) => !isBounded(name) || figure <= bounds[name];
  const cells = rows.map(({ shape, ...measured }) => [
    String(shape),
    ...names.map((name) => marked(String(measured[name]), isMet(name, Number(measured[name])))),
  ]);
  const limits = names.map((name) => (isBounded(name) ? `≤ ${bounds[name]}` : ''));
  return toTable([['A neighbour beside', ...names], ['', ...limits], ...cells]);
}

function isBounded(name: string): name is keyof typeof bounds {
  return name in bounds;
}

function aloneTable(rows: readonly { readonly shape: string; readonly share: number }[]): string {
  const cells = rows.map(({ shape, share }) => [shape, marked(share.toFixed(2), share >= minShareAlone)]);
  return toTable([['Alone', 'answers to those of two together'], ['', `≥ ${minShareAlone}`], ...cells]);
}

function inTurnTable(megabytes: number | null): string {
  if (megabytes === null) return '';
  const cell = marked(String(megabytes), megabytes <= bounds.MB);
  return toTable([
    ['One process', 'MB'],
    ['', `≤ ${bounds.MB}`],
    [`${heavyInTurn.length} heavy shapes in turn`, cell],
  ]);
}

function marked(figure: string, isMet: boolean): string {
  return isMet ? figure : `**${figure}**`;
}
