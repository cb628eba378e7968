import type { Browser } from 'playwright-core';
import { launchBrowser, type OpenPage, openPage } from '../support/browser.ts';
import { type Demo, getDemoToken, startTestDemo } from '../support/demo.ts';

/** What the service adds to Altair: the token of its requests. */
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

describe.each([1280, 390])('%i pixels wide, the playground', (width) => {
  let opened: OpenPage;
  beforeAll(async () => {
    opened = await openPage(browser, { baseUrl: demo.url, width });
  });
  afterAll(() => opened.close());

  afterEach(async () => {
    expect(await opened.page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    await opened.forget();
    expect(opened.problems.splice(0)).toEqual([]);
  });

  const open = async () => {
    await opened.page.goto(`${demo.url}/playground`);
    // Not for its link to send it: CodeMirror shows none when it could not parse the query within 20 ms.
    await opened.page.locator('app-query-editor .cm-line', { hasText: 'query Users' }).waitFor();
  };
  const send = () => opened.page.getByRole('button', { name: 'Send Request' }).click();
  const expectAda = () => opened.page.getByText('"Ada Lovelace"').waitFor();
  const hint = () => opened.page.locator('.hint').innerText();

  it('sends the demo’s token from its first request', async () => {
    await open();
    expect(await hint()).toContain('Requests carry the token of Demo Backend');

    await send();
    await expectAda();
  });

  it.each(['a click', 'Control and Enter'])('sends it however early, by %s', async (by) => {
    const { page } = opened;
    await page.goto(`${demo.url}/playground`, { waitUntil: 'commit' });
    if (by === 'a click') await send();
    else {
      await page.locator('app-query-editor .cm-content').click();
      await page.keyboard.press('ControlOrMeta+Enter');
    }

    await expectAda();
    await opened.settled();
  });

  it('runs a query with a header typed in its headers section', async () => {
    const { page } = opened;
    const token = await getDemoToken(demo);
    await open();

    await page.getByRole('button', { name: 'HTTP headers' }).click();
    const headers = page.getByRole('dialog').filter({ hasText: 'Add header' });
    await headers.getByRole('textbox').filter({ hasText: 'Bearer <ACCESS_TOKEN>' }).fill(`Bearer ${token}`);
    await headers.getByText(`Bearer ${token}`).waitFor();
    await headers.getByRole('button', { name: 'Done' }).click();
    await send();

    await expectAda();
  });

  it('sends the token with which GraphiQL is signed in in this tab', async () => {
    const { page } = opened;
    await page.goto(`${demo.url}/graphiql`);
    await page.getByLabel('Active token').selectOption('Grace Hopper');
    await page.getByText('role graph_user').waitFor();
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
    await opened.settled();
    await page.getByRole('link', { name: 'Playground' }).click();
    await page.locator('app-query-editor .cm-line', { hasText: 'query Users' }).waitFor();

    expect(await hint()).toContain('the token of Grace Hopper, as those of GraphiQL in this tab, in place of');
    await send();
    await page.getByText('FORBIDDEN').waitFor();
  });
});
