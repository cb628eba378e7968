import { writeFile } from 'node:fs/promises';
import type { Config } from '../../config.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import type { Log } from '../../log.ts';
import { staleGoldenFiles } from './goldenFiles.ts';
import { withShadow } from './shadow.ts';

/**
 * `npm run schema:update`: writes the golden files, which say what the committed migrations give.
 * What the developer's own database holds does not matter.
 */
export async function updateSchema(config: Config, _args: readonly string[], log: Log): Promise<string[]> {
  const { ownerUrl, close } = await openDatabase(config.database, log, { migrates: false });
  const stale = await withShadow(ownerUrl, ({ url }) => staleGoldenFiles(url)).finally(close);
  for (const { url, text } of stale) await writeFile(url, text);
  return stale.length > 0
    ? [...stale.map(({ name }) => `Wrote ${name}.`), 'Review them.']
    : ['Every golden file is true already.'];
}
