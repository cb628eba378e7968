import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A directory as a client's author has one: the packages of this repository, and modules of its own. */
export type Workshop = {
  folder: string;
  write(file: string, text: string): Promise<string>;
  /** Runs a program of `node_modules/.bin`; what it says, and whether it was content. */
  run(program: string, ...args: string[]): Promise<{ code: number; output: string }>;
  remove(): Promise<void>;
};

export async function openWorkshop(): Promise<Workshop> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), 'graph-query-client-'));
  await symlink(packages, join(folder, 'node_modules'));
  const write = async (file: string, text: string) => {
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
    return path;
  };
  await write('package.json', '{ "type": "module" }');

  return {
    folder,
    write,
    run: (program, ...args) =>
      new Promise((resolve, reject) => {
        execFile(join(packages, '.bin', program), args, { cwd: folder }, (error, stdout, stderr) => {
          const code = error ? error.code : 0;
          if (typeof code !== 'number') return reject(error);
          resolve({ code, output: stdout + stderr });
        });
      }),
    remove: () => rm(folder, { recursive: true }),
  };
}

const packages = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** The schema as this repository shows it to clients. */
export const schemaFile = fileURLToPath(new URL('../schema.graphql', import.meta.url));
