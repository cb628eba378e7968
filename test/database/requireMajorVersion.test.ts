import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { createLog } from '../../src/log.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';

describe('a data directory of another major version of PostgreSQL', () => {
  let dataDir: string;

  beforeEach(async () => {
    dataDir = await createTestDataDirectory();
    await mkdir(join(dataDir, 'postgres'));
  });

  afterEach(() => removeTestDataDirectory(dataDir));

  it.each(['15', '9.6', '99'])('is refused and left as it is: %s', async (version) => {
    await writeFile(join(dataDir, 'postgres', 'PG_VERSION'), `${version}\n`);
    await writeFile(join(dataDir, 'postgres', 'postmaster.pid'), 'of a server that was killed');

    const message = await startEmbeddedPostgres(dataDir, createLog('error')).then(
      () => 'it started',
      (error: Error) => error.message,
    );

    expect(message).toContain(`${join(dataDir, 'postgres')} was made by PostgreSQL ${version}; `);
    expect(message).toMatch(/brings PostgreSQL \d+\. Nothing was changed\. Go back .* docs\/upgrading\.md says/);
    expect(await readdir(dataDir)).toEqual(['postgres']);
    expect((await readdir(join(dataDir, 'postgres'))).sort()).toEqual(['PG_VERSION', 'postmaster.pid']);
    expect(await readFile(join(dataDir, 'postgres', 'PG_VERSION'), 'utf8')).toBe(`${version}\n`);
  });
});
