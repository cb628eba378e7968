import type { Browser } from 'playwright-core';
import { launchBrowser, openPage } from '../support/browser.ts';
import { createTestDatabase, type TestDatabase } from '../support/database.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('GraphiQL', () => {
  let database: TestDatabase;
  let service: TestService;
  let browser: Browser;

  beforeAll(async () => {
    database = await createTestDatabase();
    service = await startTestService(database, { EXPLORERS: 'true' });
    browser = await launchBrowser();
  });

  afterAll(async () => {
    await browser.close();
    await service.stop();
    await database.drop();
  });

  it.each([1280, 390])('opens from this service alone, %i pixels wide', async (width) => {
    const { page, problems, close } = await openPage(browser, { baseUrl: service.url, width });

    await page.goto(`${service.url}/graphiql`);
    await page.locator('.graphiql-query-editor .monaco-editor').first().waitFor();

    expect(problems).toEqual([]);
    await close();
  });
});
