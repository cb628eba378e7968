import { createTenant, createUnit, createViewer, type OwnGraphTest, startGraphTest } from '../graphql/support.ts';
import { until } from '../support/until.ts';
import { evaluate, question } from './support.ts';

let graph: OwnGraphTest;
beforeAll(async () => {
  graph = await startGraphTest();
});
afterAll(() => graph.stop());

test('doors are answered while a migration changes the type of the decision', async () => {
  const tenant = await createTenant(graph);
  await createViewer(tenant, { externalIdentifier: 'ada' });
  await createUnit(tenant, { externalIdentifier: 'room' });
  let isMigrating = true;
  let asked = 0;
  const ask = async () => {
    const answers = new Set<string>();
    while (isMigrating) {
      const { status, text } = await evaluate(graph, tenant.app, 'evaluation', question(['user', 'ada'], 'room'));
      answers.add(`${status} ${text}`);
      asked++;
    }
    return answers;
  };
  const doors = Promise.all(Array.from({ length: 6 }, ask));

  for (let round = 0; round < rounds; round++) {
    for (const change of ['add attribute spare text', 'drop attribute spare']) {
      const before = asked;
      await graph.database.owner.query(`alter type app_public.access_decision ${change}`);
      await until(() => asked >= before + 6);
    }
  }

  isMigrating = false;
  const denied = '200 {"decision":false,"context":{"reason":"NO_GRANT"}}';
  expect(await doors).toEqual(Array.from({ length: 6 }, () => new Set([denied])));
});

const rounds = 30;
