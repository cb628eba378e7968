import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { chown } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { findInstallation, type PostgresUser } from '../../src/database/embedded/postgresInstallation.ts';
import { createLog } from '../../src/log.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';

// A container may run as a number that no user has. Here a process becomes such a user when its modules are loaded, since that user may
// not enter every folder that a clone is in.
test('a cluster is made by a user with a name; where it has none, the error says what to do', async () => {
  const isRoot = process.getuid?.() === 0;

  expect(await createClusterAs(undefined)).toEqual({ exists: true, error: '' });
  // An ordinary user becomes no other.
  if (isRoot) {
    const { exists, error } = await createClusterAs({ uid: 4242, gid: 4242 });
    expect(exists).toBe(false);
    expect(error).toContain('Add this user to /etc/passwd, or set DATABASE_URL');
  }
});

/** @param given who makes it; else who does so in production */
async function createClusterAs(given: PostgresUser | undefined): Promise<{ exists: boolean; error: string }> {
  const dataDir = await createTestDataDirectory();
  const installation = await findInstallation(dataDir, createLog('silent'));
  const user = given ?? installation.user;
  if (user) await chown(dataDir, user.uid, user.gid);
  const become = user ? `process.setgroups([]); process.setgid(${user.gid}); process.setuid(${user.uid});` : '';
  const script = `
    const { createCluster } = await import(${JSON.stringify(import.meta.resolve('../../src/database/embedded/embedded.ts'))});
    ${become}
    await createCluster(${JSON.stringify({ ...installation, user: undefined })}, 'owner', 'secret');`;
  try {
    const error = await run(process.execPath, ['--input-type=module', '--eval', script], { cwd: tmpdir() }).then(
      () => '',
      ({ stderr }: { stderr: string }) => stderr,
    );
    return { exists: existsSync(join(installation.cluster, 'PG_VERSION')), error };
  } finally {
    await removeTestDataDirectory(dataDir);
  }
}

const run = promisify(execFile);
