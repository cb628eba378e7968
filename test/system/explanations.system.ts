import type { Browser } from 'playwright-core';
import { launchBrowser } from '../support/browser.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';
import { openWorkplace, type Workplace } from './support/workplace.ts';

/** *Run as* and *Why?* of GraphiQL. */
describe('GraphiQL explains access', () => {
  let demo: Demo;
  let browser: Browser;
  let at: Workplace;

  beforeAll(async () => {
    demo = await startTestDemo();
    browser = await launchBrowser();
    at = await openWorkplace(browser, demo.url);
  });

  afterAll(async () => {
    await at.opened.close();
    await browser.close();
    await demo.stop();
  });

  afterEach(() => {
    expect(at.opened.problems.splice(0)).toEqual([]);
  });

  it('runs a query as another caller beside the first, and marks the differences', async () => {
    await at.signInAs('Ada Lovelace');
    await at.write('{ viewer { accessibleUnits { nodes { name } } } }');
    await at.page.getByLabel('Run as').selectOption('Grace Hopper');

    const dialog = at.page.getByRole('dialog', {
      name: 'Ada Lovelace (scope me), and beside it Grace Hopper (scope me)',
    });
    await dialog.waitFor();
    await dialog
      .getByText(/^\d+ differences?: − is only in the answer to Ada Lovelace, \+ only in that to Grace Hopper\.$/)
      .waitFor();
    expect(await at.textOf('first.json')).toContain('"South Building"');
    expect(await at.textOf('second.json')).not.toContain('"South Building"');
    expect(await at.page.locator('#comparison .line-delete').count()).toBeGreaterThan(0);
    // From the editor, which would keep both keys for itself.
    for (let presses = 0; presses < 4 && !(await at.isFocused('#why-here')); presses++)
      await at.page.keyboard.press('Tab');
    expect(await at.isFocused('#why-here')).toBe(true);
    await at.page.keyboard.press('Shift+Tab');
    await at.page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'hidden' });
    expect(await at.isFocused('#run-as')).toBe(true);
    // Who is signed in has not changed.
    expect(await at.page.locator('#token option:checked').textContent()).toBe('as Ada Lovelace');
  });

  it('runs nothing twice that changes something', async () => {
    await at.signInAs('Demo Backend');
    await at.write('mutation { unitCreate(name: "Twice") { unit { id } } }');
    await at.page.getByLabel('Run as').selectOption('Grace Hopper');

    expect(await at.page.getByRole('status').innerText()).toContain('Only a query is run as another caller');
    expect(await at.page.getByRole('dialog').count()).toBe(0);
  });

  it('says why an object is seen, and why the other caller does not see it', async () => {
    await at.signInAs('Ada Lovelace');
    await at.write('{ viewer { accessibleUnits { nodes { name } } } }');
    await at.run();
    await at.expectAnswer('"South Building"');
    await at.placeCursor('response.json', '"South Building"');
    await at.page.getByRole('button', { name: 'Why?' }).click();

    const reasons = at.page.getByRole('dialog', { name: 'Why?' });
    await reasons.getByText(/^Ada Lovelace \(graph_user\) sees the Unit “South Building”, since/).waitFor();
    await at.page.keyboard.press('Escape');

    await at.page.getByLabel('Run as').selectOption('Grace Hopper');
    await at.page.locator('#comparison .line-delete').first().waitFor();
    await at.placeCursor('first.json', '"South Building"');
    await at.page.locator('#why-here').click();
    await reasons.getByText(/^Grace Hopper \(graph_user\) does not see the Unit “South Building”: no policy/).waitFor();
    await reasons.getByText(/^Ada Lovelace \(graph_user\) sees the Unit “South Building”/).waitFor();
    await at.page.keyboard.press('Escape');
    await at.page.keyboard.press('Escape');
    await at.page.getByRole('dialog').waitFor({ state: 'hidden' });
  });

  it('says why of what a mutation returned, which is shown as it was asked for', async () => {
    await at.signInAs('Demo Backend');
    const written = 'mutation { unitUpdate(externalIdentifier: "depot", name: "Depot") { unit { name } } }';
    await at.write(written);
    await at.run();
    await at.expectAnswer('"Depot"');
    expect(JSON.parse((await at.answer()) ?? '')).toEqual({ data: { unitUpdate: { unit: { name: 'Depot' } } } });
    expect(await at.textOf('operation.graphql')).toBe(written);
    await at.placeCursor('response.json', '"Depot"');
    await at.page.getByRole('button', { name: 'Why?' }).click();

    await at.page.getByText(/^Demo Backend \(graph_app\) sees the Unit “Depot”, since/).waitFor();
    await at.page.keyboard.press('Escape');
  });

  it('says why a null is one', async () => {
    await at.signInAs('Grace Hopper');
    await at.write('{ viewer { accessibleUnits(orderBy: NAME_DESC) { nodes { name above: parent { name } } } } }');
    await at.run();
    await at.expectAnswer('"above": null');
    await at.placeCursor('response.json', '"above": null');
    await at.page.getByRole('button', { name: 'Why?' }).click();

    await at.page
      .getByText(/^Grace Hopper \(graph_user\) does not see the Unit “(Campus|South Building)”: no policy/)
      .waitFor();
    await at.page.keyboard.press('Escape');
  });
});
