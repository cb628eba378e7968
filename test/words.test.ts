import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Private words for things that have a term, which docs/glossary.md has. */
const replaced = /\b(whoever|patience|told|crowd|aside|unhurried|mighty)\b/i;

test.each(['src', 'plugins'])('%s has none of the words that terms of the glossary have replaced', async (folder) => {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));

  const found = await Promise.all(
    files.map(async (file) => {
      const lines = (await readFile(file, 'utf8')).split('\n').map((text, index) => `${file}:${index + 1}: ${text}`);
      return lines.filter((line) => replaced.test(line.slice(file.length)));
    }),
  );

  expect(files.length).toBeGreaterThan(40);
  expect(found.flat()).toEqual([]);
});

test('each file that the glossary links to exists', async () => {
  const glossary = await readFile(join(root, 'docs/glossary.md'), 'utf8');
  const paths = Array.from(glossary.matchAll(/\]\(\.\.\/([^)#]+)/g), ([, path = '']) => path);

  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
