import type { Browser } from 'playwright-core';
import { expectAccessible } from '../support/axe.ts';
import { launchBrowser } from '../support/browser.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';
import { until } from '../support/until.ts';
import { openWorkplace, type Workplace } from './support/workplace.ts';

/** GraphiQL as the workplace of a developer of policies. Its comparison and reasons are in explanations.system.ts. */
describe('GraphiQL for a developer of policies', () => {
  let demo: Demo;
  let browser: Browser;
  let at: Workplace;

  beforeAll(async () => {
    demo = await startTestDemo();
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser.close();
    await demo.stop();
  });

  async function open(width: number, colorScheme: 'light' | 'dark' = 'light'): Promise<void> {
    at = await openWorkplace(browser, demo.url, { width, colorScheme });
  }

  afterEach(() => {
    expect(at.opened.problems.splice(0)).toEqual([]);
  });

  describe('1280 pixels wide', () => {
    beforeAll(() => open(1280));
    afterAll(() => at.opened.close());

    it('shows every example at once, by task, and all claims of the token', async () => {
      for (const button of await at.page.locator('#examples button').all()) {
        const box = await button.boundingBox();
        expect((box?.x ?? 0) + (box?.width ?? Number.POSITIVE_INFINITY)).toBeLessThan(1280);
        expect(box?.y).toBeLessThan(160);
      }
      expect(await at.page.locator('#examples > div > span').allTextContents()).toEqual(['Read', 'Follow', 'Change']);
      expect(await at.page.locator('#examples button').count()).toBe(11);
      expect(await claims()).toMatch(
        /^role graph_app organization Demo application demo-backend person none scope app basic ends at \d\d:\d\d, in [12] h( \d+ min)?$/,
      );
    });

    it('runs an example when it is chosen, with the focus in the editor and no old result', async () => {
      await at.page.getByRole('button', { name: 'Units' }).click();
      await at.expectAnswer('"Campus"');
      expect(await at.isInEditor()).toBe(true);

      await at.page.getByRole('button', { name: 'Cards' }).click();
      await until(async () => !(await at.answer())?.includes('"Campus"'));
      await at.expectAnswer('"Ada Lovelace"');
      expect(await at.isInEditor()).toBe(true);
    });

    it('leaves what a person wrote in its tab, with the history, through an example, another token and a reload', async () => {
      await at.write('query MyOwn { app { name } }');
      await at.run();
      await at.expectAnswer('"Demo Backend"');
      await at.page.getByRole('button', { name: 'Users' }).click();
      await at.expectAnswer('"Grace Hopper"');
      await at.token.selectOption('Grace Hopper');
      await at.page.getByText('role graph_user').waitFor();
      // GraphiQL stores its tabs half a second later.
      await until(() => at.page.evaluate<boolean>(`localStorage.getItem('graphiql:tabState').includes('query Me')`));
      await at.opened.settled();
      await at.page.reload();
      await at.page.getByText('role graph_user').waitFor();

      const tabs = at.page.getByRole('tab');
      await tabs.first().waitFor();
      expect(await tabs.count()).toBe(2);
      await tabs.first().click();
      await until(async () => (await at.textOf('operation.graphql')) === 'query MyOwn { app { name } }');
      await at.page.getByRole('button', { name: 'Show History' }).click();
      await at.page.locator('.graphiql-history').getByText('MyOwn').waitFor();
      await at.page.getByRole('button', { name: 'Hide History' }).click();
      await at.opened.forget();
      await at.goTo();
    });

    it('shows nobody the result of another caller', async () => {
      await at.token.selectOption('as Demo Backend');
      await at.write('{ __typename app { name } viewer { fullName } }');
      await at.run();
      await at.expectAnswer('"Demo Backend"');

      await at.token.selectOption('Grace Hopper');
      await at.page.getByText('role graph_user').waitFor();
      await until(async () => (await at.answer()) === '');
      expect(await at.textOf('operation.graphql')).toContain('viewer { fullName }');
    });

    it('signs in as each of the demo in one step', async () => {
      for (const [label, role, person] of [
        ['Ada Lovelace', 'graph_user', 'ada@demo.test'],
        ['Emmy Noether', 'graph_user', 'emmy@demo.test'],
        ['Demo Backend, scope basic alone', 'graph_basic', 'none'],
      ]) {
        await at.token.selectOption(label ?? '');
        await at.page.getByText(`role ${role}`).waitFor();
        await at.page.getByText(`person ${person}`).waitFor();
        expect(await at.page.locator('#token option:checked').textContent()).toBe(`as ${label}`);
      }
      await at.token.selectOption('as Demo Backend');
      await at.page.getByText('role graph_app').waitFor();
    });
  });

  describe.each([
    [360, 'dark'],
    [1280, 'light'],
    [1280, 'dark'],
    [1920, 'light'],
  ] as const)('%i pixels wide, %s,', (width, colorScheme) => {
    beforeAll(() => open(width, colorScheme));
    afterAll(() => at.opened.close());

    it('is accessible, its comparison and its reasons too, and fits', async () => {
      await expectAccessible(at.page, ours);
      await at.token.selectOption('Ada Lovelace');
      await at.page.getByText('role graph_user').waitFor();
      await at.page.getByRole('button', { name: 'My units', exact: true }).click();
      await at.expectAnswer('"North Building"');
      await at.page.getByLabel('Run as').selectOption('Grace Hopper');
      await at.page.getByText(/^\d+ differences?:/).waitFor();
      await expectAccessible(at.page, ours);
      // The cursor is on the first of them.
      await at.page.locator('#why-here').click();
      await at.page.getByText(/^Grace Hopper \(graph_user\)/).waitFor();
      await expectAccessible(at.page, ours);
      await at.page.keyboard.press('Escape');
      await at.page.keyboard.press('Escape');
    });
  });

  describe('by keyboard alone', () => {
    beforeAll(() => open(1280));
    afterAll(() => at.opened.close());

    it('reaches the token, the other callers, each example and the editor with Tab, in the order of the page', async () => {
      await at.page.locator('.bar a').last().focus();
      const reached: (string | null)[] = [];
      for (let presses = 0; presses < 25 && !(await at.isInEditor()); presses++) {
        await at.page.keyboard.press('Tab');
        reached.push(
          await at.page.evaluate<string | null>(
            'document.activeElement.ariaLabel ?? document.activeElement.textContent',
          ),
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

      await at.page.getByRole('button', { name: 'Units' }).focus();
      await at.page.keyboard.press('Enter');
      await at.expectAnswer('"Campus"');
      expect(await at.isInEditor()).toBe(true);
    });
  });

  // What GraphiQL and its editor are made of is theirs.
  const ours = { include: ['.panel', 'dialog'], exclude: ['.monaco-editor', '.monaco-diff-editor'] };

  const claims = async () => (await at.page.locator('#claims > div').allTextContents()).join(' ');
});
