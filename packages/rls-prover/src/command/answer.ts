import type { Judgement } from '../interface.ts';
import type { Digested } from '../proveChanged.ts';

/** A judgement with its counterexample as a script. */
export type Answer = Digested & { readonly script: string | null };

/** The answers as a table, after the counterexamples, so that it is what stays on the screen. */
export function tableOf(answers: readonly Answer[], notes: readonly string[]): string {
  const isOpen = ({ accepted }: Answer) => accepted === null;
  const of = (verdict: Answer['verdict']) =>
    answers.filter((one) => one.verdict === verdict && (verdict === 'proven' || isOpen(one)));
  const [refuted, unproven, proven] = [of('refuted'), of('unproven'), of('proven')];
  const accepted = answers.filter((one) => !isOpen(one));
  const scripts = refuted.flatMap(({ script }, index) => (script ? [`-- [${index + 1}]\n${script}\n`] : []));
  const rows = [
    ['', 'verdict', 'command', 'relation', 'role', 'invariant', 'why'],
    ...refuted.map((one, index) => [`[${index + 1}]`, ...cellsOf(one)]),
    ...unproven.map((one) => ['', ...cellsOf(one)]),
    ...grouped(proven).map((cells) => ['', ...cells]),
    ...accepted.map((one) => ['', ...cellsOf({ ...one, why: `accepted: ${one.accepted}` })]),
  ];
  const counts = `${refuted.length} refuted, ${unproven.length} unproven, ${proven.length} proven, ${accepted.length} accepted`;
  return [...scripts, aligned(rows), '', ...notes, `${counts}.`, ''].join('\n');
}

const cellsOf = ({ verdict, command, relation, role, invariant, why }: Judgement) => [
  ...[verdict, command, relation, role, invariant],
  why.replaceAll(/\s+/g, ' '),
];

/** One line for what is proven of a relation and role for the same reason. */
function grouped(proven: readonly Answer[]): string[][] {
  const groups = Map.groupBy(proven, ({ relation, role, why, invariant }) =>
    [relation, role, invariant, why].join('\n'),
  );
  return [...groups.values()].flatMap((group) => {
    const [first] = group;
    return first ? [cellsOf({ ...first, command: [...new Set(group.map(({ command }) => command))].join(', ') })] : [];
  });
}

/** Columns of equal width, but the last, which may be long. */
function aligned(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)));
  return rows
    .map((row) =>
      row
        .map((cell, column) => (column === row.length - 1 ? cell : cell.padEnd(widths[column] ?? 0)))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}
