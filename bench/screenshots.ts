import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import type { OpenPage } from '../test/support/browser.ts';

/**
 * `npm run bench screenshots [name…]`: pictures of every page of the demo, and of README's, at 360, 1280 and 1920 pixels, light and dark.
 * Those that the documents show go into `docs/images`, and the others into `bench/screenshots`, to be looked at.
 */
// Read by express and PostGraphile when they are imported.
process.env.NODE_ENV = 'production';
process.env.GRAPHILE_ENV = 'production';
const { launchBrowser, openPage } = await import('../test/support/browser.ts');
const { getDemoToken, startDemo } = await import('../test/support/demo.ts');
const { until } = await import('../test/support/until.ts');

type ColorScheme = 'light' | 'dark';
type Picture = {
  path: string;
  prepare: (page: Page, opened: OpenPage, colorScheme: ColorScheme) => Promise<unknown>;
  /** Whether the documents show it, at 1280 pixels. */
  isShown?: true;
};

/** The steps on each page before its picture is taken. */
const pictures: Record<string, Picture> = {
  home: { path: '/', prepare: (page) => page.getByRole('main').waitFor() },
  graphiql: {
    path: '/graphiql',
    isShown: true,
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
    isShown: true,
    async prepare(page) {
      await signInAsAda(page);
      await page.locator('.result-window').getByText('"id"').first().click();
      await page.getByRole('button', { name: 'Why?' }).click();
      await page.getByText(/^Ada Lovelace \(graph_user\)/).waitFor();
      await page.getByText('Each part of each policy').click();
    },
  },
  playground: {
    path: '/playground',
    isShown: true,
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
    isShown: true,
    prepare: (page) => page.locator('.drawing').getByText('Unit', { exact: true }).first().waitFor(),
  },
  'documentation-type': {
    path: '/documentations/graphql/User',
    prepare: (page) => page.getByRole('heading', { name: 'User type' }).waitFor(),
  },
  'documentation-mutations': {
    path: '/documentations/graphql/Mutation#unitDelete',
    prepare: (page) => page.locator('article#unitDelete').waitFor(),
  },
  'documentation-search': {
    path: '/documentations/graphql',
    async prepare(page) {
      await page.locator('#search').fill('access');
      await page.getByText(/^\d+ found$/).waitFor();
    },
  },
  'sign-in': { path: '/graphiql', prepare: goToSignIn },
  consent: {
    path: '/graphiql',
    async prepare(page, opened) {
      await goToSignIn(page, opened);
      await page.locator('[name="username"]').fill('ada@demo.test');
      await page.locator('[name="password"]').fill(demo.credentials.password);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('button', { name: 'Allow' }).waitFor();
    },
  },
  'sign-in-refused': {
    path: '/graphiql',
    async prepare(page, opened) {
      await goToSignIn(page, opened);
      await page.locator('[name="username"]').fill('ada@demo.test');
      await page.locator('[name="password"]').fill('another password');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
    },
  },
  // README's picture of a request's way, as GitHub shows it.
  request: {
    path: '/',
    async prepare(page, _, colorScheme) {
      const svg = await readFile(new URL(`../docs/images/request-${colorScheme}.svg`, import.meta.url), 'base64');
      await page.goto('about:blank');
      await page.setContent(`<body style="margin: 12px; background: ${colorScheme === 'dark' ? '#0d1117' : '#ffffff'}">
        <img src="data:image/svg+xml;base64,${svg}" width="440" style="max-width: 100%">`);
    },
  },
};

async function goToSignIn(page: Page, { settled }: OpenPage): Promise<void> {
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  // Leaving the page would break off what it loads, which Chromium does not always report.
  await settled();
  await page.getByRole('button', { name: 'Add a token' }).click();
  await page.getByRole('button', { name: 'Continue to the sign-in page' }).click();
  await page.locator('[name="username"]').waitFor();
}

async function signInAsAda(page: Page): Promise<void> {
  await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  await page.getByLabel('Active token').selectOption('Ada Lovelace');
  await page.getByRole('button', { name: 'My units', exact: true }).click();
  // A narrow window shows the first lines only.
  await page.locator('.result-window').getByText('"accessibleUnits"').waitFor();
}

const [, , ...asked] = process.argv;
const demo = await startDemo({ PORT: process.env.PORT ?? '3000' });
const browser = await launchBrowser();
try {
  for (const name of asked.length > 0 ? asked : Object.keys(pictures))
    for (const width of [1280, 360, 1920])
      for (const colorScheme of ['light', 'dark'] as const) await take(name, width, colorScheme);
} finally {
  await browser.close();
  await demo.stop();
}

async function take(name: string, width: number, colorScheme: ColorScheme): Promise<void> {
  const picture = pictures[name];
  if (!picture) throw new Error(`There is no picture ${name}; there are ${Object.keys(pictures).join(', ')}.`);
  const opened = await openPage(browser, { baseUrl: demo.url, width, colorScheme });
  const { page, settled, close } = opened;
  await page.goto(demo.url + picture.path);
  await picture.prepare(page, opened, colorScheme);
  await settled();
  const isShown = picture.isShown && width === 1280;
  // A picture of the documents must not grow stale with each release.
  if (isShown) await page.locator('.bar .version').evaluate((version) => version.remove());
  const path = isShown
    ? `../docs/images/${name}-${colorScheme}.png`
    : `screenshots/${name}-${width}-${colorScheme}.png`;
  const file = fileURLToPath(new URL(path, import.meta.url));
  // The others fill the window, or are long.
  await page.screenshot({ path: file, animations: 'disabled', fullPage: picture.path === '/' });
  console.log(file);
  await close();
}
