import type { Browser } from 'playwright-core';
import { type OpenPage, openPage } from '../../support/browser.ts';
import { until } from '../../support/until.ts';

export type Workplace = Awaited<ReturnType<typeof openWorkplace>>;

/** GraphiQL of a demo, signed in as its application. */
export async function openWorkplace(
  browser: Browser,
  url: string,
  { width = 1280, colorScheme = 'light' }: { width?: number; colorScheme?: 'light' | 'dark' } = {},
) {
  const opened: OpenPage = await openPage(browser, { baseUrl: url, width, colorScheme });
  const { page } = opened;
  const goTo = async () => {
    await page.goto(`${url}/graphiql`);
    await page.getByText('role graph_app').waitFor();
    await page.locator('.graphiql-query-editor .view-line').first().waitFor();
  };
  await goTo();

  /** The editor's text, since only what is scrolled to is on the page. */
  const textOf = (name: string) =>
    page.evaluate<string | undefined>(`(globalThis.monaco?.editor.getModels() ?? [])
      .findLast(({ uri }) => uri.path.endsWith(${JSON.stringify(name)}))?.getValue()`);
  const answer = () => textOf('response.json');

  return {
    opened,
    page,
    goTo,
    textOf,
    answer,
    token: page.getByLabel('Active token'),
    expectAnswer: (text: string) => until(async () => (await answer())?.includes(text) ?? false),
    isFocused: (selector: string) =>
      page.evaluate<boolean>(`document.activeElement.matches(${JSON.stringify(selector)})`),
    isInEditor: () => page.evaluate<boolean>(`document.activeElement.closest('.graphiql-query-editor') !== null`),

    async write(query: string): Promise<void> {
      await page.evaluate(`(async () => {
        const model = monaco.editor.getModels().findLast(({ uri }) => uri.path.endsWith('operation.graphql'));
        model.setValue(${JSON.stringify(query)});
      })()`);
      await page.locator('.graphiql-query-editor .monaco-editor').first().click();
    },

    /** Chooses the token of a person or application of the demo, who is signed in for it if need be. */
    async signInAs(label: string): Promise<void> {
      const token = page.getByLabel('Active token');
      const isSignedIn = (await token.locator('option').allTextContents()).includes(`as ${label}`);
      await token.selectOption(isSignedIn ? `as ${label}` : label);
      await until(async () => (await page.locator('#token option:checked').textContent()) === `as ${label}`);
    },

    run: () => page.keyboard.press('ControlOrMeta+Enter'),

    /** As a click on the text does, wherever it is scrolled to. */
    placeCursor: (name: string, text: string) =>
      page.evaluate(`(() => {
        const editor = monaco.editor.getEditors().findLast((one) => one.getModel()?.uri.path.endsWith(${JSON.stringify(name)}));
        const [match] = editor.getModel().findMatches(${JSON.stringify(text)}, false, false, true, null, false);
        editor.focus();
        editor.setPosition(match.range.getStartPosition());
      })()`),
  };
}
