import type { Browser, Page } from 'playwright-core';

/**
 * `node bench/pages.ts`: how long each page takes until a person can work with it, in Chromium and with nothing cached. It measures the
 * first time after the start of the service, when nothing is compressed yet, and the median of later times. Exits with 1 when one takes 3 s
 * or more.
 */
// Read by express and PostGraphile when they are imported.
process.env.NODE_ENV = 'production';
process.env.GRAPHILE_ENV = 'production';
const { launchBrowser, openPage } = await import('../test/support/browser.ts');
const { startDemo } = await import('../test/support/demo.ts');

const limitMs = 3000;
const rounds = 5;

/** The sign that a page is ready: it shows the answer to its first request to the API, if it makes one. */
const pages: { path: string; isReady: (page: Page) => Promise<unknown> }[] = [
  { path: '/', isReady: (page) => page.getByRole('main').waitFor() },
  {
    path: '/graphiql',
    isReady: (page) =>
      Promise.all([
        page.getByText('scope app').waitFor(),
        page.locator('.graphiql-query-editor .view-line').first().waitFor(),
      ]),
  },
  { path: '/playground', isReady: (page) => page.getByText('Send query Users').waitFor() },
  { path: '/documentations/graphql', isReady: (page) => page.locator('.drawing .box').first().waitFor() },
];

const demo = await startDemo();
const browser = await launchBrowser();
try {
  const rows = [];
  for (const { path, isReady } of pages) {
    const first = await time(browser, path, isReady);
    const later = [];
    for (let round = 0; round < rounds; round++) later.push(await time(browser, path, isReady));
    rows.push({ page: path, 'first ms': first, 'later ms': later.sort((a, b) => a - b)[rounds >> 1] ?? 0 });
  }
  console.table(rows);
  process.exitCode = rows.every((row) => row['first ms'] < limitMs && row['later ms'] < limitMs) ? 0 : 1;
} finally {
  await browser.close();
  await demo.stop();
}

async function time(browser: Browser, path: string, isReady: (page: Page) => Promise<unknown>): Promise<number> {
  const { page, close } = await openPage(browser, { baseUrl: demo.url, width: 1280 });
  const start = performance.now();
  await page.goto(demo.url + path, { waitUntil: 'commit' });
  await isReady(page);
  const duration = Math.round(performance.now() - start);
  await close();
  return duration;
}
