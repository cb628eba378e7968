import { Visitor } from '../oauth/authorizeSupport.ts';
import { commandPath } from '../support/commandPath.ts';
import type { Demo } from '../support/demo.ts';
import { testPasswordCost } from '../support/passwords.ts';
import { blocks, isRun, outputBelow } from './inventory.ts';
import { runPage, shows } from './runPage.ts';

/** Pastes what a page shows, in its order, and expects that it prints what the page shows. */
export async function expectPage(page: string, demo: Demo): Promise<void> {
  const { HOME = '' } = process.env;
  const toRun = blocks.filter((block) => block.page === page && isRun(block));
  const printed = await runPage(toRun, demo, { PATH: commandPath, HOME, ...testPasswordCost }, (text) =>
    allowInBrowser(demo, text),
  );

  expect(printed.length).toBeGreaterThan(0);
  for (const { block, output } of printed) {
    const shown = outputBelow(block)?.text ?? '…';
    expect({ output, shown, isShown: shows(shown, output) }).toEqual({ output, shown, isShown: true });
  }
}

/**
 * Signs in and allows, as a person does in a browser.
 *
 * @returns the code that the redirect brings, once the page has printed where to go
 */
async function allowInBrowser({ url, credentials }: Demo, printed: string): Promise<string | null> {
  const query = /\/oauth\/authorize\?(\S+)\n/.exec(printed)?.[1];
  if (query === undefined) return null;
  const visitor = new Visitor({ url });
  const person = { email: 'ada@demo.test', password: credentials.password };
  const { approval } = await visitor.signIn(Object.fromEntries(new URLSearchParams(query)), person);
  const answer = await visitor.submit(approval);
  const callback = new URL(answer.headers.get('Location') ?? '');
  // Where a program of the page listens; otherwise the person copies the code.
  await fetch(callback).catch(() => undefined);
  return callback.searchParams.get('code');
}
