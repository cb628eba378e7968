import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import * as exported from 'rls-prover';
import { asAdministrator, openTestDatabase } from '../../../test/support/database.ts';

const folder = new URL('..', import.meta.url);
const readme = await readFile(new URL('README.md', folder), 'utf8');
const block = (language: string) => new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\``, 'm').exec(readme)?.[1] ?? '';

test("the README's example answers what the README says", async () => {
  const id = randomUUID().replaceAll('-', '');
  // Roles are the cluster's.
  const named = (text: string) => text.replaceAll(/\bmember\b/g, `member_${id.slice(0, 8)}`);
  await asAdministrator(`create database prover_${id} template template0`);
  const database = openTestDatabase(`prover_${id}`);
  try {
    await database.owner.query(named(block('sql')));

    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--input-type=module', '--eval', named(block('js'))],
      { cwd: folder, env: { PATH: process.env.PATH, DATABASE_URL: database.ownerUrl } },
    );

    expect(stdout).toBe(named(block('text')));
  } finally {
    await database.drop();
    await asAdministrator(named('drop role member'));
  }
});

test('the README names each function', () => {
  const functions = [...readme.matchAll(/^\| `(\w+)\(\w*(?:, \w+)?\)` \| [^|]*\|$/gm)].map(([, name]) => name);

  expect(functions.filter((name) => name !== 'could_update').toSorted()).toEqual(Object.keys(exported).toSorted());
});
