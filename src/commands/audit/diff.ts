import type { ClientBase } from 'pg';
import { type Access, compareAccess, type Difference, readAccess } from './access.ts';
import { insertExamples } from './insertExamples.ts';
import { document, table } from './markdown.ts';
import { migrationsAt, migrationsHere, withScratchDatabase } from './scratchDatabase.ts';
import type { Answer, AuditedDatabase } from './withAuditedDatabase.ts';

/**
 * `audit diff`: compares the access that the working tree's migrations give with a git revision's.
 * It builds both beside the audited database, fills them with the same rows and asks them as the same principals. Rights and policies are
 * compared by the catalogue, and what has changed of an expression by which principals then reach which rows.
 *
 * @returns what is wider or unclear as findings; what is narrower is none
 * @throws {StartupError} when there is no such revision, or its migrations do not run
 */
export async function diff({ url }: AuditedDatabase, revision: string): Promise<Answer> {
  const before = await withScratchDatabase(url, await migrationsAt(revision), readExamples);
  const after = await withScratchDatabase(url, await migrationsHere(), readExamples);
  const differences = compareAccess(before, after);

  const section = (title: string, wanted: Difference['verdict'], otherwise: string) => {
    const rows = differences.filter(({ verdict }) => verdict === wanted).map(({ verdict: _, ...row }) => row);
    return [title, table(rows, otherwise)];
  };
  const text = document(
    `# Access since ${revision}`,
    ...section('## Wider', 'wider', 'No role may do more than before.'),
    ...section('## Unclear', 'unclear', 'Nothing is left to judge.'),
    ...section('## Narrower', 'narrower', 'No role may do less than before.'),
    ...(after.notProbed.length > 0
      ? ['## Not tried', `The rows that were tried are of other tables: ${after.notProbed.join(', ')}.`]
      : []),
  );
  return { text, findings: differences.filter(({ verdict }) => verdict !== 'narrower').length };
}

async function readExamples(client: ClientBase): Promise<Access> {
  await insertExamples(client);
  return readAccess(client);
}
