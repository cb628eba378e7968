import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Private words for things that have a term, which docs/glossary.md has. */
const replaced = /\b(whoever|patience|told|crowd|aside|unhurried|mighty)\b/i;

async function readFiles(folder: string): Promise<(readonly [path: string, text: string])[]> {
  const entries = await readdir(join(root, folder), { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  return Promise.all(files.map(async (file) => [file, await readFile(file, 'utf8')] as const));
}

test.each(['src', 'plugins'])('%s has none of the words that terms of the glossary have replaced', async (folder) => {
  const files = await readFiles(folder);

  const found = files.flatMap(([file, text]) =>
    text.split('\n').flatMap((line, index) => (replaced.test(line) ? [`${file}:${index + 1}: ${line}`] : [])),
  );

  expect(files.length).toBeGreaterThan(40);
  expect(found).toEqual([]);
});

/** The text of the first line of each doc comment. */
const firstLines = (text: string) =>
  Array.from(text.matchAll(/\/\*\*\s+(?:\* )?(.*?)(?: \*\/)?$/gm), ([, line = '']) => line);

// It names the technique or the subject; the reasons follow.
test('no doc comment begins with a line of more than 100 characters', async () => {
  const files = (await Promise.all(['src', 'plugins'].map(readFiles))).flat();

  const lines = files
    .filter(([file]) => /\.[jt]s$/.test(file))
    .flatMap(([file, text]) => firstLines(text).map((line) => [file, line] as const));

  expect(firstLines('/** One. */\n/**\n * Two.\n * Why.\n */')).toEqual(['One.', 'Two.']);
  expect(lines.length).toBeGreaterThan(1000);
  expect(lines.filter(([, line]) => line.length > 100)).toEqual([]);
});

test('each file that the glossary links to exists', async () => {
  const glossary = await readFile(join(root, 'docs/glossary.md'), 'utf8');
  const paths = Array.from(glossary.matchAll(/\]\(\.\.\/([^)#]+)/g), ([, path = '']) => path);

  expect(paths.length).toBeGreaterThan(20);
  expect(paths.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
