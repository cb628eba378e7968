import type { ClientBase } from 'pg';
import type { Catalogue } from 'rls-prover';
import { compareAccess, type Difference } from './compareAccess.ts';
import { insertExamples } from './insertExamples.ts';
import { document, table } from './markdown.ts';
import { migrationsAt, migrationsHere } from './migrationsAt.ts';
import { loadProver } from './prove/loadProver.ts';
import { readOptions } from './prove/readOptions.ts';
import { proveUnclear } from './proveUnclear.ts';
import { type Access, readAccess } from './readAccess.ts';
import type { Answer, AuditedDatabase } from './withAuditedDatabase.ts';
import { withScratchDatabase } from './withScratchDatabase.ts';

/**
 * `audit diff`: compares the access that the working tree's migrations give with a git revision's.
 * It builds both beside the audited database, fills them with the same rows and asks them as the same principals. Grants and policies
 * are compared by the catalogue. Changed expressions are compared by which principals reach which rows, and where that is unclear by proof.
 *
 * @returns what is wider or unclear as findings; what is narrower is none
 * @throws {StartupError} when there is no such revision, or its migrations do not run
 */
export async function diff({ url }: AuditedDatabase, revision: string): Promise<Answer> {
  const [there, here] = [await migrationsAt(revision), await migrationsHere()];
  const before = await withScratchDatabase(url, there, readExamples);
  const { after, catalogue } = await withScratchDatabase(url, here, async (client) => ({
    after: await readExamples(client),
    catalogue: await readCatalogueOf(client),
  }));
  const differences = await proveUnclear(compareAccess(before, after), before, after, catalogue);

  const of = (verdict: Difference['verdict']) => differences.filter((difference) => difference.verdict === verdict);
  const section = (verdict: Difference['verdict'], otherwise: string) =>
    table(
      of(verdict).map(({ object, role, detail }) => ({ object, role, detail })),
      otherwise,
    );
  const text = document(
    `# Access since ${revision}`,
    '## Wider',
    section('wider', 'No role may do more than before.'),
    '## Unclear',
    section('unclear', 'Nothing is left to judge.'),
    '## Narrower',
    section('narrower', 'No role may do less than before.'),
    ...(of('equal').length > 0 ? ['## Equal', section('equal', '')] : []),
    ...(after.notProbed.length > 0
      ? ['## Not tried', `The rows that were tried are of other tables: ${after.notProbed.join(', ')}.`]
      : []),
  );
  return { text, findings: of('wider').length + of('unclear').length };
}

async function readExamples(client: ClientBase): Promise<Access> {
  await insertExamples(client);
  return readAccess(client);
}

/** The catalogue, for proofs; null without the prover, which is a development dependency. */
async function readCatalogueOf(client: ClientBase): Promise<Catalogue | null> {
  const prover = await loadProver().catch(() => null);
  if (!prover) return null;
  await client.query('begin');
  const catalogue = await prover.readCatalogue(await readOptions(client));
  await client.query('rollback');
  return catalogue;
}
