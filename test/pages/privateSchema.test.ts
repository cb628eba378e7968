import type { Browser } from 'playwright-core';
import { launchBrowser, openPage } from '../support/browser.ts';
import { type Demo, getDemoToken, startTestDemo } from '../support/demo.ts';

describe('the explorers of a service whose schema is not public', () => {
  let demo: Demo;
  let browser: Browser;

  beforeAll(async () => {
    demo = await startTestDemo({ PUBLIC_INTROSPECTION: 'false' });
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser.close();
    await demo.stop();
  });

  it('document it to who has a token', async () => {
    const { page, problems, settled, close } = await openPage(browser, { baseUrl: demo.url, width: 1280 });
    await page.goto(`${demo.url}/documentations/graphql`);

    await page.getByLabel('Access token').fill('unknown');
    await page.getByRole('button', { name: 'Show the documentation' }).click();
    await page.getByText('That token is unknown, expired or revoked.').waitFor();
    // The refusal is what is asked for here.
    expect(problems.splice(0)).toHaveLength(2);

    await page.getByLabel('Access token').fill(await getDemoToken(demo));
    await page.getByRole('button', { name: 'Show the documentation' }).click();
    await page.locator('.drawing').getByRole('link', { name: 'Unit', exact: true }).click();
    await page.getByRole('heading', { name: 'Unit type' }).waitFor();
    expect(await page.getByRole('main').innerText()).toContain('children');
    await page.locator('#search').fill('usercreate');
    await page.getByRole('link', { name: 'Mutation.userCreate' }).waitFor();

    await settled();
    expect(problems).toEqual([]);
    await close();
  });

  it('send no token in the address before their script is there', async () => {
    const { page, problems, settled, close } = await openPage(browser, { baseUrl: demo.url, width: 1280 });
    let load = () => {};
    const loaded = new Promise<void>((resolve) => {
      load = resolve;
    });
    await page.route(/\/documentation\.js$/, async (route) => {
      await loaded;
      await route.continue();
    });
    await page.goto(`${demo.url}/documentations/graphql`, { waitUntil: 'commit' });

    await page.getByLabel('Access token').fill(await getDemoToken(demo));
    await page.keyboard.press('Enter');
    expect(await page.getByRole('button', { name: 'Show the documentation' }).isDisabled()).toBe(true);
    load();
    await page.getByRole('button', { name: 'Show the documentation' }).click();

    await page.locator('.drawing').waitFor();
    expect(page.url()).toBe(`${demo.url}/documentations/graphql`);
    await settled();
    expect(problems).toEqual([]);
    await close();
  });

  it('read it with the token of GraphiQL, also in the documentation', async () => {
    const { page, problems, settled, close } = await openPage(browser, { baseUrl: demo.url, width: 1280 });
    await page.goto(`${demo.url}/graphiql`);
    await page.getByRole('button', { name: 'Show Documentation Explorer' }).click();
    await page.getByText('Root Types').waitFor();
    await settled();

    await page.getByRole('link', { name: 'Documentation', exact: true }).click();
    await page.locator('.drawing').getByRole('link', { name: 'Unit', exact: true }).waitFor();

    await settled();
    expect(problems).toEqual([]);
    await close();
  });
});
