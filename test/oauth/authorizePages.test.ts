import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, Page } from 'playwright-core';
import { expectAccessible } from '../support/axe.ts';
import { launchBrowser, openPage } from '../support/browser.ts';
import { opened } from '../support/openThings.ts';
import { until } from '../support/until.ts';
import { createPkce, requestOf } from './authorizeSupport.ts';
import {
  createApplication,
  createUser,
  type OauthTest,
  shareOauthTest,
  type TestApplication,
  type TestUser,
} from './support.ts';

let oauth: OauthTest;
let client: Client;
let application: TestApplication;
let user: TestUser;
let browser: Browser;
beforeAll(async () => {
  oauth = await shareOauthTest();
  client = await startClient();
  const registered = 'http://127.0.0.1/callback';
  application = await createApplication(oauth, { scopes: ['me'], confidential: false, redirectUris: [registered] });
  await oauth.database.owner.query(`update oauth.applications set name = 'Tom & Jerry <3' where id = $1`, [
    application.id,
  ]);
  user = await createUser(oauth);
  browser = await launchBrowser();
});
afterAll(async () => {
  await browser.close();
  await client.stop();
});

type Client = { redirectUri: string; stop(): Promise<void> };

/** An application on this device, which goes on to a page of its own from its redirect, as many do. */
async function startClient(): Promise<Client> {
  const server = createServer((request, response) => {
    if (request.url?.startsWith('/callback'))
      response.writeHead(302, { Location: `/done${request.url.slice(9)}` }).end();
    else
      response.writeHead(200, { 'Content-Type': 'text/html' }).end('<!doctype html><title>Done</title><p>Welcome back');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const closed = opened('a client');
  const stop = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    closed();
  };
  return { redirectUri: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, stop };
}

const address = () => {
  const request = { ...requestOf(application, createPkce()), redirect_uri: client.redirectUri };
  return `${oauth.url}/oauth/authorize?${new URLSearchParams(request)}`;
};

describe.each([
  { width: 1280, colorScheme: 'light' as const },
  { width: 390, colorScheme: 'dark' as const },
])('the pages, $width pixels wide, in $colorScheme', ({ width, colorScheme }) => {
  let page: Page;
  let problems: string[];
  let close: () => Promise<void>;
  beforeEach(async () => {
    ({ page, problems, close } = await openPage(browser, { baseUrl: oauth.url, width, colorScheme }));
  });
  afterEach(() => close());

  const signIn = async (password = user.password) => {
    await page.getByLabel('E-mail address').fill(user.email);
    await page.getByLabel('Password').fill(password);
    await page.getByRole('button', { name: 'Sign in' }).click();
  };

  const answer = async () => {
    await page.getByText('Welcome back').waitFor();
    return Object.fromEntries(new URL(page.url()).searchParams);
  };

  /** The browser's complaints, except those that this test causes: the client's address, and pages that refuse. */
  const complaints = () =>
    problems.filter((problem) => !problem.startsWith('foreign: http://127.0.0.1:') && !/\b40[03]\b/.test(problem));

  test('signs in, with the keyboard alone, and allows', async () => {
    await page.goto(address());
    await expectAccessible(page);
    await page.keyboard.type(user.email);
    await page.keyboard.press('Tab');
    await page.keyboard.type(user.password);
    await page.keyboard.press('Enter');

    await page.getByRole('heading', { name: 'Allow Tom & Jerry <3 to use your account?' }).waitFor();
    await expectAccessible(page);
    await page.getByText('You are signed in as Ada Lovelace').waitFor();
    await page.getByText('an app on this device').waitFor();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');

    expect(await answer()).toEqual({
      code: expect.stringMatching(/^gqs_ac_/),
      state: 'state of the client',
      iss: oauth.url,
    });
    expect(complaints()).toEqual([]);
  });

  test.each([
    ['Allow', { code: expect.stringMatching(/^gqs_ac_/) }],
    ['Deny', { error: 'access_denied' }],
  ])('leads on by a double click on %s, though the first answer is slow', async (name, expected) => {
    await page.goto(address());
    await signIn();
    await page.getByRole('button', { name }).waitFor();
    const { owner } = oauth.database;
    const blocker = await owner.connect();
    await blocker.query('begin');
    await blocker.query(
      'select from oauth.consents where sid in (select sid from oauth.sessions where user_id = $1) for update',
      [user.id],
    );

    await page.getByRole('button', { name }).dblclick({ delay: 30, noWaitAfter: true });
    await until(async () => {
      const waiting = `
        select from pg_stat_activity
        where datname = current_database() and wait_event_type = 'Lock' and query like '%delete from oauth.consents%'`;
      return (await owner.query(waiting)).rowCount === 2;
    });
    await blocker.query('rollback');
    blocker.release();

    expect(await answer()).toMatchObject({ ...expected, iss: oauth.url });
    // The browser gives up the first of the two requests.
    expect(complaints()).toEqual([expect.stringMatching(/^failed: .* net::ERR_ABORTED$/)]);
  });

  test('denies', async () => {
    await page.goto(address());
    await signIn();

    await page.getByRole('button', { name: 'Deny' }).click();

    expect(await answer()).toMatchObject({ error: 'access_denied', state: 'state of the client', iss: oauth.url });
    expect(complaints()).toEqual([]);
  });

  test('says that the password is wrong and keeps the name', async () => {
    await page.goto(address());
    await signIn('wrong');

    await page.getByRole('alert').getByText('The e-mail address or the password is wrong.').waitFor();
    expect(await page.getByLabel('E-mail address').inputValue()).toBe(user.email);
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    expect(await page.evaluate('document.activeElement.id')).toBe('password');
    expect(await page.title()).toBe('Error: Sign in · Graph Query Service');
    await expectAccessible(page);
    await page.keyboard.type(user.password);
    await page.keyboard.press('Enter');

    await page.getByRole('button', { name: 'Allow' }).waitFor();
    expect(complaints()).toEqual([]);
  });

  test('signs out, and in again as another person', async () => {
    const other = await createUser(oauth);
    await page.goto(address());
    await signIn();

    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('E-mail address').fill(other.email);
    await page.getByLabel('Password').fill(other.password);
    await page.getByRole('button', { name: 'Sign in' }).click();

    await page.getByText(other.email).waitFor();
    expect(complaints()).toEqual([]);
  });

  test('says that a form has expired, and begins again', async () => {
    await page.goto(address());
    await signIn();
    await page.getByRole('button', { name: 'Allow' }).waitFor();
    await oauth.database.owner.query('update oauth.consents set expires_at = now()');

    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { name: 'This page has expired' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('link', { name: 'Start again' }).click();
    await page.getByRole('button', { name: 'Allow' }).click();

    expect(await answer()).toHaveProperty('code');
    expect(complaints()).toEqual([]);
  });

  test('says that a link does not work', async () => {
    await page.goto(`${oauth.url}/oauth/authorize?client_id=nobody`);

    await page.getByRole('heading', { name: 'This link does not work' }).waitFor();
    await expectAccessible(page);
    expect(await page.getByRole('link').count()).toBe(0);
    expect(complaints()).toEqual([]);
  });
});
