import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** `node bench/screenshots.ts`: takes the README's pictures of the explorers again, from the demo. */
// Read by express and PostGraphile when they are imported.
process.env.NODE_ENV = 'production';
process.env.GRAPHILE_ENV = 'production';
const { launchBrowser, openPage } = await import('../test/support/browser.ts');
const { getDemoToken, startDemo } = await import('../test/support/demo.ts');

const pictures: { name: string; path: string; prepare: (page: Page) => Promise<unknown> }[] = [
  {
    name: 'graphiql',
    path: '/graphiql',
    async prepare(page) {
      await page.locator('.graphiql-query-editor .view-line').first().waitFor();
      await page.getByRole('button', { name: 'Cards' }).click();
      await page.getByText('query Cards').waitFor();
      await page.getByRole('button', { name: /^Execute query/ }).click();
      await page.locator('.result-window').getByText('Ada Lovelace').waitFor();
    },
  },
  {
    name: 'playground',
    path: '/playground',
    async prepare(page) {
      await page.getByText('Send query Users').waitFor();
      await page.getByText('Reloaded doc successfully').waitFor({ state: 'hidden' });
      await page.getByRole('button', { name: 'HTTP headers' }).click();
      await page
        .getByRole('textbox')
        .filter({ hasText: 'Bearer <ACCESS_TOKEN>' })
        .fill(`Bearer ${await getDemoToken(demo)}`);
      await page.getByRole('button', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Send Request' }).click();
      await page.getByText('"Ada Lovelace"').waitFor();
    },
  },
  {
    name: 'documentation',
    path: '/documentations/graphql',
    prepare: (page) => page.locator('#graph [id="TYPE::Unit"]').waitFor(),
  },
];

/** The README's picture of a request's way, as wide as GitHub shows it. */
async function takePicture(colorScheme: 'light' | 'dark', width: number): Promise<void> {
  const { page, close } = await openPage(browser, { baseUrl: demo.url, width, colorScheme });
  const picture = await readFile(new URL(`../docs/images/request-${colorScheme}.svg`, import.meta.url), 'utf8');
  const background = colorScheme === 'dark' ? '#0d1117' : '#ffffff';
  await page.setContent(
    `<style>body { background: ${background} } svg { width: 440px; max-width: 100% }</style>${picture}`,
  );
  const file = fileURLToPath(new URL(`screenshots/request-${width}-${colorScheme}.png`, import.meta.url));
  await page.screenshot({ path: file });
  console.log(file);
  await close();
}

const demo = await startDemo();
const browser = await launchBrowser();
try {
  for (const { name, path, prepare } of pictures) {
    const { page, close } = await openPage(browser, { baseUrl: demo.url, width: 1280 });
    await page.goto(demo.url + path);
    await prepare(page);
    const file = fileURLToPath(new URL(`screenshots/${name}.png`, import.meta.url));
    await page.screenshot({ path: file, animations: 'disabled' });
    console.log(file);
    await close();
  }
  for (const scheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) await takePicture(scheme, width);
  }
} finally {
  await browser.close();
  await demo.stop();
}
