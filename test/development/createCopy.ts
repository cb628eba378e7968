import { cp, mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startProcess, type TestProcess } from '../support/process.ts';

/** A clone of this repository, in which a test may work as a developer does. */
export type Copy = {
  root: string;
  /** Writes `migrations/current.sql`. */
  save(sql: string): Promise<void>;
  /** `node src/main.ts …` there, on the embedded database of the copy. */
  start(args: string[], environment?: Record<string, string>): TestProcess;
  /** The same, to its end. */
  run(args: string[], environment?: Record<string, string>): Promise<{ code: number | null; output: string }>;
  remove(): Promise<void>;
};

export async function createCopy(): Promise<Copy> {
  const root = await createTestDataDirectory();
  const dataDir = await createTestDataDirectory();
  for (const path of copied) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await cp(join(repository, path), join(root, path), { recursive: true });
  }
  await symlink(join(repository, 'node_modules'), join(root, 'node_modules'));
  const save = (sql: string) => writeFile(join(root, 'migrations/current.sql'), sql);
  await save('-- Enter migration here\n');

  const start = (args: string[], environment: Record<string, string> = {}) =>
    startProcess(args, { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PORT: '0', ...environment }, root);
  return {
    root,
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

const repository = fileURLToPath(new URL('../..', import.meta.url));

const copied = [
  ...['src', 'plugins', 'migrations', 'package.json'],
  ...['test/graphql/schema.graphql', 'test/database/policies.txt', 'test/database/privileges.txt'],
];
