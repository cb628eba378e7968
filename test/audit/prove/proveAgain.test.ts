import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Options, Prover } from 'rls-prover';
import { proveAgain } from '../../../src/commands/audit/prove/proveAgain.ts';

// The file of `audit prove --changed`. `changed.system.ts` proves.

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'prove-'));
});
afterAll(() => rm(folder, { recursive: true }));

test.each(['{', '[1]', '{}'])('names a file with %j before it proves anything', async (text) => {
  const path = join(folder, 'proofs.json');
  await writeFile(path, text);

  await expect(proveAgain({} as Options, path, {} as Prover)).rejects.toThrow(
    `${path} is not what \`prove --changed\` wrote`,
  );
});

test('names a file that cannot be read', async () => {
  await expect(proveAgain({} as Options, folder, {} as Prover)).rejects.toThrow(`${folder} cannot be read: EISDIR`);
});
