// docs/errors.md, the limits of docs/for-a-client.md and the reasons of docs/door-controller.md have all of the program, and its figures.
import { loadConfig } from '../../src/config.ts';
import { advice, limitExceeded } from '../../src/graphql/document/documentError.ts';
import { errorCodes } from '../../src/graphql/errors.ts';
import { readPage } from './pages.ts';

let page: string;
beforeAll(async () => {
  page = await readPage('docs/errors.md');
});

/** The paragraphs of a section, by their headings. */
function paragraphsOf(section: string): Map<string, string> {
  const [part = ''] = page.split(/^## /m).filter((found) => found.startsWith(`${section}\n`));
  const [, ...paragraphs] = part.split(/^### /m);
  return new Map(
    paragraphs.map((paragraph) => {
      const [code = '', ...words] = paragraph.split('\n\n');
      return [code, words.join('\n\n')];
    }),
  );
}

test('each code of the graph has a paragraph: its status, and what to do', () => {
  const paragraphs = paragraphsOf('GraphQL');

  expect([...paragraphs.keys()].toSorted()).toEqual(Object.keys(errorCodes).toSorted());
  for (const [code, words] of paragraphs) {
    const { status } = errorCodes[code as keyof typeof errorCodes];
    expect({ code, words }).toEqual({
      code,
      words: expect.stringMatching(`^HTTP ${status}\\b[\\s\\S]*\\*\\*Do\\*\\*: `),
    });
  }
});

test('each code of OAuth has a paragraph that says what to do', async () => {
  const source = await readPage('src/oauth/errors.ts');
  const [, union = ''] = /type OAuthErrorCode =([^;]*);/.exec(source) ?? [];
  const codes = Array.from(union.matchAll(/'(\w+)'/g), ([, code = '']) => code);
  const paragraphs = paragraphsOf('OAuth');

  expect(codes.length).toBeGreaterThan(10);
  expect([...paragraphs.keys()].toSorted()).toEqual(codes.toSorted());
  for (const [code, words] of paragraphs)
    expect({ code, words }).toEqual({ code, words: expect.stringContaining('**Do**: ') });
});

test('the mutations that a client reads are those of the schema', async () => {
  const [, table = ''] = /^## Which mutation\n([\s\S]*?)^## /m.exec(await readPage('docs/for-a-client.md')) ?? [];
  const named = Array.from(table.matchAll(/`([a-z]\w+[A-Z]\w+)`/g), ([, name = '']) => name);
  const [, type = ''] = /^type Mutation \{\n([\s\S]*?)^\}/m.exec(await readPage('test/graphql/schema.graphql')) ?? [];
  const shown = Array.from(type.matchAll(/^ {2}(\w+)\(/gm), ([, name = '']) => name);

  expect(shown.length).toBeGreaterThan(15);
  expect(shown.filter((name) => !named.includes(name))).toEqual([]);
  expect(named.filter((name) => name !== 'externalIdentifier' && !shown.includes(name))).toEqual([]);
});

test('the reasons that a door reads are those of the schema', async () => {
  const [, table = ''] =
    /^### Why it is open or closed\n([\s\S]*?)^## /m.exec(await readPage('docs/door-controller.md')) ?? [];
  const named = Array.from(table.matchAll(/^\| `([A-Z_]+)`/gm), ([, name = '']) => name);
  const [, values = ''] =
    /^enum AccessReason \{\n([\s\S]*?)^\}/m.exec(await readPage('test/graphql/schema.graphql')) ?? [];
  const shown = Array.from(values.matchAll(/^ {2}([A-Z_]+)$/gm), ([, name = '']) => name);

  expect(shown.length).toBeGreaterThan(5);
  expect(named.toSorted()).toEqual(shown.toSorted());
});

test('the limits that a client reads are those of the program', async () => {
  const { limits } = loadConfig({}, 'serve');
  const table = (await readPage('docs/for-a-client.md')).matchAll(/^\| `(\w+)` \| ([\d,]+).*\| (.*) \|$/gm);
  const rows = Array.from(table);

  expect(Object.fromEntries(rows.map(([, limit, max = '']) => [limit, Number(max.replaceAll(',', ''))]))).toEqual(
    limits,
  );
  expect(Object.fromEntries(rows.map(([, limit, , todo = '']) => [limit, todo.replaceAll('`', '')]))).toEqual(advice);
});

test('the refusal of a limit is a sentence that says how much is allowed, and what to do', () => {
  const { limits } = loadConfig({}, 'serve');

  for (const limit of Object.keys(limits) as (keyof typeof limits)[]) {
    const { message } = limitExceeded(limit, 1234);
    expect(message).toMatch(
      /^An? (operation|document|body|answer) may (have|return) at most 1,234 [a-z].+: [a-z].+\.$/,
    );
    expect(message.endsWith(`: ${advice[limit]}.`)).toBe(true);
  }
});
