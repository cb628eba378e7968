import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { copyPackage } from './copyPackage.ts';

// The packed files are JavaScript. `package.system.ts` installs it.

let copied: Awaited<ReturnType<typeof copyPackage>>;
beforeAll(async () => {
  copied = await copyPackage();
});
afterAll(() => copied.remove());

const manifest = async () => JSON.parse(await readFile(join(copied.copy, 'package.json'), 'utf8'));

it('is packed as JavaScript that runs without its sources, and left as it was', async () => {
  const before = await manifest();

  await copied.run('node', ['pack.ts']);

  const packed = await manifest();
  expect(packed).toEqual({ ...before, exports: './dist/index.js', bin: 'dist/command/main.js' });
  await expect(stat(join(copied.copy, 'dist/index.d.ts'))).resolves.toBeDefined();
  await copied.run('rm', ['-r', 'src']);
  expect(await copied.run('node', ['dist/command/main.js', '--help'])).toMatch(/^Usage: rls-prover/);
  const names = `import('./dist/index.js').then((all) => console.log(Object.keys(all).join()))`;
  expect(await copied.run('node', ['--eval', names])).toContain('prove');

  await copied.run('node', ['pack.ts', '--undo']);

  expect(await manifest()).toEqual(before);
  await expect(stat(join(copied.copy, 'dist'))).rejects.toThrow('ENOENT');
});
