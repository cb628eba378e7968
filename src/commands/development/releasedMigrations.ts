import { join } from 'node:path';
import {
  type CommittedMigration,
  migrationsFolder,
  readPlainText,
} from '../../database/migrations/committedMigrations.ts';
import { StartupError } from '../../errors/errors.ts';

type Release = { readonly version: string; readonly hash: string };

/** The releases in `migrations/released.txt`, the oldest first: the hash of the last migration covers all before it. */
export async function readReleases(): Promise<Release[]> {
  const text = await readPlainText(join(migrationsFolder, 'released.txt'));
  return Array.from(text.matchAll(/^(\d\S*) (sha1:\w+)$/gm), ([, version = '', hash = '']) => ({ version, hash }));
}

/**
 * How many of the committed migrations are released, by the hashes in their headers.
 *
 * @throws {StartupError} when the last migration of a release is not there
 */
export function countReleased(files: readonly CommittedMigration[], releases: readonly Release[]): number {
  const counts = releases.map(({ version, hash }) => {
    const count = files.findIndex((file) => file.hash === hash) + 1;
    if (count === 0)
      throw new StartupError(
        `No migration has the hash of the last one of version ${version}: get the files back from git.`,
      );
    return count;
  });
  return Math.max(0, ...counts);
}

/** The last migration of the baseline, which runs on empty databases only, by its message. */
const lastOfBaseline = 'accepted findings';

/** @throws {StartupError} when the last migration of the baseline is not there */
export function splitAtBaseline(files: readonly CommittedMigration[]) {
  const count = files.findIndex(({ message }) => message === lastOfBaseline) + 1;
  if (count === 0) throw new StartupError(`No migration is called "${lastOfBaseline}": get the files back from git.`);
  return { baseline: files.slice(0, count), later: files.slice(count) };
}
