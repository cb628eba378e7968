import { execFile } from 'node:child_process';
import { chmod, chown, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

export type SmallDisk = Awaited<ReturnType<typeof mountSmallDisk>>;

/** A file system of so many megabytes; of `user`, else everybody may read it. */
export async function mountSmallDisk(megabytes: number, user?: { readonly uid: number; readonly gid: number }) {
  const path = await mkdtemp(join(tmpdir(), 'graph-query-service-disk-'));
  await run('mount', ['-t', 'tmpfs', '-o', `size=${megabytes}m`, 'tmpfs', path]).catch((error: unknown) => {
    const message =
      'This test fills a file system and has to mount one: run it as root, with CAP_SYS_ADMIN in a container.';
    throw new Error(message, { cause: error });
  });
  if (user) await chown(path, user.uid, user.gid);
  else await chmod(path, 0o755);
  const filling = join(path, 'filling');
  return {
    path,
    // Until nothing fits any more.
    fill: async () => void (await run('dd', ['if=/dev/zero', `of=${filling}`, 'bs=4k']).catch(() => undefined)),
    free: () => rm(filling),
    async remove() {
      await run('umount', [path]);
      await rm(path, { recursive: true });
    },
  };
}

const run = promisify(execFile);
