import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import type { Browser, Page } from 'playwright-core';
import { launchBrowser, type OpenPage, openPage } from '../support/browser.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';
import { until } from '../support/until.ts';

/** GraphiQL as the workplace of somebody who develops policies. */
describe('GraphiQL for a developer of policies', () => {
  let demo: Demo;
  let browser: Browser;
  let opened: OpenPage;
  let page: Page;
  let axe: string;

  beforeAll(async () => {
    demo = await startTestDemo();
    browser = await launchBrowser();
    axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
  });

  afterAll(async () => {
    await browser.close();
    await demo.stop();
  });

  async function open(width: number, colorScheme: 'light' | 'dark' = 'light'): Promise<void> {
    opened = await openPage(browser, { baseUrl: demo.url, width, colorScheme });
    ({ page } = opened);
    await goTo();
  }

  async function goTo(): Promise<void> {
    await page.goto(`${demo.url}/graphiql`);
    await page.getByText('role graph_app').waitFor();
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  }

  afterEach(() => {
    expect(opened.problems.splice(0)).toEqual([]);
  });

  const token = () => page.getByLabel('Active token');
  const answer = () => modelOf(page, 'response.json');
  const expectAnswer = (text: string) => until(async () => (await answer())?.includes(text) ?? false);

  describe('1280 pixels wide', () => {
    beforeAll(() => open(1280));
    afterAll(() => opened.close());

    it('shows every example at once, by task, and all claims of the token', async () => {
      for (const button of await page.locator('#examples button').all()) {
        const box = await button.boundingBox();
        expect((box?.x ?? 0) + (box?.width ?? Number.POSITIVE_INFINITY)).toBeLessThan(1280);
        expect(box?.y).toBeLessThan(160);
      }
      expect(await page.locator('#examples > div > span').allTextContents()).toEqual(['Read', 'Follow', 'Change']);
      expect(await page.locator('#examples button').count()).toBe(11);
      expect(await claims()).toMatch(
        /^role graph_app organization Demo application demo-backend person none scope app basic ends at \d\d:\d\d, in [12] h( \d+ min)?$/,
      );
    });

    it('runs an example when it is chosen, with the focus in the editor and no old result', async () => {
      await page.getByRole('button', { name: 'Units' }).click();
      await expectAnswer('"Campus"');
      expect(await isInEditor()).toBe(true);

      await page.getByRole('button', { name: 'Cards' }).click();
      await until(async () => !(await answer())?.includes('"Campus"'));
      await expectAnswer('"Ada Lovelace"');
      expect(await isInEditor()).toBe(true);
    });

    it('leaves what a person wrote in its tab, with the history, through an example, another token and a reload', async () => {
      await write('query MyOwn { app { name } }');
      await page.keyboard.press('ControlOrMeta+Enter');
      await expectAnswer('"Demo Backend"');
      await page.getByRole('button', { name: 'Users' }).click();
      await expectAnswer('"Grace Hopper"');
      await token().selectOption('Grace Hopper');
      await page.getByText('role graph_user').waitFor();
      // GraphiQL stores its tabs half a second later.
      await until(() => page.evaluate<boolean>(`localStorage.getItem('graphiql:tabState').includes('query Me')`));
      await opened.settled();
      await page.reload();
      await page.getByText('role graph_user').waitFor();

      const tabs = page.getByRole('tab');
      await tabs.first().waitFor();
      expect(await tabs.count()).toBe(2);
      await tabs.first().click();
      await until(async () => (await modelOf(page, 'operation.graphql')) === 'query MyOwn { app { name } }');
      await page.getByRole('button', { name: 'Show History' }).click();
      await page.locator('.graphiql-history').getByText('MyOwn').waitFor();
      await page.getByRole('button', { name: 'Hide History' }).click();
      await opened.forget();
      await goTo();
    });

    it('shows nobody the result of somebody else', async () => {
      await token().selectOption('as Demo Backend');
      await write('{ __typename app { name } viewer { fullName } }');
      await page.keyboard.press('ControlOrMeta+Enter');
      await expectAnswer('"Demo Backend"');

      await token().selectOption('Grace Hopper');
      await page.getByText('role graph_user').waitFor();
      await until(async () => (await answer()) === '');
      expect(await modelOf(page, 'operation.graphql')).toContain('viewer { fullName }');
    });

    it('signs in as each of the demo in one step', async () => {
      for (const [label, role, person] of [
        ['Ada Lovelace', 'graph_user', 'ada@demo.test'],
        ['Emmy Noether', 'graph_user', 'emmy@demo.test'],
        ['Demo Backend, scope basic alone', 'graph_basic', 'none'],
      ]) {
        await token().selectOption(label ?? '');
        await page.getByText(`role ${role}`).waitFor();
        await page.getByText(`person ${person}`).waitFor();
        expect(await page.locator('#token option:checked').textContent()).toBe(`as ${label}`);
      }
      await token().selectOption('as Demo Backend');
      await page.getByText('role graph_app').waitFor();
    });

    it('runs a query as somebody else beside the first, and marks the differences', async () => {
      await token().selectOption('as Ada Lovelace');
      await write('{ viewer { accessibleUnits { nodes { name } } } }');
      await page.getByLabel('Run as').selectOption('Grace Hopper');

      const dialog = page.getByRole('dialog', {
        name: 'Ada Lovelace (scope me), and beside it Grace Hopper (scope me)',
      });
      await dialog.waitFor();
      await dialog
        .getByText(/^\d+ differences?: − is only in the answer to Ada Lovelace, \+ only in that to Grace Hopper\.$/)
        .waitFor();
      expect(await modelOf(page, 'first.json')).toContain('"South Building"');
      expect(await modelOf(page, 'second.json')).not.toContain('"South Building"');
      expect(await page.locator('#comparison .line-delete').count()).toBeGreaterThan(0);
      // From the editor, which would keep both keys for itself.
      for (let presses = 0; presses < 4 && !(await isFocused('#why-here')); presses++) await page.keyboard.press('Tab');
      expect(await isFocused('#why-here')).toBe(true);
      await page.keyboard.press('Shift+Tab');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'hidden' });
      expect(await isFocused('#run-as')).toBe(true);
      // Who is signed in has not changed.
      expect(await page.locator('#token option:checked').textContent()).toBe('as Ada Lovelace');
    });

    it('runs nothing twice that changes something', async () => {
      await token().selectOption('as Demo Backend');
      await write('mutation { unitCreate(name: "Twice") { unit { id } } }');
      await page.getByLabel('Run as').selectOption('Grace Hopper');

      expect(await page.getByRole('status').innerText()).toContain('Only a query is run as somebody else');
      expect(await page.getByRole('dialog').count()).toBe(0);
    });

    it('says why an object is seen, and why the other caller does not see it', async () => {
      await token().selectOption('as Ada Lovelace');
      await write('{ viewer { accessibleUnits { nodes { name } } } }');
      await page.keyboard.press('ControlOrMeta+Enter');
      await expectAnswer('"South Building"');
      await placeCursor('response.json', '"South Building"');
      await page.getByRole('button', { name: 'Why?' }).click();

      const reasons = page.getByRole('dialog', { name: 'Why?' });
      await reasons.getByText(/^Ada Lovelace \(graph_user\) sees the Unit “South Building”, since/).waitFor();
      await page.keyboard.press('Escape');

      await page.getByLabel('Run as').selectOption('Grace Hopper');
      await page.locator('#comparison .line-delete').first().waitFor();
      await placeCursor('first.json', '"South Building"');
      await page.locator('#why-here').click();
      await reasons
        .getByText(/^Grace Hopper \(graph_user\) does not see the Unit “South Building”: no policy/)
        .waitFor();
      await reasons.getByText(/^Ada Lovelace \(graph_user\) sees the Unit “South Building”/).waitFor();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
      await page.getByRole('dialog').waitFor({ state: 'hidden' });
    });

    it('says why a null is one', async () => {
      await token().selectOption('as Grace Hopper');
      await write('{ viewer { accessibleUnits(orderBy: NAME_DESC) { nodes { name above: parent { name } } } } }');
      await page.keyboard.press('ControlOrMeta+Enter');
      await expectAnswer('"above": null');
      await placeCursor('response.json', '"above": null');
      await page.getByRole('button', { name: 'Why?' }).click();

      await page
        .getByText(/^Grace Hopper \(graph_user\) does not see the Unit “(Campus|South Building)”: no policy/)
        .waitFor();
      await page.keyboard.press('Escape');
    });
  });

  describe.each([
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
    [1920, 'light'],
  ] as const)('%i pixels wide, %s,', (width, colorScheme) => {
    beforeAll(() => open(width, colorScheme));
    afterAll(() => opened.close());

    it('is accessible, its comparison and its reasons too, and fits', async () => {
      await expectAccessible();
      await token().selectOption('Ada Lovelace');
      await page.getByText('role graph_user').waitFor();
      await page.getByRole('button', { name: 'My units', exact: true }).click();
      await expectAnswer('"North Building"');
      await page.getByLabel('Run as').selectOption('Grace Hopper');
      await page.getByText(/^\d+ differences?:/).waitFor();
      await expectAccessible();
      // The cursor is on the first of them.
      await page.locator('#why-here').click();
      await page.getByText(/^Grace Hopper \(graph_user\)/).waitFor();
      await expectAccessible();
      await page.keyboard.press('Escape');
      await page.keyboard.press('Escape');
    });
  });

  describe('by keyboard alone', () => {
    beforeAll(() => open(1280));
    afterAll(() => opened.close());

    it('reaches the token, the other callers, each example and the editor with Tab, in the order of the page', async () => {
      await page.locator('.bar a').last().focus();
      const reached: (string | null)[] = [];
      for (let presses = 0; presses < 25 && !(await isInEditor()); presses++) {
        await page.keyboard.press('Tab');
        reached.push(
          await page.evaluate<string | null>('document.activeElement.ariaLabel ?? document.activeElement.textContent'),
        );
      }
      expect(reached.slice(0, 7)).toEqual([
        'Active token',
        'Run as',
        'Why?',
        'Copy as curl',
        'Refresh',
        'Sign out',
        'Add a token',
      ]);
      expect(reached.slice(7, 9)).toEqual(['Users', 'Units']);

      await page.getByRole('button', { name: 'Units' }).focus();
      await page.keyboard.press('Enter');
      await expectAnswer('"Campus"');
      expect(await isInEditor()).toBe(true);
    });
  });

  async function expectAccessible(): Promise<void> {
    await page.evaluate(axe);
    // What GraphiQL and its editor are made of is theirs.
    const { violations, passes } = (await page.evaluate(
      `axe.run({ include: ['.panel', 'dialog'], exclude: ['.monaco-editor', '.monaco-diff-editor'] })`,
    )) as AxeResults;
    expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    expect(passes.length).toBeGreaterThan(5);
    expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).toBe(0);
  }

  const claims = async () => (await page.locator('#claims > div').allTextContents()).join(' ');

  const isFocused = (selector: string) =>
    page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`);

  const isInEditor = () => page.evaluate<boolean>(`document.activeElement.closest('.graphiql-query-editor') !== null`);

  async function write(query: string): Promise<void> {
    await page.evaluate(`(async () => {
      const model = monaco.editor.getModels().findLast(({ uri }) => uri.path.endsWith('operation.graphql'));
      model.setValue(${JSON.stringify(query)});
    })()`);
    await page.locator('.graphiql-query-editor .monaco-editor').first().click();
  }

  /** As a click on the text does, wherever it is scrolled to. */
  const placeCursor = (name: string, text: string) =>
    page.evaluate(`(() => {
      const editor = monaco.editor.getEditors().findLast((one) => one.getModel()?.uri.path.endsWith(${JSON.stringify(name)}));
      const [match] = editor.getModel().findMatches(${JSON.stringify(text)}, false, false, true, null, false);
      editor.focus();
      editor.setPosition(match.range.getStartPosition());
    })()`);
});

/** The editor's text, since only what is scrolled to is on the page. */
const modelOf = (page: Page, name: string) =>
  page.evaluate<string | undefined>(`(globalThis.monaco?.editor.getModels() ?? [])
    .findLast(({ uri }) => uri.path.endsWith(${JSON.stringify(name)}))?.getValue()`);
