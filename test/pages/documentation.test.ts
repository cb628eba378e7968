import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, type OpenPage, openPage } from '../support/browser.ts';
import { type Demo, getDemoToken, startTestDemo } from '../support/demo.ts';
import { until } from '../support/until.ts';

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

  async function open(width: number, colorScheme: 'light' | 'dark'): Promise<void> {
    opened = await openPage(browser, { baseUrl: demo.url, width, colorScheme });
    ({ page } = opened);
    await page.goto(`${demo.url}/documentations/graphql`);
    await page.locator('#lines path').first().waitFor();
  }

  afterEach(async () => {
    // A style or script that the policy refuses would be among them.
    expect(opened.problems.splice(0)).toEqual([]);
  });

  describe.each([
    [1280, 'light'],
    [390, 'dark'],
  ] as const)('%i pixels wide, %s', (width, colorScheme) => {
    beforeAll(() => open(width, colorScheme));
    afterAll(() => opened.close());

    it('breaks no word of a table, and fits', async () => {
      expect(await page.locator('th, td').count()).toBeGreaterThan(80);
      expect(await page.evaluate(brokenWords)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
    });

    it('draws the types in the colours of the scheme, and leads from there to their descriptions', async () => {
      const background = await page.evaluate('getComputedStyle(graph).backgroundColor');
      expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(27, 30, 43)');

      await page.locator('[id="TYPE::Unit"]').click();
      expect(new URL(page.url()).hash).toBe('#Unit');
      expect(await page.locator('article#Unit').innerText()).toContain('children');
    });
  });

  describe('1280 pixels wide', () => {
    beforeAll(() => open(1280, 'light'));
    afterAll(() => opened.close());

    it('shows the whole diagram, legibly, its control beside it, and mutations', async () => {
      const control = await page.getByLabel('Every field').boundingBox();
      const diagram = await page.locator('#graph').boundingBox();

      expect(await page.evaluate('graph.scrollWidth - graph.clientWidth')).toBe(0);
      expect(await page.evaluate('getComputedStyle(graph.querySelector(".box")).fontSize')).toBe('14px');
      expect((control?.y ?? 0) + (control?.height ?? 0)).toBeLessThan(diagram?.y ?? 0);
      expect(await fieldsOf('Mutation')).toEqual([
        ...[
          'beaconCardCreate',
          'identificationCodeCreate',
          'nfcCardCreate',
          'unitCreate',
          'userCreate',
          'webhookCreate',
        ],
        ...['cardUpdate', 'unitUpdate', 'userUpdate', 'webhookUpdate', 'accessGrant', 'cardAssign', 'accessRevoke'],
        ...[
          'cardUnassign',
          'webhookRedeliver',
          'webhookRotateSecret',
          'cardDelete',
          'unitDelete',
          'userDelete',
          'usersDelete',
        ],
        ...['webhookDelete', 'cardsSync', 'unitsSync', 'usersSync'],
      ]);
      expect(await page.locator('[id="TYPE::Mutation"] [data-to="User"]').count()).toBe(3);
    });

    it('shows few fields until asked for all, and its lines lead to the titles before and after', async () => {
      expect(await fieldsOf('User')).toEqual(['cardAssignments[]', 'accessGrants[]', 'accessibleUnits[]']);
      expect(await page.locator('#lines path').count()).toBeGreaterThan(10);
      expect(await page.evaluate(lostLines)).toBe(0);

      await page.getByLabel('Every field').check();
      expect(await fieldsOf('User')).toContain('externalIdentifier');
      await until(async () => (await page.evaluate(lostLines)) === 0);
    });

    const fieldsOf = (type: string) => page.locator(`[id="TYPE::${type}"] > span:visible`).allTextContents();

    it('finds types, fields and sections, by keyboard alone', async () => {
      for (const [words, first] of [
        ['unit', 'Unit'],
        ['usercreate', 'Mutation.userCreate'],
        ['retry-after', 'too-many-requests'],
      ]) {
        await page.getByLabel('Search').fill(words ?? '');
        await page.keyboard.press('Enter');
        await until(() => new URL(page.url()).hash === `#${first}`);
      }

      await page.getByLabel('Search').fill('unheard of');
      expect(await page.locator('#found-count').innerText()).toBe('0 found');
      await page.getByLabel('Search').fill('');
      expect(await page.getByRole('link', { name: 'Access tokens' }).isVisible()).toBe(true);
    });

    it('copies code', async () => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      const code = page.locator('.code').first();

      await code.getByRole('button', { name: 'Copy' }).click();

      await code.getByRole('button', { name: 'Copied' }).waitFor();
      expect(await page.evaluate('navigator.clipboard.readText()')).toBe(await code.locator('pre').textContent());
    });

    it('has an example of every operation, each of which the demo answers', async () => {
      const roots = (await rootFields(demo)).toSorted();
      const examples = await page.evaluate<{ of: string; command: string }[]>(`
        [...document.querySelectorAll('dd .example')].map((example) => ({
          of: example.closest('dd').previousElementSibling.id,
          command: example.querySelector('.code:last-child pre').textContent,
        }))`);
      expect(examples.map(({ of }) => of).filter((of) => /^(Query|Mutation|Subscription)/.test(of))).toEqual(
        expect.arrayContaining(roots),
      );
      expect(examples.map(({ of }) => of)).toEqual(expect.arrayContaining(['App.users', 'User.accessibleUnits']));

      for (const { command } of examples.filter(isStream))
        expect(await follow(demo, command)).toContain('"typeName":"Unit"');
      for (const { of, command } of examples.filter((example) => !isStream(example))) {
        const { errors, data } = (await run(demo, command)) as { errors?: unknown; data?: Record<string, unknown> };
        expect([of, errors]).toEqual([of, undefined]);
        expect([of, Object.values(data ?? {})]).toEqual([of, [expect.anything()]]);
      }
    });

    it('has commands for tokens that work', async () => {
      const shown = await page.locator('.code:not(.example *) pre').allTextContents();
      // Its code comes by a browser.
      const commands = shown.filter((command) => !command.includes('code=CODE'));
      const answers = [];
      for (const command of commands) answers.push(await run(demo, command));

      const tokens = expect.objectContaining({ access_token: expect.any(String) });
      expect(shown).toHaveLength(commands.length + 1);
      expect(answers).toEqual([
        ...[tokens, tokens, tokens, tokens],
        expect.objectContaining({ application: { uid: 'demo-backend' } }),
        expect.objectContaining({ active: true }),
        {},
        {},
        { data: { viewer: { fullName: 'Ada Lovelace' } } },
      ]);
    });
  });
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

/** How many lines of the diagram do not end at the title of the type that their field leads to. */
const lostLines = `(() => {
  const lines = [...document.querySelectorAll('#lines path')];
  const names = [...document.querySelectorAll('#graph [data-to]')].flatMap((row) => row.dataset.to.split(' '));
  const top = document.getElementById('columns').getBoundingClientRect().y;
  return Math.abs(lines.length - names.length) + names.filter((name, index) => {
    const title = document.getElementById('TYPE::' + name).firstElementChild.getBoundingClientRect();
    const end = lines[index].getPointAtLength(lines[index].getTotalLength());
    return Math.abs(end.y - (title.y + title.height / 2 - top)) > 1;
  }).length;
})()`;

/** Runs a command of the page as it stands there. */
async function run(demo: Demo, command: string): Promise<unknown> {
  const { stdout } = await paste(await fill(demo, command));
  return JSON.parse(stdout);
}

const isStream = ({ of }: { of: string }) => of.startsWith('Subscription.');

/** Runs one that follows changes, which come only once it is connected, until it has shown one. @returns what it has shown */
async function follow(demo: Demo, command: string): Promise<string> {
  const pasted = paste(`exec ${await fill(demo, command)}`);
  let shown = '';
  pasted.child.stdout?.on('data', (text: string) => {
    shown += text;
  });
  const token = await getDemoToken(demo);
  await until(async () => {
    await ask(demo, 'mutation { unitCreate(name: "Annex") { unit { id } } }', token);
    return shown.includes('data: ');
  });
  pasted.child.kill();
  await pasted.catch(() => undefined);
  return shown;
}

/** Curl is last on the path, so that the machine's own is used where there is one. */
const paste = (command: string) =>
  promisify(execFile)('sh', ['-c', command], {
    env: { PATH: `${process.env.PATH}:${fileURLToPath(new URL('../support/bin', import.meta.url))}` },
  });

/** The command with what its words in capitals stand for. */
async function fill(demo: Demo, command: string): Promise<string> {
  const { clientSecret, password, externalAuthenticationToken } = demo.credentials;
  const signIn = { grant_type: 'password', client_id: 'demo-mobile', username: 'ada@demo.test', password };
  const client = { client_id: 'demo-backend', client_secret: clientSecret };
  const ofUser = command.includes('viewer');
  const tokens = await issue(demo, ofUser ? signIn : { ...client, grant_type: 'client_credentials', scope: 'app' });
  const clientId = command.includes('external_authentication_token=') ? 'demo-external' : 'demo-mobile';
  const values: Record<string, string> = {
    ACCESS_TOKEN: tokens.access_token,
    REFRESH_TOKEN: tokens.refresh_token,
    CLIENT_ID: command.includes('grant_type=password') ? clientId : 'demo-backend',
    CLIENT_SECRET: clientSecret,
    EMAIL: 'ada@demo.test',
    PASSWORD: password,
    TOKEN: externalAuthenticationToken,
    '"ID"': JSON.stringify(command.includes('"ID"') ? await someId(demo, /webhook/.test(command)) : null),
    DELIVERY_ID: command.includes('DELIVERY_ID') ? await someDeliveryId(demo) : '',
  };
  return command.replace(/"ID"|\b[A-Z_]+\b/g, (word) => values[word] ?? word);
}

async function issue({ url }: Demo, parameters: Record<string, string>) {
  const response = await fetch(`${url}/oauth/token`, { method: 'POST', body: new URLSearchParams(parameters) });
  return (await response.json()) as { access_token: string; refresh_token: string };
}

async function rootFields(demo: Demo): Promise<string[]> {
  const types = ['query', 'mutation', 'subscription'].map((kind) => `${kind}Type { name fields { name } }`);
  const { __schema } = await ask<{ __schema: Record<string, Type> }>(demo, `{ __schema { ${types.join(' ')} } }`);
  return Object.values(__schema).flatMap((type) => type.fields.map(({ name }) => `${type.name}.${name}`));
}

type Type = { name: string; fields: { name: string }[] };

async function someId(demo: Demo, isOfWebhook: boolean): Promise<string> {
  const field = isOfWebhook ? 'webhooks' : 'users';
  type Data = { app: { nodes: { nodes: { id: string }[] } } };
  const { app } = await ask<Data>(demo, `{ app { nodes: ${field}(first: 1) { nodes { id } } } }`);
  return app.nodes.nodes[0]?.id ?? '';
}

/** The id of a delivery of a change that an earlier example made. */
async function someDeliveryId(demo: Demo): Promise<string> {
  type Data = { app: { webhooks: { nodes: { deliveries: { nodes: { id: string }[] } }[] } } };
  const token = await getDemoToken(demo);
  let id: string | undefined;
  await until(async () => {
    const { app } = await ask<Data>(demo, '{ app { webhooks { nodes { deliveries { nodes { id } } } } } }', token);
    id = app.webhooks.nodes[0]?.deliveries.nodes[0]?.id;
    return id !== undefined;
  });
  return id ?? '';
}

async function ask<Data>(demo: Demo, query: string, given?: string): Promise<Data> {
  const token = given ?? (await getDemoToken(demo));
  const response = await fetch(`${demo.url}/graphql`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` },
    body: JSON.stringify({ query }),
  });
  return ((await response.json()) as { data: Data }).data;
}
