import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';
import { startProcess } from '../support/process.ts';
import { addressOf } from '../support/workers.ts';

const folder = join(import.meta.dirname, 'node');
const node = join(folder, 'node_modules', `node-linux-${process.arch}`, 'bin/node');

// On a machine for which no package brings one; docs/platforms.md.
test.each(['', '2'])('Node.js 22.18 runs the service with its demo, WORKERS=%s', async (WORKERS) => {
  if (!existsSync(node)) await run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: folder });
  expect((await run(node, ['--version'])).stdout).toBe('v22.18.0\n');
  const dataDir = await createTestDataDirectory();
  const environment = { PATH: process.env.PATH ?? '', DATA_DIR: dataDir, PORT: '0', WORKERS };
  const service = startProcess([], environment, undefined, { node });
  await service.says('curl ');

  const query = { query: '{ __schema { queryType { name } } }' };
  const response = await fetch(`${addressOf(service)}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(query),
  });
  const audit = startProcess(['audit'], environment, undefined, { node });
  expect(await audit.exited).toEqual({ code: 0, signal: null });
  service.signal('SIGTERM');

  expect(await response.json()).toEqual({ data: { __schema: { queryType: { name: 'Query' } } } });
  expect(await service.exited).toEqual({ code: 0, signal: null });
  await removeTestDataDirectory(dataDir);
});

const run = promisify(execFile);
