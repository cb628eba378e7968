import type { Browser, Page, Route } from 'playwright-core';
import { launchBrowser, openPage } from '../support/browser.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';
import { until } from '../support/until.ts';

/** What a person does on a page before it has loaded: a slow network is one whose answers these tests hold back. */
describe('the first click', () => {
  let demo: Demo;
  let browser: Browser;
  let page: Page;
  let problems: string[];
  let settled: () => Promise<void>;
  let close: () => Promise<void>;

  beforeAll(async () => {
    demo = await startTestDemo();
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser.close();
    await demo.stop();
  });

  beforeEach(async () => {
    ({ page, problems, settled, close } = await openPage(browser, { baseUrl: demo.url, width: 1280 }));
  });

  afterEach(async () => {
    await settled();
    expect(problems).toEqual([]);
    await close();
  });

  describe('in GraphiQL without its editors', () => {
    /** Lets the editors load. */
    let loadEditors: () => Promise<void>;
    let sent: string[];

    beforeEach(async () => {
      sent = [];
      page.on('request', (request) => {
        const { query } = request.url().endsWith('/graphql') ? request.postDataJSON() : {};
        if (query) sent.push(query);
      });
      loadEditors = await hold(page, /\/ruru-\w+\/(?!ruru\.js)[^/]+\.js$/);
    });

    async function open(hash = ''): Promise<void> {
      await page.goto(`${demo.url}/graphiql${hash}`);
      await execute().waitFor();
      expect(await page.locator('.monaco-editor').count()).toBe(0);
    }

    const execute = () => page.getByRole('button', { name: /^Execute query/ });
    const answer = (text: string) => page.locator('.result-window').getByText(text).first().waitFor();

    it('runs the query once when they are there, by the button', async () => {
      await open();
      await execute().click();
      await execute().click();
      await page.getByText('The query runs as soon as the editor has loaded.').waitFor();
      await loadEditors();

      await answer('"Ada Lovelace"');
      expect(sent.filter((query) => query.includes('query Users'))).toHaveLength(1);
      expect(await page.getByRole('status').isVisible()).toBe(false);
    });

    it('runs it by Control and Enter, and again from the page', async () => {
      await open();
      await page.keyboard.press('ControlOrMeta+Enter');
      await loadEditors();
      await answer('"Ada Lovelace"');

      await page.keyboard.press('ControlOrMeta+Enter');
      await until(() => sent.filter((query) => query.includes('query Users')).length === 2);
      // In the editor it is GraphiQL that hears it.
      await page.locator('.graphiql-query-editor .monaco-editor').first().click();
      await page.keyboard.press('ControlOrMeta+Enter');
      await until(() => sent.filter((query) => query.includes('query Users')).length > 2);
      expect(sent.filter((query) => query.includes('query Users'))).toHaveLength(3);
    });

    it('runs the operation of a link, and not the example in its place', async () => {
      await open(`#${new URLSearchParams({ query: 'query Linked { app { name } }' })}`);
      await execute().click();
      await loadEditors();

      await answer('"Demo Backend"');
      expect(sent.filter((query) => query.includes('query Users'))).toEqual([]);
    });

    it('runs an example', async () => {
      await open();
      await page.getByRole('button', { name: 'Cards' }).click();
      await loadEditors();

      await answer('"NfcCard"');
    });

    it('compares two callers', async () => {
      await open();
      await page.getByLabel('Active token').selectOption('Ada Lovelace');
      await page.getByText('role graph_user').waitFor();
      await page.getByLabel('Run as').selectOption('Grace Hopper');
      await loadEditors();

      await page.getByText(/^\d+ differences?:/).waitFor();
      await page.keyboard.press('Escape');
    });

    it('says of Why? that a query comes first', async () => {
      await open();
      await page.getByRole('button', { name: 'Why?' }).click();

      await page.getByRole('dialog', { name: 'Why?' }).getByText('Run a query first').waitFor();
      await loadEditors();
    });

    it('signs in, and leaves the last choice of a token active', async () => {
      await open();
      await loadEditors();
      const signIn = await hold(page, /\/oauth\/token$/);
      await page.getByLabel('Active token').selectOption('Ada Lovelace');
      await page.getByLabel('Active token').selectOption('');
      await page.getByText('sign in to read data').waitFor();
      await signIn();

      await page.locator('#token option', { hasText: 'as Ada Lovelace' }).waitFor({ state: 'attached' });
      expect(await page.locator('#token option:checked').textContent()).toBe('No token');
    });
  });

  it('in GraphiQL without its scripts cannot be made, and is taken as soon as it can', async () => {
    const loadScripts = await hold(page, /\/graphiql\.js$/);
    await page.goto(`${demo.url}/graphiql`, { waitUntil: 'commit' });
    await page.locator('#panel[inert]').waitFor();
    const clicked = page.getByRole('button', { name: 'Why?' }).click();
    await loadScripts();
    await clicked;

    await page.getByRole('dialog', { name: 'Why?' }).getByText('Run a query first').waitFor();
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  });

  it('in the documentation without its scripts: what is typed is searched when they are there', async () => {
    const loadScripts = await hold(page, /\/documentation\.js$/);
    await page.goto(`${demo.url}/documentations/graphql`, { waitUntil: 'commit' });
    await page.locator('#search').fill('usercreate');
    await loadScripts();

    await page.getByRole('link', { name: 'Mutation.userCreate' }).waitFor();
  });
});

/** Holds back what has such an address, until it is let go. */
async function hold(page: Page, address: RegExp): Promise<() => Promise<void>> {
  const held: Route[] = [];
  let isHolding = true;
  await page.route(address, async (route) => {
    if (isHolding) held.push(route);
    else await route.continue();
  });
  return async () => {
    expect(held.length).toBeGreaterThan(0);
    isHolding = false;
    await Promise.all(held.map((route) => route.continue()));
  };
}
