import { access, glob } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { variableNames } from '../../src/config.ts';
import { read, root } from './support.ts';

test('the table of the README has each variable that is read, and no other', async () => {
  const [, table = ''] = /## Configuration([\s\S]*?)\n## /.exec(await read('README.md')) ?? [];
  const rows = table.split('\n').filter((line) => line.startsWith('| `'));
  const names = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`(\w+)`/g)].map(([, name]) => name));

  expect(names.toSorted()).toEqual(variableNames.toSorted());
});

test('each file that is linked or named is there', async () => {
  const files = [...(await Array.fromAsync(glob('{docs,deploy,plugins}/**/*.md', { cwd: root }))), 'README.md'];
  const missing: string[] = [];
  for (const file of files) {
    const text = await read(file);
    const linked = [...text.matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, path = '']) => join(dirname(file), path));
    const named = [...text.matchAll(/(?<![\w/])(deploy\/[\w./-]*\w)/g)].map(([, path = '']) => path);
    // Made by whoever follows it.
    const paths = [...linked, ...named].filter((path) => path !== 'deploy/.env');
    for (const path of paths) await access(join(root, path)).catch(() => missing.push(`${file}: ${path}`));
  }

  expect(files.length).toBeGreaterThan(2);
  expect(missing).toEqual([]);
});
