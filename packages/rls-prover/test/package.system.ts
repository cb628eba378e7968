import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { copyPackage } from './copyPackage.ts';
import { openForeign } from './foreign/openForeign.ts';

// As a stranger has it: `npm pack`, installed in an empty folder, beside a database like Supabase's. It needs npm's registry or its cache.

it('answers by a table of judgements with a counterexample in one command', async () => {
  const [copied, database] = [await copyPackage(), await openForeign('chat')];
  try {
    const [{ filename, files }] = JSON.parse((await copied.run('npm', ['pack', '--json'])).replace(/^[^[]*/, ''));
    const empty = join(copied.folder, 'empty');
    await mkdir(empty);
    await copied.run(
      'npm',
      ['install', '--prefer-offline', '--no-audit', '--no-fund', join(copied.copy, filename)],
      empty,
    );

    const answer = copied.run('npx', ['--no-install', 'rls-prover', '--preset', 'supabase', database.url], empty);

    await expect(answer).rejects.toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^begin;\n[\s\S]*^rollback;$[\s\S]*^\[\d+\] +refuted +select +public\.sidebar +anon +anonymous/m,
      ),
    });
    expect(
      files.map(({ path }: { path: string }) => path).filter((path: string) => /(?<!\.d)\.ts$/.test(path)),
    ).toEqual([]);
    expect(files.map(({ path }: { path: string }) => path)).toEqual(expect.arrayContaining(['LICENSE', 'README.md']));
  } finally {
    await database.stop();
    await copied.remove();
  }
});
