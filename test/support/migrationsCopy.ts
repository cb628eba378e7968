import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { calculateHash } from 'graphile-migrate/dist/hash.js';
import type * as apply from '../../src/commands/development/applyCurrent.ts';
import { blankCurrent } from '../../src/commands/development/migrations.ts';
import type * as development from '../../src/commands/development/runDevelopmentCommand.ts';
import type { DevelopmentCommand } from '../../src/commands/help.ts';
import type { Config } from '../../src/config.ts';
import type * as migrate from '../../src/database/migrations/migrate.ts';
import { createSourceCopy, program } from './sourceCopy.ts';

/** A copy of the sources whose migrations a test may add to. */
export type MigrationsCopy = {
  readonly root: string;
  /** As `npm run db:migrate` does, of the copy. */
  readonly migrate: typeof migrate.migrate;
  /** As `npm run dev` does when `current.sql` is saved. */
  readonly applyCurrent: typeof apply.applyCurrent;
  /** Runs a command of `npm run db:…`. */
  run(command: DevelopmentCommand, args: readonly string[], config: Config): Promise<{ code: number; lines: string[] }>;
  /** Commits a migration as on a branch of its own, after the one that is named or the last. @returns its file's name */
  commit(message: string, sql: string, after?: string): Promise<string>;
  /** The names in `migrations/committed`. */
  committed(): Promise<string[]>;
  read(path: string): Promise<string>;
  write(path: string, text: string): Promise<void>;
  removeFile(path: string): Promise<void>;
  remove(): Promise<void>;
};

export async function createMigrationsCopy(): Promise<MigrationsCopy> {
  const golden = ['test/graphql/schema.graphql', 'test/database/catalogue.sql', 'docs/database.md'];
  const root = await createSourceCopy([...program, ...golden]);
  const folder = join(root, 'migrations/committed');
  const load = (path: string) => import(pathToFileURL(join(root, path)).href);
  const write = (path: string, text: string) => writeFile(join(root, path), text);
  const committed = async () => (await readdir(folder)).sort();
  await write('migrations/current.sql', blankCurrent);

  const commit = async (message: string, sql: string, after?: string) => {
    const before = after ?? (await committed()).at(-1) ?? '';
    const text = await readFile(join(folder, before), 'utf8');
    const previous = /^--! Hash: (\S+)$/m.exec(text)?.[1] ?? '';
    const number = String(Number.parseInt(before, 10) + 1).padStart(6, '0');
    const name = `${number}-${message.replaceAll(' ', '-')}.sql`;
    const header = `--! Previous: ${previous}\n--! Hash: ${calculateHash(sql, previous)}\n--! Message: ${message}\n\n`;
    await writeFile(join(folder, name), `${header}${sql.trim()}\n`);
    return name;
  };
  return {
    root,
    migrate: (await load('src/database/migrations/migrate.ts')).migrate,
    // Each is loaded when a test uses it: most tests of a copy need neither.
    applyCurrent: async (...args) => (await load('src/commands/development/applyCurrent.ts')).applyCurrent(...args),
    async run(command, args, config) {
      const { runDevelopmentCommand }: typeof development = await load(
        'src/commands/development/runDevelopmentCommand.ts',
      );
      const lines: string[] = [];
      const code = await runDevelopmentCommand(
        command,
        args,
        () => config,
        (line) => lines.push(line),
      );
      return { code, lines };
    },
    commit,
    committed,
    read: (path) => readFile(join(root, path), 'utf8'),
    write,
    removeFile: (path) => rm(join(root, path)),
    remove: () => rm(root, { recursive: true, force: true }),
  };
}
