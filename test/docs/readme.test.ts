import { access, glob } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createAdminProgram } from '../../src/commands/admin/runAdmin.ts';
import { loadConfig } from '../../src/config.ts';
import { pages, pagesToRun } from './inventory.ts';
import { readPage, root } from './pages.ts';

let readme: string;
beforeAll(async () => {
  readme = await readPage('README.md');
});

const withoutCode = (text: string) => text.replaceAll(/^```[\s\S]*?^```$/gm, '');

test('the README is read in a few minutes: 130 lines, of which none is long, with short sentences', () => {
  const prose = withoutCode(readme).replaceAll(/^[|>].*$/gm, '');
  const sentences = prose
    .replaceAll(/<[^>]*>/g, '')
    .split(/[.:?!](?=\s)|\n\n|^[-#]+ /m)
    .map((sentence) => sentence.split(/\s+/).filter((word) => /\w/.test(word)));

  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(130);
  expect(prose.split('\n').filter((line) => line.length > 200)).toEqual([]);
  expect(sentences.filter((words) => words.length > 25).map((words) => words.join(' '))).toEqual([]);
  expect(sentences.length).toBeGreaterThan(20);
});

test('the README names the commands to install, start and test, and its own pastes are run', () => {
  expect(readme).toMatch(/^npm ci\nnpm start$/m);
  expect(readme).toContain('`npm ci && npm test`');
  expect(pagesToRun('quick')).toContain('README.md');
});

test("the README's picture is the same in the dark, but for its colours", async () => {
  const [light, dark] = await Promise.all(
    ['light', 'dark'].map((scheme) => readPage(`docs/images/request-${scheme}.svg`)),
  );
  const colours = /^ +svg \{.*\}$/m;

  expect(light?.match(colours)?.[0]).not.toBe(dark?.match(colours)?.[0]);
  expect(light?.replace(colours, '')).toBe(dark?.replace(colours, ''));
});

test('each file and heading that a page links to is there', async () => {
  const missing: string[] = [];
  for (const page of pages) {
    const text = withoutCode(await readPage(page));
    for (const [, path = '', , anchor] of text.matchAll(/(?:\]\(|src(?:set)?=")(?!https?:)([^)#"]*)(#([^)"]+))?/g)) {
      const file = path === '' ? page : join(dirname(page), path);
      const isThere = await access(join(root, file)).then(
        () => true,
        () => false,
      );
      if (!isThere) missing.push(`${page}: ${path}`);
      else if (anchor && !anchorsOf(await readPage(file)).includes(anchor)) missing.push(`${page}: ${path}#${anchor}`);
    }
  }

  expect(missing).toEqual([]);
});

test('each script, bench, and admin command that a page names is there', async () => {
  const { scripts } = JSON.parse(await readPage('package.json'));
  const commands = createAdminProgram(() => loadConfig({}, 'admin')).commands.map((command) => command.name());
  const benches = await Array.fromAsync(glob('bench/*.ts', { cwd: root }));
  const text = (await Promise.all(pages.map(readPage))).join('\n');
  const named = (pattern: RegExp) => Array.from(text.matchAll(pattern), ([, name = '']) => name);

  expect(named(/npm run (?:-s )?([a-z][\w:]*)/g).filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  expect(named(/npm run (?:-s )?bench (\w+)/g).filter((name) => !benches.includes(`bench/${name}.ts`))).toEqual([]);
  expect(named(/admin -- ([a-z][\w-]*)/g).filter((name) => !commands.includes(name))).toEqual([]);
  expect(named(/npm run (?:-s )?bench (\w+)/g).length).toBeGreaterThan(5);
});

test('each file of deploy that a page names is there', async () => {
  const files = await Array.fromAsync(glob('deploy/**', { cwd: root }));
  const named: string[] = [];
  for (const page of pages)
    named.push(...Array.from((await readPage(page)).matchAll(/(?<![\w/])(deploy\/[\w./-]*\w)/g), ([path]) => path));

  // Made by those who follow it.
  expect(named.filter((path) => path !== 'deploy/.env' && !files.includes(path))).toEqual([]);
  expect(named.length).toBeGreaterThan(4);
});

/** As GitHub makes them of headings. */
const anchorsOf = (text: string) =>
  Array.from(text.matchAll(/^#+ (.*)$/gm), ([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
