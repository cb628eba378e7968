import { mkdir, rm, writeFile } from 'node:fs/promises';
import type { Config } from '../../config.ts';
import { openDatabase } from '../../database/openDatabase.ts';
import type { Log } from '../../log.ts';
import { type GoldenFile, staleGoldenFiles } from './goldenFiles.ts';
import { withShadow } from './shadow.ts';

/**
 * `npm run schema:update`: writes the golden files from the committed migrations.
 * The contents of the developer's own database do not matter.
 */
export async function updateSchema(config: Config, log: Log): Promise<string[]> {
  const { ownerUrl, close } = await openDatabase(config.database, log, { migrates: false });
  const stale = await withShadow(ownerUrl, ({ url }) => staleGoldenFiles(url)).finally(close);
  for (const file of stale) await write(file);
  return stale.length > 0
    ? [...stale.map(({ name, text }) => `${text ? 'Wrote' : 'Removed'} ${name}.`), 'Review them.']
    : ['Every golden file is true already.'];
}

async function write({ url, text }: GoldenFile): Promise<void> {
  if (text === '') return rm(url);
  await mkdir(new URL('.', url), { recursive: true });
  await writeFile(url, text);
}
