import { execFile } from 'node:child_process';
import { cp, mkdtemp, readFile, rm, stat, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

// The packed files are JavaScript. Packing writes into the package's folder, so a copy is packed.

const [source, modules] = ['..', '../../../node_modules'].map((path) =>
  fileURLToPath(new URL(path, import.meta.url)),
) as [string, string];

let copy: string;
beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), 'rls-prover-'));
  const isLeftOut = /\/(dist|test|node_modules|package\.json\.own)$/;
  await cp(source, copy, { recursive: true, filter: (path) => !isLeftOut.test(path) });
  await symlink(modules, join(copy, 'node_modules'));
});
afterAll(() => rm(copy, { recursive: true }));

const env = { ...process.env, PATH: `${join(modules, '.bin')}:${process.env.PATH}` };
const run = async (program: string, args: string[]) =>
  (await promisify(execFile)(program, args, { cwd: copy, env })).stdout;
const manifest = async () => JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'));

it('is packed as JavaScript that runs without its sources, and left as it was', async () => {
  const before = await manifest();

  await run('node', ['pack.ts']);

  expect(await manifest()).toEqual({ ...before, exports: './dist/index.js' });
  await expect(stat(join(copy, 'dist/index.d.ts'))).resolves.toBeDefined();
  await run('rm', ['-r', 'src']);
  const names = `import('./dist/index.js').then((all) => console.log(Object.keys(all).join()))`;
  expect(await run('node', ['--eval', names])).toContain('prove');

  await run('node', ['pack.ts', '--undo']);

  expect(await manifest()).toEqual(before);
  await expect(stat(join(copy, 'dist'))).rejects.toThrow('ENOENT');
});
