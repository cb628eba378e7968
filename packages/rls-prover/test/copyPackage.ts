import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

export const execute = promisify(execFile);

const [source, modules] = ['..', '../../../node_modules'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string];

/** A copy of the package's folder, since packing it writes into it, below a folder that is empty else. */
export async function copyPackage() {
  const folder = await mkdtemp(join(tmpdir(), 'rls-prover-'));
  const copy = join(folder, 'package');
  await cp(source, copy, {
    recursive: true,
    filter: (path) => !/\/(dist|test|node_modules|package\.json\.own)$/.test(path),
  });
  await symlink(modules, join(copy, 'node_modules'));
  const env = { ...process.env, PATH: `${join(modules, '.bin')}:${process.env.PATH}` };

  return {
    folder,
    copy,
    /** Runs a program in the copy, or in a folder beside it. */
    run: async (program: string, args: readonly string[], cwd = copy) => {
      const { stdout } = await execute(program, [...args], { cwd, env, maxBuffer: 2 ** 26 });
      return stdout;
    },
    remove: () => rm(folder, { recursive: true }),
  };
}
