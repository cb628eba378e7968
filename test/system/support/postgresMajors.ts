import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findInstallation } from '../../../src/database/embedded/postgresInstallation.ts';
import { createLog } from '../../../src/log.ts';

/** Every major that the service supports. */
export const majors = [15, 16, 17, 18] as const;

/** The binaries of a major, for PostgreSQL's user to run: the embedded ones, or of a package that is installed for the first test. */
export async function binariesOf(major: (typeof majors)[number], dataDir: string): Promise<string> {
  const embedded = await findInstallation(dataDir, createLog('error'));
  if (embedded.majorVersion === major) return embedded.binaries;
  if (!existsSync(join(folder, 'node_modules'))) await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  const native = join(folder, 'node_modules', `postgres-${major}-linux-${process.arch}`, 'native');
  // A copy, since PostgreSQL's user may not enter the clone.
  await run('cp', ['--recursive', native, join(dataDir, 'native')]);
  await run('chmod', ['--recursive', 'a+rX', join(dataDir, 'native')]);
  return join(dataDir, 'native', 'bin');
}

const folder = join(import.meta.dirname, '../postgres');
const run = promisify(execFile);
