import { expectPage } from '../docs/expectPage.ts';
import { pagesToRun } from '../docs/inventory.ts';
import { type Demo, startTestDemo } from '../support/demo.ts';

/** The pages whose commands start processes of the service; the others are in test/docs/commands.test.ts. */
let demo: Demo;
beforeAll(async () => {
  demo = await startTestDemo();
});
afterAll(() => demo.stop());

test.each(pagesToRun('slow'))('%s prints what it shows', (page) => expectPage(page, demo));
