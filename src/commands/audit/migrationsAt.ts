import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { migrationsFolder, readCommitted, readPlainText } from '../../database/migrations/committedMigrations.ts';
import { StartupError } from '../../errors/errors.ts';

export type Migration = { name: string; sql: string };

/**
 * The committed migrations of a git revision, in order.
 *
 * @throws {StartupError} when there is no such revision, or this is no git clone
 */
export async function migrationsAt(revision: string): Promise<Migration[]> {
  const commit = (await git('rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`)).trim();
  const names = (await git('ls-tree', '--name-only', commit, 'migrations/committed/')).split('\n');
  const files = names.filter((name) => name.endsWith('.sql')).sort();
  return Promise.all(files.map(async (name) => ({ name, sql: await git('show', `${commit}:${name}`) })));

  function git(...args: string[]): Promise<string> {
    return run('git', args, { cwd: root, maxBuffer: 100_000_000 }).then(
      ({ stdout }) => stdout,
      (error: unknown) => {
        throw new StartupError(`There is no git revision ${revision} here.`, { cause: error });
      },
    );
  }
}

/** The migrations of the working tree, and `current.sql`. */
export async function migrationsHere(): Promise<Migration[]> {
  const committed = await readCommitted();
  const current = await readPlainText(join(migrationsFolder, 'current.sql')).catch(() => '');
  return [...committed.map(({ name, body }) => ({ name, sql: body })), { name: 'current.sql', sql: current }];
}

const root = fileURLToPath(new URL('../../..', import.meta.url));

const run = promisify(execFile);
