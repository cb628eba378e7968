import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Client } from 'pg';
import { table } from '../../src/commands/audit/markdown.ts';
import { readPage, root } from './pages.ts';

const statement = /```sql\n((?!-- Not run).*?)```\n(?:\n((?:\|[^\n]*\n)+))?/gs;

/**
 * Runs the statements of a page in their order.
 *
 * @returns those that are followed by a table, with that and the one that the database answers
 */
export async function runStatements(page: string, client: Client) {
  const answers: { statement: string; shown: string; answer: string }[] = [];
  for (const [, sql = '', shown] of (await readPage(page)).matchAll(statement)) {
    const { rows } = await client.query(sql);
    if (shown !== undefined)
      answers.push({ statement: sql, shown, answer: `${ofAnyInstallation(table(rows, 'Nothing.'))}\n` });
  }
  if (process.env.UPDATE_GOLDEN) await renew(page, answers);
  return answers;
}

async function renew(page: string, answers: readonly { shown: string; answer: string }[]): Promise<void> {
  let text = await readPage(page);
  for (const { shown, answer } of answers) text = text.replace(shown, () => answer);
  await writeFile(join(root, page), text);
}

/** Ids are random. */
const ofAnyInstallation = (text: string) => text.replaceAll(/[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g, '…');
