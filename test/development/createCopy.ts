import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { blankCurrent } from '../../src/commands/development/migrations.ts';
import { createTestDataDirectory, directoryInMemory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { testPasswordCost } from '../support/passwords.ts';
import { startProcess, type TestProcess } from '../support/process.ts';
import { createSourceCopy, program } from '../support/sourceCopy.ts';

/** A clone of this repository, in which a test may work as a developer does. */
export type Copy = {
  root: string;
  /** Of its embedded database. */
  dataDir: string;
  /** Replaces `migrations/current.sql` at once: a watcher that looks in between would find it empty. */
  save(sql: string): Promise<void>;
  /** `node src/main.ts …` there, on the embedded database of the copy. */
  start(args: string[], environment?: Record<string, string>): TestProcess;
  /** The same, to its end. */
  run(args: string[], environment?: Record<string, string>): Promise<{ code: number | null; output: string }>;
  remove(): Promise<void>;
};

/** @param createDataDirectory makes that of its embedded database, an empty one unless given */
export async function createCopy(
  createDataDirectory = async () => createTestDataDirectory(await directoryInMemory()),
): Promise<Copy> {
  const root = await createSourceCopy(copied);
  const dataDir = await createDataDirectory();
  const save = async (sql: string) => {
    const written = join(root, 'migrations/next.sql');
    await writeFile(written, sql);
    await rename(written, join(root, 'migrations/current.sql'));
  };
  await save(blankCurrent);

  const common = {
    PATH: process.env.PATH ?? '',
    DATA_DIR: dataDir,
    PORT: '0',
    ...testPasswordCost,
  };
  const start = (args: string[], environment: Record<string, string> = {}) =>
    startProcess(args, { ...common, ...environment }, root);
  return {
    root,
    dataDir,
    save,
    start,
    async run(args, environment) {
      const { exited, output } = start(args, environment);
      const { code } = await exited;
      return { code, output: output.stdout + output.stderr };
    },
    async remove() {
      await removeTestDataDirectory(root);
      await removeTestDataDirectory(dataDir);
    },
  };
}

const copied = [...program, 'test/graphql/schema.graphql', 'test/database/catalogue.sql', 'docs/database.md'];
