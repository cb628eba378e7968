import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { helpText } from '../../src/commands/help.ts';
import { lifetimes } from '../../src/oauth/lifetimes.ts';
import { documentJsonSchema, parseDocument } from '../../src/provisioning/document.ts';
import { ProvisioningError } from '../../src/provisioning/rows.ts';
import { describeVariables } from '../../src/variables.ts';
import { blocksOf, readPage, root } from './pages.ts';
import { configurationTables, provisioningTables } from './tables.ts';

const generated = /(?<=<!-- generated -->\n)[\s\S]*(?=<!-- \/generated -->)/;

/** Renewed by UPDATE_GOLDEN=1, and reviewed. */
test.each([
  ['docs/configuration.md', configurationTables],
  ['docs/provisioning.md', provisioningTables],
])('%s says what the schema checks', async (page, tables) => {
  const expected = `\n${tables()}\n\n`;
  if (process.env.UPDATE_GOLDEN)
    await writeFile(
      join(root, page),
      (await readPage(page)).replace(generated, () => expected),
    );

  expect(generated.exec(await readPage(page))?.[0]).toBe(expected);
});

test('every variable has a meaning, also in --help', () => {
  const variables = describeVariables();

  expect(variables.length).toBeGreaterThan(40);
  for (const { name, meaning } of variables) {
    expect({ name, meaning }).toEqual({ name, meaning: expect.stringMatching(/\.$/) });
    expect(helpText()).toMatch(new RegExp(`^  ${name} `, 'm'));
  }
});

// By hand, but not unnoticed.
test('docs/oauth.md says how long tokens and codes live', async () => {
  const { refreshTokenIdleDays, refreshTokenAbsoluteDays, refreshReplaySeconds, codeSeconds } = lifetimes;
  const text = await readPage('docs/oauth.md');

  expect(text).toContain(`not used for ${refreshTokenIdleDays} days, at the latest after ${refreshTokenAbsoluteDays}.`);
  expect(text).toContain(`again within ${refreshReplaySeconds} seconds gets the same answer`);
  expect(text).toContain(`A code holds for ${codeSeconds} seconds`);
  const shown = [...text.matchAll(/"expires_in": (\d+)/g)].map(([, seconds]) => Number(seconds));
  expect(new Set(shown)).toEqual(new Set([lifetimes.accessTokenSeconds]));
});

const user = { externalIdentifier: 'u', fullName: 'U', email: 'u@example.test' };
const unitAbove = { externalIdentifier: 'u', name: 'U', children: [{}] };

describe('the JSON Schema of a provisioning document', () => {
  const schema = z.fromJSONSchema(documentJsonSchema() as Parameters<typeof z.fromJSONSchema>[0]);
  let examples: unknown[];
  beforeAll(async () => {
    const blocks = await Promise.all(['docs/provisioning.md', 'docs/getting-started.md'].map(blocksOf));
    examples = blocks.flat().flatMap(({ text }) => {
      const [, document] = /apply - <<'END'\n([\s\S]*)^END$/m.exec(text) ?? [];
      return document ? [JSON.parse(document)] : [];
    });
  });

  test('accepts what the pages apply', () => {
    expect(examples).toHaveLength(2);
    for (const example of examples) {
      expect(schema.safeParse(example).error).toBeUndefined();
      expect(() => parseDocument(example)).not.toThrow();
    }
  });

  test.each([
    ['an unknown key', { organisations: [] }],
    ['a name that is no text', { organizations: [{ name: 1 }] }],
    ['no scope', { organizations: [{ name: 'A', applications: [{ name: 'B', clientId: 'b', scopes: [] }] }] }],
    ['a unit without a name, below another', { organizations: [{ name: 'A', units: [unitAbove] }] }],
    ['a short password', { organizations: [{ name: 'A', users: [{ ...user, password: 'short' }] }] }],
    ['a card of another type', { organizations: [{ name: 'A', users: [{ ...user, cards: [{ type: 'Key' }] }] }] }],
  ])('refuses %s, as apply does', (_, document) => {
    expect(schema.safeParse(document).success).toBe(false);
    expect(() => parseDocument(document)).toThrow(ProvisioningError);
  });
});
