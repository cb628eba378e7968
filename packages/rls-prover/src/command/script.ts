import type { ClientBase } from 'pg';
import type { Judgement } from '../interface.ts';
import { refusedAs } from '../refusals.ts';
import { undone } from '../savepoints.ts';
import type { InventedRow } from './inventRows.ts';

/**
 * Writes a counterexample as SQL that can be pasted into psql: the rows, the claims, the role, the command, and a rollback.
 *
 * Delta debugging makes it short (Zeller and Hildebrandt, Simplifying and Isolating Failure-Inducing Input, 2002). It leaves out ever smaller
 * parts of the statements, as long as the last one reads or changes the same number of rows.
 *
 * @returns null if the command shows no violation this time
 */
export async function scriptOf(
  client: ClientBase,
  { why, counterexample }: Pick<Judgement, 'why' | 'counterexample'>,
  rows: readonly InventedRow[],
): Promise<string | null> {
  const shown = counterexample ?? [];
  const isOfClient = (statement: string) => /^(select set_config\(|set local role )/.test(statement);
  const from = shown.findIndex(isOfClient);
  const ending = shown.slice(from);
  let kept = [...rows.flatMap(({ statements }) => statements), ...shown.slice(0, from)];
  const wanted = await countOf(client, [...kept, ...ending]);
  if (!wanted) return null;
  for (let size = Math.ceil(kept.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2))
    for (let start = kept.length - size; start > -size; start -= size) {
      const fewer = [...kept.slice(0, Math.max(start, 0)), ...kept.slice(start + size)];
      if ((await countOf(client, [...fewer, ...ending])) === wanted) kept = fewer;
    }
  const lines = ['begin', ...kept, ...ending].map((statement) => `${statement};`);
  return [`-- ${why.replaceAll('\n', ' ')}`, ...lines, 'rollback;'].join('\n');
}

/** How many rows the last statement reads or changes; null if one of them fails. */
const countOf = (client: ClientBase, statements: readonly string[]): Promise<number | null> =>
  undone(client, async () => {
    const results = await client.query(statements.join(';\n'));
    return [results].flat().at(-1)?.rowCount ?? null;
  }).catch(refusedAs(null));
