import { chmod, mkdir, readdir, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createDataDirectory, lockDataDirectory, readOrCreate } from '../../src/database/embedded/dataDirectory.ts';
import { createTestDataDirectory, removeTestDataDirectory } from '../support/dataDirectory.ts';

describe('the data directory', () => {
  let parent: string;

  beforeEach(async () => {
    parent = await createTestDataDirectory();
  });

  afterEach(() => removeTestDataDirectory(parent));

  it('is made so that others may pass but not look', async () => {
    await createDataDirectory(join(parent, 'data'));

    expect((await stat(join(parent, 'data'))).mode & 0o777).toBe(0o711);
  });

  it('keeps the mode that it was given', async () => {
    await mkdir(join(parent, 'data'));
    await chmod(join(parent, 'data'), 0o700);

    await createDataDirectory(join(parent, 'data'));

    expect((await stat(join(parent, 'data'))).mode & 0o777).toBe(0o700);
  });

  it('has one holder at a time, under whatever name', async () => {
    await symlink(parent, join(parent, 'alias'));
    const lock = await lockDataDirectory(parent);

    expect(lock).not.toBeNull();
    expect(await lockDataDirectory(join(parent, 'alias'))).toBeNull();

    await lock?.release();
    const next = await lockDataDirectory(parent);
    expect(next).not.toBeNull();
    await next?.release();
  });

  it('has a lock that no other user may hold', async () => {
    const lock = await lockDataDirectory(parent);
    await lock?.release();

    expect((await stat(join(parent, 'lock'))).mode & 0o777).toBe(0o600);
  });

  it('says when it cannot be locked', async () => {
    await mkdir(join(parent, 'lock'));

    await expect(lockDataDirectory(parent)).rejects.toThrow(`Cannot lock ${join(parent, 'lock')}`);
  });

  it('creates a value once for concurrent processes', async () => {
    let made = 0;
    const values = await Promise.all(
      Array.from({ length: 10 }, () => readOrCreate(parent, 'value.json', () => ++made)),
    );

    expect(new Set(values).size).toBe(1);
    expect(await readOrCreate(parent, 'value.json', () => 'another')).toBe(values[0]);
    expect(await readdir(parent)).toEqual(['value.json']);
    expect((await stat(join(parent, 'value.json'))).mode & 0o777).toBe(0o600);
  });

  it.each(['{ "password": "secret', 'secret', 'null', ''])('says which file cannot be read: %s', async (text) => {
    await writeFile(join(parent, 'value.json'), text);

    const error = await readOrCreate(parent, 'value.json', () => 1).catch((error: unknown) => error);

    expect(error).toMatchObject({ message: expect.stringContaining(`Cannot read ${join(parent, 'value.json')}`) });
    expect(String((error as Error).cause)).not.toContain('secret');
  });
});
