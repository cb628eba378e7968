import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/**
 * `npm run bench screenshots [name…]`: pictures of every page of the demo, and of README's, at 1280 and 390 pixels, light and dark,
 * into `bench/screenshots`.
 */
// Read by express and PostGraphile when they are imported.
process.env.NODE_ENV = 'production';
process.env.GRAPHILE_ENV = 'production';
const { launchBrowser, openPage } = await import('../test/support/browser.ts');
const { getDemoToken, startDemo } = await import('../test/support/demo.ts');
const { until } = await import('../test/support/until.ts');

type ColorScheme = 'light' | 'dark';
type Picture = { path: string; prepare: (page: Page, colorScheme: ColorScheme) => Promise<unknown> };

/** What is done on each page before its picture is taken. */
const pictures: Record<string, Picture> = {
  home: { path: '/', prepare: (page) => page.getByRole('main').waitFor() },
  graphiql: {
    path: '/graphiql',
    async prepare(page) {
      await page.locator('.graphiql-query-editor .view-line').first().waitFor();
      await page.getByRole('button', { name: 'Cards' }).click();
      await page.locator('.result-window').getByText('Ada Lovelace').waitFor();
    },
  },
  'graphiql-variables': {
    path: '/graphiql',
    async prepare(page) {
      await page.locator('.graphiql-query-editor .view-line').first().waitFor();
      await page.getByRole('button', { name: 'Create a user' }).click();
      await page.locator('.graphiql-editor-tool .view-line').first().waitFor();
    },
  },
  'graphiql-subscription': {
    path: '/graphiql',
    async prepare(page) {
      await page.locator('.graphiql-query-editor .view-line').first().waitFor();
      await page.getByRole('button', { name: 'Follow changes' }).click();
      await page.getByText('subscription FollowChanges').waitFor();
      const token = await getDemoToken(demo);
      await until(async () => {
        await fetch(`${demo.url}/graphql`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
          body: JSON.stringify({ query: 'mutation { unitCreate(name: "Annex") { unit { id } } }' }),
        });
        return page.locator('.result-window').getByText('"CREATE"').isVisible();
      });
      // An open stream never settles.
      await page.getByRole('button', { name: /^Stop query/ }).click();
    },
  },
  'graphiql-run-as': {
    path: '/graphiql',
    async prepare(page) {
      await signInAsAda(page);
      await page.getByLabel('Run as').selectOption('Grace Hopper');
      await page.getByText(/^\d+ differences/).waitFor();
    },
  },
  'graphiql-why': {
    path: '/graphiql',
    async prepare(page) {
      await signInAsAda(page);
      await page.locator('.result-window').getByText('"North Building"').first().click();
      await page.getByRole('button', { name: 'Why?' }).click();
      await page.getByText(/^Ada Lovelace \(graph_user\)/).waitFor();
      await page.getByText('Each part of each policy').click();
    },
  },
  playground: {
    path: '/playground',
    async prepare(page) {
      await page.getByText('Send query Users').waitFor();
      await page.getByRole('button', { name: 'Send Request' }).click();
      await page.getByText('"Ada Lovelace"').waitFor();
      await page.getByText('Reloaded doc successfully').waitFor();
      await page.getByText('Reloaded doc successfully').waitFor({ state: 'hidden' });
    },
  },
  documentation: {
    path: '/documentations/graphql',
    prepare: (page) => page.locator('.drawing').getByText('Unit', { exact: true }).first().waitFor(),
  },
  // README's picture of a request's way, as GitHub shows it.
  request: {
    path: '/',
    async prepare(page, colorScheme) {
      const svg = await readFile(new URL(`../docs/images/request-${colorScheme}.svg`, import.meta.url), 'base64');
      await page.goto('about:blank');
      await page.setContent(`<body style="margin: 12px; background: ${colorScheme === 'dark' ? '#0d1117' : '#ffffff'}">
        <img src="data:image/svg+xml;base64,${svg}" width="440" style="max-width: 100%">`);
    },
  },
};

async function signInAsAda(page: Page): Promise<void> {
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.getByLabel('Active token').selectOption('Ada Lovelace');
  await page.getByRole('button', { name: 'My units', exact: true }).click();
  await page.locator('.result-window').getByText('"North Building"').first().waitFor();
}

const [, , ...asked] = process.argv;
const demo = await startDemo({ PORT: process.env.PORT ?? '3000' });
const browser = await launchBrowser();
try {
  for (const name of asked.length > 0 ? asked : Object.keys(pictures))
    for (const width of [1280, 390])
      for (const colorScheme of ['light', 'dark'] as const) await take(name, width, colorScheme);
} finally {
  await browser.close();
  await demo.stop();
}

async function take(name: string, width: number, colorScheme: ColorScheme): Promise<void> {
  const picture = pictures[name];
  if (!picture) throw new Error(`There is no picture ${name}; there are ${Object.keys(pictures).join(', ')}.`);
  const { page, settled, close } = await openPage(browser, { baseUrl: demo.url, width, colorScheme });
  await page.goto(demo.url + picture.path);
  await picture.prepare(page, colorScheme);
  await settled();
  const file = fileURLToPath(new URL(`screenshots/${name}-${width}-${colorScheme}.png`, import.meta.url));
  // The others fill the window, or are long.
  await page.screenshot({ path: file, animations: 'disabled', fullPage: picture.path === '/' });
  console.log(file);
  await close();
}
