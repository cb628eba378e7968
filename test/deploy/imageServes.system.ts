import { execFile } from 'node:child_process';
import { glob, rm } from 'node:fs/promises';
import { promisify } from 'node:util';
import { byTcp, createTestDatabase, listenerOf } from '../support/database.ts';
import { startProcess } from '../support/process.ts';
import { testSecretKey } from '../support/service.ts';
import { createSourceCopy } from '../support/sourceCopy.ts';
import { startTcpProxy } from '../system/support/tcpProxy.ts';
import { copied, instructions, jsonOf } from './dockerfile.ts';
import { root } from './support.ts';

// The image is not built here, for that takes an engine; but what is in it is put together and started as it would be.

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
