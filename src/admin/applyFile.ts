import type { Config } from '../config.ts';
import { migrationsAreCurrent } from '../database/migrate.ts';
import { openDatabase } from '../database/openDatabase.ts';
import { createOwnerPool } from '../database/pools.ts';
import { createLog } from '../log.ts';
import { applyDocument } from '../provisioning/applyDocument.ts';
import { secretKeys } from '../secretKey.ts';
import { createSecrets } from '../secrets.ts';
import { StartupError } from '../startupError.ts';
import { readJson } from './readJson.ts';

/**
 * `admin apply FILE` (contract section 2): prints what was applied as JSON, and now and then how far it is.
 *
 * @throws {DocumentError | StartupError} nothing was changed
 */
export async function applyFile(file: string, config: Config): Promise<void> {
  // Before a database is started for it.
  const source = await readJson(file);
  const secrets = createSecrets(await secretKeys(config));
  const log = createLog(config.logLevel);
  const database = await openDatabase(config.database, log);
  try {
    const owner = createOwnerPool(database.ownerUrl, log);
    try {
      if (!(await migrationsAreCurrent(owner))) {
        throw new StartupError('The database lacks migrations; run `npm run db:migrate` first.');
      }
      const applied = await applyDocument(owner, source, { secrets, report: atMostOnceASecond() });
      process.stdout.write(`${JSON.stringify(applied, null, 2)}\n`);
    } finally {
      await owner.end();
    }
  } finally {
    await database.close();
  }
}

function atMostOnceASecond(): (message: string) => void {
  let last = Date.now();
  return (message) => {
    if (Date.now() - last < 1000) return;
    last = Date.now();
    process.stderr.write(`${message}\n`);
  };
}
