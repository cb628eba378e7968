import { pbkdf2 } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { watchFiles } from '../../src/commands/development/watchFiles.ts';
import { until } from '../support/until.ts';

test('no change goes unseen from the first moment on, however the file is written', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'graph-query-service-watch-'));
  const path = join(folder, 'current.sql');
  await writeFile(path, 'select 1;');
  let changes = 0;
  const seen = () => until(() => changes > 0);

  // On a busy machine a first look that is not taken at once is taken late.
  const busy = Array.from({ length: 8 }, () => promisify(pbkdf2)('of the test', '', 200_000, 32, 'sha256'));
  const watching = watchFiles([path], () => changes++);
  writeFileSync(path, 'select 2;');
  await Promise.all([seen(), ...busy]);

  changes = 0;
  await writeFile(join(folder, 'draft'), 'select 3;');
  await rename(join(folder, 'draft'), path);
  await seen();

  changes = 0;
  await rm(path);
  await seen();

  changes = 0;
  await writeFile(path, '');
  await seen();

  watching.stop();
  await rm(folder, { recursive: true });
});
