import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, openPage } from '../support/browser.ts';
import { type Demo, getDemoToken, startTestDemo } from '../support/demo.ts';
import { until } from '../support/until.ts';

describe('the explorers', () => {
  let demo: Demo;
  let browser: Browser;

  beforeAll(async () => {
    demo = await startTestDemo();
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser.close();
    await demo.stop();
  });

  let page: Page;
  let problems: string[];
  let settled: () => Promise<void>;
  let forget: () => Promise<void>;
  let close: () => Promise<void>;

  /** One page for all tests of a group: compiling an editor takes most of the time that it takes to open. */
  async function open(width: number): Promise<void> {
    ({ page, problems, settled, forget, close } = await openPage(browser, { baseUrl: demo.url, width }));
  }

  async function expectToFit(): Promise<void> {
    await until(async () => (await page.evaluate('document.documentElement.scrollWidth - innerWidth')) === 0);
  }

  afterEach(async () => {
    await expectToFit();
    await forget();
    expect(problems.splice(0)).toEqual([]);
  });

  async function openGraphiql(): Promise<void> {
    await page.goto(`${demo.url}/graphiql`);
    await page.getByText('scope app').waitFor();
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  }

  describe.each([1280, 390])('%i pixels wide', (width) => {
    beforeAll(() => open(width));
    afterAll(() => close());

    it.each([
      ['GraphiQL', '.graphiql-query-editor .view-line'],
      ['Playground', 'app-query-editor .cm-line'],
      ['Documentation', 'svg.drawing .box'],
    ])('%s is a click away from the first page', async (name, content) => {
      await page.goto(demo.url);
      await page.getByRole('main').getByRole('link', { name }).click();

      await page.locator(content).first().waitFor();
      await page.getByRole('link', { name }).and(page.locator('[aria-current]')).waitFor();
      // What an editor loads late must be there, too.
      await settled();
    });

    describe('GraphiQL', () => {
      beforeEach(openGraphiql);

      it('opens ready to run in the demo', async () => {
        expect(await status(page)).toMatch(/^as Demo Backend role graph_app .*scope app basic ends at .* in [12] h/);

        await run(page);
        await expectAnswer(page, '"fullName": "Ada Lovelace"');
      });

      it('signs in as a user, on the page of the service, and back again', async () => {
        await settled();
        await page.getByRole('button', { name: 'Add a token' }).click();
        await page.getByRole('button', { name: 'Continue to the sign-in page' }).click();
        await page.locator('[name="username"]').fill('ada@demo.test');
        await page.locator('[name="password"]').fill(demo.credentials.password);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('button', { name: 'Allow' }).click();

        await page.getByText('scope me').waitFor();
        expect(page.url()).toBe(`${demo.url}/graphiql`);
        expect(await status(page)).toMatch(/^as Ada Lovelace role graph_user .*scope me ends at .* in [12] h/);
        await page.getByText('query Me').waitFor();
        await run(page);
        await expectAnswer(page, '"email": "ada@demo.test"');
        // The token from before is still there, too.
        await page.getByLabel('Active token').selectOption('as Demo Backend');
        expect(await status(page)).toMatch(/^as Demo Backend .*scope app basic/);
        await page.getByText('query Users').waitFor();
        await page.getByLabel('Active token').selectOption('as Ada Lovelace');

        await type(page, '{ app { name');
        await run(page);
        await expectAnswer(page, '"code": "FORBIDDEN"');
        expect(await page.getByRole('status').innerText()).toContain('need an application’s token (scope app)');

        const token = await storedToken(page);
        await page.getByRole('button', { name: 'Refresh' }).click();
        await until(async () => (await storedToken(page)) !== token);
        const renewed = await storedToken(page);
        await page.getByRole('button', { name: 'Sign out' }).click();
        await page.getByText('sign in to read data').waitFor();
        await until(async () => (await queryWith(demo, renewed)).status === 401);
        await page.getByLabel('Active token').selectOption('as Demo Backend');
        await run(page);
        await expectAnswer(page, '"name": "Demo Backend"');
      });
    });
  });

  describe('GraphiQL, which fits when the screen turns narrow, too,', () => {
    beforeAll(() => open(1280));
    afterAll(() => close());
    beforeEach(openGraphiql);

    afterEach(async () => {
      for (const width of [390, 1280]) {
        await page.setViewportSize({ width, height: 800 });
        await expectToFit();
      }
    });

    it('puts each example into the editor with a click, and each runs, the variables in sight, and as a command, too', async () => {
      await page.getByRole('button', { name: 'Create a user' }).click();
      await page.locator('.graphiql-editor-tool').getByText('"Mary Somerville"').waitFor();
      await expectAnswer(page, '"fullName": "Mary Somerville"');

      await page.getByRole('button', { name: 'Update it' }).click();
      await expectAnswer(page, '"fullName": "Mary Fairfax Somerville"');
      const command = await copiedCommand(page);
      expect(command).toMatch(/^TOKEN='gqs_at_[^']+'\ncurl /);
      const { stdout } = await promisify(execFile)('sh', ['-c', command], { env: { PATH: pathWithCurl } });
      expect(JSON.parse(stdout)).toMatchObject({
        data: { userUpdate: { user: { fullName: 'Mary Fairfax Somerville' } } },
      });

      await page.getByRole('button', { name: 'Delete the user' }).click();
      await expectAnswer(page, '"userDelete"');

      await page.getByRole('button', { name: 'Units' }).click();
      await expectAnswer(page, '"name": "Depot"');

      await page.getByRole('button', { name: 'Cards' }).click();
      await expectAnswer(page, '"__typename": "NfcCard"');
    });

    it('follows changes until it is stopped, and as a command, too', async () => {
      const token = await getDemoToken(demo);
      await page.getByRole('button', { name: 'Follow changes' }).click();
      await page.getByText('subscription FollowChanges').waitFor();
      expect(await copiedCommand(page)).toMatch(/\ncurl -sN .*\n.*\n.*\n {2}-H 'Accept: text\/event-stream' /);

      await until(async () => {
        await queryWith(demo, token, 'mutation { unitCreate(name: "Annex") { unit { id } } }');
        return (await answerOf(page))?.includes('"operation": "CREATE"') ?? false;
      });
      await page.getByRole('button', { name: /^Stop query/ }).click();

      await page.getByRole('button', { name: /^Execute query/ }).waitFor();
      // Stopping it closes the connection.
      await until(() => problems.length > 0);
      expect(problems.splice(0)).toEqual([expect.stringMatching(/^failed: .*\/graphql net::ERR_ABORTED$/)]);
    });

    it('explains why a token of the wrong kind is refused', async () => {
      await type(page, '{ viewer { fullName');
      await run(page);

      await expectAnswer(page, '"code": "FORBIDDEN"');
      expect(await page.getByRole('status').innerText()).toContain('needs a user’s token (scope me)');

      await type(page, '{ app { name');
      await run(page);
      await expectAnswer(page, '"name": "Demo Backend"');
      expect(await page.getByRole('status').isVisible()).toBe(false);
    });

    it('signs in with client credentials, renews the token and signs out', async () => {
      await page.getByRole('button', { name: 'Sign out' }).click();
      expect(await status(page)).toBe('No token');

      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByLabel('Client secret').fill('not the secret');
      // The refusal is what is asked for here.
      await page.getByRole('button', { name: 'Sign in as an application' }).click();
      await page.getByText('did not authenticate').waitFor();
      expect(problems.splice(0)).toEqual([
        expect.stringMatching(/^401: .*\/oauth\/token$/),
        expect.stringContaining('401 (Unauthorized)'),
      ]);

      await page.getByLabel('Client secret').fill(demo.credentials.clientSecret);
      await page.getByRole('button', { name: 'Sign in as an application' }).click();
      await page.getByText('scope app').waitFor();
      const first = await storedToken(page);

      await page.getByRole('button', { name: 'Refresh' }).click();
      await until(async () => (await storedToken(page)) !== first);
      await type(page, '{ app { name');
      await run(page);
      await expectAnswer(page, '"name": "Demo Backend"');
    });

    it('has our accent, and dialogs whose cross is there, in light and dark', async () => {
      const styleOf = (selector: string, property: string) =>
        page.evaluate(`getComputedStyle(document.querySelector(${JSON.stringify(selector)})).${property}`);
      for (const colorScheme of ['dark', 'light'] as const) {
        await page.emulateMedia({ colorScheme });
        expect(await styleOf('#ruru-root a', 'color')).toBe(await styleOf('.bar [aria-current]', 'color'));
        await page.getByRole('button', { name: 'Open settings dialog' }).click();
        await page.getByRole('dialog').waitFor();
        // Its padding is as large as it is.
        expect(await styleOf('.graphiql-dialog-close svg', 'boxSizing')).toBe('content-box');
        await page.locator('.graphiql-dialog-close').click();
        await page.getByRole('dialog').waitFor({ state: 'hidden' });
      }
    });

    it('takes no answer that this tab did not ask for', async () => {
      await settled();
      await page.goto(`${demo.url}/graphiql?code=gqs_ac_forged&state=forged&iss=${encodeURIComponent(demo.url)}`);

      await page.getByText('does not belong to a sign-in that this tab began').waitFor();
      expect(page.url()).toBe(`${demo.url}/graphiql`);
      await page.locator('.graphiql-query-editor .view-line').first().waitFor();
    });

    it('keeps the token of this tab from its other storage', async () => {
      await run(page);
      await expectAnswer(page, '"fullName": "Ada Lovelace"');

      expect(await storedToken(page)).toMatch(/^gqs_at_/);
      expect(await page.evaluate('JSON.stringify({ ...localStorage }) + document.cookie')).not.toContain('gqs_');
    });
  });
});

/** A machine without curl has what stands in for it. */
const pathWithCurl = `${process.env.PATH}:${fileURLToPath(new URL('../support/bin', import.meta.url))}`;

const run = (page: Page) => page.getByRole('button', { name: /^Execute query/ }).click();

const expectAnswer = (page: Page, text: string): Promise<void> =>
  until(async () => (await answerOf(page))?.includes(text) ?? false);

/** The editor's text, since only what is scrolled to is on the page. */
const answerOf = (page: Page) =>
  page.evaluate<string | undefined>(`(globalThis.monaco?.editor.getModels() ?? [])
    .findLast(({ uri }) => uri.path.endsWith('response.json'))?.getValue()`);

/** Without the brackets at the end, which the editor adds. */
async function type(page: Page, query: string): Promise<void> {
  await page.locator('.graphiql-query-editor .monaco-editor').first().click();
  await page.keyboard.press('ControlOrMeta+A');
  await page.keyboard.type(query);
}

/** Who the active token is for, and the rest of the line. */
async function status(page: Page): Promise<string> {
  const [token, claims] = ['#token option:checked', '#claims > div'].map((text) =>
    page.locator(text).allTextContents(),
  );
  return [...((await token) ?? []), ...((await claims) ?? [])].join(' ');
}

const storedToken = (page: Page): Promise<string> =>
  page.evaluate(`(({ sessions, chosen }) => sessions[chosen].accessToken)(
    JSON.parse(sessionStorage.getItem('graph-query-service:sessions')))`);

async function copiedCommand(page: Page): Promise<string> {
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy as curl' }).click();
  await page.getByText('Copied as a command').waitFor();
  return page.evaluate('navigator.clipboard.readText()');
}

const queryWith = ({ url }: Demo, token: string, query = '{ viewer { id } }') =>
  fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
