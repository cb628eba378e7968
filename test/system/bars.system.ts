import type { Browser, Page } from 'playwright-core';
import { expectAccessible } from '../support/axe.ts';
import { launchBrowser, type OpenPage, openPage } from '../support/browser.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';

/** The first page, and what the service adds to the playground. GraphiQL, the documentation and the sign-in pages have tests of their own. */
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

const home = { path: '/', include: ['body'], content: 'main .explorers' };
// What Altair is made of is its own.
const playground = { path: '/playground', include: ['.bar', '.hint'], content: 'app-query-editor .cm-line' };

describe.each([
  [360, 'dark'],
  [360, 'light'],
  [1280, 'dark'],
  [1280, 'light'],
  [1920, 'dark'],
] as const)('%i pixels wide, %s', (width, colorScheme) => {
  let opened: OpenPage;
  let page: Page;
  beforeAll(async () => {
    opened = await openPage(browser, { baseUrl: demo.url, width, colorScheme });
    ({ page } = opened);
  });
  afterAll(() => opened.close());

  it.each([home, playground])('$path fits, and breaks no rule of accessibility', async ({ path, include, content }) => {
    await page.goto(demo.url + path);
    await page.locator(content).first().waitFor();
    await opened.settled();

    await expectAccessible(page, { include });
    expect(opened.problems.splice(0)).toEqual([]);
  });

  it.each([
    [home.path, ['Graph Query Service', 'GraphiQL', 'Playground', 'Documentation'], '/readyz'],
    [playground.path, ['Graph Query Service', 'GraphiQL', 'Playground', 'Documentation'], 'Send Request'],
  ])('%s is walked through by Tab, in the order of the page', async (path, first, last) => {
    await page.goto(demo.url + path);
    await page.getByText(last, { exact: true }).first().waitFor();
    await opened.settled();
    await page.evaluate('document.activeElement.blur()');

    const stops: string[] = [];
    for (let presses = 0; presses < 40 && !stops.at(-1)?.includes(last); presses++) {
      await page.keyboard.press('Tab');
      stops.push(await page.evaluate<string>('document.activeElement.textContent.trim()'));
    }
    expect(stops.slice(0, first.length)).toEqual(first);
    expect(stops.at(-1)).toContain(last);
  });
});
