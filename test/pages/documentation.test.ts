import type { Browser, Page } from 'playwright-core';
import { expectAccessible } from '../support/axe.ts';
import { launchBrowser, type OpenPage, openPage } from '../support/browser.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';
import { until } from '../support/until.ts';
import { describeExamples } from './documentationExamples.ts';

describe('the documentation', () => {
  let demo: Demo;
  let browser: Browser;
  let opened: OpenPage;
  let page: Page;

  beforeAll(async () => {
    demo = await startTestDemo();
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser.close();
    await demo.stop();
  });

  const start = '/documentations/graphql';
  async function open(width: number, colorScheme: 'light' | 'dark'): Promise<void> {
    opened = await openPage(browser, { baseUrl: demo.url, width, colorScheme });
    ({ page } = opened);
  }
  const go = (part = '') => page.goto(demo.url + start + part);
  const focused = () => page.evaluate('document.activeElement.id || document.activeElement.textContent.trim()');

  afterEach(async () => {
    // A style or script that the policy refuses would be among them.
    expect(opened.problems.splice(0)).toEqual([]);
  });

  describe.each([
    [360, 'dark', ['', '/Mutation']],
    [1280, 'light', ['/User', '/tokens']],
    [1920, 'dark', ['/errors']],
  ] as const)('%i pixels wide, %s', (width, colorScheme, parts) => {
    beforeAll(() => open(width, colorScheme));
    afterAll(() => opened.close());

    it.each(parts)('fits, and breaks no rule of accessibility: %s', async (part) => {
      await go(part);
      await page.evaluate("for (const it of document.querySelectorAll('details')) it.open = true");

      await expectAccessible(page);
    });

    it('breaks no word of a table', async () => {
      await go('/errors');
      expect(await page.locator('th, td').count()).toBeGreaterThan(40);
      expect(await page.evaluate(brokenWords)).toEqual([]);
    });

    it('draws the types in the colours of the scheme, each of which leads to its page', async () => {
      await go();
      const background = await page.evaluate("getComputedStyle(document.querySelector('.sheet')).backgroundColor");
      expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(27, 30, 43)');

      await page.locator('.drawing').getByRole('link', { name: 'Unit', exact: true }).click();
      await page.getByRole('heading', { name: 'Unit type' }).waitFor();
      expect(new URL(page.url()).pathname).toBe(`${start}/Unit`);
      expect(await page.getByRole('main').innerText()).toContain('usersWithAccess');
    });
  });

  describe('1280 pixels wide', () => {
    beforeAll(() => open(1280, 'light'));
    afterAll(() => opened.close());

    it('shows the whole drawing, without a bar to scroll it', async () => {
      await go();
      const frame = page.locator('.sheet');
      expect(await frame.evaluate((it) => it.scrollWidth - it.clientWidth)).toBe(0);
    });

    it('is searched by keyboard alone: first stop of Tab, "/", arrows, Enter, Escape', async () => {
      await go('/Unit');
      await page.keyboard.press('Tab');
      expect(await focused()).toBe('search');
      await page.locator('h1').click();
      await page.keyboard.press('/');
      expect(await focused()).toBe('search');

      await page.keyboard.type('usercr');
      await page.getByText(/^\d+ found$/).waitFor();
      await page.keyboard.press('ArrowDown');
      expect(await focused()).toContain('Mutation.userCreate');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${demo.url}${start}/Mutation#userCreate`);
      expect(await page.locator('article:target').innerText()).toContain('Adds a user to the organization.');

      await page.keyboard.press('/');
      await page.keyboard.type('unheard of');
      await page.getByText('0 found').waitFor();
      await page.keyboard.press('Escape');
      expect(await page.locator('#results').isVisible()).toBe(false);
      // In a field it is a character.
      await page.keyboard.type('/');
      expect(await page.locator('#search').inputValue()).toBe('/');
    });

    it.each([
      ['unit', '/Unit'],
      ['accessibleunits', '/User#accessibleUnits'],
      ['conflict', '/errors#CONFLICT'],
      ['retry-after', '/errors#too-many-requests'],
      ['nfc chip', '/Mutation#nfcCardCreate'],
    ])('finds by a name or a word: %s', async (words, place) => {
      await go();
      await page.locator('#search').fill(words);
      await page.keyboard.press('Enter');
      await page.waitForURL(`${demo.url}${start}${place}`);
    });

    it('is walked through by Tab: search, pages, text, contents', async () => {
      await go('/Card');
      const stops: string[] = [];
      for (let count = 0; count < 60 && stops.at(-1) !== 'schema.graphql'; count++) {
        await page.keyboard.press('Tab');
        stops.push(String(await focused()));
      }
      expect(stops.slice(0, 5)).toEqual(['search', 'Graph Query Service', 'GraphiQL', 'Playground', 'Documentation']);
      expect(stops).toEqual(expect.arrayContaining(['BeaconCard', 'Mutation', 'Access tokens', 'schema.graphql']));
      expect(stops.indexOf('cardUpdate')).toBeLessThan(stops.indexOf('Overview'));
    });

    it('tells of a mutation its arguments, its errors and what it returns', async () => {
      await go('/Mutation#userCreate');
      const text = await page.locator('article#userCreate').innerText();

      expect(text).toContain('fullName: String!');
      expect(text).toContain('user: User');
      expect(text).toContain('CONFLICT of email: Another user has this e-mail address.');
      expect(text).toContain('BAD_USER_INPUT of locale: ');
      expect(text).not.toContain('NOT_FOUND');
      // What a function raises by itself.
      for (const [mutation, error] of [
        ['unitDelete', 'CONFLICT of withDescendants: There are units below this one.'],
        ['unitDelete', 'BAD_USER_INPUT of id: Give either id or externalIdentifier.'],
        ['cardAssign', 'BAD_USER_INPUT of userId: Give either userId or userExternalIdentifier.'],
        ['usersDelete', 'BAD_USER_INPUT of ids: Give either ids or externalIdentifiers.'],
        ['unitUpdate', 'BAD_USER_INPUT: … cannot be null; leave it out to keep its value.'],
        ['unitUpdate', 'BAD_USER_INPUT of parentExternalIdentifier or parentId: A unit cannot be below itself.'],
        ['userUpdate', 'BAD_USER_INPUT of timezone: timezone is another spelling of timeZone; the two differ.'],
        ['webhookCreate', 'CONFLICT: An organization has at most 20 webhooks.'],
      ])
        expect(await page.locator(`article#${mutation}`).innerText()).toContain(error);
      // No row that stays has the identifier.
      expect(await page.locator('article#unitDelete').innerText()).not.toContain('of externalIdentifier');
      expect(await page.locator('article#userDelete').innerText()).toContain(
        'NOT_FOUND: There is no object in the organization that id or externalIdentifier names.',
      );
    });

    it('opens an example in GraphiQL, which runs it when told to', async () => {
      await go('/App#users');
      await page.getByRole('link', { name: 'Open in GraphiQL the example of App.users' }).click();
      await page.locator('.graphiql-query-editor').getByText('query AppUsers').waitFor();
      expect(new URL(page.url()).hash).toBe('');
      expect(await page.locator('.result-window').innerText()).not.toContain('fullName');

      await page.getByRole('button', { name: /^Execute query/ }).click();
      await page.locator('.result-window').getByText('Ada Lovelace').waitFor();
      await opened.settled();
    });

    it('copies code', async () => {
      await go('/tokens');
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const code = page.locator('.code').first();

      await code.getByRole('button', { name: 'Copy' }).click();

      await code.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await code.locator('pre').textContent());
    });

    it('answers 404 for a type that is not there', async () => {
      expect((await fetch(`${demo.url}${start}/Unheard`)).status).toBe(404);
      expect((await fetch(`${demo.url}${start}/User`)).status).toBe(200);
    });

    it('has no link that leads nowhere', async () => {
      const missing: string[] = [];
      const read = new Map<string, string>();
      const textOf = async (path: string) => {
        const known = read.get(path);
        if (known !== undefined) return known;
        const response = await fetch(demo.url + path);
        const text = response.ok ? await response.text() : '';
        read.set(path, text);
        return text;
      };
      for (const part of ['', '/User', '/Mutation', '/Query', '/errors', '/tokens'])
        for (const [, href = ''] of (await textOf(start + part)).matchAll(/ href="(?!https?:)([^"]*)"/g)) {
          const { pathname, hash } = new URL(href.replaceAll('&#38;', '&'), demo.url + start + part);
          const text = await textOf(pathname);
          const isThere =
            text !== '' && (hash === '' || pathname === '/graphiql' || text.includes(` id="${hash.slice(1)}"`));
          if (!isThere) missing.push(`${start}${part}: ${href}`);
        }
      expect(read.size).toBeGreaterThan(80);
      expect(missing).toEqual([]);
    });
  });

  it('can be read without a script', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(demo.url + start);
    expect(await plain.getByRole('search').isVisible()).toBe(false);
    await plain.getByRole('link', { name: 'userCreate', exact: true }).click();
    expect(await plain.locator('article#userCreate').innerText()).toContain('Adds a user');
    await plain.locator('.drawing, .contents').getByRole('link', { name: 'User', exact: true }).click();
    await until(async () => (await plain.title()).startsWith('User'));
    await context.close();
  });

  // Last, since they change the demo.
  describe('its examples', () => describeExamples(() => ({ demo, browser })));
});

/** Words of the tables that are on more than one line. */
const brokenWords = `[...document.querySelectorAll('th, td')].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  while (texts.nextNode()) {
    for (const { index, 0: word } of texts.currentNode.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(texts.currentNode, index);
      range.setEnd(texts.currentNode, index + word.length);
      if (range.getClientRects().length > 1) broken.push(word);
    }
  }
  return broken;
})`;
