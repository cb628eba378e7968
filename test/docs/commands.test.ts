import { glob } from 'node:fs/promises';
import { Client } from 'pg';
import { findEmbeddedPostgres } from '../../src/database/embedded/embedded.ts';
import { createLog } from '../../src/log.ts';
import { startupBanner } from '../../src/service/service.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';
import { expectPage } from './expectPage.ts';
import { blocks, followedBy, isRun, notRunBlocks, outputBelow, pagesToRun, testOf } from './inventory.ts';
import { notRun, readPage, root } from './pages.ts';
import { shows } from './runPage.ts';
import { runStatements } from './statements.ts';

const audit = 'docs/auditing-access.md';
const dba = 'docs/for-a-dba.md';

test('every block of the pages is run, here or by the test that is named for it, or says why it is not', async () => {
  const files = await Array.fromAsync(glob('{test,packages/*/test}/**/*.ts', { cwd: root }));
  const followed = Object.keys(followedBy).map((key) => key.split('#'));
  const outputs = blocks.filter((block) => isRun(block) || testOf(block)).map(outputBelow);
  const quoted = blocks.filter(({ language, page }) => language === 'sql' && (page === audit || page === dba));
  const accountedFor = new Set([
    ...blocks.filter((block) => isRun(block) || testOf(block) || notRun(block)),
    ...outputs,
    ...quoted,
  ]);

  expect(blocks.filter((block) => !accountedFor.has(block))).toEqual([]);
  expect(blocks.filter(notRun).map(({ page, heading }) => `${page}#${heading}`)).toEqual(notRunBlocks);
  expect(Object.values(followedBy).filter((file) => !files.includes(file))).toEqual([]);
  expect(
    followed.filter(
      ([page, heading]) => !blocks.some((block) => block.page === page && block.heading === (heading ?? block.heading)),
    ),
  ).toEqual([]);
});

describe('what the pages show to paste, on the demo', () => {
  let demo: Demo;
  beforeAll(async () => {
    demo = await startTestDemo();
  });
  afterAll(() => demo.stop());

  // The others are in test/system/pages.system.ts.
  test.each(pagesToRun('quick'))('%s', (page) => expectPage(page, demo));

  /** Renewed by UPDATE_GOLDEN=1, and reviewed. */
  test.each([
    [audit, 11],
    [dba, 4],
  ])('%s, as the owner of the database', async (page, count) => {
    const { ownerUrl } = (await findEmbeddedPostgres(demo.dataDir, createLog('error'))) ?? {};
    const client = new Client({ connectionString: ownerUrl });
    await client.connect();
    const answers = await runStatements(page, client);
    await client.end();

    expect(answers).toHaveLength(count);
    for (const { statement, shown, answer } of answers)
      expect({ statement, answer }).toEqual({ statement, answer: shown });
  });

  test('the README shows how a start begins', async () => {
    const start = blocks.find(({ page, language }) => page === 'README.md' && language === 'text');
    const embedded = { cluster: demo.dataDir, demo: demo.credentials, issueToken: async () => 'gqs_at_…' };
    const banner = await startupBanner({ url: 'http://localhost:3000', explorers: true, embedded });

    expect(shows(start?.text ?? '', banner.join('\n'))).toBe(true);
  });
});

test('the policy that the README quotes is that of the migration that it names', async () => {
  const [, link = '', quote = ''] =
    /\]\((migrations\/committed\/[^)]+)\).*\n\n((?:> .*\n)+)/.exec(await readPage('README.md')) ?? [];
  const statement = Array.from(quote.matchAll(/`([^`]+)`/g), ([, code]) => code).join(' ');
  const [, comment] = /\*(.+)\*$/m.exec(quote) ?? [];

  expect(statement).toMatch(/^create policy .*;$/);
  const migration = (await readPage(link)).replaceAll(/\s+/g, ' ');
  expect(migration).toContain(`${statement} comment on policy select_graph_user on app_public.units is '${comment}';`);
});
